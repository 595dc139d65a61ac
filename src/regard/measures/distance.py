"""Mean distance: how far a head looks."""

from __future__ import annotations

from regard.measures.entropy import Level
from regard.measures.library import array_namespace
from regard.measures.offset import gaps
from regard.measures.reading import Array, mean_where, seen_keys, weigh


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
    table = xp.astype(xp.abs(gaps(attention, start=start)), attention.dtype)  # (Q, K)
    values = weigh(xp.reshape(attention, (-1, queries, keys)), table[None, ...])[0, ...]  # (H, Q)
    seen = seen_keys(attention, visible)
    uniform = uniform_distance(table, visible, xp.astype(seen, table.dtype))
    return xp.reshape(values, tuple(attention.shape[:-1])), uniform, seen > 1


def uniform_distance(table: Array, visible: Array | None, seen: Array) -> Array:
    """(..., Q) the mean distance of the keys that a query sees."""
    xp = array_namespace(table)
    allowed = table if visible is None else table * xp.astype(visible, table.dtype)
    return xp.sum(allowed, axis=-1) / seen
