"""Shares of token classes: in attention, and in what attention carries."""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from regard.measures.reading import Array


class Share(NamedTuple):
    """Per head and class (H..., C): attention, ||alpha f(x)|| as it is, and with each row made to sum to 1."""

    attention: Array
    carried: Array
    normalised: Array


def carried_share(attention: Array, norms: Array, classes: Array) -> Share:
    """How much attention a class of keys takes, and how much of what is carried comes from it.

    With the length ||f(x_j)|| of a key's transformed value, a pair carries ||alpha_ij f(x_j)|| = alpha_ij ||f(x_j)||.
    For a class C, all three are means over the rows i:

        attention = sum over C of alpha_ij        carried = sum over C of alpha_ij ||f(x_j)||
        normalised = carried of C / carried of all keys

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
    weight = xp.mean(attention, axis=-2)  # (H, K): columns first, then classes, is the same sum
    carried = attention * norms[..., None, :]
    total = xp.sum(carried, axis=-1, keepdims=True)
    shares = xp.mean(carried / xp.where(total > 0, total, xp.ones_like(total)), axis=-2)
    present = xp.any(classes, axis=-1)  # (C,)

    def known(values: Array) -> Array:
        return xp.where(present, values, xp.full_like(values, xp.nan))

    return Share(
        known(xp.matmul(weight, member)),  # (H, K) @ (K, C) -> (H, C)
        known(xp.matmul(weight * norms, member)),
        known(xp.matmul(shares, member)),
    )
