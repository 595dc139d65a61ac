"""What the measures need to know about tokens: words, sentences, punctuation, delimiters, as arrays of numbers.

Enters: the sides of a trace. Leaves: a `MapContext` for maps between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from regard.trace.medium import SOUND
from regard.trace.site import Site
from regard.trace.tokens import Side, Token, word_groups, word_text
from regard.trace.trace import Trace

Array = np.ndarray[Any, Any]

_ARROW = ">>"  # between the two sides of a reaction; a dot separates its molecules
_NO_KIND, _MARK = (False,) * 5, (True, False, False, False, False)


@dataclass(frozen=True, eq=False)
class Places:
    """Numbers for the positions of one side, (n,) each; -1 if a token has no such number."""

    content: Array  # ordinary tokens: not a delimiter
    segments: Array  # sentence numbers, -1 for delimiters
    parts: Array  # sentence numbers, or numbers of the molecules of a reaction; -1 for what separates them
    words: Array  # equal for equal lower-cased words; -1 for delimiters and punctuation
    pieces: Array  # equal for the pieces of one occurrence of a word
    ids: Array  # equal for equal tokens; -1 for delimiters and for the pieces of a written <unk>
    punctuation: Array
    common: Array  # words that the tokenizer learned first, in one piece: mostly function words
    capitalised: Array  # words with a capital first letter
    numbers: Array  # words with a digit
    later_pieces: Array  # of words: not the first
    first: Array  # the delimiter that opens the input ([CLS], <s>)
    later: Array  # the other delimiters ([SEP], </s>)
    spans: Array  # (n, 4) left, top, right, bottom of a patch as shares of its picture; NaN for what is no patch

    def part(self, rows: slice) -> Places:
        """The same for a run of positions."""
        return Places(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @classmethod
    def padded(cls, sides: Sequence[Places], length: int) -> Places:
        """Those of several sides as one, (sides, length) each; what is added has no number and is of no kind."""
        found = []
        for name in cls.__dataclass_fields__:
            arrays = [getattr(side, name) for side in sides]
            none = {"b": False, "i": -1, "f": np.nan}[arrays[0].dtype.kind]
            table = np.full((len(arrays), length, *arrays[0].shape[1:]), none, arrays[0].dtype)
            for row, array in zip(table, arrays, strict=True):
                row[: len(array)] = array
            found.append(table)
        return cls(*found)


@dataclass(frozen=True, eq=False)
class Grammar:
    """Tags and dependencies of the words of a text, where its corpus has them."""

    pieces: Array  # (n,) the word that each token is a piece of, -1 for none
    tags: Array  # (words,) UPOS
    heads: Array  # (words,) the word that each one depends on, -1 for a root
    relations: Array  # (words,) how


@dataclass(frozen=True, eq=False)
class MapContext:
    """Queries and keys of some maps: their places, and why they have no words, if they have none."""

    queries: Places
    keys: Places
    same: bool  # queries and keys are the same positions
    causal: bool
    no_text: str = ""  # the code of a reason
    related: Array | None = None  # (W + 1, W + 1) booleans by word number, False for -1; None if unknown
    names: tuple[str, ...] = ()  # the words by their numbers
    sides: tuple[Side, Side] | None = None  # queries and keys as they are written; None if unknown
    grammar: Grammar | None = None  # of the text, if queries and keys are the same; None if unknown
    gains: Array | None = None  # (queries, keys) nats; None if unknown
    no_gains: str = ""  # the code of the reason

    @cached_property
    def ordinary(self) -> bool:
        """Whether any query is an ordinary token."""
        return bool(self.queries.content.any())

    @cached_property
    def pictured(self) -> bool:
        """Whether any key is a patch of a picture."""
        return bool(np.isfinite(self.keys.spans[:, 0]).any())

    @cached_property
    def sentences(self) -> int:
        return len(set(self.keys.segments.tolist()) - {-1})


def context_of(trace: Trace, site: Site, causal: bool) -> MapContext:
    """The context of a site's maps."""
    sides = trace.sides[site.query_side], trace.sides[site.key_side]
    return context_between(*sides, site.query_side == site.key_side, causal)


def context_between(query: Side, key: Side, same: bool, causal: bool) -> MapContext:
    """The context of maps from the tokens of one side to those of another, or the same."""
    vocabulary: dict[str, int] = {}
    keys = places_of(key, vocabulary)
    queries = keys if same else places_of(query, vocabulary)
    related = _related(key, keys.words) if same else None
    gains, no_gains = (query.gains, query.no_gains) if same else (None, "two_texts")
    return MapContext(
        queries,
        keys,
        same,
        causal,
        _no_text(query, key),
        related,
        tuple(vocabulary),
        sides=(query, key),
        gains=gains,
        no_gains=no_gains,
    )


