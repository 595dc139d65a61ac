"""Common words: those that a tokenizer learned first, mostly function words, in whatever language it was made for.

Enters: a tokenizer. Leaves: ids. Vocabularies are in order of frequency: WordPiece lists its words so, byte-pair
encoding its merges, and a unigram model its scores. So no list of words is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from regard.trace.tokens import is_spaced, is_word

WORDS = 100  # of a vocabulary are common: in English few of these are anything but function words
LEAST = 5000  # pieces that a vocabulary must have; a small one has rare words among its first
_LOOKED = 8192  # ids looked at: the first may be special tokens, bytes and letters
_STARTS = ("Ġ", "▁")  # marks of pieces that begin a word, if a vocabulary has them; WordPiece marks the others


@lru_cache(maxsize=16)
def common_ids(tokenizer: Any) -> frozenset[int]:
    """Ids of the pieces that are a common word: of one letter, or among the first `WORDS`; none if that is unknown."""
    count = len(tokenizer)
    if count < LEAST:
        return frozenset()
    pieces = [piece if isinstance(piece, str) else "" for piece in tokenizer.convert_ids_to_tokens(list(range(count)))]
    mark = next((mark for mark in _STARTS if sum(piece.startswith(mark) for piece in pieces) > count // 10), None)
    special = set(tokenizer.all_special_ids)
    letters, words = [], dict[str, int]()
    for number, piece in enumerate(pieces[:_LOOKED]):
        if number in special or (piece.startswith("##") if mark is None else not piece.startswith(mark)):
            continue
        text = tokenizer.decode([number]).strip()
        if not is_word(text) or not text.isalpha() or not is_spaced(text):
            continue
        if len(text) == 1:
            letters.append(number)
        elif len(words) < WORDS:
            words.setdefault(text, number)
    return frozenset((*letters, *words.values()))
