"""`regard study probe` from a treebank to a folder: features, split, controls, interruption, bad input."""

import json
import random

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.corpus.batches import window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.folder import CHECKPOINT
from regard.studies.probe.features import READ, Collected
from regard.studies.probe.pairs import PairProbe
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.selection import SelectionProbe
from regard.studies.probe.trees import tree_of
from tests.corpus.trees import read_trees
from tests.studies.probes import conllu, features, noise, random_trees
from tests.tiny import tiny_bert

WORDS = "the a cat dog sat on mat store i went to at bought fresh strawberries".split()
QUICK = {"least": 20, "epochs": 2, "ranks": (1, 4)}


def run(*arguments):
    result = CliRunner().invoke(app, ["study", "probe", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """Sentences of the tiny models' words, in twelve documents."""
    chooser = random.Random(0)
    trees = random_trees(96, longest=9)
    text = conllu(trees, documents=12)
    for word in {word for tree in trees for word in tree.words}:
        text = text.replace(f"\t{word}\t", f"\t{chooser.choice(WORDS)}\t")
    path = tmp_path_factory.mktemp("treebank") / "small.conllu"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture(scope="module")
def made(bert, treebank, tmp_path_factory):
    """A whole run, and its folder."""
    folder = tmp_path_factory.mktemp("probe") / "result"
    return regard.study.probe(bert, treebank, output=folder, **QUICK), folder


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


@pytest.mark.parametrize("name", ["gpt2", "llama", "bart", "t5"])
def test_decoders_and_encoder_decoders_are_probed_where_they_read(name, treebank, request):
    model = request.getfixturevalue(name)
    result = regard.study.probe(model, treebank, limit=40, control=False, seeds=1, **(QUICK | {"epochs": 1}))
    assert {"pairs", "selection", "structural"} <= set(result.table["probe"])


def test_the_result_has_every_baseline_and_control(made):
    result, folder = made
    told = result.table.groupby("measure")["of"].agg(set).to_dict()
    on_control = {"control task", "control task, distance", "control task, majority"}
    rest = {"model", "random weights", "shuffled weights", "distance", *on_control}
    assert told["dependency"] == told["relation"] == rest | {"majority", "one direction"}
    assert told["UAS"] == rest | {"majority"} and told["UUAS"] == told["DSpr"] == rest
    numbers = result.table[result.table["measure"] != "DSpr"]
    assert (numbers["low"] <= numbers["value"]).all() and (numbers["value"] <= numbers["high"]).all()
    assert {"Against baselines and controls", "Structural probe by rank"} <= set(result.tables)
    against = result.tables["Against baselines and controls"]
    assert set(against["of"]) == {
        "selectivity",
        "selectivity of distance",
        "above distance",
        "above random weights",
        "above shuffled weights",
    }
    row = against[(against["measure"] == "UAS") & (against["of"] == "selectivity")].iloc[0]
    value = result.table.set_index(["measure", "of"])["value"]
    assert row["value"] == pytest.approx(value["UAS", "model"] - value["UAS", "control task"])
    written = {path.name for path in folder.iterdir()}
    assert {"result.parquet", "meta.json", "report.html", "probes.png", "probes.svg"} <= written
    assert CHECKPOINT not in written
    assert "Keep in mind" in (folder / "report.html").read_text()


def test_the_structural_probe_has_no_selectivity_since_a_star_solves_its_control(made):
    result, _ = made
    against = result.tables["Against baselines and controls"]
    selectivity = against[against["of"].str.startswith("selectivity")].set_index(["measure", "of"])["value"]
    for measure in ("UUAS", "DSpr"):
        assert selectivity[measure].isna().all()
    assert selectivity["UAS"].notna().all()
    told = [finding for finding in result.findings if "hidden states" in finding]
    assert len(told) == 2 and all(
        "selectivity n/a: attaching every word to the first or last one" in one for one in told
    )


def test_intervals_are_said_to_be_over_what_is_drawn(made, bert, treebank, tmp_path):
    def captions(result):
        return " ".join(caption for caption, _ in result.drawers.values())

    assert "over test sentences and training runs" in captions(made[0])
    path = tmp_path / "documents.conllu"
    path.write_text(treebank.read_text("utf-8").replace("# sent_id = doc0", "# newdoc\n# sent_id = doc0"), "utf-8")
    told = regard.study.probe(bert, path, probes=["selection"], control=False, **QUICK)
    assert "over test documents and training runs" in captions(told)


def test_every_probe_is_trained_with_three_seeds_and_random_weights_are_drawn_as_often(made):
    table = made[0].table.set_index(["measure", "of"])
    for measure in ("dependency", "relation", "UAS", "UUAS", "DSpr"):
        assert (table.loc[measure, "runs"].drop("shuffled weights") == 3).all()
    for of in ("model", "random weights"):  # so small a treebank may not tell runs apart by every measure
        assert (table.xs(of, level="of")["spread"] > 0).any(), of
    assert made[0].meta["settings"]["seeds"] == 3
    for name in ("Structural probe by layer", "Recall by relation"):
        assert (made[0].tables[name]["runs"] == 3).all() and made[0].tables[name]["value"].notna().all()


def test_all_runs_tell_the_same_relations_apart():
    """The threshold counts what is learned from and what is set aside together, which is the same in all runs."""
    trees = random_trees(60)
    halves = [(trees[:30], trees[30:]), (trees[30:], trees[:30])]
    names = [PairProbe(one, [], ProbeScores(), least=80, development=other).names for one, other in halves]
    assert names[0].keys() == names[1].keys() != PairProbe(trees[:30], [], ProbeScores(), least=80).names.keys()


def test_the_report_says_that_classifiers_converged(made):
    said = " ".join(made[0].cautions)
    assert "fitted until the gradient is below 0.0001" in said and "Not converged" not in said
    assert "by heart" not in said


def test_one_run_alone_is_cautioned(bert, treebank):
    result = regard.study.probe(bert, treebank, probes=["selection"], control=False, seeds=1, **QUICK)
    assert result.table["spread"].isna().all()
    assert any("Fewer than 3 training runs" in text for text in result.cautions)


def test_a_test_treebank_of_its_own_or_documents_held_out(made, bert, treebank):
    sentences = made[0].meta["sentences"]
    assert sentences["split"] == "document"
    assert sentences["training"] + sentences["development"] + sentences["test"] == 96
    two = regard.study.probe(bert, treebank, treebank, probes=["pairs"], limit=50, control=False, seeds=1, **QUICK)
    assert two.meta["sentences"]["split"] == "file" and two.meta["sentences"]["test"] == 50
    assert "random weights" not in set(two.table["of"])
    assert any("--no-control" in text for text in two.cautions)


def test_the_same_seed_gives_the_same_table_and_finished_probes_are_used_again(made, bert, treebank, tmp_path):
    result, _ = made
    seen = []

    def interrupt(what, done, total):
        seen.append(what)
        if what.startswith("distances"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regard.study.probe(bert, treebank, output=tmp_path, report=interrupt, **QUICK)
    assert (tmp_path / CHECKPOINT).exists() and len(list(tmp_path.iterdir())) == 1  # the features have no name
    again = []
    resumed = regard.study.probe(
        bert, treebank, output=tmp_path, resume=True, report=lambda what, *_: again.append(what), **QUICK
    )
    assert not any(what in again for what in seen if what.startswith("which relation"))
    pd.testing.assert_frame_equal(resumed.table, result.table)
    assert resumed.meta["tally"] == result.meta["tally"] and resumed.meta["sentences"] == result.meta["sentences"]


def test_the_finished_probes_of_another_run_are_refused(bert, wordpiece, treebank, tmp_path):
    def interrupt(what, done, total):
        if what.startswith("the head"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regard.study.probe(bert, treebank, output=tmp_path, report=interrupt, **QUICK)
    with pytest.raises(ValueError, match="to a different run: settings least was"):
        regard.study.probe(bert, treebank, output=tmp_path, resume=True, **(QUICK | {"least": 30}))
    with pytest.raises(ValueError, match="to a different run: model weights was"):
        regard.study.probe(tiny_bert(wordpiece, seed=1), treebank, output=tmp_path, resume=True, **QUICK)
    with pytest.raises(ValueError, match="--restart"):
        regard.study.probe(bert, treebank, output=tmp_path, **QUICK)


def test_the_command_line(bert_folder, treebank, tmp_path):
    options = (
        "--test",
        treebank,
        "--limit",
        60,
        "--epochs",
        1,
        "--least",
        10,
        "--ranks",
        "1,2",
        "--probe",
        "structural",
        "--seeds",
        1,
    )
    record = json.loads(run(treebank, "-m", bert_folder, "-o", tmp_path, *options, "--json").output)
    assert record["study"] == "probe" and record["meta"]["settings"]["ranks"] == [1, 2]
    assert record["meta"]["settings"]["probes"] == ["structural"] and record["meta"]["tally"]["examples"] == 120
    assert set(pd.read_parquet(tmp_path / "result.parquet")["measure"]) == {"UUAS", "DSpr"}
    assert (tmp_path / "structural-by-rank.svg").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--probe", "syntax"], "choose from pairs, selection, structural"),
        (["--ranks", "a,b"], "ranks must be"),
        (["--ranks", "0"], "1 or more"),
        (["--limit", "12"], "too few for a probe"),
        (["--test", "no-such.conllu"], "does not exist"),
    ],
)
def test_what_a_user_can_put_right_is_said(options, message, bert_folder, treebank, tmp_path):
    with pytest.raises((ValueError, OSError), match=message):
        run(treebank, "-m", bert_folder, "-o", tmp_path / "out", *options)


def test_an_option_of_other_studies_is_refused(bert, treebank):
    with pytest.raises(TypeError, match="probe takes no engine; it takes probes, ranks, "):
        regard.study.probe(bert, treebank, engine="ray")
    said = CliRunner().invoke(app, ["study", "probe", str(treebank), "--engine", "ray"])
    assert said.exit_code == 2 and "No such option: --engine" in said.stderr


def lines(*words):
    """A sentence of (word, head) in CoNLL-U."""
    rows = [
        f"{n}\t{word}\t_\tX\t_\t_\t{head}\t{'dep' if head else 'root'}\t_\t_" for n, (word, head) in enumerate(words, 1)
    ]
    return "\n".join(rows) + "\n\n"


def test_broken_and_long_sentences_and_words_without_pieces_are_counted(bert, treebank, tmp_path):
    text = treebank.read_text("utf-8")
    cycle = lines(("the", 2), ("cat", 1), ("sat", 0))
    long = lines(("cat", 0), *(("cat", n) for n in range(1, 100)))
    unknown = lines(("the", 2), ("cat", 0), ("zebra", 2))
    path = tmp_path / "mixed.conllu"
    path.write_text(cycle + long + unknown + text, "utf-8")
    result = regard.study.probe(bert, path, probes=["selection"], control=False, seeds=1, **QUICK)
    assert result.meta["bad_lines"]["count"] == 1 and "cycle" in result.meta["bad_lines"]["first"][0]
    assert result.meta["tally"]["skipped"] == 1
    said = " ".join(result.cautions)
    assert "1 longer than the model takes" in said and "line 1" in said
    assert result.meta["sentences"]["lost"] == 1 and "1 of " in said and "have no piece" in said
    with pytest.raises(ValueError, match=r"mixed.conllu line \d+: a cycle"):
        regard.study.probe(bert, path, strict=True, **QUICK)


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
