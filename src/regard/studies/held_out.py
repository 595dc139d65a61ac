"""The best of many, chosen on one half of the inputs and scored on the other: choosing on the test data inflates it.

Enters: hits of many candidates by replicate and half. Leaves: which was chosen, and its accuracy on the other half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.corpus.sums import Array, ratio
from regard.measures.intervals import interval


@dataclass(frozen=True, eq=False)
class Choice:
    """`best` is the best over all inputs; `even` and `odd` were chosen on the even and the odd inputs.

    `held_out` (1 + draws,) is the share of hits of `even` on the odd inputs and of `odd` on the even ones, taken
    together; the first is the estimate, the others are over resampled clusters for the same two choices.
    """

    best: int
    even: int
    odd: int
    held_out: Array
    clusters: float  # effective number behind it

    @property
    def agree(self) -> bool:
        """Whether both halves chose the same candidate."""
        return self.even == self.odd

    @property
    def value(self) -> float:
        return float(self.held_out[0])

    @property
    def limits(self) -> tuple[float, float]:
        return limits(self.held_out, self.clusters)


def choose(hits: Array, counts: Array, clusters: float) -> Choice:
    """The best of C candidates by hits (1 + draws, 2, C) and counts (1 + draws, 2) of two halves."""
    even, odd = (int(hits[0, half].argmax()) for half in (0, 1))
    held_out = ratio(hits[:, 1, even] + hits[:, 0, odd], counts.sum(axis=1))
    if not counts[0].all():  # one half is empty
        held_out = np.full_like(held_out, np.nan)
    return Choice(int(hits[0].sum(axis=0).argmax()), even, odd, held_out, clusters)


def limits(values: Array, clusters: float) -> tuple[float, float]:
    """The interval of (1 + draws,) values."""
    low, high = interval(values, clusters)
    return float(low), float(high)
