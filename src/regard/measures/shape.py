"""The shape of a map: columns, diagonals, blocks and spread, the features behind Kovaleva's five types.

Enters: maps, or their sums (`shape_sums`). Leaves: features per head. One file and long: they are read together.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from array_api_compat import device

from regard.measures.entropy import entropy
from regard.measures.library import array_namespace, clip, distinct
from regard.measures.reading import Array, lift, positions
from regard.measures.shape_sums import OFFSETS, ShapeSums, key_tables, shape_sums, share_of, uniform_attention

COLUMNS = 3  # how many of the strongest columns are set aside to see what lies under them
_ROOM = 1e-3  # share of uniform attention off the diagonals; below it only rounding tells a diagonal from the rest


class Shape(NamedTuple):
    """Numbers per head, each from 0 to 1; lifts are 0 at what uniform attention over the visible keys gives.

    `tallest` and `three` are the lift of the strongest column and of the three strongest together, `gini` how unequal
    the columns are, `diagonal` the strongest lift of the offsets -2 to 2, `evenness` entropy over that of uniform
    attention, `steady` in what share of the rows the strongest column is plain: at least a quarter of what the row has
    at most, less counting in proportion. The others describe what is left without the three columns: the lift of the
    strongest diagonal (`line`), of all five together (`band`) and of the query's own part (`own`); the share of rows
    in which a diagonal is plain (`drawn`); how much nearer than uniform attention the rest looks (`close`); and how
    much more attention stays in its part than leaves it, **between tokens equally far apart** and not neighbours
    (`squares`): a broad diagonal stays in its part because it is near, and has none. `own` and `squares` are 0 where
    there is one part only. `line`, `band`, `drawn` and `close` are NaN where the five diagonals cover all that may be
    seen of those columns: no map can then be told apart.
    """

    tallest: Array
    three: Array
    gini: Array
    diagonal: Array
    line: Array
    band: Array
    own: Array
    evenness: Array
    squares: Array
    close: Array
    steady: Array
    drawn: Array


def shape_features(attention: Array, *, segments: Array | None = None, visible: Array | None = None) -> Shape:
    """Shape of square maps (..., n, n): how much stands in columns, along diagonals, within the parts of the text.

    `segments` is (n,) numbers of the parts (sentences, molecules of a reaction), negative for what separates them;
    `visible` (n, n) what the mask allows.

    Source: Kovaleva et al. (2019) for the types; the features are ours.
    """
    xp = array_namespace(attention)
    table = attention[(0,) * (attention.ndim - 2)]  # (n, n), for its type and device
    allowed = xp.ones_like(table, dtype=xp.bool) if visible is None else visible
    labels = positions(attention, attention.shape[-1]) * 0 if segments is None else segments
    uniform = uniform_attention(xp.astype(allowed, attention.dtype))
    spread = entropy(attention, visible=allowed)
    tables = key_tables(labels, labels)
    found, even = (shape_sums(maps, labels, labels, allowed, tables=tables) for maps in (attention, uniform))
    return shape_of(found, even, labels, spread.value / spread.chance)


class Outline(NamedTuple):
    """The features of a `Shape` by which types are told; shapes (B, H)."""

    tallest: Array
    three: Array
    gini: Array
    own: Array
    evenness: Array
    squares: Array
    close: Array
    steady: Array
    drawn: Array


class Parts(NamedTuple):
    """The parts of B texts that are padded at the end: labels (B, 1, K), -1 in padding, the S different `numbers` that
    they may have, in ascending order, and the lengths (B, 1) of the texts."""

    labels: Array
    numbers: Array
    lengths: Array


class Marks(NamedTuple):
    """What is plain in maps (B, H, Q, K): the strongest columns, in how many rows the first of them is plain, and in
    how many each diagonal is, beside these columns."""

    order: Array  # (B, H, 3)
    steady: Array  # (B, H)
    drawn: Array  # (B, H, 5)


class _Beside(NamedTuple):
    """What lies beside the strongest columns."""

    means: Array  # (B, H, K) mean attention to each key
    expected: Array  # (B, 1, K) the same of uniform attention
    keep: Array  # (B, H, K) 1 for keys that are not among the strongest
    left: Array  # (B, H) mean attention to the keys that are kept
    room: Array  # (B, H) the same of uniform attention
    covered: Array  # (B, H, 5) which part of that each diagonal has


def shape_of(sums: ShapeSums, uniform: ShapeSums, segments: Array, evenness: Array) -> Shape:
    """The features from the sums of maps (H..., n, n) and of uniform attention under the same mask."""
    xp = array_namespace(sums.columns)
    heads, parts = sums.columns.shape[:-2], parts_of(segments)
    mine, even = _one_text(sums), _one_text(uniform)
    marks = _marks(mine, strongest(mine.columns, parts.lengths))
    seen = _beside(mine.columns, even, parts, marks.order)
    mass = share_of(beside(mine.diagonals, marks.order), (seen.left * parts.lengths)[..., None])  # (1, H, 5)
    line, band = _where_roomy(
        seen, xp.max(_lift(mass, seen.covered), axis=-1), _lift(xp.sum(mass, axis=-1), xp.sum(seen.covered, axis=-1))
    )
    means = (xp.sum(part.diagonals, axis=-1) / parts.lengths[..., None] for part in (mine, even))
    outline = outline_of(mine.columns, mine.weighed, marks, even, parts, xp.reshape(evenness, (1, -1)), seen)
    features = {"diagonal": xp.max(_lift(*means), axis=-1), "line": line, "band": band, **outline._asdict()}
    return Shape(**{name: xp.reshape(feature, heads) for name, feature in features.items()})


def types_outline(sums: ShapeSums, uniform: ShapeSums, segments: Array, evenness: Array) -> Outline:
    """The same for what types need of maps (H, n, n): fields are (H,)."""
    mine, parts = _one_text(sums), parts_of(segments)
    marks = _marks(mine, strongest(mine.columns, parts.lengths))
    spread = array_namespace(evenness).reshape(evenness, (1, -1))
    found = outline_of(mine.columns, mine.weighed, marks, _one_text(uniform), parts, spread)
    return Outline(*(feature[0, :] for feature in found))


def parts_of(segments: Array) -> Parts:
    """The parts (n,) of one text."""
    xp = array_namespace(segments)
    length = xp.full((1, 1), segments.shape[-1], dtype=xp.int64, device=device(segments))
    return Parts(segments[None, None, :], distinct(segments), length)


def _one_text(sums: ShapeSums) -> ShapeSums:
    """Sums of maps (H..., Q, K), or of uniform attention (Q, K), as those of one text, (1, H, Q, K)."""
    xp = array_namespace(sums.columns)
    weighed = xp.reshape(sums.weighed, (sums.weighed.shape[0], 1, -1, sums.weighed.shape[-1]))
    columns, diagonals, lines = (
        xp.reshape(part, (1, -1, *part.shape[-2:])) for part in (sums.columns, sums.diagonals, sums.lines)
    )
    return ShapeSums(columns, weighed, xp.reshape(sums.plain, (1, -1, sums.plain.shape[-1])), diagonals, lines)


def _marks(sums: ShapeSums, order: Array) -> Marks:
    """The marks of maps (B, H, Q, K), or of uniform attention (B, 1, Q, K), beside columns (B, H, 3)."""
    return Marks(order, _at(sums.plain, order[..., :1]), beside(sums.lines, order))


def outline_of(
    columns: Array,
    weighed: Array,
    marks: Marks,
    uniform: ShapeSums,
    parts: Parts,
    evenness: Array,
    seen: _Beside | None = None,
) -> Outline:
    """What types need of maps (B, H, Q, K), from `ShapeSums` of these and of uniform attention (B, 1, Q, K).

    Sums are 0 in padding.
    """
    seen = _beside(columns, uniform, parts, marks.order) if seen is None else seen
    xp = array_namespace(columns)
    weighed, chance = (xp.sum(part * seen.keep, axis=-1) / parts.lengths for part in (weighed, uniform.weighed))
    even = _marks(uniform, marks.order)
    drawn, close = _where_roomy(
        seen,
        xp.max(share_of(marks.drawn, even.drawn), axis=-1),
        _close(share_of(weighed[2, ...], seen.left), share_of(chance[2, ...], seen.room), seen.left),
    )
    tallest, three = (
        _lift(*(_at(values, places) for values in (seen.means, seen.expected)))
        for places in (marks.order[..., :1], marks.order)
    )
    return Outline(
        tallest=tallest,
        three=three,
        gini=_gini(seen.means, parts.lengths),
        own=_own(columns, uniform.columns, parts, seen.keep),
        evenness=xp.where(xp.isnan(evenness), xp.zeros_like(evenness), clip(evenness, 0.0, 1.0)),
        squares=_squares(weighed, chance),
        close=close,
        steady=share_of(marks.steady, even.steady),
        drawn=drawn,
    )


def _beside(columns: Array, uniform: ShapeSums, parts: Parts, order: Array) -> _Beside:
    xp = array_namespace(columns)
    means, expected = (_by_key(part, parts.lengths) for part in (columns, uniform.columns))
    chosen = xp.any(order[..., None] == positions(means, means.shape[-1]), axis=-2)
    keep = xp.astype(~chosen, means.dtype)
    left, room = (xp.sum(part * keep, axis=-1) for part in (means, expected))
    covered = share_of(beside(uniform.diagonals, order), (room * parts.lengths)[..., None])
    return _Beside(means, expected, keep, left, room, covered)


def strongest(columns: Array, lengths: Array) -> Array:
    """(B, H, 3) the keys with most of the attention (B, H, S, K), the first of equals first; fewer of fewer keys."""
    xp = array_namespace(columns)
    means, found = _by_key(columns, lengths), []
    places = positions(means, means.shape[-1])
    for _ in range(min(COLUMNS, means.shape[-1])):
        found.append(xp.argmax(means, axis=-1))
        means = xp.where(places == found[-1][..., None], -xp.ones_like(means), means)
    return xp.stack(found, axis=-1)


def _by_key(columns: Array, lengths: Array) -> Array:
    """(B, H, K) mean attention to each key."""
    xp = array_namespace(columns)
    return xp.sum(columns, axis=-2) / xp.astype(lengths[..., None], columns.dtype)


def _at(values: Array, order: Array) -> Array:
    """(B, H) sums of values (B, H, K), or (B, 1, K), at the keys `order` (B, H, n)."""
    return array_namespace(values).sum(_picked(values, order), axis=-1)


def _picked(values: Array, places: Array) -> Array:
    """(..., n) what values (..., K) have at places (..., n); axes in front may be 1 in the values."""
    xp = array_namespace(values)
    rows, keys = values.shape[:-1], values.shape[-1]
    starts = xp.reshape(positions(values, math.prod(rows)) * keys, (*rows, 1))
    found = xp.take(xp.reshape(values, (-1,)), xp.reshape(starts + places, (-1,)))
    return xp.reshape(found, places.shape)


def beside(lines: Array, order: Array) -> Array:
    """(B, H, 5) sums of diagonals (B, H, 5, Q), or (B, 1, 5, Q), without the cells of the columns `order` (B, H, 3).

    In float64: of what is left of a sum, its rounding may be all.
    """
    xp = array_namespace(lines)
    rows = lines.shape[-1]
    crossed = order[..., None, :] - xp.asarray(OFFSETS, device=device(order))[:, None]  # rows where they meet
    cells = _picked(lines, clip(crossed, 0, rows - 1))
    gone = xp.where((crossed >= 0) & (crossed < rows), cells, xp.zeros_like(cells))
    return clip(xp.sum(lines, axis=-1, dtype=xp.float64) - xp.sum(gone, axis=-1, dtype=xp.float64), 0.0, None)


def _close(distance: Array, chance: Array, left: Array) -> Array:
    """(H,) how much nearer than chance, 0 where nothing is left."""
    xp = array_namespace(distance)
    nearer = clip(1 - share_of(distance, chance), 0.0, 1.0)
    return xp.where((left > 0) & (chance > 0), nearer, xp.zeros_like(nearer))


def _squares(weighed: Array, chance: Array) -> Array:
    """(H,) lift of what stays in its part, times the attention that it is a share of."""
    both = weighed[0, ...] + weighed[1, ...]
    return both * _lift(share_of(weighed[0, ...], both), share_of(chance[0, ...], chance[0, ...] + chance[1, ...]))


def _where_roomy(seen: _Beside, *features: Array) -> list[Array]:
    """The features, NaN where there is no room for them."""
    xp = array_namespace(seen.room)
    roomy = (seen.room > 0) & (xp.sum(seen.covered, axis=-1) < 1 - _ROOM)
    return [xp.where(roomy, feature, xp.full_like(feature, xp.nan)) for feature in features]


def _own(columns: Array, uniform: Array, parts: Parts, keep: Array) -> Array:
    """Lift of the mass within the query's part, among the ordinary keys that are kept; 0 where there is one part."""
    xp = array_namespace(columns)
    numbers = parts.numbers
    if numbers[numbers >= 0].shape[0] < 2:
        return xp.zeros(columns.shape[:2], dtype=columns.dtype, device=device(columns))
    labels = parts.labels[..., None, :]  # (B, 1, 1, K)
    ordinary = (labels >= 0) & (numbers >= 0)[:, None]  # (B, 1, S, K)
    same = xp.astype((numbers[:, None] == labels) & ordinary, columns.dtype)
    every = xp.astype(ordinary, columns.dtype)

    def share(values: Array) -> Array:
        return share_of(*(xp.sum(xp.sum(values * table, axis=-2) * keep, axis=-1) for table in (same, every)))

    return _lift(share(columns), share(uniform))


def _lift(mass: Array, chance: Array) -> Array:
    """The lift, 0 where chance leaves no room: a feature vector has no gaps."""
    xp = array_namespace(mass)
    found: Any = lift(mass, clip(chance, 0.0, 1.0))
    return xp.where(xp.isnan(found), xp.zeros_like(found), found)


def _gini(means: Array, lengths: Array) -> Array:
    """Gini coefficient of the column means (B, H, K) of texts: 0 all equal, towards 1 all in one column."""
    xp = array_namespace(means)
    ordered = xp.sort(means, axis=-1)  # what is padded, 0, comes first
    keys, count = means.shape[-1], xp.astype(lengths, means.dtype)
    rank = xp.astype(positions(means, keys) + 1 - keys, means.dtype) + count[..., None]
    weighted = xp.sum(ordered * rank, axis=-1)
    return clip(2 * share_of(weighted, xp.sum(ordered, axis=-1)) / count - (count + 1) / count, 0.0, 1.0)
