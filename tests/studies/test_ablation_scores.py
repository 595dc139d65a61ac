"""Scores over the same examples: intervals, what luck gives, held-out choices; against other programs and by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from regard.ablation.tasks import CausalLanguageModel, Classification, SimilarityTask
from regard.studies.ablation.scores import AblationScores, chance, held_out, row_correlations, spearman, weighted_ranks


def scores(task, base, runs, *, counts=None, expected=None, seed=0):
    base = np.asarray(base, float)
    n = len(base)
    return AblationScores(
        task,
        np.arange(n),
        np.ones(n) if counts is None else np.asarray(counts, float),
        np.zeros(n) if expected is None else np.asarray(expected, float),
        base,
        np.asarray(runs, float),
        seed,
    )


def luck(n, runs, seed=0, rate=0.05):
    """Right and wrong answers of a model and of runs that turn a few of them either way."""
    drawn = np.random.default_rng(seed)
    base = (drawn.random(n) < 0.8).astype(float)
    turned = drawn.random((n, runs)) < rate
    return base, np.where(turned, (drawn.random((n, runs)) < 0.8).astype(float), base[:, None])


def test_spearman_is_scipys_with_ties_and_for_resampled_examples():
    drawn = np.random.default_rng(0)
    values, gold = drawn.integers(0, 9, (40, 2)).astype(float), drawn.integers(0, 5, 40).astype(float)
    weights = np.concatenate([np.ones((1, 40)), drawn.poisson(1.0, (5, 40))])
    found = spearman(values, gold, weights)
    for row, weight in enumerate(weights.astype(int)):
        again = np.repeat(np.arange(40), weight)
        for column in range(2):
            assert found[row, column] == pytest.approx(spearmanr(values[again, column], gold[again]).statistic)
    assert weighted_ranks(gold, np.ones((1, 40)))[0] == pytest.approx(rankdata(gold))


def test_rows_are_correlated_all_at_once_as_each_would_be():
    drawn = np.random.default_rng(1)
    one, other = drawn.integers(0, 7, (2, 50, 24)).astype(float)
    one[3] = 1.0  # all the same
    one[4, 5] = other[6, 7] = np.nan
    each = [spearman(a[:, None], b, np.ones((1, 24)))[0, 0] for a, b in zip(one, other, strict=True)]
    np.testing.assert_array_equal(row_correlations(one, other), each)
    assert np.isnan(each[3]) and np.isfinite(each[6])


def test_a_score_is_the_mean_over_questions_and_a_gain_is_a_lower_loss():
    made = scores(CausalLanguageModel, [4.0, 30.0], [[6.0], [24.0]], counts=[2, 10])
    assert made.baseline == pytest.approx(34 / 12)
    assert made.scores[0] == pytest.approx(30 / 12)
    assert made.changes[0, 0] == pytest.approx(-4 / 12)
    assert made.gains[0, 0] == pytest.approx(4 / 12)
    assert made.shares.sum(axis=0) == pytest.approx(made.gains[0])


def test_shares_of_a_rank_correlation_add_up_to_its_change():
    drawn = np.random.default_rng(1)
    gold = drawn.random(50)
    made = scores(SimilarityTask, gold + drawn.random(50), gold[:, None] + drawn.random((50, 3)), expected=gold)
    assert made.shares.sum(axis=0) == pytest.approx(made.gains[0])


def test_differences_are_paired_so_that_a_run_without_effect_has_no_interval():
    base, runs = luck(300, 2)
    made = scores(Classification, base, np.concatenate([base[:, None], runs], axis=1))
    assert not made.changes[:, 0].any()
    spread = made.changes[1:, 1].std()
    apart = np.hypot(made.replicated[1:, 0].std(), made.replicated[1:, 2].std())
    assert 0 < spread < apart / 2  # far less than two scores of different examples would differ


def test_intervals_hold_the_true_difference_about_as_often_as_they_say():
    inside = 0
    for seed in range(60):
        drawn = np.random.default_rng(seed)
        base = (drawn.random(400) < 0.7).astype(float)
        runs = np.where(drawn.random(400) < 0.1, 0.0, base)[:, None]  # a tenth of the answers become wrong: -0.07
        low, high = np.quantile(scores(Classification, base, runs, seed=seed).changes[1:, 0], [0.025, 0.975])
        inside += low <= -0.07 <= high
    assert inside >= 52  # 57 are expected


def test_luck_alone_is_called_luck():
    significant = 0
    for seed in range(40):
        found = chance(scores(Classification, *luck(300, 30, seed=seed), seed=seed), flips=400)
        significant += (found.p_helps.min() < 0.05) + (found.p_hurts.min() < 0.05)
        assert found.low <= found.expected <= found.high
    assert significant <= 8  # of 80 families, 4 are expected


def test_a_head_that_really_helps_is_found_among_many_that_do_not():
    base, runs = luck(600, 30, seed=3)
    wrong = np.flatnonzero(base == 0)[:30]
    runs[wrong, 7] = 1.0
    found = chance(scores(Classification, base, runs), flips=999)
    assert found.p_helps[7] == pytest.approx(1 / 1000)
    assert (np.delete(found.p_helps, 7) > 0.05).all()
    assert found.p_hurts[7] > 0.5


def test_a_run_that_changes_no_example_neither_helps_nor_hurts():
    base, runs = luck(100, 3)
    found = chance(scores(Classification, base, np.concatenate([runs, base[:, None]], axis=1)), flips=200)
    assert (found.p_helps[-1], found.p_hurts[-1]) == (1, 1)
    assert found.helping == int((runs.sum(axis=0) > base.sum()).sum())


def test_how_many_heads_seem_to_help_is_compared_with_signs_turned_by_hand():
    base, runs = luck(12, 4, seed=5, rate=0.4)
    made = scores(Classification, base, runs)
    parts = runs - base[:, None]
    signs = np.array([[1 if number >> i & 1 else -1 for i in range(12)] for number in range(2**12)])
    counts = ((signs @ parts) > 0).sum(axis=1)
    exact = (counts >= (parts.sum(axis=0) > 0).sum()).mean()
    found = chance(made, flips=20_000)
    assert found.p == pytest.approx(exact, abs=0.02)
    assert found.expected == pytest.approx(counts.mean(), abs=0.05)


def test_the_head_chosen_on_one_half_is_judged_on_the_other():
    base = np.zeros(40)
    runs = np.zeros((40, 3))
    runs[::2, 1] = 1.0  # helps every even example, no odd one
    runs[1::2, 2] = 1.0
    even, odd = held_out(scores(Classification, base, runs))
    assert (even.run, even.chosen, even.gain) == (1, 1.0, 0.0)
    assert (odd.run, odd.chosen, odd.gain) == (2, 1.0, 0.0)
