"""Entropy: how widely a head spreads its attention."""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from regard.measures.reading import Array, mean_where

SMOOTH = 1e-4  # Clark et al. (2019) mix in this much uniform attention before the logarithm


class Level(NamedTuple):
    """A measure of heads and what uniform attention over the visible keys would give."""

    value: Array
    chance: Array


def entropy(
    attention: Array, *, visible: Array | None = None, rows: Array | None = None, smooth: float = SMOOTH
) -> Level:
    """Mean entropy of the rows in nats, and that of uniform attention; value / chance is the per cent of uniform.

    H_i = - sum of p_ij ln p_ij with p = (1 - smooth) A + smooth / n_i over the n_i visible keys; uniform is ln n_i.
    Rows that see one key only have no choice and do not count. Where a model gives part of a row to a sink outside the
    text, A is what is left, renormalised to 1; how much the sink takes is another number (`sink_mass`).

    Source: Clark et al. (2019). Their figure for one row is `rows` with that row alone.
    """
    return mean_level(*entropy_rows(attention, visible=visible, smooth=smooth), rows)


def mean_level(values: Array, chance: Array, rows: Array | None = None) -> Level:
    """Means over the rows (H..., Q) that have a choice (chance above 0)."""
    xp = array_namespace(values)
    counted = chance > 0 if rows is None else (chance > 0) & rows
    value = mean_where(values, counted)
    return Level(value, mean_where(chance, counted) + xp.zeros_like(value))


def entropy_rows(attention: Array, *, visible: Array | None = None, smooth: float = SMOOTH) -> tuple[Array, Array]:
    """(..., queries) entropies of rows renormalised to 1, and (queries,) uniform ones."""
    logs = x_log_x(mix_uniform(renormalised(attention), visible=visible, smooth=smooth))
    return -array_namespace(attention).sum(logs, axis=-1), uniform_entropy(attention, visible=visible)


def renormalised(attention: Array) -> Array:
    """Rows brought to a sum of 1; rows of nothing stay 0."""
    xp = array_namespace(attention)
    total = xp.sum(attention, axis=-1, keepdims=True)
    return attention / xp.where(total > 0, total, xp.ones_like(total))


def sink_mass(attention: Array, *, visible: Array | None = None) -> Array:
    """Mean share of the rows that goes to no key, but to a sink outside the text; over the rows that `entropy` counts.

    Source: the learned sinks of gpt-oss (2025), a term in the denominator of the softmax.
    """
    return mean_where(sink_rows(attention), uniform_entropy(attention, visible=visible) > 0)


def sink_rows(attention: Array) -> Array:
    """(..., queries) shares that go to no key."""
    xp = array_namespace(attention)
    return xp.clip(1 - xp.sum(attention, axis=-1), 0.0, 1.0)


def mix_uniform(attention: Array, *, visible: Array | None = None, smooth: float = SMOOTH) -> Array:
    """(1 - smooth) A + smooth / n_i over the n_i visible keys of each row."""
    xp = array_namespace(attention)
    if visible is None:
        return attention * (1 - smooth) + smooth / attention.shape[-1]
    allowed = xp.astype(visible, attention.dtype)
    seen = xp.sum(allowed, axis=-1, keepdims=True)
    return attention * (1 - smooth) + allowed * (smooth / xp.where(seen > 0, seen, xp.ones_like(seen)))


def uniform_entropy(attention: Array, *, visible: Array | None = None) -> Array:
    """(queries,) ln n_i, 0 for a row that sees nothing."""
    xp = array_namespace(attention)
    table = attention[(0,) * (attention.ndim - 2)]  # (Q, K)
    allowed = xp.ones_like(table) if visible is None else xp.astype(visible, attention.dtype)
    seen = xp.sum(allowed, axis=-1)
    return xp.log(xp.where(seen > 0, seen, xp.ones_like(seen)))


def x_log_x(values: Array, *, positive: bool = False) -> Array:
    """x ln x, and 0 at 0; `positive` says that no value is 0."""
    xp = array_namespace(values)
    if positive:
        return values * xp.log(values)
    tiny = float(xp.finfo(values.dtype).smallest_normal)  # too small to change any value but 0
    return values * xp.log(values + tiny)
