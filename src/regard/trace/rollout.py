"""Attention from the last layer to the input (Abnar & Zuidema 2020).

Enters: maps or contributions of each layer, heads together. Leaves: one map from the last layer's positions to the
input's tokens.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from regard.trace.site import Array


def rolled_out(layers: Iterable[Array]) -> Array:
    """(T, T) product over layers, first to last, of ½A + ½I with rows of A that sum to 1; a row without any is I's.

    Examples
    --------
    >>> rolled_out([np.full((2, 2), 0.5)])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    total: Array | None = None
    for layer in layers:
        table = np.asarray(layer, np.float64)
        whole = np.eye(len(table))
        sums = table.sum(axis=-1, keepdims=True)
        rows = np.where(sums > 0, table / np.where(sums > 0, sums, 1), whole)
        step = 0.5 * rows + 0.5 * whole
        total = step if total is None else step @ total
    assert total is not None
    return total
