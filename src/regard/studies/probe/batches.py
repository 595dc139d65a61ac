"""Batches of sentences of similar length for the probes trained with torch, and when to stop training.

Enters: trees. Leaves: batches with a bounded number of padded word pairs, which bounds memory; a judge of epochs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from regard.studies.probe.trees import Tree

PAIRS = 16_384  # padded pairs of words per batch
SENTENCES = 32


def batches_of(trees: Sequence[Tree]) -> list[list[Tree]]:
    """The trees sorted by length and cut into batches."""
    batches: list[list[Tree]] = []
    for tree in sorted(trees, key=lambda tree: (len(tree), tree.number)):
        room = min(SENTENCES, PAIRS // len(tree) ** 2)
        if batches and len(batches[-1]) < room:
            batches[-1].append(tree)
        else:
            batches.append([tree])
    return batches


def shuffled(batches: Sequence[list[Tree]], seed: int, epoch: int) -> Iterator[list[Tree]]:
    """The batches in the order of an epoch."""
    for n in np.random.default_rng([seed, epoch]).permutation(len(batches)):
        yield batches[n]


@dataclass
class Patience:
    """Lowers the learning rate tenfold after an epoch without gain, and stops at the second such epoch in a row."""

    best: float = float("inf")
    idle: int = 0

    def better(self, loss: float) -> bool:
        """Whether this epoch is the best so far."""
        gained = loss < self.best - 1e-4 * abs(self.best) if np.isfinite(self.best) else True
        self.best, self.idle = (loss, 0) if gained else (self.best, self.idle + 1)
        return gained

    @property
    def over(self) -> bool:
        return self.idle >= 2
