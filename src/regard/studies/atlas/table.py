"""From the sums of the atlas to its table.

Enters: sums over a corpus. Leaves: a row per head and measure, with its interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.bag import bag_score
from regard.measures.intervals import interval
from regard.measures.reading import lift
from regard.patterns.definitions import BAG, PATTERNS
from regard.patterns.levels import LEVELS
from regard.studies.base import layers_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("kind", "layer", "head", "measure", "value", "low", "high", "mass", "argmax", "chance", "rows")


def atlas_table(sums: Sums) -> pd.DataFrame:
    """A row per head and measure, with its interval."""
    import pandas as pd

    rows = [row for kind, layers in layers_of(sums, "mass").items() for n in layers for row in _layer(sums, kind, n)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _layer(sums: Sums, kind: str, layer: int) -> Iterator[dict[str, Any]]:
    """The rows of one layer's heads."""

    def read(name: str) -> Array:
        return sums.resampled(f"{kind}/{layer}/{name}")

    def clusters(name: str) -> Array:
        return sums.clusters(f"{kind}/{layer}/{name}")

    mass, chance, rows = (read(name) for name in ("mass", "chance", "rows"))  # (R, H, P), (R, P), (R, P)
    rates = ratio(sums.whole(f"{kind}/{layer}/hits"), rows[0])  # (H, P)
    means, level = ratio(mass, rows[:, None]), ratio(chance, rows)[:, None]  # (R, H, P), (R, 1, P)
    values = np.asarray(lift(means, level + np.zeros_like(means)))
    low, high = interval(values, clusters("rows"))
    for place, pattern in enumerate(PATTERNS):
        ends = low[:, place], high[:, place]
        numbers = values[0, :, place], *ends, means[0, :, place], rates[:, place]
        yield from _heads(kind, layer, pattern.name, *numbers, level[0, 0, place], rows[0, place])
    if f"{kind}/{layer}/bag_rows" in sums:
        count = read("bag_rows")[:, None]
        level = ratio(read("bag_chance")[:, None], count)
        gain = ratio(read("bag_gain"), count)
        values = np.asarray(bag_score(gain, level + np.zeros_like(gain)))
        means, rates = (ratio(sums.whole(f"{kind}/{layer}/bag_{name}"), count[0]) for name in ("mass", "hits"))
        numbers = values[0], *interval(values, clusters("bag_rows")), means, rates
        yield from _heads(kind, layer, BAG, *numbers, level[0, 0], count[0, 0])
    nothing = np.full(mass.shape[1], np.nan)
    for name in (level.name for level in LEVELS if f"{kind}/{layer}/{level.name}" in sums):
        count = read(f"{name}_rows")[:, None]
        expected = float(ratio(sums.whole(f"{kind}/{layer}/{name}_chance"), count[0, 0]))
        values = ratio(read(name), count)
        numbers = values[0], *interval(values, clusters(f"{name}_rows")), nothing, nothing
        yield from _heads(kind, layer, name, *numbers, expected, count[0, 0])


def _heads(
    kind: str,
    layer: int,
    name: str,
    values: Array,
    low: Array,
    high: Array,
    mass: Array,
    rates: Array,
    chance: float,
    rows: float,
) -> Iterator[dict[str, Any]]:
    for head in range(len(values)):
        yield {
            "kind": kind,
            "layer": layer,
            "head": head,
            "measure": name,
            "value": float(values[head]),
            "low": float(low[head]),
            "high": float(high[head]),
            "mass": float(mass[head]),
            "argmax": float(rates[head]),
            "chance": float(chance),
            "rows": int(rows),
        }
