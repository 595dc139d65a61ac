"""Whether a head that reaches a pattern is to be called after it, or does something simpler that would reach it too.

Enters: lifts of heads; the strongest keys of their rows. Leaves: booleans.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from regard.patterns.definitions import USUAL
from regard.patterns.entries import ALSO, AT_ANY_DISTANCE, SIMPLER, TARGETS_OF
from regard.trace.places import Array

FLOOR = 0.1  # lift that a name must be sure of: the lower end of its interval
ASLEEP = 0.02  # share of its attention below which a head does nothing that could be named
ELSEWHERE = 0.2  # lift that "same word" must have without the token itself, or heads that look at themselves pass
STAYS = 0.5  # share of its attention to a kind of words that stays if queries are exchanged: from here on, a stripe


def beyond_one_offset(name: str, hit: Array, strongest: Array, queries: Array) -> Array:
    """(F,) whether no single key - query explains as many rows of one text as equal words do; hit is (F, rows).

    In sentences built alike equal words stand at equal distances, so that a head of a fixed offset meets them. A
    corpus has many distances: there the interval tells. Rows that look at the token itself say nothing here.
    """
    if name not in AT_ANY_DISTANCE:
        return np.ones(len(hit), bool)
    offsets = np.asarray(strongest - queries)  # (F, rows)
    away = offsets != 0
    most = np.array(
        [np.unique(row[some], return_counts=True)[1].max(initial=0) for row, some in zip(offsets, away, strict=True)]
    )
    return np.asarray(((hit & away).sum(axis=-1) > most) | (most == 0))


def own_name(name: str, lift_of: Callable[[str], Array]) -> Array:
    """(H,) whether what heads do is no simpler pattern; `lift_of` gives lifts (H,) by name, 0 where there are none."""
    if name in ALSO:
        return lift_of(ALSO[name]) >= ELSEWHERE
    lifts = lift_of(name)
    if name in TARGETS_OF:
        return np.asarray(np.max([lift_of(one) for one in TARGETS_OF[name]], axis=0) < USUAL)
    if name in SIMPLER:
        return np.asarray(lifts > np.max([lift_of(simpler) for simpler in SIMPLER[name]], axis=0))
    return np.ones(lifts.shape, bool)
