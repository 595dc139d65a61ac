"""Rank correlation of two lists of numbers."""

from __future__ import annotations

import numpy as np

from regard.measures.reading import Array


def spearman(one: Array, other: Array) -> float:
    """Rank correlation; NaN where there is none, without scipy's warning."""
    from scipy.stats import spearmanr

    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(spearmanr(one, other).statistic)
