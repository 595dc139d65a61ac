"""A dictionary learned from sentence pairs, by which words occur together: IBM's first model (Brown et al. 1993).

Enters: pairs of sentences as words. Leaves: pairs of words that translate each other in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Words = Sequence[str]

ROUNDS = 5  # of expectation and maximisation, as is usual
SURE = 0.3  # the least probability, in both directions
OFTEN = 3  # sentence pairs that have both words, at least


def learned(pairs: Iterable[tuple[Words, Words]]) -> dict[str, set[str]]:
    """For each source word, the words that it is translated by and that are translated by it."""
    ids: tuple[dict[str, int], dict[str, int]] = ({}, {})
    rows: list[Array] = []
    before = [0, 0]  # words of the sentences before
    for number, sides in enumerate(pairs):
        own = [_numbered(words, known) for words, known in zip(sides, ids, strict=True)]
        places = [start + np.arange(len(side)) for start, side in zip(before, own, strict=True)]
        before = [start + len(side) for start, side in zip(before, own, strict=True)]
        down, across = (own[0][:, None], places[0][:, None]), (own[1][None], places[1][None])
        rows.append(np.stack(np.broadcast_arrays(*down, *across, np.int64(number)), -1).reshape(-1, 5))
    if not rows:
        return {}
    source, source_place, target, target_place, sentence = np.concatenate(rows).T
    cells, cell = np.unique(source * len(ids[1]) + target, return_inverse=True)
    both = np.bincount(np.unique(cell * (len(rows) + 1) + sentence) // (len(rows) + 1), minlength=len(cells)) >= OFTEN
    sure = np.minimum(translation(source, target_place, cell), translation(target, source_place, cell)) >= SURE
    names = [list(known) for known in ids]
    found: dict[str, set[str]] = {}
    for kept in cells[both & sure]:
        one, other = divmod(int(kept), len(ids[1]))
        found.setdefault(names[0][one], set()).add(names[1][other])
    return found


def _numbered(words: Words, known: dict[str, int]) -> Array:
    """The numbers of some words, new ones after those that are known."""
    return np.array([known.setdefault(word, len(known)) for word in words], np.int64)


def translation(given: Array, written: Array, cell: Array) -> Array:
    """(cells,) the probability that the given word of a cell is written as its other word, after some rounds.

    A row per pair of words of two sentences: the `given` word, the place of the `written` one, the `cell` of both
    words. Each written word belongs to one of the given words of its sentence; there is no empty word. The rounds begin
    with even probabilities.
    """
    first = np.zeros(cell.max() + 1, np.int64)
    first[cell] = given
    table = np.ones(len(first))
    for _ in range(ROUNDS):
        share = table[cell] / np.bincount(written, table[cell])[written]
        counts = np.bincount(cell, share)
        table = counts / np.bincount(first, counts)[first]
    return np.asarray(table)
