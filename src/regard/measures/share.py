"""Shares of token classes: in attention, and in what attention carries."""

from __future__ import annotations

from typing import NamedTuple

from regard.measures.library import array_namespace
from regard.measures.reading import Array


class Share(NamedTuple):
    """Per head and class (H..., C): attention, ||alpha f(x)|| as it is, and with each row made to sum to 1."""

    attention: Array
    carried: Array
    normalised: Array


def carried_share(attention: Array, norms: Array, classes: Array) -> Share:
    """How much attention a class of keys takes, and how much of what is carried comes from it.

    With the length ||f(x_j)|| of a key's transformed value, a pair carries ||alpha_ij f(x_j)|| = alpha_ij ||f(x_j)||.
    For a class C, all three are means over the rows i, special tokens among them, which count alike:

        attention = sum over C of alpha_ij        carried = sum over C of alpha_ij ||f(x_j)||
        normalised = carried of C / carried of all keys

    `normalised` is the mean of the rows' own shares, not the share of the means: a row that carries little counts as
    much as one that carries a lot, and one that carries nothing as 0. Lengths are added, not vectors, so that what
    cancels out between keys, or between heads, counts in full.

    Parameters
    ----------
    attention
        (..., queries, keys).
    norms
        (..., keys) lengths ||f(x_j)||, as `Trace.norms` gives them.
    classes
        (classes, keys) booleans. A class without tokens has share NaN: it is not there.

    Source: Kobayashi et al. (2020), "Attention is not only a weight".
    """
    xp = array_namespace(attention)
    member = xp.astype(classes, attention.dtype).T  # (K, C)
    weights, carried, normalised = class_rows(attention, norms, member)
    present = xp.any(classes, axis=-1)  # (C,)

    def known(values: Array) -> Array:
        means = xp.mean(values, axis=-2)
        return xp.where(present, means, xp.full_like(means, xp.nan))

    return Share(known(weights), known(carried), known(normalised))


def class_rows(attention: Array, norms: Array, member: Array) -> tuple[Array, Array, Array]:
    """(..., Q, C) of each row: attention, what is carried as it is, and as a share; member (..., K, C) is 0 or 1."""
    xp = array_namespace(attention)
    carried = xp.matmul(attention, norms[..., None] * member)  # (..., Q, K) @ (..., K, C)
    total = xp.matmul(attention, norms[..., None])  # (..., Q, 1)
    return xp.matmul(attention, member), carried, row_shares(carried, total)


def row_shares(carried: Array, total: Array) -> Array:
    """(..., Q, C) shares of what rows carry in all (..., Q, 1), 0 where that is nothing."""
    xp = array_namespace(carried)
    return carried / xp.where(total > 0, total, xp.ones_like(total))
