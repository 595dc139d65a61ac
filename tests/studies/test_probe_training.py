"""How probes learn and how their runs are compared: the classifier, intervals, pairs, sentences set aside."""

import numpy as np
import pytest

from regard.corpus.readers.treebank import ROOT, Sentence, Word
from regard.studies.probe.linear import TOLERANCE, Linear
from regard.studies.probe.pairs import linked
from regard.studies.probe.scores import ProbeScores, over_runs
from regard.studies.probe.trees import LOST, set_aside, tree_of
from tests.studies.probes import random_trees


def blurred(classes, rows=900, width=12, seed=0):
    """Correlated features of very different sizes, and classes that depend on them in part."""
    rng = np.random.default_rng(seed)
    points = rng.normal(2, 3, size=(rows, width)) @ rng.normal(size=(width, width)) * np.logspace(-3, 1, width)
    scores = points / points.std(axis=0) @ rng.normal(size=(width, classes)) + rng.gumbel(size=(rows, classes)) * 2
    return points, scores.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 5])
def test_the_classifier_ends_where_the_gradient_is_nothing(classes):
    points, truth = blurred(classes)
    fitted = Linear().fit(points.copy(), truth)
    scaled = (points - points.mean(axis=0)) / points.std(axis=0)
    raw = scaled @ fitted.model.coef_.T + fitted.model.intercept_
    raw = np.concatenate([np.zeros_like(raw), raw], axis=1) if classes == 2 else raw
    shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    wrong = (shares - np.eye(classes)[truth])[:, -len(fitted.model.coef_) :]
    gradient = np.abs(wrong.T @ scaled / len(truth) + 1e-4 * fitted.model.coef_).max()
    assert fitted.gradient == pytest.approx(max(gradient, np.abs(wrong.mean(axis=0)).max()), abs=1e-9)
    assert fitted.gradient < TOLERANCE


def test_a_class_that_is_alone_is_always_said():
    assert (Linear().fit(np.ones((4, 2)), np.full(4, 3)).predict(np.zeros((2, 2))) == 3).all()


def test_the_interval_has_the_variance_between_training_runs():
    shares = np.array([0.5, 0.6, 0.55, 0.7])
    replicates = over_runs(np.repeat(shares[:, None], 20_001, axis=1))  # sentences do not vary here
    assert replicates[0] == pytest.approx(shares.mean())
    low, high = np.quantile(replicates[1:], [0.025, 0.975]) - shares.mean()
    assert (-low, high) == pytest.approx([3.182 * shares.std(ddof=1) / 2] * 2, rel=0.05)  # t of 3 degrees of freedom
    one = over_runs(shares[:1, None].repeat(5, axis=1))
    assert (one == 0.5).all()


def test_intervals_hold_where_three_training_runs_vary_much():
    rng, held = np.random.default_rng(0), 0
    for _ in range(1000):
        shares = np.repeat(rng.normal(0.5, 0.1, (3, 1)), 1001, axis=1)  # sentences do not vary
        low, high = np.quantile(over_runs(shares)[1:], [0.025, 0.975])
        held += low <= 0.5 <= high
    assert 0.93 <= held / 1000 <= 0.97


def test_runs_are_kept_apart_and_compared_with_their_own():
    scores = ProbeScores()
    for run, right in enumerate(([1, 0], [1, 1], [0, 0])):
        of_run = scores.of_run(run, 3)
        of_run.add("p/m/a", range(10), np.array(5 * right), np.ones(10))
        of_run.add("p/m/b", range(10), np.array(5 * right), np.ones(10))
    value = scores.value("p/m/a")
    assert (value.value, value.runs, value.count) == (0.5, 3, 10) and value.spread == pytest.approx(0.5)
    assert scores.difference("p/m/a", "p/m/b").high == 0  # the runs vary, their difference does not


def test_pairs_are_balanced_and_without_punctuation():
    for tree in random_trees(80, seed=2, start=2000):
        pairs = linked(tree)
        assert 2 * pairs.classes.sum() == len(pairs.classes)
        assert not tree.punctuation[pairs.query].any() and not tree.punctuation[pairs.key].any()
        joined = tree.distances[pairs.query, pairs.key] == 1
        assert (joined == (pairs.classes == 1)).all()
        assert (tree.heads[pairs.query[pairs.classes == 1]] == pairs.key[pairs.classes == 1]).all()


def test_words_without_pieces_leave_distances_as_they_are():
    words = [("a", 1), ("b", ROOT), ("c", 1), ("d", 2)]
    sentence = Sentence(7, "s", "a b c d", tuple(Word(w, "X", h, "obl:tmod", 0, 1) for w, h in words))
    tree = tree_of(7, sentence, [0, 1, 3])
    assert tree.heads.tolist() == [1, ROOT, LOST]
    assert tree.distances.tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    assert tree.relations == ("obl",) * 3


def test_sentences_of_a_document_stay_together():
    documents = [f"d{n // 7}" for n in range(140)]
    chosen, unit = set_aside(documents, 0.2, seed=3)
    assert unit == "document" and 0.15 <= chosen.mean() <= 0.3
    assert not {d for d, out in zip(documents, chosen, strict=True) if out} & {
        d for d, out in zip(documents, chosen, strict=True) if not out
    }
    single, unit = set_aside(["d"] * 50, 0.2, seed=0)
    assert unit == "sentence" and single.sum() == 10
