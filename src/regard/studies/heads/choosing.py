"""Which of the kept rows a head's page shows: strong ones of many kinds, and ordinary ones of every strength.

Enters: kept rows and how many rows of each strength there are. Leaves: the rows of each place on the page, `SLOTS` of
them per head; a place without a row has none.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from regard.corpus.sums import KEPT, Array, Sums
from regard.studies.base import layers_of
from regard.studies.heads.keeping import BINS, COLUMNS, is_row

ALIKE = 4  # rows shown with the same tokens at both ends
QUANTILES = tuple((n + 0.5) / 10 for n in range(10))
PER_QUANTILE = 2
# What a page shows, and how many rows of it; typical ones are ordered by quantile.
SLOTS = {"best": 12, "typical": len(QUANTILES) * PER_QUANTILE, "best_arriving": 6}
QUERY, KEY, STRENGTH = (COLUMNS.index(name) for name in ("query", "key", "strength"))
_ENDS = [COLUMNS.index(name) for name in ("query_id", "key_id")]


def slots_of(name: str) -> slice:
    """The places of some examples among all that a page shows."""
    start = 0
    for other, count in SLOTS.items():
        if other == name:
            return slice(start, start + count)
        start += count
    raise KeyError(name)


def shown_rows(sums: Sums) -> dict[str, Array]:
    """Kind and layer -> (H, S, 8) the kept rows that pages show; inf where a place is empty."""
    found = {}
    for kind, layers in layers_of(sums, "strengths").items():
        for layer in layers:
            place = f"{kind}/{layer}"
            strengths = sums[f"{place}/strengths"]  # (H, BINS)
            table = np.full((len(strengths), sum(SLOTS.values()), len(COLUMNS)), np.inf)
            for head, counts in enumerate(strengths):
                for name in ("best", "best_arriving"):
                    if f"{KEPT}{place}/{name}" in sums:
                        rows = varied(sums[f"{KEPT}{place}/{name}"][head], SLOTS[name])
                        table[head, slots_of(name)][: len(rows)] = rows
                typical = typical_of(sums[f"{KEPT}{place}/typical"][head], counts)
                table[head, slots_of("typical")] = typical
            found[place] = table
    return found


def varied(rows: Array, count: int) -> Array:
    """(n, 8) the first of rows (N, 8), no more than `ALIKE` with the same tokens at both ends."""
    seen: Counter[tuple[float, ...]] = Counter()
    chosen = []
    for row in rows[is_row(rows)]:
        ends = tuple(row[_ENDS])
        seen[ends] += 1
        if seen[ends] <= ALIKE:
            chosen.append(row)
        if len(chosen) == count:
            break
    return np.array(chosen).reshape(-1, rows.shape[-1])


def typical_of(rows: Array, counts: Array) -> Array:
    """(20, 8) rows of the strengths at each quantile, from those kept per bin (BINS, n, 8) and rows per bin (BINS,)."""
    found = np.full((len(QUANTILES) * PER_QUANTILE, rows.shape[-1]), np.inf)
    if not counts.sum():
        return found
    reached = np.cumsum(counts) / counts.sum()
    used = [0] * BINS
    for number, quantile in enumerate(QUANTILES):
        place = int(np.searchsorted(reached, quantile))
        for nth in range(PER_QUANTILE):
            if used[place] < rows.shape[1]:
                found[number * PER_QUANTILE + nth] = rows[place, used[place]]
                used[place] += 1
    return found
