"""The best of many, chosen on one half of the inputs and scored on the other: what choosing on the test data inflates.

Enters: hits of many candidates by replicate and half. Leaves: who was chosen, and the accuracy where it was not chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.corpus.sums import Array, interval, ratio


@dataclass(frozen=True, eq=False)
class Choice:
    """`best` is the best over all inputs; `even` and `odd` were chosen on the even and the odd inputs.

    `held_out` (1 + replicates,) is the share of hits of `even` on the odd inputs and of `odd` on the even ones, taken
    together; the first is the estimate, the others are bootstrap replicates of it for the same two choices.
    """

    best: int
    even: int
    odd: int
    held_out: Array

    @property
    def agree(self) -> bool:
        """Whether both halves chose the same."""
        return self.even == self.odd

    @property
    def value(self) -> float:
        return float(self.held_out[0])

    @property
    def limits(self) -> tuple[float, float]:
        return limits(self.held_out)


def choose(hits: Array, counts: Array) -> Choice:
    """The best of C candidates by hits (1 + replicates, 2, C) and counts (1 + replicates, 2) of two halves."""
    even, odd = (int(hits[0, half].argmax()) for half in (0, 1))
    held_out = ratio(hits[:, 1, even] + hits[:, 0, odd], counts.sum(axis=1))
    if not counts[0].all():  # nothing to choose by in one half
        held_out = np.full_like(held_out, np.nan)
    return Choice(int(hits[0].sum(axis=0).argmax()), even, odd, held_out)


def limits(replicates: Array) -> tuple[float, float]:
    """The 95 % interval of (1 + replicates,) values."""
    low, high = interval(replicates[1:])
    return float(low), float(high)
