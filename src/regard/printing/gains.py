"""What `regard patterns --predictive` prints: which words predict which.

Enters: a trace with gains. Leaves: rich renderables, records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from regard.trace.places import Array, places_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.trace.trace import Trace

SHOWN = 8  # pairs of words


def gains_report(trace: Trace) -> Iterator[RenderableType]:
    """The words that predict others most, and what the first token is worth to a causal model; nothing if unknown."""
    side = trace.side()
    if side.gains is None:
        return
    ahead = _ahead(trace)
    gains = side.gains.copy()
    gains[:, ~places_of(side, {}).content] = np.nan
    if ahead:
        gains[:, 0] = np.nan  # where heads rest
    about = "the next token" if ahead else "the hidden token"
    yield Text("")
    yield Text(f"words that predict most: without the first, {about} is so many nats less likely", style="dim")
    yield _pairs(gains, [token.text for token in side.tokens], ahead)
    if ahead and np.isfinite(side.gains[:, 0]).any():
        mean = float(np.nanmean(side.gains[:, 0]))
        likely = f"{abs(mean):.2f} nats {'less' if mean >= 0 else 'more'} likely"
        yield Text(
            f"without the first token, where heads rest, {about} is {likely} on average; no pattern counts that",
            style="dim",
        )


def gains_record(trace: Trace) -> list[list[float | None]] | None:
    """The gains for JSON: null where nothing is asked."""
    gains = trace.side().gains
    return None if gains is None else [[None if x != x else round(float(x), 4) for x in row] for row in gains]


def _ahead(trace: Trace) -> int:
    """How far after a row the token is that it predicts: 1 in causal models, 0 in masked ones."""
    return int(all(site.mask.causal for site in trace.sites))


def _pairs(gains: Array, texts: list[str], ahead: int) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    table.add_column(justify="right")
    order = np.argsort(-np.nan_to_num(gains, nan=-np.inf), axis=None, kind="stable")[:SHOWN]
    for query, key in zip(*np.unravel_index(order, gains.shape), strict=True):
        if gains[query, key] > 0:
            words = (f"{texts[place].strip()} ({place})" for place in (int(key), int(query) + ahead))
            table.add_row(Text(next(words)), Text(f"→ {next(words)}"), f"{gains[query, key]:.2f}")
    return table
