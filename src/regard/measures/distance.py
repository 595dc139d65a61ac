"""Mean distance: how far a head looks."""

from __future__ import annotations

from array_api_compat import array_namespace

from regard.measures.entropy import Level
from regard.measures.reading import Array, mean_where, positions, weigh


def mean_distance(
    attention: Array, *, visible: Array | None = None, rows: Array | None = None, start: int = 0
) -> Level:
    """Mean of |i - j| in tokens, weighted by attention, and under uniform attention: sum of A_ij |i - j|.

    Rows that see one key only do not count.

    Source: Vig and Belinkov (2019), "Analyzing the structure of attention" (attention distance).
    """
    values, chance, counted = distance_rows(attention, visible=visible, start=start)
    counted = counted if rows is None else counted & rows
    value = mean_where(values, counted)
    return Level(value, mean_where(chance, counted) + array_namespace(value).zeros_like(value))


def distance_rows(attention: Array, *, visible: Array | None = None, start: int = 0) -> tuple[Array, Array, Array]:
    """(..., queries) distances, (queries,) uniform ones, and which rows have a choice."""
    xp = array_namespace(attention)
    queries, keys = attention.shape[-2:]
    gap = positions(attention, keys)[None, :] - positions(attention, queries)[:, None] - start
    table = xp.astype(xp.abs(gap), attention.dtype)  # (Q, K)
    values = weigh(xp.reshape(attention, (-1, queries, keys)), table[None, ...])[0, ...]  # (H, Q)
    allowed = xp.ones_like(table) if visible is None else xp.astype(visible, attention.dtype)
    seen = xp.sum(allowed, axis=-1)
    uniform = xp.sum(table * allowed, axis=-1) / xp.where(seen > 0, seen, xp.ones_like(seen))
    return xp.reshape(values, tuple(attention.shape[:-1])), uniform, seen > 1
