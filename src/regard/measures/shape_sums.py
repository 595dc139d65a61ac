"""Sums of maps that their shape is told by: columns, diagonals, and what is plain in them.

Enters: maps (..., queries, keys), or blocks of their rows. Leaves: sums that can be joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from array_api_compat import device

from regard.measures.library import array_namespace, clip, distinct
from regard.measures.offset import offset_cells, offset_rows
from regard.measures.reading import Array, positions, seen_keys

OFFSETS = (-2, -1, 0, 1, 2)
_PLAIN = 4  # a cell is plain from a quarter of its row's strongest: half as dark on a square-root scale
_FEW = 5  # keys: a row that sees fewer is dark whatever the head does


class ShapeSums(NamedTuple):
    """What the features need of maps (H..., Q, K); sums over blocks of rows can be joined."""

    columns: Array  # (H..., S, K) attention of the queries of each part to each key
    weighed: Array  # (3, H..., K) attention to each key, weighed by `key_tables`
    plain: Array  # (H..., K) in how many rows each key is plain
    diagonals: Array  # (H..., 5, Q) A[i, i + offset]
    lines: Array  # (H..., 5, Q) how plain these cells are


def uniform_attention(visible: Array) -> Array:
    """Attention spread evenly over the visible keys; `visible` is (queries, keys) of 0 and 1."""
    xp = array_namespace(visible)
    seen = xp.sum(visible, axis=-1, keepdims=True)
    return visible / xp.where(seen > 0, seen, xp.ones_like(seen))


def shape_sums(
    attention: Array,
    segments: Array,
    key_segments: Array,
    visible: Array,
    *,
    start: int = 0,
    tables: Array | None = None,
) -> ShapeSums:
    """ShapeSums over rows that begin at query `start`, lie in `segments` and see `visible` (queries, keys).

    `tables` are those of `key_tables`, where they are at hand.
    """
    xp = array_namespace(attention)
    weights = key_tables(segments, key_segments, start=start) if tables is None else tables
    numbers = distinct(key_segments)
    member = xp.astype(segments[None, :] == numbers[:, None], attention.dtype)  # (S, Q)
    diagonals = offset_rows(attention, offset_cells(attention, OFFSETS, start=start))
    scale = plainness(xp.max(attention, axis=-1), seen_keys(attention, visible))  # (H, Q)
    return ShapeSums(
        xp.matmul(member, attention),  # (S, Q) @ (H, Q, K) -> (H, S, K)
        weigh_keys(attention, xp.astype(weights, attention.dtype)),
        xp.sum(plain(attention, scale[..., None]), axis=-2),
        diagonals,
        plain(diagonals, scale[..., None, :]),
    )


def join_sums(blocks: Sequence[ShapeSums]) -> ShapeSums:
    """The sums of blocks of rows that follow each other."""
    xp = array_namespace(blocks[0].columns)
    columns, weighed, plain_keys, *rows = zip(*blocks, strict=True)
    by_key = [xp.sum(xp.stack(parts), axis=0) for parts in (columns, weighed, plain_keys)]
    return ShapeSums(*by_key, *(xp.concat(parts, axis=-1) for parts in rows))


def key_tables(segments: Array, key_segments: Array, *, start: int = 0) -> Array:
    """(3, Q, K): what attention is weighed with before it is summed by key.

    Pairs of one part and pairs of two, each so that both have as many at every distance, none of them neighbours; and
    the distance.
    """
    xp = array_namespace(segments)
    places = positions(key_segments, key_segments.shape[-1])
    far = xp.abs(places[None, :] - (positions(segments, segments.shape[-1]) + start)[:, None])  # (Q, K)
    ordinary = (segments >= 0)[:, None] & (key_segments >= 0)[None, :]
    same = segments[:, None] == key_segments[None, :]
    weights = xp.astype(_matched(key_segments), xp.float32)
    inside, across = (xp.reshape(xp.take(w, xp.reshape(far, (-1,))), far.shape) for w in (weights[0], weights[1]))
    none = xp.zeros_like(inside)
    return xp.stack(
        [
            xp.where(ordinary & same, inside, none),
            xp.where(ordinary & ~same, across, none),
            xp.astype(far, inside.dtype),
        ]
    )


def _matched(segments: Array) -> Array:
    """(2, n) by distance: weights of a pair of one part and of a pair of two, after which both are as many."""
    xp = array_namespace(segments)
    count = segments.shape[-1]
    numbers = distinct(segments)
    if numbers[numbers >= 0].shape[0] < 2:  # no pair of two parts: none is matched
        return xp.zeros((2, count), dtype=xp.float64, device=device(segments))
    parts = (segments[None, :] == numbers[:, None]) & (segments >= 0)[None, :]  # (S, n)
    inside = _pairs(parts)
    across = _pairs((segments >= 0)[None, :]) - inside
    far = positions(segments, count) > max(OFFSETS)
    pairs = xp.where(far, xp.minimum(inside, across), xp.zeros_like(inside))
    return xp.stack([share_of(pairs, inside), share_of(pairs, across)])


def _pairs(members: Array) -> Array:
    """(n,) how many pairs of members of one row of (S, n) there are at each distance: the row's autocorrelation."""
    xp = array_namespace(members)
    count = members.shape[-1]
    spectrum = xp.fft.rfft(xp.astype(members, xp.float64), n=2 * count)
    power = xp.sum(xp.real(spectrum) ** 2 + xp.imag(spectrum) ** 2, axis=0)
    return xp.round(xp.fft.irfft(xp.astype(power, xp.complex128), n=2 * count)[:count])


def weigh_keys(attention: Array, tables: Array) -> Array:
    """(T, H..., K) sums over queries of maps (H..., Q, K) times tables (T, Q, K), or any that fit the maps."""
    xp = array_namespace(attention)
    return xp.stack([xp.sum(attention * tables[number, ...], axis=-2) for number in range(tables.shape[0])])


def plainness(peak: Array, seen: Array) -> Array:
    """(H..., Q) what makes a cell of a row plain: a quarter of its strongest; infinite where a row sees few keys.

    `seen` is how many keys rows see.
    """
    xp = array_namespace(peak)
    return xp.where((seen >= _FEW) & (peak > 0), peak / _PLAIN, xp.full_like(peak, xp.inf))


def plain(attention: Array, scale: Array) -> Array:
    """How plain cells are, from 0 to 1."""
    return clip(attention / scale, 0.0, 1.0)


def share_of(part: Array, whole: Array) -> Array:
    """part / whole, 0 where there is nothing."""
    xp = array_namespace(part)
    return xp.where(whole > 0, part / xp.where(whole > 0, whole, xp.ones_like(whole)), xp.zeros_like(part))
