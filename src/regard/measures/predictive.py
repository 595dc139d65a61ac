"""Predictive words: which keys help most to predict a token.

Enters: gains in nats, (..., Q, K): how much likelier the token of row i is thanks to key j (`models/predicting.py`).
Leaves: target keys.
"""

from __future__ import annotations

from regard.measures.library import array_namespace
from regard.measures.reading import Array

HELPS = 0.1  # nats that the best key of a row must gain: it makes the token 1.1 times as likely
HALF = 0.5  # share of a row's gains that its most predictive keys hold together


def predictive_targets(gains: Array, among: Array) -> Array:
    """(..., Q, K): the most predictive keys, the fewest that together hold half of what the keys `among` gain.

    Keys that gain nothing, or of which it is not known (NaN), are none. Rows whose best key gains less than 0.1 nats
    have none.

    Source: Vig (2019), "Deconstructing BERT", pattern 5; the choice of keys is ours.

    Examples
    --------
    >>> import numpy as np
    >>> predictive_targets(np.array([[0.1, 2.0, -1.0, 0.3]]), np.array([[True, True, True, True]]))
    array([[False,  True, False, False]])
    """
    xp = array_namespace(gains)
    helps = xp.where(among & (gains > 0), gains, xp.zeros_like(gains))
    order = xp.argsort(-helps, axis=-1, stable=True)
    sorted_ = xp.take_along_axis(helps, order, axis=-1)
    larger = xp.cumulative_sum(sorted_, axis=-1) - sorted_  # what the keys before hold together
    needed = (larger < HALF * xp.sum(helps, axis=-1, keepdims=True)) & (sorted_[..., :1] >= HELPS) & (sorted_ > 0)
    return xp.take_along_axis(needed, xp.argsort(order, axis=-1), axis=-1)
