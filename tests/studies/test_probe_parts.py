"""The probes on features that were made up: what is there is found, what is not is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from regard.corpus.readers.treebank import ROOT
from regard.studies.probe.pairs import DEPENDENCY, RELATION, PairProbe
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.selection import UAS, SelectionProbe
from regard.studies.probe.structural import (
    DSPR,
    UUAS,
    StructuralProbe,
    correlation,
    edges_right,
    structural_model,
)
from regard.studies.probe.trees import LOST, Control, Tree, tree_distances
from tests.studies.probes import RELATIONS, attending_head, features, noise, random_trees, tree_embedding

TRAINING, DEVELOPMENT, TEST = (
    random_trees(200),
    random_trees(40, seed=1, start=1000),
    random_trees(80, seed=2, start=2000),
)
EVERY = [*TRAINING, *DEVELOPMENT, *TEST]


def pair_scores(made, **options):
    probe = PairProbe(TRAINING, TEST, ProbeScores(), least=20, **options)
    probe.model(made)
    return probe.scores


def selection_scores(made):
    probe = SelectionProbe(TRAINING, DEVELOPMENT, TEST, ProbeScores(), epochs=8)
    probe.model(made)
    return probe.scores


@pytest.fixture(scope="module")
def planted():
    """One head attends to the syntactic head, seven know nothing."""
    return features(EVERY, lambda tree: np.concatenate([attending_head(tree), noise(tree, 7)], axis=-1))


@pytest.fixture(scope="module")
def nothing():
    return features(EVERY, lambda tree: noise(tree, 8))


# -- what is there, and what is not ------------------------------------------------------------------------------


def test_a_head_that_attends_to_the_syntactic_head_gives_full_marks(planted):
    scores = pair_scores(planted)
    assert scores.value(f"{DEPENDENCY}/model").value > 0.995
    assert scores.value(f"{DEPENDENCY}/one direction").value > 0.995
    assert selection_scores(planted).value(f"{UAS}/model").value > 0.995


def test_noise_gives_chance_within_the_interval(nothing):
    scores = pair_scores(nothing)
    value = scores.value(f"{DEPENDENCY}/model")
    assert value.low < 0.5 < value.high
    assert scores.value(f"{DEPENDENCY}/majority").value == 0.5  # balanced
    assert abs(scores.difference(f"{RELATION}/model", f"{RELATION}/majority").value) < 0.08
    chance = np.mean([1 / len(tree) for tree in TEST])
    assert selection_scores(nothing).value(f"{UAS}/model").value < chance + 0.1


def test_relations_are_told_apart_by_the_head_that_is_there_for_them():
    def one_head_a_relation(tree):
        maps = noise(tree, len(RELATIONS)) * 0.1
        for word, relation in enumerate(tree.relations):
            if tree.heads[word] >= 0 and relation in RELATIONS:
                maps[word, tree.heads[word], RELATIONS.index(relation)] = 1
        return maps

    scores = pair_scores(features(EVERY, one_head_a_relation))
    assert scores.value(f"{RELATION}/model").value > 0.99
    assert scores.value("relations/nsubj/model").value > 0.99
    assert scores.value(f"{RELATION}/distance").value < 0.6


def test_the_distance_baseline_is_right_where_every_head_is_the_next_word():
    def chain(tree):
        heads = np.append(np.arange(1, len(tree)), ROOT)
        distances = tree_distances(len(tree), [(n, n + 1) for n in range(len(tree) - 1)])
        return Tree(tree.number, tree.words, heads, tree.relations, np.zeros(len(tree), bool), distances)

    training, development, test = ([chain(tree) for tree in trees] for trees in (TRAINING, DEVELOPMENT, TEST))
    made = features([*training, *development, *test], lambda tree: noise(tree, 2))
    pairs = PairProbe(training, test, ProbeScores(), least=20)
    pairs.model(made)
    assert pairs.scores.value(f"{DEPENDENCY}/distance").value == 1
    probe = SelectionProbe(training, development, test, ProbeScores(), epochs=8)
    probe.model(made)
    words = sum(map(len, test))
    assert probe.scores.value(f"{UAS}/majority").value == pytest.approx(1 - len(test) / words)  # all but the root
    assert probe.scores.value(f"{UAS}/distance").value > 0.99
    states = spilled([*training, *development, *test], lambda tree: np.zeros((1, len(tree), 3)))
    structural = StructuralProbe(training, development, test, ProbeScores(), ranks=(1,), epochs=1)
    structural_model([structural], states)
    assert structural.scores.value(f"{UUAS}/distance").value == 1
    assert structural.scores.value(f"{DSPR}/distance").value == pytest.approx(1)


# -- control tasks -----------------------------------------------------------------------------------------------


def test_the_control_task_depends_on_the_word_alone():
    control, shares = Control(TRAINING), np.array([0.5, 0.3, 0.2])
    known = {}
    for tree in random_trees(40, seed=6, longest=40):
        heads = control.of(tree).heads
        words = np.flatnonzero(~tree.punctuation)
        places = {words[0]: "first", words[-1]: "last", ROOT: "nothing"}
        for place, (word, side, relation) in enumerate(
            zip(tree.words, control.sides(tree), control.relations(tree, shares), strict=True)
        ):
            assert known.setdefault((word, "side"), side) == side
            assert known.setdefault((word, "relation"), relation) == relation
            if heads[place] != LOST:  # it would hang on itself
                assert known.setdefault((word, "place"), places[heads[place]]) == places[heads[place]]
    given = [{value for (_, name), value in known.items() if name == what} for what in ("side", "relation", "place")]
    assert given == [{0, 1}, {0, 1, 2}, {"first", "last", "nothing"}]


def test_distances_of_the_control_task_are_those_of_its_heads():
    control = Control(TRAINING)
    for tree in random_trees(20, seed=6):
        other = control.of(tree)
        edges = [(n, head) for n, head in enumerate(other.heads) if head >= 0]
        assert all(other.distances[n, head] == 1 for n, head in edges)
        assert (other.distances == 1).sum() == 2 * len({frozenset(edge) for edge in edges})
        roots = np.flatnonzero(other.heads == ROOT)
        assert all(other.distances[one, two] == 2 for one in roots for two in roots if one != two)


def test_another_seed_is_another_control_task():
    given = [[Control(TRAINING, seed).sides(tree).tolist() for tree in TRAINING[:20]] for seed in (0, 0, 1)]
    assert given[0] == given[1] != given[2]


def test_distance_says_nothing_of_the_control_task():
    def near(tree):
        """Heads are neighbours: distance says all of the real task."""
        heads = np.append(np.arange(1, len(tree)), ROOT)
        edges = [(n, n + 1) for n in range(len(tree) - 1)]
        return replace(tree, heads=heads, punctuation=heads < ROOT, distances=tree_distances(len(tree), edges))

    training, development, test = ([near(tree) for tree in trees] for trees in (TRAINING, DEVELOPMENT, TEST))
    made = features([*training, *development, *test], lambda tree: noise(tree, 2))
    pairs = PairProbe(training, test, ProbeScores(), least=20)
    pairs.model(made)
    assert pairs.scores.value(f"{DEPENDENCY}/distance").value == 1
    assert abs(pairs.scores.value(f"{DEPENDENCY}/control task, distance").value - 0.5) < 0.06
    apart = pairs.scores.difference(f"{RELATION}/control task, distance", f"{RELATION}/control task, majority")
    assert abs(apart.value) < 0.06
    probe = SelectionProbe(training, development, test, ProbeScores(), epochs=8)
    probe.model(made)
    assert probe.scores.value(f"{UAS}/distance").value > 0.99
    assert probe.scores.difference(f"{UAS}/control task, distance", f"{UAS}/control task, majority").value < 0.1


def test_a_head_that_knows_the_answer_of_every_word_solves_the_control_task():
    control = Control(TRAINING)

    def told(tree):
        return np.concatenate([attending_head(replace(tree, heads=control.of(tree).heads)), noise(tree, 3)], axis=-1)

    scores = selection_scores(features(EVERY, told))
    assert scores.value(f"{UAS}/control task").value > 0.99 > scores.value(f"{UAS}/model").high


def test_what_is_read_from_structure_is_selective(planted):
    scores = pair_scores(planted)
    assert scores.difference(f"{DEPENDENCY}/model", f"{DEPENDENCY}/control task").low > 0.2
    selected = selection_scores(planted)
    assert selected.difference(f"{UAS}/model", f"{UAS}/control task").low > 0.3


def test_what_is_remembered_of_words_is_not_selective():
    types = sorted({word for tree in EVERY for word in tree.words})

    def word_identity(tree):
        """A head a word type: its occurrences attend evenly to everything."""
        maps = np.zeros((len(tree) + 2, len(tree) + 2, len(types)))
        for place, word in enumerate(tree.words):
            maps[place, :, types.index(word)] = 1
        return maps

    scores = pair_scores(features(EVERY, word_identity))
    assert scores.value(f"{DEPENDENCY}/control task").value > 0.99
    assert scores.difference(f"{DEPENDENCY}/model", f"{DEPENDENCY}/control task").high < 0
    assert scores.value(f"{RELATION}/control task").value > 0.99
    assert scores.difference(f"{RELATION}/model", f"{RELATION}/control task").high < 0


# -- the structural probe ----------------------------------------------------------------------------------------


def spilled(trees, make):
    from regard.studies.probe.features import Spill

    spill = Spill()
    for tree in trees:
        spill.put(tree.number, make(tree))
    return spill


def test_a_metric_that_is_the_tree_is_found_and_its_layer_chosen():
    width = 16
    rotation = np.linalg.qr(np.random.default_rng(3).normal(size=(2 * width, 2 * width)))[0]

    def states(tree):
        rng = np.random.default_rng([4, tree.number])
        other = rng.normal(size=(len(tree), width))
        told = np.concatenate([tree_embedding(tree, width), other], axis=1) @ rotation
        return np.stack([rng.normal(size=told.shape), told])

    training = random_trees(400, seed=5, start=10_000)
    every = spilled([*training, *DEVELOPMENT, *TEST], states)
    probe = StructuralProbe(training, DEVELOPMENT, TEST, ProbeScores(), ranks=(1, 32), epochs=40)
    structural_model([probe], every)
    assert np.argmax(probe.scores.sums["structural/development/model"][0]) == 1
    assert probe.scores.value(f"{UUAS}/model").value > 0.9
    assert probe.scores.value(f"{DSPR}/model").value > 0.9
    assert probe.scores.value(f"{UUAS}/layer 0").value < 0.5
    assert probe.scores.value(f"{UUAS}/rank 1").value < probe.scores.value(f"{UUAS}/model").low
    assert probe.scores.difference(f"{UUAS}/model", f"{UUAS}/control task").low > 0.2


def test_edges_and_correlations_are_those_of_hand_and_scipy():
    import torch

    heads = np.array([1, ROOT, 1, 2, 1])
    distances = tree_distances(5, [(0, 1), (2, 1), (3, 2), (4, 1)])
    assert distances.tolist() == [[0, 1, 2, 3, 2], [1, 0, 1, 2, 1], [2, 1, 0, 1, 2], [3, 2, 1, 0, 3], [2, 1, 2, 3, 0]]
    marks = np.array([False, False, False, False, True])
    tree = Tree(0, tuple("abcde"), heads, ("x",) * 5, marks, distances)
    chain = np.abs(np.arange(5)[:, None] - np.arange(5)[None, :]).astype(np.float32)
    assert edges_right([tree], torch.from_numpy(chain)[None]).tolist() == [[3, 3]]  # the last word is punctuation
    far = chain.copy()
    far[0, 1] = far[1, 0] = 9
    assert edges_right([tree], torch.from_numpy(far)[None]).tolist() == [[2, 3]]  # 0 hangs on 2 then
    by_word = [spearmanr(distances[n], far[n]).statistic for n in range(5)]
    assert correlation(tree, far) == pytest.approx(np.mean(by_word))


# -- parts -------------------------------------------------------------------------------------------------------


def test_beyond_its_room_a_classifier_learns_from_some_sentences(planted, monkeypatch):
    monkeypatch.setattr("regard.studies.probe.pairs.ROOM", 40_000)
    scores = pair_scores(planted)
    learned, there = scores.sums[f"{DEPENDENCY}/model/learned"][0]
    assert 0 < learned < there and learned * 16 * 8 <= 40_000
    assert scores.value(f"{DEPENDENCY}/model").value > 0.99
