"""Words and segments."""

import numpy as np
import pytest

from regard.tokens import Segment, Side, Token, word_groups, word_indices
from regard.trace import Trace


def test_pieces_of_a_word_share_its_number_and_punctuation_is_a_word():
    text = "fresh strawberries."
    assert word_indices(text, [None, (0, 5), (6, 11), (11, 18), (18, 19), None]) == [None, 0, 1, 1, 2, None]


def test_an_inner_apostrophe_does_not_split_a_word():
    assert word_indices("isn't it", [(0, 3), (3, 4), (4, 5), (6, 8)]) == [0, 0, 0, 1]


def test_scripts_without_spaces_count_characters_unless_a_token_joins_them():
    assert word_indices("猫坐在", [(0, 1), (1, 2), (2, 3)]) == [0, 1, 2]
    assert word_indices("猫坐在", [(0, 2), (2, 3)]) == [0, 1]


def test_tokens_of_white_space_have_no_word():
    assert word_indices("a  b", [(0, 1), (1, 3), (3, 4)]) == [0, None, 1]


def side(words, segments=None):
    segments = segments or [0] * len(words)
    return Side(
        "encoder",
        tuple(Token(f"t{i}", word=w, segment=s) for i, (w, s) in enumerate(zip(words, segments, strict=True))),
    )


def test_tokens_without_a_word_stand_alone():
    assert word_groups(side([None, 0, 0, 1, None, None])) == [[0], [1, 2], [3], [4], [5]]


def test_word_level_sums_over_the_attended_and_averages_over_the_attending():
    tokens = side([0, 1, 1])
    map_ = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0], [0.2, 0.2, 0.6]], np.float32)
    trace = Trace.from_maps(map_[None, None], ["a", "b", "##c"])
    trace = Trace({"encoder": tokens}, trace.sites)
    np.testing.assert_allclose(trace.words().attention(0, 0), [[0.2, 0.8], [0.4, 0.6]], atol=1e-6)
    np.testing.assert_allclose(trace.words(rows="first").attention(0, 0), [[0.2, 0.8], [0.6, 0.4]], atol=1e-6)


def test_merged_words_read_as_one_and_segments_follow():
    tokens = (Token("[CLS]", special=True), Token("straw", word=0), Token("##berries", word=0), Token(".", word=1))
    trace = Trace.from_maps(np.full((1, 1, 4, 4), 0.25), ["a"] * 4)
    trace = Trace({"encoder": Side("encoder", tokens, (Segment("A", 0, 4),))}, trace.sites)
    words = trace.words()
    assert words.side().texts == ["[CLS]", "strawberries", "."]
    assert words.segments == (Segment("A", 0, 3),)


def test_rows_must_be_mean_or_first():
    with pytest.raises(ValueError, match="'mean' or 'first', not 'max'"):
        Trace.from_maps(np.full((1, 1, 2, 2), 0.5), ["a", "b"]).words(rows="max")
