"""Awake attention: what a head does with the part that does not rest on special tokens or on the first token.

Enters: masses on target keys by row, and how awake each row is. Leaves: sums that add up over rows and inputs, and the
reading made of them.

Heads park attention that has nothing to do on special tokens (Clark et al. 2019) or, in causal models, on the first
token (Xiao et al. 2023). With the resting places S_i of row i, its visible keys N_i and a pattern's targets T_i outside
S_i,

    awake a_i = sum of A_ij outside S_i      mass m_i = sum of A_ij over T_i      chance c_i = |T_i| / |N_i without S_i|
    share = sum of m_i / sum of a_i          chance = sum of a_i c_i / sum of a_i

so that rows count by how awake they are. What a model gives to a learned sink outside the text rests too.
"""

from __future__ import annotations

from typing import NamedTuple

from regard.measures.library import array_namespace
from regard.measures.reading import Array, is_eligible, lift, seen_keys, sum_rows


class AwakeSums(NamedTuple):
    """Sums over the rows that count: (..., H, P) each, rows (..., P). They add up."""

    mass: Array
    awake: Array
    expected: Array  # what uniform attention outside the resting places would have as mass
    rows: Array


class AwakeLevel(NamedTuple):
    """Which rows count, and the chance of those that do (..., Q, 2 P), and how many count (..., P)."""

    table: Array
    rows: Array


class AwakeReading(NamedTuple):
    """What heads do when awake: shares of the awake attention; NaN where nothing is awake.

    `share` is on the targets, `chance` what uniform attention would give, `lift` the share between chance (0) and
    all (1); `awake` is how many whole rows the awake attention amounts to, out of `rows` that count.
    """

    share: Array
    chance: Array
    lift: Array
    awake: Array
    rows: Array


def resting_keys(visible: Array, special: Array, *, causal: bool) -> Array:
    """(..., Q, K): special tokens (`special`, (..., K)) and, in a causal model, the first key that each row sees."""
    xp = array_namespace(visible)
    rests = visible & special[..., None, :]
    if not causal:
        return rests
    return rests | (visible & (xp.cumulative_sum(xp.astype(visible, xp.int64), axis=-1) == 1))


def awake_rows(chance: Array, visible: Array, rests: Array) -> tuple[Array, Array]:
    """Chance levels (..., Q, P) outside the resting places, from those among all visible keys, and which rows count."""
    xp = array_namespace(chance)
    seen = xp.astype(seen_keys(visible, visible), chance.dtype)
    free = xp.astype(seen_keys(visible, visible & ~rests), chance.dtype)
    awake = chance * (seen / free)[..., None]
    return awake, is_eligible(awake)


def sum_awake(mass: Array, awake: Array, chance: Array, counted: Array) -> AwakeSums:
    """Sums of mass (..., Q, H, P) and awake (..., Q, H) over rows; chance and counted are (..., Q, P)."""
    xp = array_namespace(mass)
    rows = xp.astype(counted, mass.dtype)
    return weigh_awake(sum_rows(mass, rows), xp.matrix_transpose(awake), awake_level(chance, rows))


def awake_level(chance: Array, counted: Array) -> AwakeLevel:
    """What `weigh_awake` needs to know of the rows, from (..., Q, P) their chance, and 1 where they count, else 0."""
    xp = array_namespace(counted)
    return AwakeLevel(xp.concat([counted, counted * chance], axis=-1), xp.sum(counted, axis=-2))


def weigh_awake(mass: Array, awake: Array, level: AwakeLevel) -> AwakeSums:
    """The same for mass (..., H, P) that is summed already, and awake (..., H, Q)."""
    both = array_namespace(mass).matmul(awake, level.table)
    count = mass.shape[-1]
    return AwakeSums(mass, both[..., :count], both[..., count:], level.rows)


def read_awake(sums: AwakeSums) -> AwakeReading:
    """The reading of sums (..., H, P)."""
    xp = array_namespace(sums.mass)
    some = sums.awake > 0
    whole = xp.where(some, sums.awake, xp.ones_like(sums.awake))
    none = xp.full_like(sums.awake, xp.nan)
    share, chance = (xp.where(some, part / whole, none) for part in (sums.mass, sums.expected))
    return AwakeReading(share, chance, lift(share, chance), sums.awake, sums.rows[..., None, :] + 0 * sums.awake)
