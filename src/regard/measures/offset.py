"""Attention at a fixed distance: itself, the next token, the previous one, or any offset."""

from __future__ import annotations

from collections.abc import Sequence

from regard.measures.library import array_namespace, clip
from regard.measures.reading import Array, Reading, positions, read


def to_offset(
    attention: Array,
    offset: int,
    *,
    within: Array | None = None,
    visible: Array | None = None,
    rows: Array | None = None,
) -> Reading:
    """Attention to the key `offset` places after the query: m_i = A[i, i + offset].

    `within` (queries, keys) says which pairs may count, for instance both tokens in one sentence. Clark et al. (2019)
    sum over all rows and divide by n; here rows without such a key do not count, so the two differ by a factor
    (n - |offset|) / n.

    Source: Clark et al. (2019), section 3; Vig (2019), "Deconstructing BERT", patterns 1 and 2.
    """
    return read(attention, offset_targets(attention, offset, within=within), visible=visible, rows=rows)


def to_self(attention: Array, *, visible: Array | None = None, rows: Array | None = None) -> Reading:
    """Attention of a token to itself: m_i = A[i, i]. Source: Clark et al. (2019)."""
    return to_offset(attention, 0, visible=visible, rows=rows)


def to_next(
    attention: Array, *, within: Array | None = None, visible: Array | None = None, rows: Array | None = None
) -> Reading:
    """Attention to the next token: m_i = A[i, i + 1]. Source: Vig (2019), pattern 1."""
    return to_offset(attention, 1, within=within, visible=visible, rows=rows)


def to_previous(
    attention: Array, *, within: Array | None = None, visible: Array | None = None, rows: Array | None = None
) -> Reading:
    """Attention to the previous token: m_i = A[i, i - 1]. Source: Vig (2019), pattern 2."""
    return to_offset(attention, -1, within=within, visible=visible, rows=rows)


def offset_targets(attention: Array, offset: int, *, start: int = 0, within: Array | None = None) -> Array:
    """(queries, keys) booleans: key = query + offset, for maps whose first row is query `start`."""
    return near_targets(gaps(attention, start=start), offset, offset, within=within)


def near_targets(gap: Array, nearest: int, farthest: int, *, within: Array | None = None) -> Array:
    """(queries, keys) booleans: nearest <= key - query <= farthest, for `gaps` (queries, keys)."""
    targets = gap == nearest if nearest == farthest else (gap >= nearest) & (gap <= farthest)
    return targets if within is None else targets & within


def gaps(like: Array, *, start: int = 0) -> Array:
    """(queries, keys) key - query, for maps `like` (..., queries, keys) whose first row is query `start`."""
    queries, keys = like.shape[-2:]
    return positions(like, keys)[None, :] - positions(like, queries)[:, None] - start


def offset_cells(like: Array, offsets: Sequence[int], *, start: int = 0) -> tuple[Array, Array]:
    """(offsets, queries) places of A[i, i + offset] among the cells of maps `like` (..., queries, keys), in the order
    of their rows, the first of which is query `start`, and whether there is such a cell; where not, of another one."""
    xp = array_namespace(like)
    queries, keys = like.shape[-2:]
    row = positions(like, queries)
    reached = xp.stack([row + (start + offset) for offset in offsets])
    return row * keys + clip(reached, 0, keys - 1), (reached >= 0) & (reached < keys)


def offset_rows(attention: Array, cells: tuple[Array, Array]) -> Array:
    """(..., offsets, queries) A[i, i + offset] at the `offset_cells`, 0 where there is none."""
    xp = array_namespace(attention)
    places, inside = cells
    flat = xp.reshape(attention, (*attention.shape[:-2], attention.shape[-2] * attention.shape[-1]))
    found = xp.take(flat, xp.reshape(places, (-1,)), axis=-1)
    return xp.reshape(found, (*flat.shape[:-1], *places.shape)) * xp.astype(inside, attention.dtype)
