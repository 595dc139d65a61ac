"""The shape of a map: columns, diagonals, blocks and spread, the features behind Kovaleva's five types.

One file and long: the features, the sums they come from and the tables these need are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from array_api_compat import device

from regard.measures.entropy import entropy
from regard.measures.library import array_namespace, clip, distinct
from regard.measures.offset import offset_targets
from regard.measures.reading import Array, lift, positions, weigh

OFFSETS = (-2, -1, 0, 1, 2)
COLUMNS = 3  # how many of the strongest columns are set aside to see what lies under them
_ROOM = 1e-3  # share of uniform attention off the diagonals; below it only rounding tells a diagonal from the rest
_PLAIN = 4  # a cell is plain from a quarter of its row's strongest: half as dark on a square-root scale
_FEW = 5  # keys: a row that sees fewer is dark whatever the head does


class ShapeSums(NamedTuple):
    """What the features need of maps (H..., Q, K); sums over blocks of rows can be joined."""

    columns: Array  # (H..., S, K) attention of the queries of each part to each key
    weighed: Array  # (3, H..., K) attention to each key, weighed by `key_tables`
    plain: Array  # (H..., K) in how many rows each key is plain
    diagonals: Array  # (5, H..., Q) A[i, i + offset]
    lines: Array  # (5, H..., Q) how plain these cells are


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
    queries, keys = attention.shape[-2:]
    numbers = distinct(key_segments)
    member = xp.astype(segments[None, :] == numbers[:, None], attention.dtype)  # (S, Q)
    targets = xp.stack([offset_targets(attention, offset, start=start) for offset in OFFSETS])
    diagonals = weigh(xp.reshape(attention, (-1, queries, keys)), xp.astype(targets, attention.dtype))
    diagonals = xp.reshape(diagonals, (len(OFFSETS), *attention.shape[:-1]))
    scale = plainness(xp.max(attention, axis=-1), visible)  # (H, Q)
    return ShapeSums(
        xp.matmul(member, attention),  # (S, Q) @ (H, Q, K) -> (H, S, K)
        weigh_keys(attention, xp.astype(weights, attention.dtype)),
        xp.sum(plain(attention, scale[..., None]), axis=-2),
        diagonals,
        plain(diagonals, scale),
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
    return xp.stack([_share(pairs, inside), _share(pairs, across)])


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


def plainness(peak: Array, visible: Array) -> Array:
    """(H..., Q) what makes a cell of a row plain: a quarter of its strongest; infinite where a row sees few keys."""
    xp = array_namespace(peak)
    wide = xp.sum(xp.astype(visible, xp.int64), axis=-1) >= _FEW
    return xp.where(wide & (peak > 0), peak / _PLAIN, xp.full_like(peak, xp.inf))


def plain(attention: Array, scale: Array) -> Array:
    """How plain cells are, from 0 to 1."""
    return clip(attention / scale, 0.0, 1.0)


def shape_of(sums: ShapeSums, uniform: ShapeSums, segments: Array, evenness: Array) -> Shape:
    """The features from the sums of maps and of uniform attention under the same mask."""
    xp = array_namespace(sums.columns)
    heads, keys = sums.columns.shape[:-2], sums.columns.shape[-1]
    columns = xp.reshape(sums.columns, (-1, *sums.columns.shape[-2:]))  # (H, S, K)
    diagonals, lines = (xp.reshape(part, (len(OFFSETS), columns.shape[0], -1)) for part in (sums.diagonals, sums.lines))
    count = diagonals.shape[-1]
    means = xp.sum(columns, axis=-2) / count  # (H, K)
    expected = xp.sum(uniform.columns, axis=-2) / count  # (K,)
    order = xp.argsort(-means, axis=-1, stable=True)[:, :COLUMNS]  # (H, 3)
    chosen = order[:, :, None] == positions(means, keys)[None, None, :]  # (H, 3, K)
    keep = ~xp.any(chosen, axis=1)  # (H, K)
    first = xp.astype(chosen[:, 0, :], means.dtype)
    three = xp.astype(~keep, means.dtype)
    weighed = _kept(xp.reshape(sums.weighed, (3, *means.shape)), keep) / count  # (3, H)
    chance = _kept(uniform.weighed[:, None, :], keep) / count
    left, room = _kept(means, keep), _kept(expected, keep)  # (H,)
    line, band, drawn, close = _where_roomy(
        *_lines(diagonals, uniform.diagonals, left, room, keep),
        _drawn(lines, uniform.lines, keep),
        _close(_share(weighed[2, :], left), _share(chance[2, :], room), left),
    )
    features = (
        _lift(xp.sum(means * first, axis=-1), xp.sum(expected * first, axis=-1)),
        _lift(xp.sum(means * three, axis=-1), xp.sum(expected * three, axis=-1)),
        _gini(means),
        xp.max(_lift(xp.mean(diagonals, axis=-1), xp.mean(uniform.diagonals, axis=-1)[:, None]), axis=0),
        line,
        band,
        _own(columns, uniform.columns, segments, keep),
        xp.where(xp.isnan(evenness), xp.zeros_like(evenness), clip(evenness, 0.0, 1.0)),
        _squares(weighed, chance),
        close,
        _share(xp.sum(xp.reshape(sums.plain, means.shape) * first, axis=-1), xp.sum(uniform.plain * first, axis=-1)),
        drawn,
    )
    return Shape(*(xp.reshape(feature, heads) for feature in features))


def _kept(values: Array, keep: Array) -> Array:
    """ShapeSums (..., H) over the keys that are kept."""
    xp = array_namespace(values)
    return xp.sum(values * xp.astype(keep, values.dtype), axis=-1)


def _kept_lines(keep: Array, like: Array) -> Array:
    """(5, H, Q): 1 where the key that a diagonal reaches is kept."""
    xp = array_namespace(keep)
    row = positions(like, like.shape[-1])
    reached = [clip(row + offset, 0, keep.shape[-1] - 1) for offset in OFFSETS]
    return xp.astype(xp.stack([xp.take(keep, place, axis=-1) for place in reached]), like.dtype)


def _lines(diagonals: Array, uniform: Array, left: Array, room: Array, keep: Array) -> tuple[Array, Array, Array]:
    """Whether there is room; lift of the strongest diagonal and of all five, as shares of what is kept."""
    xp = array_namespace(diagonals)
    count = diagonals.shape[-1]
    kept = _kept_lines(keep, diagonals)
    mass = _share(xp.sum(diagonals * kept, axis=-1), left * count)  # (5, H)
    chance = _share(xp.sum(uniform[:, None, :] * kept, axis=-1), room * count)
    covered = xp.sum(chance, axis=0)
    roomy = (room > 0) & (covered < 1 - _ROOM)
    return roomy, xp.max(_lift(mass, chance), axis=0), _lift(xp.sum(mass, axis=0), covered)


def _drawn(lines: Array, uniform: Array, keep: Array) -> Array:
    """(H,) how plain the plainest diagonal is where its keys are kept, over the rows that see them."""
    xp = array_namespace(lines)
    kept = _kept_lines(keep, lines)
    return xp.max(_share(xp.sum(lines * kept, axis=-1), xp.sum(uniform[:, None, :] * kept, axis=-1)), axis=0)


def _close(distance: Array, chance: Array, left: Array) -> Array:
    """(H,) how much nearer than chance, 0 where nothing is left."""
    xp = array_namespace(distance)
    nearer = clip(1 - _share(distance, chance), 0.0, 1.0)
    return xp.where((left > 0) & (chance > 0), nearer, xp.zeros_like(nearer))


def _squares(weighed: Array, chance: Array) -> Array:
    """(H,) lift of what stays in its part, times the attention that it is a share of."""
    both = weighed[0, :] + weighed[1, :]
    return both * _lift(_share(weighed[0, :], both), _share(chance[0, :], chance[0, :] + chance[1, :]))


def _where_roomy(roomy: Array, *features: Array) -> list[Array]:
    """The features, NaN where there is no room for them."""
    xp = array_namespace(roomy)
    return [xp.where(roomy, feature, xp.full_like(feature, xp.nan)) for feature in features]


def _own(columns: Array, uniform: Array, segments: Array, keep: Array) -> Array:
    """Lift of the mass within the query's part, among the ordinary keys that are kept."""
    xp = array_namespace(columns)
    numbers = distinct(segments)
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
    found: Any = lift(mass, clip(chance, 0.0, 1.0))
    return xp.where(xp.isnan(found), xp.zeros_like(found), found)


def _gini(means: Array) -> Array:
    """Gini coefficient of column means: 0 all equal, towards 1 all in one column."""
    xp = array_namespace(means)
    ordered = xp.sort(means, axis=-1)
    count = means.shape[-1]
    rank = xp.astype(positions(means, count) + 1, means.dtype)
    weighted = xp.sum(ordered * rank, axis=-1)
    return clip(2 * _share(weighted, xp.sum(ordered, axis=-1)) / count - (count + 1) / count, 0.0, 1.0)
