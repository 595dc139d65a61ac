"""The shape of a map: columns, diagonals, blocks and spread, the features behind Kovaleva's five types."""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import array_namespace

from regard.measures.entropy import entropy
from regard.measures.offset import offset_targets
from regard.measures.reading import Array, lift, positions, weigh

OFFSETS = (-2, -1, 0, 1, 2)
COLUMNS = 3  # how many of the strongest columns are set aside to see what lies under them
_ROOM = 1e-3  # share of uniform attention off the diagonals; below it only rounding tells a diagonal from the rest


class ShapeSums(NamedTuple):
    """What the features need of maps (H..., Q, K); sums over blocks of rows can be added or joined."""

    columns: Array  # (H..., S, K) attention of the queries of each segment to each key
    diagonals: Array  # (5, H..., Q) A[i, i + offset]


class Shape(NamedTuple):
    """Numbers per head, each from 0 to 1; lifts are 0 at what uniform attention over the visible keys gives.

    `tallest` and `three` are the lift of the strongest column and of the three strongest together, `gini` how unequal
    the columns are, `diagonal` the strongest lift of the offsets -2 to 2, `evenness` entropy over that of uniform
    attention. The others describe what is left without the three columns: the lift of the strongest diagonal (`line`),
    of all five together (`band`) and of the query's own segment (`own`, 0 where there is one segment only). `line` and
    `band` are NaN where the five diagonals cover all that may be seen of those columns: no map can then be told apart.
    """

    tallest: Array
    three: Array
    gini: Array
    diagonal: Array
    line: Array
    band: Array
    own: Array
    evenness: Array


def shape_features(attention: Array, *, segments: Array | None = None, visible: Array | None = None) -> Shape:
    """Shape of square maps (..., n, n): how much stands in columns, along diagonals, within segments.

    `segments` is (n,) sentence numbers, negative for special tokens; `visible` (n, n) what the mask allows.

    Source: Kovaleva et al. (2019) for the types; the features are ours.
    """
    xp = array_namespace(attention)
    table = attention[(0,) * (attention.ndim - 2)]  # (n, n), for its type and device
    allowed = xp.ones_like(table, dtype=xp.bool) if visible is None else visible
    labels = positions(attention, attention.shape[-1]) * 0 if segments is None else segments
    uniform = uniform_attention(xp.astype(allowed, attention.dtype))
    spread = entropy(attention, visible=allowed)
    return shape_of(
        shape_sums(attention, labels, labels), shape_sums(uniform, labels, labels), labels, spread.value / spread.chance
    )


def uniform_attention(visible: Array) -> Array:
    """Attention spread evenly over the visible keys; `visible` is (queries, keys) of 0 and 1."""
    xp = array_namespace(visible)
    seen = xp.sum(visible, axis=-1, keepdims=True)
    return visible / xp.where(seen > 0, seen, xp.ones_like(seen))


def shape_sums(attention: Array, segments: Array, key_segments: Array, *, start: int = 0) -> ShapeSums:
    """Sums over rows that begin at query `start` and lie in `segments`."""
    xp = array_namespace(attention)
    queries, keys = attention.shape[-2:]
    numbers = xp.unique_values(key_segments)
    member = xp.astype(segments[None, :] == numbers[:, None], attention.dtype)  # (S, Q)
    targets = xp.stack([offset_targets(attention, offset, start=start) for offset in OFFSETS])
    diagonals = weigh(xp.reshape(attention, (-1, queries, keys)), xp.astype(targets, attention.dtype))
    return ShapeSums(
        xp.matmul(member, attention),  # (S, Q) @ (H, Q, K) -> (H, S, K)
        xp.reshape(diagonals, (len(OFFSETS), *attention.shape[:-1])),
    )