def places_of(side: Side, vocabulary: dict[str, int]) -> Places:
    """Numbers of a side's tokens; `vocabulary` is shared so that equal words of two sides get equal numbers."""
    count = len(side)
    border = borders_of(side)
    words, pieces = [-1] * count, [-1] * count
    kinds = [_NO_KIND] * count  # the fields from punctuation to later_pieces
    groups = list(word_groups(side))
    words_of = [_word(_spelling(side, group)) for group in groups]
    texts = [word.lower for word in words_of]
    unknown = _unknown(texts)
    for number, (group, text) in enumerate(zip(groups, texts, strict=True)):
        if border[group[0]] or not text:
            continue
        for place in group:
            pieces[place] = number
        if side.tokens[group[0]].special or number in unknown:
            continue  # [UNK] stands for words that may differ: two of them are not the same word
        if not words_of[number].spoken:
            for place in group:
                kinds[place] = _MARK
            continue
        word = vocabulary.setdefault(text, len(vocabulary))
        common = len(group) == 1 and side.tokens[group[0]].common
        for place in group:
            words[place] = word
            kinds[place] = (False, common, words_of[number].capital, words_of[number].digit, place != group[0])
    punctuation, common_words, capitalised, numbers, later_pieces = np.array(kinds, bool).reshape(count, 5).T
    written = np.zeros(count, dtype=bool)
    written[[place for number in unknown for place in groups[number]]] = True
    known: dict[object, int] = {}
    ids = [known.setdefault(token.text if token.id is None else token.id, len(known)) for token in side.tokens]
    return Places(
        content=~border,
        segments=np.where(border, -1, [token.segment for token in side.tokens]),
        parts=parts_of(side.tokens),
        words=np.array(words),
        pieces=np.array(pieces),
        ids=np.where(border | written, -1, ids),
        punctuation=punctuation,
        common=common_words,
        capitalised=capitalised,
        numbers=numbers,
        later_pieces=later_pieces,
        first=border & (np.arange(count) == 0),
        later=border & (np.arange(count) > 0),
        spans=_spans(side),
    )


def borders_of(side: Side) -> Array:
    """(n,) which tokens mark a boundary."""
    return np.array([token.border for token in side.tokens], dtype=bool)


def _spans(side: Side) -> Array:
    """(n, 4) where patches lie in their picture; of a side that knows their rows and columns alone, in that grid."""
    if side.spans is not None and side.spans.shape[1] == 4:
        return side.spans
    if all(token.row is None for token in side.tokens):
        return np.full((len(side), 4), np.nan, np.float32)
    grid = np.array([(token.column, token.row) if token.row is not None else (-1, -1) for token in side.tokens], float)
    size = grid.max(axis=0) + 1
    found = np.concatenate([grid / size, (grid + 1) / size], axis=1).astype(np.float32)
    found[(grid < 0).any(axis=1)] = np.nan
    return found


def spellings(side: Side) -> list[str]:
    """(n,) the word that each token is a piece of, as it is written."""
    found = [""] * len(side)
    for group in word_groups(side):
        text = _spelling(side, group)
        for place in group:
            found[place] = text
    return found


class _Word(NamedTuple):
    """What is known of a word by how it is written."""

    lower: str
    spoken: bool  # it has a letter or digit
    capital: bool  # its first letter is one
    digit: bool


@lru_cache(maxsize=1 << 15)
def _word(text: str) -> _Word:
    lower = text.lower()
    return _Word(lower, any(map(str.isalnum, lower)), text[:1].isupper(), any(map(str.isdigit, lower)))


def _spelling(side: Side, group: Sequence[int]) -> str:
    return word_text([side.tokens[i] for i in group]).removeprefix("##").strip()


def _unknown(texts: list[str]) -> set[int]:
    """Which words are a written <unk> or part of one: corpora such as WikiText write it for rare words."""
    found = {number for number, text in enumerate(texts) if text == "<unk>"}
    for number, three in enumerate(zip(texts, texts[1:], texts[2:], strict=False)):
        if three == ("<", "unk", ">"):
            found |= {number, number + 1, number + 2}
    return found


def _related(side: Side, words: Array) -> Array | None:
    """Which words, by number, are related to which; the last row and column stand for -1."""
    if side.related is None:
        return None
    table = np.zeros((words.max(initial=-1) + 2,) * 2, dtype=bool)
    one, other = words[side.related].T
    table[one, other] = table[other, one] = True
    return table


def parts_of(tokens: Sequence[Token]) -> Array:
    """(n,) numbers of the parts that blocks of a map are made of: sentences, or the molecules of a reaction."""
    between = np.array([token.border for token in tokens], dtype=bool)
    if not any(token.text == _ARROW for token in tokens):
        return np.where(between, -1, [token.segment for token in tokens])
    between |= [token.text in (_ARROW, ".") for token in tokens]
    return np.where(between, -1, np.cumsum(between))


def _no_text(*sides: Side) -> str:
    """The code of the reason why the positions are not text (sentences.json); empty if they are."""
    tokens = [token for side in sides for token in side.tokens]
    if any(token.row is not None for token in tokens):
        return "patches"
    if any(side.medium is not None and side.medium.kind == SOUND for side in sides):
        return "frames"
    if all(token.word is None and token.id is None for token in tokens):
        return "textless"
    return ""
