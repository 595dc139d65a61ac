"""Words and segments."""

from dataclasses import replace

import numpy as np
import pytest

from regard.trace.mask import Mask
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token, word_groups, word_indices
from regard.trace.trace import Trace


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


def word_trace(mask, words=(0, 0, 1, 2, 3, 4, 5)):
    """Attention spread evenly over what a mask allows, of tokens that belong to these words."""
    places = np.arange(len(words))
    allowed = mask.allowed(places, places, 0)
    maps = (allowed / allowed.sum(axis=-1, keepdims=True))[None].astype(np.float32)
    site = Site("encoder", 0, "encoder", "encoder", (0,), mask=mask, maps=maps)
    return Trace({"encoder": side(words)}, (site,))


def test_words_of_a_causal_model_see_no_later_word():
    words = word_trace(Mask(None, 0)).words()
    assert words.site(0).mask.rule == "causal"
    assert "causal model" in words.patterns().missing["next token"]


def test_words_see_the_words_that_a_window_reaches():
    table = word_trace(Mask(2, 0)).words().site(0).mask.allowed(np.arange(6), np.arange(6), 0)
    # "t1" reaches "t0" of its own word; word 1 (t2) reaches both tokens of word 0; word 2 (t3) only t1 of it
    np.testing.assert_array_equal(table, np.tri(6, dtype=bool) & ~np.tri(6, k=-3, dtype=bool))


def test_a_word_whose_first_token_counts_sees_what_that_token_sees():
    trace = word_trace(Mask(0, 1), (0, 0, 1))  # the second token of word 0 sees word 1, the first does not
    seen = {
        rows: trace.words(rows=rows).site(0).mask.allowed(np.arange(2), np.arange(2), 0) for rows in ("first", "mean")
    }
    assert seen["first"].tolist() == [[True, False], [False, True]]
    assert seen["mean"].tolist() == [[True, True], [False, True]]


def test_chance_of_words_is_over_the_words_they_may_see():
    found = word_trace(Mask(2, 0)).words().patterns().measured[0].readings["previous token"]
    np.testing.assert_allclose(found.chance, 1 / 3, atol=1e-6)  # rows that see three words; the second sees two


def test_layers_that_share_a_mask_share_it_over_words():
    one = word_trace(Mask(table=np.tri(7, k=1, dtype=bool)))
    two = Trace(one.sides, (one.sites[0], replace(one.sites[0], layer=1))).words()
    assert two.site(0).mask is two.site(1).mask
