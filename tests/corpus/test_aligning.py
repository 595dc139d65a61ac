"""From tokens to words: hand-made cases of pieces, and maps over words against loops."""

import numpy as np
import pytest
import torch

from regard.corpus.aligning import WordMaps, have_pieces, word_pieces
from regard.trace.tokens import Token


def tokens(*spans):
    return [Token("[CLS]", special=True), *(Token("x", start=a, end=b) for a, b in spans), Token("[SEP]", special=True)]


@pytest.mark.parametrize(
    ("spans", "words", "expected"),
    [
        # "unlikely so": two pieces, then one
        ([(0, 2), (2, 8), (9, 11)], [(0, 8), (9, 11)], [0, 0, 1]),
        # 我爱北京: a piece per character, words of one or two
        ([(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 4)], [0, 1, 2, 2]),
        # "don't" as do + n't, pieces don ' t: the first crosses and goes where most of it lies
        ([(0, 3), (3, 4), (4, 5)], [(0, 2), (2, 5)], [0, 1, 1]),
        # "du" is de and le: both have the whole; the piece is the first one's, the second has none
        ([(0, 2), (3, 7)], [(0, 2), (0, 2), (3, 7)], [0, 2]),
        # a piece half in each of two words is the earlier one's
        ([(0, 4)], [(0, 2), (2, 4)], [0]),
        # a piece with the space before it, and one over white space alone
        ([(0, 1), (1, 6), (6, 7)], [(0, 1), (2, 6), (7, 8)], [0, 1, -1]),
        # characters after the last word, and a word whose characters no token has
        ([(0, 1), (4, 9)], [(0, 1), (2, 4)], [0, -1]),
    ],
)
def test_a_token_is_a_piece_of_the_word_it_shares_most_characters_with(spans, words, expected):
    assert word_pieces(tokens(*spans), words).tolist() == [-1, *expected, -1]


def test_words_without_a_piece_are_told():
    assert have_pieces(word_pieces(tokens((0, 2), (3, 7)), [(0, 2), (0, 2), (3, 7)]), 3).tolist() == [True, False, True]


def test_tokens_of_the_other_text_are_no_pieces():
    pair = [Token("a", start=0, end=1), Token("b", start=0, end=1, segment=1)]
    assert word_pieces(pair, [(0, 1)]).tolist() == [0, -1]
    assert word_pieces(pair, [(0, 1)], segment=1).tolist() == [-1, 0]


def by_hand(attention, pieces, words, rows):
    """(H, W, W): sum over the pieces attended to, mean over (or first of) the pieces attending."""
    found = np.zeros((len(attention), words, words))
    for query in range(words):
        mine = np.flatnonzero(pieces == query)[: 1 if rows == "first" else None]
        for key in range(words):
            if len(mine):
                found[:, query, key] = attention[:, mine][:, :, pieces == key].sum(-1).mean(-1)
    return found


@pytest.mark.parametrize("rows", ["mean", "first"])
def test_maps_over_words_sum_to_and_average_from(rows):
    torch.manual_seed(0)
    attention = torch.randn(2, 3, 7, 7).softmax(-1)
    pieces = [np.array([-1, 0, 0, 1, 3, 3, -1]), np.array([-1, 1, 0, 1, -1])]  # word 2 of the first has none
    maps = WordMaps(pieces, [4, 2], 7, rows=rows)
    found = maps(attention)
    assert found.shape == (2, 3, 4, 4)
    assert maps.present.tolist() == [[True, True, False, True], [True, True, False, False]]
    first = by_hand(attention[0].numpy(), pieces[0], 4, rows)
    np.testing.assert_allclose(found[0].numpy(), first, atol=1e-6)
    second = by_hand(attention[1, :, :5, :5].numpy(), pieces[1], 2, rows)
    np.testing.assert_allclose(found[1, :, :2, :2].numpy(), second, atol=1e-6)
    assert not found[1, :, 2:].any()
    assert not found[1, :, :, 2:].any()


def test_rows_of_words_sum_to_what_they_give_to_words():
    attention = torch.full((1, 1, 4, 4), 0.25)
    found = WordMaps([np.array([-1, 0, 0, 1])], [2], 4)(attention)
    np.testing.assert_allclose(found[0, 0].numpy(), [[0.5, 0.25], [0.5, 0.25]])


def test_another_way_to_read_rows_is_refused():
    with pytest.raises(ValueError, match="mean or first, not 'last'"):
        WordMaps([], [], 0, rows="last")