def shape_of(sums: ShapeSums, uniform: ShapeSums, segments: Array, evenness: Array) -> Shape:
    """The features from the sums of maps and of uniform attention under the same mask."""
    xp = array_namespace(sums.columns)
    heads, keys = sums.columns.shape[:-2], sums.columns.shape[-1]
    columns = xp.reshape(sums.columns, (-1, *sums.columns.shape[-2:]))  # (H, S, K)
    diagonals = xp.reshape(sums.diagonals, (len(OFFSETS), columns.shape[0], -1))  # (5, H, Q)
    count = diagonals.shape[-1]
    means = xp.sum(columns, axis=-2) / count  # (H, K)
    expected = xp.sum(uniform.columns, axis=-2) / count  # (K,)
    order = xp.argsort(means, axis=-1, descending=True)[:, :COLUMNS]  # (H, 3)
    chosen = order[:, :, None] == positions(means, keys)[None, None, :]  # (H, 3, K)
    keep = ~xp.any(chosen, axis=1)  # (H, K)
    first = xp.astype(chosen[:, 0, :], means.dtype)
    three = xp.astype(~keep, means.dtype)
    line, band = _lines(diagonals, uniform.diagonals, means, expected, keep)
    features = (
        _lift(xp.sum(means * first, axis=-1), xp.sum(expected * first, axis=-1)),
        _lift(xp.sum(means * three, axis=-1), xp.sum(expected * three, axis=-1)),
        _gini(means),
        xp.max(_lift(xp.mean(diagonals, axis=-1), xp.mean(uniform.diagonals, axis=-1)[:, None]), axis=0),
        line,
        band,
        _own(columns, uniform.columns, segments, keep),
        xp.where(xp.isnan(evenness), xp.zeros_like(evenness), xp.clip(evenness, 0.0, 1.0)),
    )
    return Shape(*(xp.reshape(feature, heads) for feature in features))


def _lines(diagonals: Array, uniform: Array, means: Array, expected: Array, keep: Array) -> tuple[Array, Array]:
    """Lift of the strongest diagonal and of all five, as shares of what the kept columns hold; NaN without room."""
    xp = array_namespace(diagonals)
    count, keys = diagonals.shape[-1], keep.shape[-1]
    row = positions(diagonals, count)
    reached = [xp.clip(row + offset, 0, keys - 1) for offset in OFFSETS]
    kept = xp.astype(xp.stack([xp.take(keep, place, axis=-1) for place in reached]), diagonals.dtype)  # (5, H, Q)
    flags = xp.astype(keep, means.dtype)
    left, room = xp.sum(means * flags, axis=-1) * count, xp.sum(expected * flags, axis=-1) * count  # (H,)
    mass = _share(xp.sum(diagonals * kept, axis=-1), left)  # (5, H)
    chance = _share(xp.sum(uniform[:, None, :] * kept, axis=-1), room)
    covered = xp.sum(chance, axis=0)
    roomy = (room > 0) & (covered < 1 - _ROOM)
    found = xp.max(_lift(mass, chance), axis=0), _lift(xp.sum(mass, axis=0), covered)
    line, band = (xp.where(roomy, lifts, xp.full_like(lifts, xp.nan)) for lifts in found)
    return line, band


def _own(columns: Array, uniform: Array, segments: Array, keep: Array) -> Array:
    """Lift of the mass within the query's segment, among the ordinary keys that are kept."""
    xp = array_namespace(columns)
    numbers = xp.unique_values(segments)
    ordinary = (segments >= 0)[None, :] & (numbers >= 0)[:, None]  # (S, K)
    same = xp.astype((numbers[:, None] == segments[None, :]) & ordinary, columns.dtype)
    every = xp.astype(ordinary, columns.dtype)
    kept = xp.astype(keep, columns.dtype)[:, None, :]  # (H, 1, K)

    def share(values: Array) -> Array:
        return _share(xp.sum(values * same * kept, axis=(-2, -1)), xp.sum(values * every * kept, axis=(-2, -1)))

    return _lift(share(columns), share(uniform[None, ...]))


def _share(part: Array, whole: Array) -> Array:
    """part / whole, 0 where there is nothing."""
    xp = array_namespace(part)
    return xp.where(whole > 0, part / xp.where(whole > 0, whole, xp.ones_like(whole)), xp.zeros_like(part))


def _lift(mass: Array, chance: Array) -> Array:
    """The lift, 0 where chance leaves no room: a feature vector has no gaps."""
    xp = array_namespace(mass)
    found: Any = lift(mass, xp.clip(chance, 0.0, 1.0))
    return xp.where(xp.isnan(found), xp.zeros_like(found), found)


def _gini(means: Array) -> Array:
    """Gini coefficient of column means: 0 all equal, towards 1 all in one column."""
    xp = array_namespace(means)
    ordered = xp.sort(means, axis=-1)
    count = means.shape[-1]
    rank = xp.astype(positions(means, count) + 1, means.dtype)
    weighted = xp.sum(ordered * rank, axis=-1)
    return xp.clip(2 * _share(weighted, xp.sum(ordered, axis=-1)) / count - (count + 1) / count, 0.0, 1.0)
