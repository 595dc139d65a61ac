"""Mass on chosen keys: the one operation behind every pattern score.

Enters: attention (..., queries, keys) and a table of target keys for each query. Leaves: a number per head.

For query i with visible keys N_i and targets T_i, both sets of keys,

    mass m_i = sum of A_ij over T_i          chance c_i = |T_i and N_i| / |N_i|
    lift     = clip((mean m - mean c) / (1 - mean c), 0, 1)

with means over the rows that count. The lift is taken of the means: clipping row by row would turn the noise of an
untrained model into a positive score.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import device

from regard.base.errors import UserError
from regard.measures.library import array_namespace, clip

Array = Any

# A row of which half the visible keys are targets says little whatever the head does: the second row of a causal map
# has two keys, and one of them is "the previous token", "the first token" and "not itself" at once.
MOST_CHANCE = 0.5


class RowReadings(NamedTuple):
    """What each query row shows, for targets (P..., Q, K) and attention (H..., Q, K)."""

    mass: Array  # (P..., H..., Q)
    hit: Array  # (P..., H..., Q) whether the strongest key is a target; ties go to the first key
    chance: Array  # (P..., Q)
    counted: Array  # (P..., Q) whether the row is eligible


class Reading(NamedTuple):
    """A measure of heads (H...); NaN, never 0, where no row is eligible.

    `mass` is the mean attention on the targets, `argmax` how often the strongest key is one, `chance` the mass that
    uniform attention over the visible keys would have, `lift` the mass between chance (0) and all (1), and `rows` how
    many rows counted.
    """

    mass: Array
    argmax: Array
    chance: Array
    lift: Array
    rows: Array


def read(attention: Array, targets: Array, *, visible: Array | None = None, rows: Array | None = None) -> Reading:
    """Mean attention on target keys, with its chance level.

    Parameters
    ----------
    attention
        (..., queries, keys), each row summing to at most 1.
    targets
        (..., queries, keys) booleans; leading axes stand for several measures at once and come first in the result.
    visible
        (queries, keys) booleans: what the mask lets a query see; everything unless given.
    rows
        (..., queries) booleans: which rows count, as far as they are eligible; `None` for all that are. A row is
        eligible where it has a target and less than half of its visible keys are targets.

    Examples
    --------
    >>> import numpy as np
    >>> attention, targets = np.array([[0.7, 0.2, 0.1]]), np.array([[True, False, False]])
    >>> round(float(read(attention, targets).lift), 2)  # (0.7 - 1/3) / (1 - 1/3)
    0.55
    """
    return summarise(read_rows(attention, targets, visible=visible, rows=rows))


def read_rows(
    attention: Array,
    targets: Array,
    *,
    visible: Array | None = None,
    rows: Array | None = None,
    strongest: Array | None = None,
) -> RowReadings:
    """The row by row part of `read`; `strongest` (..., queries) are the rows' strongest keys, where known already."""
    xp = array_namespace(attention)
    heads, chosen = attention.shape[:-2], targets.shape[:-2]
    queries, keys = attention.shape[-2:]
    if targets.shape[-2:] != (queries, keys):
        raise UserError(
            f"targets are {tuple(targets.shape[-2:])} but the maps are {(queries, keys)} (queries, keys); "
            "build them from the same tokens"
        )
    maps = xp.reshape(attention, (-1, queries, keys))
    tables = tables_of(xp.reshape(targets, (-1, queries, keys)))  # (Q, K, P)
    top = xp.argmax(attention, axis=-1) if strongest is None else strongest
    mass = weigh_rows(maps, xp.astype(tables, attention.dtype))
    hit = hit_rows(xp.reshape(top, (-1, queries)), tables)
    seen = xp.astype(seen_keys(targets, visible), attention.dtype)
    allowed = targets if visible is None else targets & visible
    chance = xp.sum(xp.astype(allowed, attention.dtype), axis=-1) / seen
    counted = is_eligible(chance)
    if rows is not None:
        counted = counted & rows
    shape = (*chosen, *heads, queries)
    mass, hit = (xp.reshape(xp.permute_dims(found, (2, 1, 0)), shape) for found in (mass, hit))
    return RowReadings(mass, hit, chance, counted)


def tables_of(targets: Array) -> Array:
    """(Q, K, P): the targets of P measures (P, Q, K) as the factor of a matrix product."""
    return array_namespace(targets).permute_dims(targets, (1, 2, 0))


