"""Measures that are attention on target keys: closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.measures import (
    bag_of_words,
    duplicate_token,
    induction,
    lift,
    other_pieces,
    read,
    related_word,
    same_word,
    same_word_in_other_segment,
    to_first,
    to_next,
    to_offset,
    to_places,
    to_previous,
    to_self,
)
from regard.measures.offset import offset_targets


def uniform(n, causal=False):
    table = np.tri(n) if causal else np.ones((n, n))
    return table / table.sum(axis=-1, keepdims=True)


def shifted(n, offset):
    """All attention at one offset; rows without that key attend to the first token."""
    maps = np.eye(n, k=offset)
    maps[maps.sum(axis=-1) == 0, 0] = 1
    return maps


def test_lift_is_zero_at_chance_and_one_when_all_is_on_target():
    np.testing.assert_allclose(lift(np.array([0.25, 1.0, 0.1]), np.array([0.25] * 3)), [0, 1, 0])


def test_lift_is_not_available_where_chance_is_certain():
    assert np.isnan(lift(np.array(1.0), np.array(1.0)))


@pytest.mark.parametrize(("measure", "offset"), [(to_self, 0), (to_next, 1), (to_previous, -1)])
def test_a_map_of_one_diagonal_scores_one_at_its_offset(measure, offset):
    found = measure(shifted(8, offset))
    assert (found.mass, found.argmax, found.lift) == (1, 1, 1)
    assert found.rows == 8 - abs(offset)


def test_the_chance_of_an_offset_is_one_over_the_keys():
    np.testing.assert_allclose(to_next(uniform(10)).chance, 0.1)


def test_uniform_attention_has_no_lift():
    for found in (to_next(uniform(10)), to_first(uniform(10)), to_places(uniform(10), np.arange(10) < 3)):
        np.testing.assert_allclose(found.lift, 0, atol=1e-12)


def test_offset_equals_the_mean_of_that_diagonal():
    maps = np.random.default_rng(0).dirichlet(np.ones(9), size=(2, 3, 9))
    np.testing.assert_allclose(to_offset(maps, 3).mass, np.diagonal(maps, 3, -2, -1).mean(axis=-1))


def test_a_causal_mask_raises_the_chance_of_early_rows():
    visible = np.tri(6, dtype=bool)
    found = to_previous(uniform(6, causal=True), visible=visible)
    np.testing.assert_allclose(found.chance, np.mean([1 / 3, 1 / 4, 1 / 5, 1 / 6]))  # rows 0 and 1 have no choice
    np.testing.assert_allclose(found.lift, 0, atol=1e-12)
    assert found.rows == 4


def test_pairs_outside_within_do_not_count():
    within = np.zeros((6, 6), bool)
    within[:3, :3] = within[3:, 3:] = True
    assert to_next(shifted(6, 1), within=within).rows == 4


def test_attention_to_places_is_the_sum_of_their_columns():
    maps = np.random.default_rng(0).dirichlet(np.ones(7), size=(7,))
    chosen = np.array([True, False, False, False, False, False, True])
    np.testing.assert_allclose(to_places(maps, chosen).mass, (maps[:, 0] + maps[:, 6]).mean())
    np.testing.assert_allclose(to_places(maps, chosen).chance, 2 / 7)


def test_the_sink_is_the_first_column():
    maps = np.zeros((5, 5))
    maps[:, 0] = 1
    assert to_first(maps, visible=np.tri(5, dtype=bool)).lift == 1


def test_no_eligible_row_gives_nan_not_zero():
    found = to_places(uniform(4), np.zeros(4, bool))
    assert np.isnan([found.mass, found.argmax, found.chance, found.lift]).all()
    assert found.rows == 0


def test_rows_that_chance_satisfies_half_of_the_time_do_not_count():
    assert to_places(uniform(4), np.array([True, True, False, False])).rows == 0


def test_same_word_counts_itself_unless_told_otherwise():
    words = np.array([0, 1, 0, 2, 3, 4])
    maps = np.eye(6)
    assert same_word(maps, words).mass == 1
    assert same_word(maps, words, itself=offset_targets(maps, 0)).mass == 0


def test_same_word_counts_only_words_that_occur_twice():
    assert same_word(np.eye(6), np.array([0, 1, 0, 2, 3, -1])).rows == 2


def test_same_word_without_a_repeated_word_is_not_available():
    assert np.isnan(same_word(np.eye(4), np.arange(4)).lift)


def test_nothing_but_one_word_is_not_available():
    assert np.isnan(same_word(uniform(4), np.zeros(4, int)).lift)


def test_same_word_in_the_other_segment_ignores_its_own():
    words, segments = np.array([0, 1, 0, 0, 2, 3]), np.array([0, 0, 0, 1, 1, 1])
    maps = np.zeros((6, 6))
    maps[0, 3] = maps[2, 3] = 1
    maps[3, 0] = maps[3, 2] = 0.5
    found = same_word_in_other_segment(maps, words, segments)
    assert (found.mass, found.rows) == (1, 3)


def test_related_words_are_those_of_the_table_and_not_the_same_word():
    related = np.zeros((5, 5), bool)  # of words 0 to 3, the last for none
    related[[0, 1], [1, 0]] = True
    words = np.array([0, 2, 1, 0, 3, -1])
    maps = np.eye(6)[[2, 0, 3, 0, 4, 5]]  # the second 0 looks at the first
    found = related_word(maps, words, related)
    assert (found.mass, found.rows) == (2 / 3, 3)
    assert found.chance == pytest.approx((1 + 2 + 1) / 18)
    assert related_word(maps, words, related, segments=np.array([0, 0, 0, 1, 1, 1])).rows == 2


def test_other_pieces_leave_the_token_itself_out():
    pieces = np.array([0, 1, 1, 2, 3, 4])
    maps = np.eye(6)[[0, 2, 1, 3, 4, 5]]
    found = other_pieces(maps, pieces)
    assert (found.mass, found.rows) == (1, 2)


def test_duplicate_token_looks_back_only():
    tokens = np.array([5, 6, 7, 5])
    found = duplicate_token(np.eye(4)[[0, 0, 0, 0]], tokens, visible=np.tri(4, dtype=bool))
    assert (found.mass, found.rows) == (1, 1)
    np.testing.assert_allclose(found.chance, 1 / 4)


def test_induction_looks_at_what_followed_the_same_token():
    tokens = np.array([5, 6, 7, 8, 5, 6, 7, 8])
    maps = np.eye(8)
    maps[4:] = np.eye(8)[1:5]
    found = induction(maps, tokens, visible=np.tri(8, dtype=bool))
    assert (found.mass, found.argmax, found.rows) == (1, 1, 4)
    assert duplicate_token(maps, tokens, visible=np.tri(8, dtype=bool)).mass == 0


def test_the_first_token_follows_nothing():
    tokens = np.array([1, 2, 1])  # the last token equals the one that would wrap round to position 0
    found = induction(np.eye(3)[[0, 0, 1]], tokens, visible=np.tri(3, dtype=bool))
    assert (found.mass, found.rows) == (1, 1)


def test_identical_tokens_give_no_induction_and_no_warning():
    assert np.isnan(induction(uniform(5, causal=True), np.zeros(5, int), visible=np.tri(5, dtype=bool)).lift)


def blocks():
    segments = np.array([-1, 0, 0, 0, -1, 1, 1, 1, 1, -1])
    maps = (segments[:, None] == segments[None, :]).astype(float)
    return maps / maps.sum(axis=-1, keepdims=True), segments


def test_attention_spread_over_the_own_sentence_is_a_bag_of_words():
    maps, segments = blocks()
    found = bag_of_words(maps, segments, segments >= 0)
    np.testing.assert_allclose(found.reading.lift, 1, atol=1e-3)
    np.testing.assert_allclose(found.evenness, 1, atol=1e-3)
    np.testing.assert_allclose(found.reading.chance, (3 * 0.3 + 4 * 0.4) / 7)


def test_one_key_of_the_own_sentence_is_no_bag_of_words():
    _, segments = blocks()
    maps = np.zeros((10, 10))
    maps[:5, 1] = maps[5:, 5] = 1
    found = bag_of_words(maps, segments, segments >= 0)
    assert found.reading.mass == 1
    assert found.reading.lift < 0.01


def test_uniform_attention_is_no_bag_of_words():
    _, segments = blocks()
    np.testing.assert_allclose(bag_of_words(uniform(10), segments, segments >= 0).reading.lift, 0, atol=1e-9)


def test_one_sentence_has_no_bag_of_words():
    assert np.isnan(bag_of_words(uniform(6), np.zeros(6, int), np.ones(6, bool)).reading.lift)


def test_targets_of_another_length_are_refused():
    with pytest.raises(ValueError, match="same tokens"):
        read(np.eye(4), np.eye(5, dtype=bool))


@given(st.integers(2, 12), st.integers(0, 2**31 - 1))
def test_every_reading_stays_in_bounds(size, seed):
    generator = np.random.default_rng(seed)
    maps = generator.dirichlet(np.ones(size), size=(2, size))
    targets = generator.random((3, size, size)) < 0.3
    found = read(maps, targets)
    for values in (found.mass, found.argmax, found.chance, found.lift):
        assert values.shape == (3, 2)
        assert ((np.isnan(values)) | ((values >= 0) & (values <= 1 + 1e-9))).all()
