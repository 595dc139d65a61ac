"""How good a probe is, as sums by group of sentences, so that two probes can be compared.

Enters: per test sentence how much was right of how much. Leaves: sums; values, differences and intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.intervals import GROUPS, clusters_of, interval


@dataclass(frozen=True)
class Value:
    """A number, its interval over sentences, and how many things it is a share of."""

    value: float
    low: float
    high: float
    count: int


@dataclass(eq=False)
class Scores:
    """Named shares over the test sentences. A name is "probe/measure/of what", say "pairs/dependency/model"."""

    seed: int = 0
    sums: Sums = field(default_factory=Sums)

    def add(self, name: str, clusters: Sequence[int], right: Array, count: Array) -> None:
        """Note `right` of `count` per sentence, (sentences,) or (sentences, groups); groups are averaged alike."""
        self.sums.add_groups(f"{name}/right", np.array(clusters), right)
        self.sums.add_groups(f"{name}/count", np.array(clusters), count)

    def __contains__(self, name: str) -> bool:
        return f"{name}/count" in self.sums

    def names(self) -> list[str]:
        """What there are shares of, in the order they came."""
        return [name.removesuffix("/count") for name in self.sums.arrays if name.endswith("/count")]

    def value(self, name: str) -> Value:
        """A share with its interval."""
        return self._told(self._shares(name), name)

    def difference(self, one: str, other: str) -> Value:
        """What one is above the other, both on the same sentences in every draw."""
        return self._told(self._shares(one) - self._shares(other), one)

    def _shares(self, name: str) -> Array:
        """(1 + draws,) shares; the mean over groups that have something, where there are groups."""
        shares = ratio(self.sums.resampled(f"{name}/right"), self.sums.resampled(f"{name}/count"))
        if shares.ndim == 1:
            return shares
        some = np.isfinite(shares)
        return ratio(np.where(some, shares, 0).sum(axis=1), some.sum(axis=1))

    def _told(self, shares: Array, name: str) -> Value:
        counts = self.sums[f"{name}/count"].reshape(GROUPS, -1).sum(axis=1)
        low, high = interval(shares, clusters_of(counts))
        return Value(float(shares[0]), float(low), float(high), int(counts.sum()))


def by_sentence(owners: Array, right: Array, sentences: int) -> tuple[Array, Array]:
    """(right, count) per sentence, from answers and the sentence each is of."""
    return (
        np.bincount(owners, weights=right.astype(np.float64), minlength=sentences),
        np.bincount(owners, minlength=sentences),
    )