def weigh_rows(maps: Array, tables: Array) -> Array:
    """(..., Q, H, P) sums over keys of maps (..., H, Q, K) times tables (..., Q, K, P): a matrix product per row."""
    xp = array_namespace(maps)
    return xp.matmul(_swapped(maps), tables)  # (..., Q, H, K) @ (..., Q, K, P)


def hit_rows(strongest: Array, tables: Array) -> Array:
    """(..., Q, H, P): what tables (..., Q, K, P) hold at the strongest keys (..., H, Q) of the rows."""
    xp = array_namespace(tables)
    keys, measures = tables.shape[-2:]
    by_query = xp.matrix_transpose(strongest)  # (..., Q, H)
    flat = xp.reshape(by_query, (-1, by_query.shape[-1]))
    places = flat + (positions(flat, flat.shape[0]) * keys)[:, None]  # among all rows
    table = xp.reshape(tables, (flat.shape[0] * keys, measures))
    found = xp.take(table, xp.reshape(places, (-1,)), axis=0)
    return xp.reshape(found, (*by_query.shape, measures))


def seen_keys(like: Array, visible: Array | None) -> Array:
    """(..., Q) how many keys each query sees, 1 at least; maps or tables `like` (..., Q, K) tell how many there are."""
    xp = array_namespace(like)
    if visible is None:
        return xp.full((like.shape[-2],), max(1, like.shape[-1]), dtype=xp.int64, device=device(like))
    return clip(xp.sum(xp.astype(visible, xp.int64), axis=-1), 1, None)


def is_eligible(chance: Array) -> Array:
    """Whether rows have a target, and few enough of them."""
    return (chance > 0) & (chance < MOST_CHANCE)


def sum_rows(values: Array, counted: Array) -> Array:
    """(..., H, P) sums over the rows that count of values (..., Q, H, P); counted (..., Q, P) may be weights."""
    xp = array_namespace(values)
    return xp.sum(values * xp.astype(counted, values.dtype)[..., :, None, :], axis=-3)


def weigh(maps: Array, tables: Array) -> Array:
    """(P, H, Q) sums over keys of maps (H, Q, K) times tables (P, Q, K)."""
    return array_namespace(maps).permute_dims(weigh_rows(maps, tables_of(tables)), (2, 1, 0))


def summarise(rows: RowReadings) -> Reading:
    """Means over the rows that count."""
    xp = array_namespace(rows.mass)
    chosen = rows.chance.shape[:-1]
    between = rows.mass.ndim - rows.chance.ndim  # the head axes lie between the measure axes and the rows

    def spread(values: Array) -> Array:
        return xp.reshape(values, (*chosen, *(1,) * between, values.shape[-1]))

    mass = mean_where(rows.mass, spread(rows.counted))
    argmax = mean_where(xp.astype(rows.hit, rows.mass.dtype), spread(rows.counted))
    chance = mean_where(spread(rows.chance), spread(rows.counted)) + xp.zeros_like(mass)
    count = xp.sum(xp.astype(spread(rows.counted), xp.int64), axis=-1)
    return Reading(mass, argmax, chance, lift(mass, chance), count + xp.zeros_like(mass, dtype=xp.int64))


def lift(mass: Array, chance: Array) -> Array:
    """clip((mass - chance) / (1 - chance), 0, 1): 0 at chance, 1 where all is on target; NaN where chance is 1."""
    xp = array_namespace(mass)
    room = 1 - chance
    possible = room > 0
    raw = (mass - chance) / xp.where(possible, room, xp.ones_like(room))
    return xp.where(possible, clip(raw, 0.0, 1.0), xp.full_like(raw, xp.nan))


def mean_where(values: Array, where: Array) -> Array:
    """Mean over the last axis of the values that count; NaN where none does."""
    xp = array_namespace(values)
    weights = xp.astype(where, values.dtype)
    count = xp.sum(weights, axis=-1)
    total = xp.sum(xp.where(where, values, xp.zeros_like(values)) * weights, axis=-1)
    some = (count > 0) & (total == total)
    mean = total / xp.where(count > 0, count, xp.ones_like(count))
    return xp.where(some, mean, xp.full_like(mean, xp.nan))


def positions(like: Array, count: int) -> Array:
    """0 .. count-1 in the library and on the device of `like`."""
    return array_namespace(like).arange(count, device=device(like))


def _swapped(maps: Array) -> Array:
    """(..., Q, H, K) from (..., H, Q, K)."""
    axes = list(range(maps.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return array_namespace(maps).permute_dims(maps, tuple(axes))
