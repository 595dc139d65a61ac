"""Bag of words: attention spread evenly over the query's own sentence."""

from __future__ import annotations

from typing import NamedTuple

from array_api_compat import array_namespace

from regard.measures.entropy import SMOOTH, mix_uniform, x_log_x
from regard.measures.reading import Array, Reading, lift, mean_where

FEWEST = 3  # words in a sentence: with fewer, "evenly" means little


class BagRows(NamedTuple):
    """What each query row shows; shapes (H..., Q), chance and counted (Q,)."""

    mass: Array
    hit: Array
    evenness: Array
    chance: Array
    counted: Array


class Bag(NamedTuple):
    """The reading (its lift is the score) and how even the own-sentence part is, 1 for uniform."""

    reading: Reading
    evenness: Array


def bag_of_words(attention: Array, segments: Array, content: Array, *, rows: Array | None = None) -> Bag:
    """Attention spread over the words of the query's own sentence, T_i.

    With own-sentence mass m_i, chance c_i = |T_i| / n and evenness e_i = H(A_i over T_i, renormalised) / ln |T_i|
    (A mixed with a little uniform attention, as for `entropy`),

        score = clip(mean of (m_i - c_i) e_i / mean of (1 - c_i), 0, 1)

    over rows of ordinary tokens with |T_i| >= 3. It needs two sentences: in one alone, uniform attention already has
    all of the mass evenly spread, and an untrained model would look like a bag of words.

    Parameters
    ----------
    attention
        (..., n, n), not masked.
    segments, content
        (n,) sentence numbers from 0, and whether each token is an ordinary one.

    Source: Vig (2019), "Deconstructing BERT" part 2 (bag of words); the score is ours.
    """
    counted = content if rows is None else content & rows
    return summarise_bag(bag_rows(attention, segments, segments, content, counted))


def bag_rows(
    attention: Array,
    segments: Array,
    key_segments: Array,
    content: Array,
    rows: Array,
    *,
    logs: Array | None = None,
    strongest: Array | None = None,
) -> BagRows:
    """The row by row part of `bag_of_words`; `segments` and `rows` are of the queries, the rest of the keys.

    `logs` is p ln p of the mixed attention and `strongest` the rows' strongest keys, where they are known already.
    """
    xp = array_namespace(attention)
    numbers = xp.unique_values(key_segments)
    dtype = attention.dtype
    member = xp.astype((key_segments[:, None] == numbers[None, :]) & content[:, None], dtype)  # (K, S)
    own = xp.astype(segments[:, None] == numbers[None, :], dtype)  # (Q, S)
    mass = xp.sum(xp.matmul(attention, member) * own, axis=-1)  # (H, Q, K) @ (K, S) -> (H, Q, S) -> (H, Q)
    known = x_log_x(mix_uniform(attention)) if logs is None else logs
    spread = xp.sum(xp.matmul(known, member) * own, axis=-1)
    size = xp.sum(xp.sum(member, axis=0) * own, axis=-1)  # (Q,) |T_i|
    mixed = mass * (1 - SMOOTH) + size * (SMOOTH / attention.shape[-1])  # own-sentence mass of the mixed attention
    some = mixed > 0
    safe = xp.where(some, mixed, xp.ones_like(mixed))
    entropy = xp.log(safe) - spread / safe
    several = size >= FEWEST
    most = xp.log(xp.where(several, size, xp.full_like(size, float(FEWEST))))
    evenness = xp.where(some, xp.clip(entropy / most, 0.0, 1.0), xp.zeros_like(mass))
    top = xp.argmax(attention, axis=-1) if strongest is None else strongest  # (H, Q)
    inside = xp.take(member, xp.reshape(top, (-1,)), axis=0)  # (HQ, S)
    hit = xp.sum(xp.reshape(inside, (*top.shape, numbers.shape[0])) * own, axis=-1) > 0
    chance = size / attention.shape[-1]
    two = numbers.shape[0] >= 2
    return BagRows(mass, hit, evenness, chance, several & rows & (size > 0) & two)


def summarise_bag(rows: BagRows) -> Bag:
    """Means over the rows that count."""
    xp = array_namespace(rows.mass)
    mass = mean_where(rows.mass, rows.counted)
    chance = mean_where(rows.chance, rows.counted) + xp.zeros_like(mass)
    gained = mean_where((rows.mass - rows.chance) * rows.evenness, rows.counted)
    score = lift(gained + chance, chance)
    argmax = mean_where(xp.astype(rows.hit, rows.mass.dtype), rows.counted)
    count = xp.sum(xp.astype(rows.counted, xp.int64), axis=-1) + xp.zeros_like(mass, dtype=xp.int64)
    return Bag(Reading(mass, argmax, chance, score, count), mean_where(rows.evenness, rows.counted))
