"""Entropy, distance, divergence, predictive words, shares and shapes: closed forms."""

import numpy as np

from regard.measures import (
    carried_share,
    entropy,
    js_distance,
    mean_distance,
    predictive_targets,
    shape_features,
    sink_mass,
)
from regard.measures.shape_sums import join_sums, key_tables, shape_sums


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


def test_the_most_predictive_keys_hold_half_of_what_is_gained():
    gains = np.array([[0.0, 2.0, 1.0, 0.9, np.nan], [5.0, 1.0, 1.0, 1.0, -3.0], [0.09, 0.09, 0.0, 0.0, 0.0]])
    among = np.array([[True] * 5, [False, True, True, True, True], [True] * 5])
    expected = [[False, True, False, False, False], [False, True, True, False, False], [False] * 5]
    np.testing.assert_array_equal(predictive_targets(gains, among), expected)


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


def test_a_column_is_steady_and_a_diagonal_is_drawn():
    column = np.zeros((10, 10))
    column[:, 3] = 1
    found = shape_features(np.stack([column, np.eye(10), 0.8 * column + 0.2 * np.eye(10)]))
    np.testing.assert_allclose(found.steady, [1, 0.1, 1])
    np.testing.assert_allclose(found.drawn, [0, 1, 1], atol=1e-6)  # 0.2 is a quarter of 0.8
    np.testing.assert_allclose(found.close, [0, 1, 1], atol=1e-6)  # a column leaves nothing


def test_first_rows_of_a_causal_map_draw_no_line():
    visible = np.tri(12, dtype=bool)
    early = np.where(np.arange(12)[:, None] < 4, np.eye(12), np.eye(12)[0])
    assert shape_features(early, visible=visible).drawn == 0


def test_squares_are_seen_where_parts_meet_and_not_in_a_broad_diagonal():
    parts = np.repeat([0, 1], 12)
    block = (parts[:, None] == parts[None, :]) / 12
    band = np.exp(-abs(np.arange(24)[:, None] - np.arange(24)) / 4)
    maps = np.stack([block, band / band.sum(axis=-1, keepdims=True)])
    squares = shape_features(maps, segments=parts).squares
    assert squares[0] > 0.15
    assert squares[1] < 0.03
    np.testing.assert_allclose(shape_features(maps).squares, 0)  # one part


def test_pairs_of_one_part_and_of_two_are_as_many_at_every_distance():
    parts = np.array([-1, 0, 0, 0, 0, 0, -1, 1, 1, 1, -1, 2, 2, 2, 2, -1])
    inside, across, far = key_tables(parts, parts)
    for distance in range(len(parts)):
        np.testing.assert_allclose(inside[far == distance].sum(), across[far == distance].sum(), atol=1e-5)
    assert inside.sum() > 0
    assert inside[far <= 2].sum() == inside[parts < 0].sum() == across[:, parts < 0].sum() == 0


def test_sums_of_blocks_of_rows_join_to_those_of_the_map():
    maps = np.random.default_rng(0).dirichlet(np.ones(12), size=(3, 12))
    parts, visible = np.array([-1, *[0] * 5, -1, *[1] * 4, -1]), np.ones((12, 12), bool)
    blocks = [
        shape_sums(maps[:, rows], parts[rows], parts, visible[rows], start=rows.start)
        for rows in (slice(0, 5), slice(5, 7), slice(7, 12))
    ]
    for joined, whole in zip(join_sums(blocks), shape_sums(maps, parts, parts, visible), strict=True):
        np.testing.assert_allclose(joined, whole)


def test_entropy_beside_a_sink_is_that_of_the_rest():
    maps = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 5))
    leaky = maps * np.array([0.1, 0.5, 0.9, 1.0, 0.3])[:, None]
    np.testing.assert_allclose(entropy(leaky).value, entropy(maps).value)
    np.testing.assert_allclose(sink_mass(leaky), 1 - 2.8 / 5)


def test_rows_that_see_nothing_give_no_sink_anything():
    visible = np.array([[True, True], [False, False]])
    np.testing.assert_allclose(sink_mass(np.array([[0.5, 0.25], [0, 0]]), visible=visible), 0.25)
