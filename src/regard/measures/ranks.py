"""Ranks, and rank correlation of two lists of numbers; without scipy's statistics, which take seconds to import."""

from __future__ import annotations

import numpy as np

from regard.measures.reading import Array


def mean_ranks(values: Array) -> Array:
    """(..., n) ranks of numbers along the last axis, from 1; equal ones share the mean of theirs."""
    values = np.asarray(values)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*ordered.shape[:-1], 1), bool)
    places = np.arange(1.0, ordered.shape[-1] + 1)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, differs], -1), places, 0), axis=-1)
    last = np.where(np.concatenate([differs, edge], -1), places, np.inf)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(ordered.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=-1)
    return ranks


def spearman(one: Array, other: Array) -> float:
    """Rank correlation; NaN where there is none."""
    if len(one) < 3 or not (np.ptp(one) > 0 and np.ptp(other) > 0):
        return float("nan")
    return float(np.corrcoef(mean_ranks(one), mean_ranks(other))[0, 1])
