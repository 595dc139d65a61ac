"""Which rows may say "same word": words that come twice, not words of two pieces, and not unknown ones."""

import numpy as np

from regard.patterns.definitions import PATTERNS, Part
from regard.trace.places import context_between
from regard.trace.tokens import Side, Token

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


def test_unknown_words_that_a_corpus_writes_out_are_not_the_same_word():
    written = [("<", 0), ("un", 1), ("##k", 1), (">", 2)]
    again = [(text, word + 4) for text, word in written]
    assert counted(*written, ("sat", 3), *again, ("sat", 7)) == [False] * 4 + [True] + [False] * 4 + [True]
    assert counted(("<unk>", 0), ("sat", 1), ("<unk>", 2)) == [False] * 3


def test_unknown_words_that_a_corpus_writes_out_are_no_repeated_tokens_and_no_punctuation():
    texts = ["<", "unk", ">", "sat", "<", "unk", ">", "sat", ">"]
    side = Side("text", tuple(Token(text, id=sum(map(ord, text)), word=n) for n, text in enumerate(texts)))
    places = context_between(side, side, True, True).keys
    assert (places.ids >= 0).tolist() == [False] * 3 + [True] + [False] * 3 + [True, True]
    assert places.punctuation.tolist() == [False] * 8 + [True]
