"""Bag of words: attention spread evenly over the query's own sentence."""

from __future__ import annotations

from typing import NamedTuple

from regard.measures.entropy import SMOOTH, mixed_logs
from regard.measures.library import array_namespace, clip
from regard.measures.reading import Array, Reading, lift, mean_where, read_rows, seen_keys, weigh

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


def bag_of_words(
    attention: Array,
    segments: Array,
    content: Array,
    *,
    visible: Array | None = None,
    rows: Array | None = None,
) -> Bag:
    """Attention spread over the words of the query's own sentence, T_i, as far as it sees them.

    With own-sentence mass m_i, chance c_i = |T_i| / n_i over the n_i visible keys and evenness
    e_i = H(A_i over T_i, renormalised) / ln |T_i| (A mixed with a little uniform attention, as for `entropy`),

        score = clip(mean of (m_i - c_i) e_i / mean of (1 - c_i), 0, 1)

    over rows of ordinary tokens with |T_i| >= 3. A row that rests elsewhere counts as below chance, however the little
    that is left is spread: mixed with uniform attention, next to nothing is even. The score needs two sentences: in one
    alone, uniform attention already has all of the mass evenly spread, and an untrained model would look like a bag of
    words.

    Parameters
    ----------
    attention
        (..., n, n).
    segments, content
        (n,) sentence numbers from 0, and whether each token is an ordinary one.
    visible
        (n, n) booleans: what the mask lets a query see; everything unless given.

    Source: Vig (2019), "Deconstructing BERT" part 2 (bag of words); the score is ours.
    """
    xp = array_namespace(attention)
    counted = content if rows is None else content & rows
    one = xp.unique_values(segments[content]).shape[0] < 2
    own = own_targets(segments, segments, content)
    return summarise_bag(bag_rows(attention, own, counted & (not one), visible=visible))


def own_targets(segments: Array, key_segments: Array, content: Array) -> Array:
    """(queries, keys) booleans: ordinary tokens (`content`, of the keys) of the query's sentence."""
    return (segments[..., :, None] == key_segments[..., None, :]) & content[..., None, :]


def bag_rows(
    attention: Array,
    own: Array,
    rows: Array,
    *,
    visible: Array | None = None,
    logs: Array | None = None,
    strongest: Array | None = None,
) -> BagRows:
    """The row by row part of `bag_of_words`; `own` (Q, K) are the targets, `rows` (Q,) those that may count.

    `logs` are the `mixed_logs` of the attention and `strongest` the rows' strongest keys, where they are known already.
    """
    xp = array_namespace(attention)
    own = own if visible is None else own & visible
    found = read_rows(attention, own, visible=visible, strongest=strongest)
    seen = xp.astype(seen_keys(attention, visible), attention.dtype)
    known = mixed_logs(attention, seen) if logs is None else logs
    table = xp.astype(own, attention.dtype)
    size = xp.sum(table, axis=-1)  # (Q,) |T_i|
    spread = weigh(xp.reshape(known, (-1, *known.shape[-2:])), table[None, ...])[0, ...]  # (H, Q)
    evenness = bag_evenness(found.mass, xp.reshape(spread, found.mass.shape), size, seen)
    return BagRows(found.mass, found.hit, evenness, found.chance, is_bag(size) & rows)


def is_bag(size: Array) -> Array:
    """Whether sentences of this many words can be a bag."""
    return size >= FEWEST


def bag_evenness(mass: Array, spread: Array, size: Array, seen: Array) -> Array:
    """How even the own-sentence part of rows is, from 0 to 1, once mixed with a little uniform attention.

    `mass` is the attention on T_i, `spread` the sum of `mixed_logs` there, `size` = |T_i| of `seen` visible keys; all
    must broadcast.
    """
    xp = array_namespace(mass)
    mixed = mass * (1 - SMOOTH) + size * (SMOOTH / seen)
    some = mixed > 0
    safe = xp.where(some, mixed, xp.ones_like(mixed))
    entropy = xp.log(safe) - spread / safe
    most = xp.log(clip(size, FEWEST, None))
    return xp.where(some, clip(entropy / most, 0.0, 1.0), xp.zeros_like(mixed))


def bag_gain(mass: Array, chance: Array, evenness: Array) -> Array:
    """(m_i - c_i) e_i, of which the score is the lift."""
    return (mass - chance) * evenness


def bag_score(gain: Array, chance: Array) -> Array:
    """The score, from means over rows."""
    return lift(gain + chance, chance)


def summarise_bag(rows: BagRows) -> Bag:
    """Means over the rows that count."""
    xp = array_namespace(rows.mass)
    mass = mean_where(rows.mass, rows.counted)
    chance = mean_where(rows.chance, rows.counted) + xp.zeros_like(mass)
    score = bag_score(mean_where(bag_gain(rows.mass, rows.chance, rows.evenness), rows.counted), chance)
    argmax = mean_where(xp.astype(rows.hit, rows.mass.dtype), rows.counted)
    count = xp.sum(xp.astype(rows.counted, xp.int64), axis=-1) + xp.zeros_like(mass, dtype=xp.int64)
    return Bag(Reading(mass, argmax, chance, score, count), mean_where(rows.evenness, rows.counted))
