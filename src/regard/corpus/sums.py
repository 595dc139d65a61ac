"""Mergeable sums: the state of every study.

Enters: numbers per input. Leaves: named float64 arrays; adding two states is adding their arrays, so order, split and
machine do not matter. Numbers that get an interval are summed by group of clusters (`regard.measures.intervals`): a
document falls into a group by its place in the corpus alone. Arrays whose name begins with `KEPT` are rows in order, of
which the first so many are kept; those of two states are put in order together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from regard.base.errors import UserError
from regard.measures.intervals import GROUPS, clusters_of, resampled

Array = np.ndarray[Any, Any]
KEPT = "kept "  # the beginning of the names of arrays that keep rows
ORDER = 4  # columns of a kept row that it is ordered by, the first one first; no two rows have the same


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
            raise UserError(f"{name} has shape {held.shape} so far but {value.shape} now; the models differ")
        elif name.startswith(KEPT):
            some = np.isfinite(value[..., 0]).any(axis=-1)  # elsewhere there is nothing new
            held[some] = first_rows(np.concatenate([held[some], value[some]], axis=-2), held.shape[-2])
        else:
            held += value

    def add_at(self, name: str, size: int, places: Array, values: Array) -> None:
        """Add values (..., n, F) to the rows `places` (n,) of an array (..., size, F); no place comes twice."""
        shape = (*values.shape[:-2], size, values.shape[-1])
        held = self.arrays.setdefault(name, np.zeros(shape))
        if held.shape != shape:
            raise UserError(f"{name} has shape {held.shape} so far but {shape} now; the models differ")
        held[..., places, :] += values

    def add_groups(self, name: str, clusters: Array, values: Array, groups: int = GROUPS) -> None:
        """Add values (n, ...) of clusters (n,) to sums (groups, ...) by group."""
        self.add_all({name: values}, clusters, groups)

    def add_all(self, values: Mapping[str, Array], clusters: Array, groups: int = GROUPS) -> None:
        """The same for several names at once."""
        order = np.argsort(clusters % groups, kind="stable")
        rows, starts = np.unique(clusters[order] % groups, return_index=True)
        for name, array in values.items():
            array = np.asarray(array, dtype=np.float64)
            if name not in self.arrays:
                self.arrays[name] = np.zeros((groups, *array.shape[1:]))
            held = self.arrays[name]
            if held.shape[1:] != array.shape[1:]:
                shapes = f"{held.shape[1:]} so far but {array.shape[1:]} now"
                raise UserError(f"{name} has shape {shapes}; the models differ")
            if len(rows):
                held[rows] += np.add.reduceat(array[order], starts, axis=0)

    def resampled(self, name: str) -> Array:
        """(1 + draws, ...) sums by group as sums over all groups, then over drawn ones."""
        return resampled(self.arrays[name])

    def clusters(self, name: str) -> Array:
        """(...) the effective number of clusters behind the sums by group of this name."""
        return clusters_of(self.arrays[name])

    def whole(self, name: str) -> Array:
        """(...) sums by group, all groups together."""
        return np.asarray(self.arrays[name].sum(axis=0))

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


def ratio(total: Array, count: Array) -> Array:
    """total / count, NaN where nothing was counted."""
    some = count > 0
    return np.where(some, total / np.where(some, count, 1), np.nan)


def first_rows(rows: Array, count: int) -> Array:
    """(..., count, F) the first of rows (..., N, F) by their first `ORDER` columns; a row that is not there is inf."""
    order = np.argsort(rows[..., 0], axis=-1)
    first = np.take_along_axis(rows[..., 0], order, axis=-1)
    tied = ((first[..., 1:] == first[..., :-1]) & np.isfinite(first[..., 1:])).any(axis=-1)
    if tied.any():  # rarely: only then do the other columns tell
        some = rows[tied]
        order[tied] = np.lexsort(tuple(some[..., column] for column in reversed(range(ORDER))), axis=-1)
    return np.take_along_axis(rows, order[..., :count, None], axis=-2)
