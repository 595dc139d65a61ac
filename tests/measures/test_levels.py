"""Entropy, distance, divergence, predictive words, shares and shapes: closed forms."""

import numpy as np

from regard.measures import (
    carried_share,
    entropy,
    js_distance,
    mean_distance,
    predictive,
    predictive_shares,
    shape_features,
    sink_mass,
)


def test_entropy_of_uniform_attention_is_log_of_key_count():
    found = entropy(np.full((1, 1, 4, 8), 1 / 8))
    np.testing.assert_allclose(found.value, np.log(8))
    np.testing.assert_allclose(found.chance, np.log(8))


def test_entropy_of_one_key_is_that_of_the_smoothing():
    found = entropy(np.eye(16), smooth=0.0)
    np.testing.assert_allclose(found.value, 0, atol=1e-12)
    smoothed = entropy(np.eye(16)).value
    assert 0 < smoothed < 0.01


def test_entropy_under_a_causal_mask_compares_with_what_is_visible():
    causal = np.tri(4) / np.tri(4).sum(axis=-1, keepdims=True)
    found = entropy(causal, visible=np.tri(4, dtype=bool))
    np.testing.assert_allclose(found.value, np.log([2, 3, 4]).mean())  # the first row has no choice
    np.testing.assert_allclose(found.value, found.chance)


def test_entropy_of_a_one_token_text_is_not_available():
    assert np.isnan(entropy(np.ones((1, 1))).value)


def test_mean_distance_of_a_shifted_diagonal_is_the_shift():
    maps = np.eye(9, k=-2)
    maps[:2] = np.eye(9)[:2]
    np.testing.assert_allclose(mean_distance(maps).value, 2 * 7 / 9)


def test_mean_distance_of_uniform_attention_is_its_chance():
    found = mean_distance(np.full((3, 6, 6), 1 / 6))
    np.testing.assert_allclose(found.value, found.chance)
    np.testing.assert_allclose(found.value, np.abs(np.subtract.outer(np.arange(6), np.arange(6))).mean())


def test_identical_heads_have_no_distance_and_disjoint_ones_log_two_a_row():
    maps = np.stack([np.eye(4), np.eye(4), np.eye(4)[::-1]])
    found = js_distance(maps, smooth=0.0)
    np.testing.assert_allclose(found[0], [0, 0, 4 * np.log(2)], atol=1e-12)
    np.testing.assert_allclose(found, found.T)


def test_js_distance_equals_its_definition():
    maps = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 5))
    middle = maps.mean(axis=0)
    expected = sum(0.5 * (m * np.log(m / middle)).sum() for m in maps)
    np.testing.assert_allclose(js_distance(maps, smooth=0.0)[0, 1], expected)


def test_predictive_shares_are_what_is_lost_without_a_token():
    content = np.array([False, True, True, True])
    alone = np.array([0.0, -1.0, -1.0, -1.0])
    without = np.full((4, 4), -1.0)
    without[1, 2], without[1, 3], without[2, 1] = -4.0, -2.0, -0.5  # the last one helps nobody: it gains
    shares = predictive_shares(alone, without, content)
    np.testing.assert_allclose(shares[1], [0, 0, 0.75, 0.25])
    np.testing.assert_allclose(shares[2], 0)


def test_attention_equal_to_the_shares_is_fully_predictive():
    shares = np.array([[0.0, 0.75, 0.25], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    maps = shares.copy()
    maps[1, 1] = 1
    found = predictive(maps, shares)
    assert (found.mass, found.argmax, found.lift, found.rows) == (1, 1, 1, 2)
    np.testing.assert_allclose(found.chance, ((1 / 3 + 0.25) + 1 / 3) / 2)


def test_nothing_predictive_is_not_available():
    assert np.isnan(predictive(np.eye(3), np.zeros((3, 3))).lift)


def test_shares_of_what_is_carried_follow_the_norms():
    attention = np.array([[[0.5, 0.5], [0.9, 0.1]]])
    norms = np.array([[1.0, 3.0]])
    classes = np.array([[True, False], [False, True], [False, False]])
    found = carried_share(attention, norms, classes)
    np.testing.assert_allclose(found.attention[0], [0.7, 0.3, np.nan])
    np.testing.assert_allclose(found.carried[0], [0.7, 0.9, np.nan])
    np.testing.assert_allclose(found.normalised[0], [(0.25 + 0.75) / 2, (0.75 + 0.25) / 2, np.nan])


def test_equal_norms_leave_attention_as_it_is():
    attention = np.random.default_rng(0).dirichlet(np.ones(6), size=(3, 6))
    classes = np.arange(6)[None, :] < np.array([[2], [6]])
    found = carried_share(attention, np.full((3, 6), 2.0), classes)
    np.testing.assert_allclose(found.normalised, found.attention)
    np.testing.assert_allclose(found.carried, 2 * found.attention)


def test_a_column_is_tall_and_a_diagonal_is_a_line():
    column = np.zeros((10, 10))
    column[:, 3] = 1
    found = shape_features(np.stack([column, np.eye(10, k=0), np.full((10, 10), 0.1)]))
    np.testing.assert_allclose(found.tallest, [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.diagonal, [0, 1, 0], atol=0.03)  # a column crosses each diagonal once
    np.testing.assert_allclose(found.line, [0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(found.gini, [0.9, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.own, 0)


def test_blocks_under_a_column_are_seen():
    segments = np.repeat([0, 1], 6)
    block = (segments[:, None] == segments[None, :]) / 6
    column = np.zeros((12, 12))
    column[:, 0] = 1
    found = shape_features(0.6 * column + 0.4 * block, segments=segments)
    assert found.tallest > 0.5
    np.testing.assert_allclose(found.own, 1, atol=1e-6)


def test_entropy_beside_a_sink_is_that_of_the_rest():
    maps = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 5))
    leaky = maps * np.array([0.1, 0.5, 0.9, 1.0, 0.3])[:, None]
    np.testing.assert_allclose(entropy(leaky).value, entropy(maps).value)
    np.testing.assert_allclose(sink_mass(leaky), 1 - 2.8 / 5)


def test_rows_that_see_nothing_give_no_sink_anything():
    visible = np.array([[True, True], [False, False]])
    np.testing.assert_allclose(sink_mass(np.array([[0.5, 0.25], [0, 0]]), visible=visible), 0.25)
