"""Sums that can be added: the state of every study.

Enters: numbers per input. Leaves: named float64 arrays; adding two states is adding their arrays, so order, split and
machine do not matter. Intervals come from a Poisson bootstrap whose weights depend on the example's number alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
REPLICATES = 100


class Sums:
    """Named arrays that add up."""

    def __init__(self, arrays: dict[str, Array] | None = None) -> None:
        self.arrays: dict[str, Array] = arrays or {}

    def add(self, name: str, value: Array) -> None:
        """Add an array to the one of this name."""
        value = np.asarray(value, dtype=np.float64)
        held = self.arrays.get(name)
        if held is None:
            self.arrays[name] = value.copy()
        elif held.shape != value.shape:
            raise ValueError(f"{name} has shape {held.shape} so far but {value.shape} now; the models differ")
        else:
            held += value

    def plus(self, other: Sums) -> Sums:
        """The sum of both, leaving both as they are."""
        total = Sums({name: value.copy() for name, value in self.arrays.items()})
        for name, value in other.arrays.items():
            total.add(name, value)
        return total

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays


def bootstrap_weights(numbers: Iterable[int], seed: int = 0, replicates: int = REPLICATES) -> Array:
    """(inputs, 1 + replicates) weights: 1 for the estimate itself, then Poisson(1) draws by example number."""
    rows = [_weights(int(number), seed, replicates) for number in numbers]
    return np.stack(rows) if rows else np.empty((0, 1 + replicates))


def _weights(number: int, seed: int, replicates: int) -> Array:
    drawn = np.random.Generator(np.random.Philox(key=[seed, number])).poisson(1.0, replicates)
    return np.concatenate([[1.0], drawn])


def interval(replicates: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Percentile interval over the first axis; NaN where a replicate is undefined throughout."""
    tail = (1 - level) / 2
    defined = np.isfinite(replicates).any(axis=0)
    safe = np.where(defined, replicates, 0.0)
    low, high = np.nanquantile(safe, [tail, 1 - tail], axis=0)
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def ratio(total: Array, count: Array) -> Array:
    """total / count, NaN where nothing was counted."""
    some = count > 0
    return np.where(some, total / np.where(some, count, 1), np.nan)
