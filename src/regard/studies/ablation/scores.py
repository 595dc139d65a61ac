"""Scores of many runs over the same examples: intervals of their differences, and what chance alone would give.

Enters: one number per example and run. Leaves: scores, paired differences with bootstrap intervals, and tests.

Chance: if switching a head off did nothing, an example's two numbers (with and without the head) could just as well be
swapped. Flipping the signs of whole examples (those of a document together) at random, for all heads at once, keeps
the correlation between heads and shows how many of them would seem to help, and how large the largest gain would be,
by chance. This is a sign-flip test; comparing each gain with the largest by chance corrects for having looked at all
heads. For a rank correlation the ranks of each run stay fixed, and an example's share is its product of standard ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.ablation.tasks import Task
from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import GROUPS, clusters_of, draws, interval, resampled
from regard.measures.ranks import mean_ranks
from regard.studies.ablation.reduce import SCORES, Prepared

FLIPS = 5000
_AT_ONCE = 500


@dataclass(eq=False)
class AblationScores:
    """Numbers of n examples in K runs, next to those of the unchanged model."""

    task: Task
    numbers: Array  # (n,) of the examples
    counts: Array  # (n,) questions per example
    expected: Array  # (n,)
    base: Array  # (n,)
    runs: Array  # (n, K)
    seed: int = 0
    clusters: Array | None = None  # (n,) clusters of the examples; each its own unless given

    @classmethod
    def of(cls, sums: Sums, ready: Prepared, seed: int) -> AblationScores:
        """The examples in the sums, in order."""
        found = {int(name.split("/")[1]): rows for name, rows in sums.arrays.items() if name.startswith(f"{SCORES}/")}
        numbers = np.array(sorted(found))
        table = np.stack([found[number] for number in numbers])
        counts = table[:, 0]
        expected, clusters = (
            table[:, 1] / np.maximum(counts, 1),
            np.array([ready.clusters[n] for n in numbers.tolist()]),
        )
        return cls(ready.task, numbers, counts, expected, table[:, 2], table[:, 3:], seed, clusters)

    def only(self, chosen: Array, runs: Array | slice = slice(None)) -> AblationScores:
        """Some of the examples, some of the runs."""
        return AblationScores(
            self.task,
            self.numbers[chosen],
            self.counts[chosen],
            self.expected[chosen],
            self.base[chosen],
            self.runs[chosen][:, runs],
            self.seed,
            None if self.clusters is None else self.clusters[chosen],
        )

    @property
    def everyone(self) -> Array:
        return np.ones(len(self.numbers), bool)

    @cached_property
    def places(self) -> Array:
        """(n,) the cluster of each example, counted from 0."""
        return np.unique(self.numbers if self.clusters is None else self.clusters, return_inverse=True)[1]

    def by_cluster(self, values: Array) -> Array:
        """(clusters, ...) sums of values (n, ...)."""
        found = np.zeros((self.places.max(initial=-1) + 1, *values.shape[1:]))
        np.add.at(found, self.places, values)
        return found

    def by_group(self, values: Array) -> Array:
        """(groups, ...) sums of values (n, ...), which are resampled."""
        held = Sums()
        held.add_groups("values", self.places, values)
        return held["values"]

    def interval(self, values: Array) -> tuple[Array, Array]:
        """The ends of the interval of values (1 + draws, ...)."""
        return interval(values, clusters_of(self.by_group(self.counts)))

    @cached_property
    def replicated(self) -> Array:
        """(1 + draws, 1 + K) scores, the unchanged model first: of the examples, then of resampled ones."""
        values = np.concatenate([self.base[:, None], self.runs], axis=1)
        if self.task.ranks:
            weights = draws(GROUPS)[:, self.places % GROUPS]
            return spearman(values / np.maximum(self.counts, 1)[:, None], self.expected, weights)
        return ratio(resampled(self.by_group(values)), resampled(self.by_group(self.counts))[:, None])

    @property
    def baseline(self) -> float:
        return float(self.replicated[0, 0])

    @property
    def baseline_interval(self) -> tuple[float, float]:
        low, high = self.interval(self.replicated[:, :1])
        return float(low[0]), float(high[0])

    @property
    def scores(self) -> Array:
        """(K,) scores of the runs."""
        return np.asarray(self.replicated[0, 1:])

    @property
    def changes(self) -> Array:
        """(1 + draws, K) score of each run minus that of the unchanged model, over the same examples."""
        return np.asarray(self.replicated[:, 1:] - self.replicated[:, :1])

    @property
    def gains(self) -> Array:
        """(1 + draws, K) changes, positive where the run is better."""
        return np.asarray(self.task.sign * self.changes)

    @cached_property
    def shares(self) -> Array:
        """(n, K) each example's share of a run's gain; shares add up to it."""
        if not self.task.ranks:
            return np.asarray(self.task.sign * (self.runs - self.base[:, None]) / self.counts.sum())
        ones = np.ones((1, len(self.numbers)))
        values = np.concatenate([self.base[:, None], self.runs], axis=1)
        ranked = np.stack([_standard(weighted_ranks(column, ones)[0]) for column in values.T], axis=1)
        parts = ranked * _standard(weighted_ranks(self.expected, ones)[0])[:, None]  # sum to Spearman's correlation
        return np.asarray(parts[:, 1:] - parts[:, :1])


@dataclass(frozen=True)
class Chance:
    """What chance alone would give, corrected for having looked at all runs."""

    helping: int  # runs that score better than the unchanged model
    expected: float  # how many would, by chance
    low: float
    high: float
    p: float  # how often chance gives as many
    p_helps: Array  # (K,) how often the best run by chance gains as much
    p_hurts: Array  # (K,) how often the worst run by chance loses as much


def chance(scores: AblationScores, flips: int = FLIPS) -> Chance:
    """Sign-flip tests: of how many runs gain, and of each run's gain, corrected for all runs."""
    parts = scores.by_cluster(scores.shares)
    size = np.sqrt((parts**2).sum(axis=0))
    moved = size > 0  # runs that change nothing for any example are neither better nor worse
    turned = _turned(parts[:, moved], flips, scores.seed)  # (flips, K)
    seen, luck = parts[:, moved].sum(axis=0) / size[moved], turned / size[moved]
    tiny = 1e-9
    counts = (luck > tiny).sum(axis=1)
    helping = int((seen > tiny).sum())
    best, worst = luck.max(axis=1, initial=-np.inf), luck.min(axis=1, initial=np.inf)
    helps, hurts = np.ones(parts.shape[1]), np.ones(parts.shape[1])
    helps[moved] = (1 + (best[:, None] >= seen - tiny).sum(axis=0)) / (flips + 1)
    hurts[moved] = (1 + (worst[:, None] <= seen + tiny).sum(axis=0)) / (flips + 1)
    low, high = np.quantile(counts, [0.025, 0.975])
    p = (1 + int((counts >= helping).sum())) / (flips + 1)
    return Chance(helping, float(counts.mean()), float(low), float(high), p, helps, hurts)


