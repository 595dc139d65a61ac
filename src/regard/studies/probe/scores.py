"""Scores of probes, as sums by group of sentences with a row per training run, so that probes can be compared.

Enters: per run and test sentence, right answers and all answers. Leaves: sums; values, differences and intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import GROUPS, clusters_of, interval, resampled


@dataclass(frozen=True)
class Value:
    """A number, its interval over documents (or sentences) and runs, the spread between runs, and counts."""

    value: float
    low: float
    high: float
    spread: float  # standard deviation between runs; NaN for one run
    runs: int
    count: int


@dataclass(eq=False)
class ProbeScores:
    """Named shares over the test sentences. A name is "probe/measure/subject", such as "pairs/dependency/model".

    A probe is trained `runs` times with different seeds; what is recorded here belongs to one of them, `run`.
    """

    sums: Sums = field(default_factory=Sums)
    run: int = 0
    runs: int = 1

    def of_run(self, run: int, runs: int) -> ProbeScores:
        """The same sums, to record run `run` of `runs`."""
        return replace(self, run=run, runs=runs)

    def add(self, name: str, clusters: Sequence[int], right: Array, count: Array) -> None:
        """Record `right` of `count` per sentence, (sentences,) or (sentences, groups); groups have equal weight."""
        self._note(f"{name}/right", np.array(clusters), right)
        self._note(f"{name}/count", np.array(clusters), count)

    def _note(self, name: str, clusters: Array, values: Array) -> None:
        """Add each sentence's values in this run, by group of clusters, to its row of (runs, groups, ...)."""
        mine = Sums()
        mine.add_groups(name, clusters, values)
        self.note(name, mine[name])

    def note(self, name: str, value: Array | float) -> None:
        """Add numbers of this run to its row of (runs, ...)."""
        array = np.asarray(value, np.float64)
        rows = np.zeros((self.runs, *array.shape))
        rows[self.run] = array
        self.sums.add(name, rows)

    def __contains__(self, name: str) -> bool:
        return f"{name}/count" in self.sums

    def names(self) -> list[str]:
        """The names of the shares, in the order they were added."""
        return [name.removesuffix("/count") for name in self.sums.arrays if name.endswith("/count")]

    def value(self, name: str) -> Value:
        """A share with its interval."""
        return self._value(self._shares(name), name)

    def difference(self, one: str, other: str) -> Value:
        """How far one is above the other, both on the same sentences in every draw."""
        return self._value(self._shares(one) - self._shares(other), one)

    def _shares(self, name: str) -> Array:
        """(runs, 1 + draws) shares; if there are groups, the mean over those that are not empty."""
        right, count = (self.sums[f"{name}/{what}"] for what in ("right", "count"))  # (runs, groups, ...)
        shares = np.stack([ratio(resampled(one), resampled(every)) for one, every in zip(right, count, strict=True)])
        if shares.ndim == 2:
            return shares
        some = np.isfinite(shares)
        return ratio(np.where(some, shares, 0).sum(axis=-1), some.sum(axis=-1))

    def _value(self, shares: Array, name: str) -> Value:
        counts = self.sums[f"{name}/count"].mean(axis=0).reshape(GROUPS, -1).sum(axis=1)
        mean, runs = over_runs(shares), len(shares)
        low, high = interval(mean, clusters_of(counts))
        spread = float(shares[:, 0].std(ddof=1)) if runs > 1 else float("nan")
        return Value(float(mean[0]), float(low), float(high), spread, runs, round(counts.sum()))


def over_runs(shares: Array) -> Array:
    """(1 + draws,) means over runs of (runs, 1 + draws) shares; draws also vary as the runs do.

    The mean of each draw is perturbed by the error of a mean over so few runs: Student's t times their standard error.
    """
    runs, draws = len(shares), shares.shape[1] - 1
    mean = np.asarray(shares.mean(axis=0))
    if runs > 1:
        error = shares[:, 0].std(ddof=1) / np.sqrt(runs)
        mean[1:] += error * np.random.default_rng(runs).standard_t(runs - 1, draws)
    return mean


def by_sentence(owners: Array, right: Array, sentences: int) -> tuple[Array, Array]:
    """(right, count) per sentence, from answers and the sentence of each."""
    return (
        np.bincount(owners, weights=right.astype(np.float64), minlength=sentences),
        np.bincount(owners, minlength=sentences),
    )
