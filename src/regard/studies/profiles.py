"""Means over documents by head and by layer: tables, wide tables and lines that several studies share.

Enters: sums by group (G, heads, measures) and counts of inputs. Leaves: tables with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import interval
from regard.studies.base import layers_of
from regard.studies.figures import line_picture

if TYPE_CHECKING:
    import pandas as pd

    from regard.views.figures import Picture

Names = Callable[[str], Sequence[str]]  # the measures of a kind of attention, in the order of the sums
COLUMNS = ("kind", "layer", "head", "measure", "value", "low", "high", "chance", "inputs")


def head_table(sums: Sums, names: Names, total: str, count: str, chance: str | None = None) -> pd.DataFrame:
    """A row per head and measure; sums `total` are (G, H, M), `count` (G, M), `chance` (G, M)."""
    import pandas as pd

    found = _layers(sums, total, count, chance)
    rows = [row for kind, layer, *numbers in found for row in _head_rows(kind, layer, names(kind), *numbers)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def layer_table(sums: Sums, names: Names, total: str, count: str, chance: str | None = None) -> pd.DataFrame:
    """A row per layer and measure, the mean over heads; sums may also be of whole layers, (G, M)."""
    import pandas as pd

    rows = []
    for kind, layer, means, level, inputs, clusters in _layers(sums, total, count, chance):
        over = means.mean(axis=1)  # (R, M)
        low, high = interval(over, clusters)
        for n, name in enumerate(names(kind)):
            numbers = (over[0, n], low[n], high[n], level[n])
            rows.append((kind, layer, name, *map(float, numbers), int(inputs[n])))
    return pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "head"])


def _layers(
    sums: Sums, total: str, count: str, chance: str | None
) -> Iterator[tuple[str, int, Array, Array, Array, Array]]:
    """(kind, layer, means (R, H, M), chance (M,), inputs (M,), clusters (M,)) of every layer."""
    for kind, layers in layers_of(sums, total).items():
        for layer in layers:
            values = sums.resampled(f"{kind}/{layer}/{total}")
            values = values[:, None] if values.ndim == 2 else values
            counts = sums.resampled(f"{kind}/{layer}/{count}")
            clusters = sums.clusters(f"{kind}/{layer}/{count}")
            level = np.full(counts.shape[1], np.nan)
            if chance is not None:
                level = ratio(sums.whole(f"{kind}/{layer}/{chance}"), counts[0])
            yield kind, layer, ratio(values, counts[:, None]), level, counts[0], clusters


def _head_rows(
    kind: str, layer: int, names: Sequence[str], means: Array, chance: Array, inputs: Array, clusters: Array
) -> Iterator[tuple[Any, ...]]:
    low, high = interval(means, clusters)  # (H, M)
    for head in range(means.shape[1]):
        for n, name in enumerate(names):
            numbers = (means[0, head, n], low[head, n], high[head, n], chance[n])
            yield (kind, layer, head, name, *map(float, numbers), int(inputs[n]))


def wide(layers: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Layers down, measures across, as papers print it; measures that are n/a throughout are left out."""
    mine = layers[(layers["kind"] == kind) & layers["value"].notna()]
    order = list(dict.fromkeys(mine["measure"]))
    return mine.pivot(index="layer", columns="measure", values="value")[order].reset_index()


def lines(layers: pd.DataFrame, kind: str, measures: Sequence[str], *, y: str, title: str) -> Callable[[], Picture]:
    """A figure of some measures by layer, with their intervals."""

    def draw() -> Picture:
        found = {}
        for name in measures:
            mine = layers[(layers["kind"] == kind) & (layers["measure"] == name)].sort_values("layer")
            if mine["value"].notna().any():
                found[name] = mine
        return line_picture(
            {name: np.asarray(mine["value"]) for name, mine in found.items()},
            x="layer",
            y=y,
            title=title,
            bands={name: (np.asarray(mine["low"]), np.asarray(mine["high"])) for name, mine in found.items()},
        )

    return draw
