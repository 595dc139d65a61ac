"""Predictive words: does a head look at what helps to predict the token?"""

from __future__ import annotations

from regard.measures.library import array_namespace, clip
from regard.measures.reading import Array, Reading, RowReadings, summarise


def predictive(attention: Array, shares: Array) -> Reading:
    """Overlap of attention with predictive shares: m_i = sum over j of min(A_ij, P_ij).

    Chance is the same sum for uniform attention, sum of min(1/n, P_ij). Rows count where something predicts the token
    (P_i sums to 1). The argmax rate says how often the strongest key is the most predictive one.

    Source: Vig (2019), "Deconstructing BERT", pattern 5; the score is ours.
    """
    xp = array_namespace(attention)
    mass = xp.sum(xp.minimum(attention, shares), axis=-1)
    chance = xp.sum(xp.minimum(xp.full_like(shares, 1 / shares.shape[-1]), shares), axis=-1)
    hit = xp.argmax(attention, axis=-1) == xp.argmax(shares, axis=-1)
    return summarise(RowReadings(mass, hit, chance, xp.sum(shares, axis=-1) > 0))


def predictive_shares(alone: Array, without: Array, content: Array) -> Array:
    """(n, n) shares P: how much each other token helps to predict token i.

        P_i proportional to max(0, log p(x_i | i masked) - log p(x_i | i and j masked)),  j an ordinary token, j != i

    `alone` is (n,) log p(x_i | i masked), `without` (n, n) log p(x_i | i and j masked), `content` (n,) booleans. Rows
    of special tokens, and rows that nothing helps, are 0.
    """
    xp = array_namespace(without)
    pairs = content[:, None] & content[None, :] & ~xp.eye(content.shape[0], dtype=xp.bool)
    loss = alone[:, None] - without
    gain = xp.where(pairs, clip(loss, 0.0, None), xp.zeros_like(loss))
    total = xp.sum(gain, axis=-1, keepdims=True)
    return gain / xp.where(total > 0, total, xp.ones_like(total))
