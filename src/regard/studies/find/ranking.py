"""From sums to heads in order: chosen on one half of the documents, and scored on the other.

Enters: sums of a rule. Leaves: a row per head.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.awake import AwakeSums, read_awake
from regard.measures.intervals import interval
from regard.patterns.naming import ASLEEP
from regard.studies.base import layers_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("kind", "layer", "head", "lift", "low", "high", "held_out", "chosen"),
    *("share", "chance", "rows", "awake"),
)


def ranked(sums: Sums) -> tuple[pd.DataFrame, int]:
    """A row per head that is awake where the rule can be followed, best first; and how many heads are not.

    `lift` with its interval, `share`, `chance` and `rows` are over the whole corpus, `awake` is the part of its
    attention in those rows that does not rest. Heads are in the order of `chosen`, the lift over the even groups of
    documents; `held_out` is that over the odd ones, NaN if there is only one half.
    """
    import pandas as pd

    found = [
        row
        for kind, layers in layers_of(sums, "awake").items()
        for layer in layers
        for row in _heads(sums, kind, layer)
        if row["rows"]
    ]
    table = pd.DataFrame(found, columns=list(COLUMNS))
    if not (table["held_out"].notna().any() and table["chosen"].notna().any()):  # all rows are in one half
        table = table.assign(held_out=np.nan, chosen=table["lift"])
    sleeping = table["awake"] < ASLEEP
    order = table[~sleeping].sort_values("chosen", ascending=False, kind="stable", na_position="last")
    return order.reset_index(drop=True), int(sleeping.sum())


def _heads(sums: Sums, kind: str, layer: int) -> Iterator[dict[str, Any]]:
    """The rows of one layer's heads."""
    groups = AwakeSums(*(sums[f"{kind}/{layer}/{name}"] for name in AwakeSums._fields))  # (G, H, 1), rows (G, 1)
    drawn = read_awake(AwakeSums(*(sums.resampled(f"{kind}/{layer}/{name}") for name in AwakeSums._fields)))
    low, high = interval(np.asarray(drawn.lift[..., 0]), sums.clusters(f"{kind}/{layer}/awake")[:, 0])
    chosen, held_out = (_half(groups, half) for half in (0, 1))
    for head in range(groups.mass.shape[1]):
        share, chance, lift, awake, rows = (float(field[0, head, 0]) for field in drawn)
        numbers = (lift, low[head], high[head], held_out[head], chosen[head], share, chance)
        row = (kind, layer, head, *map(float, numbers), int(rows), awake / max(rows, 1))
        yield dict(zip(COLUMNS, row, strict=True))


def _half(groups: AwakeSums, first: int) -> Array:
    """(H,) lifts over every second group of documents."""
    return np.asarray(read_awake(AwakeSums(*(sums[first::2].sum(axis=0) for sums in groups))).lift[:, 0])
