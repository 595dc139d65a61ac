"""What probes read, and that real attention knows more than distance."""

import numpy as np
import pytest

import regard
from regard.corpus.batches import window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.probe.features import READ, Collected
from regard.studies.probe.pairs import PairProbe
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.selection import SelectionProbe
from regard.studies.probe.trees import tree_of
from tests.corpus.trees import read_trees
from tests.studies.probes import features, noise, random_trees


def test_features_are_the_models_maps_and_states_over_words(bert, tmp_path):
    text = (
        "# text = strawberries, i bought\n"
        "1\tstrawberries\t_\tX\t_\t_\t4\tobj\t_\tSpaceAfter=No\n2\t,\t_\tX\t_\t_\t1\tpunct\t_\t_\n"
        "3\ti\t_\tX\t_\t_\t4\tnsubj\t_\t_\n4\tbought\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    )
    path = tmp_path / "one.conllu"
    path.write_text(text, "utf-8")
    collected, sums = Collected(), Sums()
    window = window_of(0, list(read(Source(str(path), format="treebank"))), encoder_of(bert), long="skip")
    collected.take(bert, window.batches[0], sums)
    found = collected.features
    assert sums[READ].tolist() == [4, 0, 0]
    trace = bert.trace("strawberries, i bought")
    assert trace.sides["text"].texts == ["[CLS]", "straw", "##berries", ",", "i", "bought", "[SEP]"]
    groups = [[1, 2], [3], [4], [5], [0], [6]]  # four words, then the special tokens
    assert found.heads == tuple((layer, head) for layer in range(2) for head in range(3))
    for n, (layer, head) in enumerate(found.heads):
        attention = trace.attention(layer, head)
        by_hand = [[attention[np.ix_(one, other)].sum(axis=1).mean() for other in groups] for one in groups]
        np.testing.assert_allclose(found.attention.get(0)[..., n], by_hand, atol=1e-3)
    import torch

    inputs, _ = bert._engine.collate([bert._engine.encode("strawberries, i bought")])
    with torch.no_grad():
        states = bert.module(**inputs, output_hidden_states=True).hidden_states
    by_hand = np.stack([[state[0, group].mean(dim=0).numpy() for group in groups[:4]] for state in states])
    np.testing.assert_allclose(found.hidden.get(0), by_hand, atol=5e-3)
    assert collected.trees[0].heads.tolist() == [3, 0, 3, -1]


def test_all_runs_tell_the_same_relations_apart():
    """The threshold counts what is learned from and what is set aside together, which is the same in all runs."""
    trees = random_trees(60)
    halves = [(trees[:30], trees[30:]), (trees[30:], trees[:30])]
    names = [PairProbe(one, [], ProbeScores(), least=80, development=other).names for one, other in halves]
    assert names[0].keys() == names[1].keys() != PairProbe(trees[:30], [], ProbeScores(), least=80).names.keys()


@pytest.mark.models
@pytest.mark.corpora
def test_attention_of_a_real_model_knows_more_than_distance_and_random_weights(minilm, corpora):
    folder = corpora / "ud_english_ewt"
    training, test = (Source(str(folder / f"en_ewt-ud-{name}.conllu"), limit=120) for name in ("train-first", "dev"))
    result = regard.study.probe(minilm, training, test, probes=["pairs", "selection"], epochs=4, least=50, seeds=1)
    against = result.tables["Against baselines and controls"].set_index(["measure", "of"])["low"]
    for measure in ("dependency", "relation", "UAS"):
        for of in ("above distance", "above random weights", "above shuffled weights", "selectivity"):
            assert against[measure, of] > 0, (measure, of)


@pytest.mark.corpora
def test_distance_is_near_chance_on_the_control_task_of_real_sentences(corpora):
    def trees(name, start):
        source = Source(str(corpora / "ud_english_ewt" / f"en_ewt-ud-{name}.conllu"), sample=200)
        sentences = [sentence for sentence in read_trees(source) if len(sentence.words) > 2]
        return [tree_of(start + n, sentence, range(len(sentence.words))) for n, sentence in enumerate(sentences)]

    training, test = trees("train-first", 0), trees("dev", 10_000)
    training, development = training[:-50], training[-50:]
    maps = features([*training, *development, *test], lambda tree: noise(tree, 1))  # the model does not matter here
    scores = ProbeScores()
    for run in range(2):
        shared = {"scores": scores.of_run(run, 2), "seed": run}
        PairProbe(training, test, least=50, **shared).model(maps)
        SelectionProbe(training, development, test, epochs=4, **shared).model(maps)
    assert scores.value("pairs/dependency/distance").value > 0.7
    for measure, room in (("pairs/dependency", 0.03), ("pairs/relation", 0.05), ("selection/UAS", 0.05)):
        above = scores.difference(f"{measure}/control task, distance", f"{measure}/control task, majority")
        assert above.value < room, measure
