"""Which rows may say "same word": words that come twice, not words of two pieces, and not unknown ones."""

import numpy as np

from regard.context import context_between
from regard.patterns.definitions import PATTERNS, Part
from regard.tokens import Side, Token

SAME = next(pattern for pattern in PATTERNS if pattern.name == "same word")


def counted(*tokens):
    side = Side("text", tuple(Token(text, word=word, special=text == "[UNK]") for text, word in tokens))
    context = context_between(side, side, True, False)
    return SAME.targets(Part(context, context.queries, 0, np.ones((len(side), len(side)), bool)))[1].tolist()


def test_two_pieces_of_one_word_are_not_two_words():
    assert counted(("straw", 0), ("##berries", 0), ("a", 1)) == [False, False, False]


def test_a_word_that_comes_twice_counts():
    assert counted(("cat", 0), ("sat", 1), ("cat", 2)) == [True, False, True]


def test_unknown_words_are_not_the_same_word():
    assert counted(("[UNK]", 0), ("sat", 1), ("[UNK]", 2)) == [False, False, False]
