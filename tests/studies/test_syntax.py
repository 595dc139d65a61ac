"""Syntax: planted heads, fixed offsets, spanning trees, traces read by hand, and treebanks that are hard to read."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.corpus.aligning import word_pieces
from regard.corpus.batches import windows_of
from regard.corpus.ray import Asked, RayWorker
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.models.fingerprint import weights_digest
from regard.models.load import load
from regard.studies.arcs import Arc, arcs_svg
from regard.studies.held_out import choose
from regard.studies.syntax.counts import ALL, Counted
from regard.studies.syntax.reduce import DIRECTIONS, OFFSETS
from regard.studies.syntax.study import Syntax
from tests.corpus.trees import read_trees
from tests.studies.planted import planted_model, write_planted
from tests.studies.store_trees import STORE, summed, written

# -- planted heads ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    path = write_planted(folder / "planted.conllu", 300)
    return regard.study.syntax(planted_model(), path, output=folder / "result"), path, folder / "result"


def test_a_head_that_attends_to_the_syntactic_head_gets_all_and_is_named(planted):
    result, _, folder = planted
    best = result.tables["Best head of each relation"].set_index("relation")
    for relation in ("nsubj", "conj"):
        assert best.loc[relation, "head"] == "0.0 dep → head"
        assert best.loc[relation, ["accuracy", "low", "high"]].tolist() == [100, 100, 100]
        assert best.loc[relation, "halves agree"] == "yes"
        assert best.loc[relation, "gain low"] > 40
    words, roots = best.loc["all", "instances"], 300
    assert best.loc["all", "accuracy"] == pytest.approx(100 * (words - roots) / words)
    assert any("nsubj: head 0.0 dep → head 100.0%" in said for said in result.findings)
    told = re.sub("<[^>]+>", "", (folder / "report.html").read_text("utf-8"))  # the head is a link
    assert "nsubj: head 0.0 dep → head 100.0%" in told


def test_its_spanning_tree_is_the_true_one(planted):
    tree = planted[0].tables["Undirected trees"].iloc[0]
    assert (tree["head"], tree["UUAS"]) == ("0.0", 100)
    assert tree["chain of neighbours"] < 60


def test_a_head_that_attends_to_the_left_equals_the_offset_of_one_exactly(planted):
    counted = Counted(summed(planted_model(), planted[1]))
    left = next(i for i, p in enumerate(counted.places) if p[:3] == ("encoder", 0, 1) and p.direction == DIRECTIONS[0])
    right = next(i for i, p in enumerate(counted.places) if p[:3] == ("encoder", 0, 1) and p.direction == DIRECTIONS[1])
    for counts in counted.relations.values():
        np.testing.assert_array_equal(counts.hits[..., left], counts.offsets[..., OFFSETS.index(-1)])
        # the word that attends to one most is the next one: the offset the other way
        np.testing.assert_array_equal(counts.hits[..., right], counts.offsets[..., OFFSETS.index(1)])
    assert counted.relations["nsubj"].hits[..., left].sum() > 100


def test_the_result_is_a_table_figures_and_a_report_with_arcs(planted):
    result, _, folder = planted
    table = pd.read_parquet(folder / "result.parquet")
    assert set(table["relation"]) == {"nsubj", "conj", ALL, "undirected tree"}
    assert len(table) == 3 * 2 * 2 + 2  # relations x heads x directions, and a tree per head
    assert (table["low"] <= table["value"]).all() and (table["value"] <= table["high"]).all()
    for name in ("relations", "encoder-heads"):
        assert (folder / f"{name}.svg").stat().st_size > 1000 and (folder / f"{name}.png").exists()
    report = (folder / "report.html").read_text("utf-8")
    assert report.count("<svg role") == 2  # a sentence for each relation
    assert "UD relations and Stanford names" in report
    assert result.meta["settings"]["rows"] == "mean"


def test_the_control_does_not_find_what_was_planted(planted):
    result = regard.study.syntax(planted_model(), planted[1], control=True, limit=150, least=50)
    best = result.tables["Best head of each relation"].set_index("relation")
    assert best.loc["nsubj", "control"] < 60 < best.loc["nsubj", "accuracy"]
    controls = [said for said in result.findings if said.startswith("Control, ")]
    assert [said.partition(":")[0].removeprefix("Control, ") for said in controls] == [
        "random weights 0",
        "random weights 1",
        "random weights 2",
        "shuffled weights",
    ]


# -- by hand ---------------------------------------------------------------------------------------------------


def test_words_without_a_piece_are_counted_excluded_and_said(store, bert):
    result = regard.study.syntax(bert, store, least=1)
    # I, did and go are not in the vocabulary; n't has a piece of didn't only if the tokenizer knows one
    said = [text for text in result.cautions if "no piece of their own" in text]
    assert len(said) == 1
    words, without, headless = summed(bert, store)["words"]
    assert words == 23 and without > 0
    assert f"{without:.0f} of 23 words" in said[0] and f"{headless:.0f} whose head has none" in said[0]
    assert Counted(summed(bert, store)).relations[ALL].total == words - without - headless


def test_intervals_are_said_to_be_over_what_is_drawn(store, bert, tmp_path):
    caption, _ = regard.study.syntax(bert, store, least=1).drawers["relations"]
    assert "95% over sentences" in caption
    path = tmp_path / "documents.conllu"
    path.write_text(store.read_text("utf-8").replace("# text", "# newdoc\n# text"), "utf-8")
    caption, _ = regard.study.syntax(bert, path, least=1).drawers["relations"]
    assert "95% over documents" in caption


def test_a_treebank_of_characters_the_tokenizer_drops_is_refused(tmp_path, bert):
    path = written(tmp_path / "greek.conllu", "1 γάτα 2 nsubj NOUN\n2 κάθεται 0 root VERB")
    with pytest.raises(ValueError, match="no word of the treebank has its own piece"):
        regard.study.syntax(bert, path)


# -- pieces ----------------------------------------------------------------------------------------------------


def test_the_best_is_scored_where_it_was_not_chosen():
    hits = np.array([[[9.0, 5, 0], [2, 6, 8]]])  # of three candidates in two halves of ten
    choice = choose(hits, np.array([[10.0, 10]]), 10)
    assert (choice.even, choice.odd, choice.best, choice.agree) == (0, 2, 0, False)
    assert choice.value == (2 + 0) / 20
    assert np.isnan(choose(hits, np.array([[10.0, 0]]), 10).value)


def test_text_of_the_treebank_is_escaped_in_the_report(tmp_path, bert):
    text = "# text = <b> the cat\n1 <b> 3 dep X\n2 the 3 det DET\n3 cat 0 root NOUN\n\n"
    drawing = arcs_svg(["<b>", "$x$", "猫"], [Arc(0, 2, "right"), Arc(1, 0, "wrong")], label='a "quoted" <label>')
    assert "<b>" not in drawing and "&lt;b&gt;" in drawing and "&quot;quoted&quot; &lt;label&gt;" in drawing
    assert drawing.count("<path") == 2 and drawing.count("stroke-dasharray") == 1
    result = regard.study.syntax(bert, written(tmp_path / "a.conllu", text * 40), least=1)
    assert "<b> the" not in result.report()


# -- runs ------------------------------------------------------------------------------------------------------


def test_broken_and_long_sentences_are_counted_and_left_out(tmp_path, bert):
    good = "1 the 2 det DET\n2 cat 0 root NOUN\n\n"
    cycle = "1 the 2 det DET\n2 cat 1 dep NOUN\n3 sat 0 root VERB\n\n"
    long = "\n".join(f"{n} cat {n - 1} dep NOUN" for n in range(1, 80)) + "\n\n"
    path = written(tmp_path / "a.conllu", good + cycle + long + good)
    result = regard.study.syntax(bert, path, least=1)
    assert (result.meta["tally"]["inputs"], result.meta["tally"]["skipped"]) == (2, 1)
    assert result.meta["bad_lines"] == {
        "count": 1,
        "first": ["a.conllu line 4: a cycle: word 1 is its own ancestor"],
    }
    assert any("1 left out" in said for said in result.cautions)
    with pytest.raises(ValueError, match="line 4: a cycle"):
        regard.study.syntax(bert, path, strict=True)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"long": "split"}, "syntax takes no long; it takes least, rows, limit"),
        ({"format": "jsonl"}, "syntax takes no format"),
        ({"rows": "last"}, "mean or first"),
    ],
)
def test_options_that_make_no_sense_for_trees_are_refused(store, bert, options, reason):
    with pytest.raises(ValueError, match=reason):
        regard.study.syntax(bert, store, **options)


def test_windows_add_up_whatever_runs_them(tmp_path, bert, bert_folder):
    path = written(tmp_path / "two-windows.conllu", f"{STORE}\n" * 80)
    whole = summed(bert, path)
    model, worker = load(str(bert_folder)), RayWorker()
    asked = Asked(Syntax, Syntax().arguments, model._engine.origin, weights_digest(model.module), "skip")
    total = Sums()
    for index, examples in windows_of(read(Source(str(path), format="treebank"))):
        total = total.plus(Sums(worker.sum(asked, index, examples)[1]))
    assert set(total.arrays) == set(whole.arrays)
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(total[name], array, err_msg=name)


def test_the_command_line_writes_a_folder_and_says_what_it_found(bert_folder, store, tmp_path):
    arguments = ["study", "syntax", store, "-m", bert_folder, "-o", tmp_path, "--least", 2, "--rows", "first", "--json"]
    said = CliRunner().invoke(app, list(map(str, arguments)))
    assert said.exit_code == 0, said.output
    record = json.loads(said.output)
    assert record["study"] == "syntax" and record["meta"]["settings"]["rows"] == "first"
    assert record["meta"]["corpus"]["format"] == "treebank" and record["meta"]["tally"]["inputs"] == 4
    assert {"result.parquet", "meta.json", "report.html"} <= {path.name for path in tmp_path.iterdir()}


# -- the default model -------------------------------------------------------------------------------------------


@pytest.mark.models
@pytest.mark.corpora
def test_real_heads_beat_every_fixed_offset_and_random_ones_do_not(minilm, corpora):
    path = corpora / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
    result = regard.study.syntax(minilm, path, limit=150, least=30, control=True, control_seeds=1)
    best = result.tables["Best head of each relation"]
    relations = best[best["relation"] != ALL]
    assert (relations["beats it"] == "yes").sum() >= 5
    assert (relations["control gain high"] < relations["gain low"])[relations["beats it"] == "yes"].sum() >= 5
    controls = [said for said in result.findings if said.startswith("Control, random weights")]
    assert len(controls) == 1 and f": 0 of {len(relations)} relations" in controls[0]


@pytest.mark.models
@pytest.mark.corpora
def test_chinese_pieces_are_characters_of_their_words(minilm, corpora):
    path = corpora / "ud_chinese_gsdsimp" / "zh_gsdsimp-ud-dev.conllu"
    checked = 0
    for sentence in read_trees(Source(str(path), limit=40)):
        tokens = minilm._engine.encode(sentence.text, truncate=True).side.tokens
        for token, word in zip(tokens, word_pieces(tokens, sentence.spans), strict=True):
            if word >= 0 and "\u4e00" <= token.text <= "\u9fff":
                assert token.text in sentence.words[word].form
                checked += 1
    assert checked > 400
    result = regard.study.syntax(minilm, Source(str(path), limit=40), least=20)
    assert any("no piece of their own" in said for said in result.cautions)  # characters it does not know