def _turned(parts: Array, flips: int, seed: int) -> Array:
    """(flips, K) sums over examples (n, K) with signs flipped at random, the same for all columns."""
    generator = np.random.default_rng(seed)
    found = []
    for start in range(0, flips, _AT_ONCE):
        drawn = generator.integers(0, 2, (min(_AT_ONCE, flips - start), len(parts)), dtype=np.int8)
        found.append((2.0 * drawn - 1) @ parts)
    return np.concatenate(found)


@dataclass(frozen=True)
class HeldOut:
    """The run that gains most on one half of the examples, and its gain on the other."""

    run: int
    chosen: float
    gain: float
    low: float
    high: float


def held_out(scores: AblationScores) -> list[HeldOut]:
    """Choose the best run on even examples and judge it on odd ones, and vice versa."""
    found = []
    for half in (0, 1):
        mine = scores.numbers % 2 == half
        if mine.all() or not mine.any():
            return []
        gains = scores.only(mine).gains[0]
        best = int(np.nanargmax(gains))
        other = scores.only(~mine, np.array([best]))
        low, high = other.interval(other.gains)
        found.append(HeldOut(best, float(gains[best]), float(other.gains[0, 0]), float(low[0]), float(high[0])))
    return found


# -- rank correlation ------------------------------------------------------------------------------------------


def spearman(values: Array, expected: Array, weights: Array) -> Array:
    """(W, K) Spearman's correlation of each column (n, K) with the expected values, examples weighted in W ways."""
    gold = weighted_ranks(expected, weights)
    return np.stack([_pearson(weighted_ranks(column, weights), gold, weights) for column in values.T], axis=1)


def row_correlations(one: Array, other: Array) -> Array:
    """(W,) Spearman's correlation of each row (W, n) with the same row of another array."""
    first, second = (mean_ranks(np.where(np.isnan(some), np.inf, some)) for some in (one, other))  # NaN last
    return _pearson(first, second, np.ones(one.shape))


def weighted_ranks(values: Array, weights: Array) -> Array:
    """(W, n) mean ranks of values that occur as often as their weights (W, n) say."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)  # (W, groups)
    ranks = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
    return np.asarray(ranks[:, group])


def _pearson(one: Array, other: Array, weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    a = one - (weights * one).sum(axis=1, keepdims=True) / total
    b = other - (weights * other).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
    return np.where(spread > 0, (weights * a * b).sum(axis=1) / np.where(spread > 0, spread, 1), np.nan)


def _standard(ranks: Array) -> Array:
    """Ranks with mean 0 and length 1."""
    centred = ranks - ranks.mean()
    return np.asarray(centred / (np.sqrt((centred**2).sum()) or 1.0))
