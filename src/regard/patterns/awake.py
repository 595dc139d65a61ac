"""What rows show outside the resting places, and what of it stays if queries are exchanged.

Enters: the readings of a block of rows. Leaves: `AwakeRows`, and the numbers of heads made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.measures.awake import AwakeReading, awake_rows, read_awake, sum_awake
from regard.measures.bag import BagRows, bag_gain
from regard.measures.reading import RowReadings, hit_rows, tables_of, weigh
from regard.measures.stripes import kept, partners
from regard.patterns.definitions import WORDS, Part, Pattern
from regard.trace.places import Array

_NOTHING = 1e-6  # awake attention of a row that has no strongest key


@dataclass(frozen=True, eq=False)
class AwakeRows:
    """What the rows of H heads show of P patterns outside the resting places.

    `mass` (P, H, Q) is attention on target (of the bag of words, as far as it is even), `hit` (P, H, Q) whether the
    strongest key is one, `weight` (H, Q) the awake attention, `chance` and `counted` are (P, Q), `strongest` (H, Q).
    `kept` (P, H, Q) is what stays of the mass if queries are exchanged, for kinds of words; NaN where it is not asked.
    """

    names: tuple[str, ...]
    mass: Array
    hit: Array
    weight: Array
    chance: Array
    counted: Array
    strongest: Array
    kept: Array

    def of(self, heads: slice) -> AwakeRows:
        """The same for some of the heads."""
        mass, hit = self.mass[:, heads], self.hit[:, heads]
        rows = self.weight[heads], self.chance, self.counted, self.strongest[heads]
        return AwakeRows(self.names, mass, hit, *rows, self.kept[:, heads])


def awake_of(
    read: RowReadings, bag: BagRows | None, targets: Array, weight: Array, top: Array, part: Part
) -> tuple[Array, ...]:
    """The fields of `AwakeRows` of a block, from what its rows show with all of their attention."""
    mass, hit, counted = read.mass, _hits(top, targets), read.counted
    chance = read.chance
    if bag is not None:
        hit = np.concatenate([hit, _hits(top, (part.own & part.visible)[None])])
        chance, counted = (np.concatenate(pair) for pair in ((chance, bag.chance[None]), (counted, bag.counted[None])))
    level, some = (table.T for table in awake_rows(chance.T, part.visible, part.rests))
    if bag is not None:
        expected = weight * level[-1]
        mass = np.concatenate([mass, (bag_gain(bag.mass, expected, bag.evenness) + expected)[None]])
        some[-1] = level[-1] < 1  # a sentence may well be half of the words
    return mass, hit & (weight > _NOTHING), weight, level, counted & some, top


def kept_of(
    asked: Sequence[Pattern], attention: Array, others: Array, targets: Array, mass: Array, part: Part
) -> Array:
    """What stays of masses (P, H, rows) on kinds of words if queries are exchanged; NaN where it is not asked.

    `others` (H, m, K) are the rows that the first of the block's rows (H, rows, K) are exchanged with.
    """
    found = np.full_like(mass, np.nan)
    kinds = [place for place, pattern in enumerate(asked) if pattern.words]
    first, _ = partners(part.context.queries.content)
    here = first[(first >= part.start) & (first < part.start + attention.shape[1])] - part.start
    if not kinds or not len(here):
        return found
    free = part.free[here].astype(attention.dtype)
    same = kept(attention[:, here], others[:, here], free)
    found[np.ix_(kinds, range(len(attention)), here)] = weigh(same, targets[kinds][:, here].astype(same.dtype))
    return found


def awake_readings(rows: AwakeRows) -> dict[str, AwakeReading]:
    """The reading of each pattern, (H,) each."""
    mass, weight = np.moveaxis(rows.mass, (0, 2), (2, 0)), rows.weight.T
    found = read_awake(sum_awake(mass.astype(np.float64), weight.astype(np.float64), rows.chance.T, rows.counted.T))
    return {name: AwakeReading(*(field[..., n] for field in found)) for n, name in enumerate(rows.names)}


def stays_of(rows: AwakeRows) -> dict[str, Array]:
    """(H,) for each kind of words: the share of the attention to them that stays if queries are exchanged."""
    found = {}
    for number, name in enumerate(rows.names):
        if name in WORDS:
            some = rows.counted[number] & ~np.isnan(rows.kept[number])  # (H, Q)
            same, whole = (np.where(some, part[number], 0).sum(-1, dtype=np.float64) for part in (rows.kept, rows.mass))
            found[name] = same / np.where(whole > 0, whole, np.nan)
    return found


def _hits(top: Array, targets: Array) -> Array:
    """(P, H, rows) whether keys `top` (H, rows) are targets (P, rows, K)."""
    return np.asarray(np.moveaxis(hit_rows(top, tables_of(targets)), (0, 2), (2, 0)))
