"""Entropy: how widely a head spreads its attention."""

from __future__ import annotations

from typing import NamedTuple

from regard.measures.library import array_namespace, clip, log
from regard.measures.reading import Array, mean_where, seen_keys

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
    text, A is what is left, renormalised to 1; how much the sink takes is another number (`sink_mass`). Over a corpus
    the atlas takes the mean over all its rows, so long inputs count more; the study of tokens takes the mean over
    inputs, each the mean over all of its rows (those that see one key have entropy 0).

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
    xp = array_namespace(attention)
    seen = xp.astype(seen_keys(attention, visible), attention.dtype)
    return entropy_of(mixed_logs(renormalised(attention), seen, smooth=smooth), seen, smooth=smooth), xp.log(seen)


def mixed_logs(attention: Array, seen: Array, *, smooth: float = SMOOTH) -> Array:
    """(..., Q, K) p ln p of p = (1 - smooth) A + smooth / n_i, for rows that see n_i keys (`seen`, (..., Q)).

    Keys that a row does not see get their share too, which spares a mask; `entropy_of` takes it away again.
    """
    mixed = attention * (1 - smooth)
    mixed += _share(seen, smooth)[..., None]
    logs = log(mixed)
    logs *= mixed
    return logs


def entropy_of(logs: Array, seen: Array, *, smooth: float = SMOOTH) -> Array:
    """(..., Q) entropies of rows over the keys they see, from `mixed_logs`."""
    xp = array_namespace(logs)
    share = _share(seen, smooth)
    return (logs.shape[-1] - seen) * share * xp.log(share) - xp.sum(logs, axis=-1)


def _share(seen: Array, smooth: float) -> Array:
    """What smoothing gives each key: more than 0, which has no logarithm."""
    return smooth / seen + float(array_namespace(seen).finfo(seen.dtype).smallest_normal)


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
    return clip(1 - xp.sum(attention, axis=-1), 0.0, 1.0)


def mix_uniform(attention: Array, *, visible: Array | None = None, smooth: float = SMOOTH) -> Array:
    """(1 - smooth) A + smooth / n_i over the n_i visible keys of each row."""
    xp = array_namespace(attention)
    if visible is None:
        return attention * (1 - smooth) + smooth / attention.shape[-1]
    allowed = xp.astype(visible, attention.dtype)
    share = smooth / xp.astype(seen_keys(attention, visible), attention.dtype)
    return attention * (1 - smooth) + allowed * share[..., None]


def uniform_entropy(attention: Array, *, visible: Array | None = None) -> Array:
    """(queries,) ln n_i, 0 for a row that sees nothing."""
    xp = array_namespace(attention)
    return xp.log(xp.astype(seen_keys(attention, visible), attention.dtype))


def x_log_x(values: Array) -> Array:
    """x ln x, and 0 at 0."""
    xp = array_namespace(values)
    tiny = float(xp.finfo(values.dtype).smallest_normal)  # too small to change any value but 0
    return values * log(values + tiny)
