"""Which heads find antecedents: planted heads are found exactly, real ones as the definition says."""

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.corpus.aligning import word_pieces
from regard.corpus.engine import Run
from regard.corpus.readers.coreference import corpus_of, document_of
from regard.corpus.readers.reading import read
from regard.studies.coref.questions import head_match, nearest, questions_of, sieve
from regard.studies.coref.reduce import SETS
from regard.studies.coref.study import Coref
from regard.studies.run import run_study
from tests.studies.novels import NEAREST, PLANTED, Planted, novel

DATA = Path(__file__).resolve().parents[1] / "data" / "coreference"
BEST = "Best head, chosen on one half of the documents and scored on the other"
RULES = "Rules and chance on the same mentions"
GAP = "WinoBias: accuracy on pro minus anti sentences"


@pytest.fixture(scope="module")
def novels(tmp_path_factory):
    chooser = random.Random(3)
    path = tmp_path_factory.mktemp("coref") / "novels.conll"
    path.write_text("".join(novel(chooser, number) for number in range(14)), "utf-8")
    return path


# -- planted heads ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted(bert, novels):
    return run_study(Planted(pieces=32), bert, Run(corpus_of([str(novels)])))


@pytest.mark.parametrize("name", SETS)
def test_a_planted_head_is_always_right_and_named(planted, name):
    table = planted.table.set_index(["layer", "head", "candidates"]).loc[(*PLANTED, name)]
    assert set(table["mentions"]) >= {"all", "pronoun", "proper", "nominal"}
    assert (table[["value", "low", "high"]] == 1).all(axis=None)
    best = planted.tables[BEST].set_index(["candidates", "mentions"])
    for row in ("all", "pronoun", "proper", "nominal"):
        found = best.loc[(name, row)]
        assert (found["chosen on even"], found["chosen on odd"], found["value"]) == ("1.2", "1.2", 1)
        if name == "mention heads":
            assert found["difference"] == pytest.approx(1 - found["rule"]) and found["difference low"] > 0
    assert f"all mentions, {name}: head 1.2 is right in 100.0%" in " ".join(planted.findings)


@pytest.mark.parametrize("name", SETS)
def test_a_head_that_looks_at_the_nearest_mention_equals_that_rule(planted, name):
    head = planted.table.set_index(["layer", "head", "candidates", "mentions"])[["value", "low", "high"]]
    rule = planted.tables[RULES].set_index(["rule", "mentions"])[["value", "low", "high"]]
    for row in ("all", "pronoun", "proper", "nominal"):
        assert head.loc[(*NEAREST, name, row)].tolist() == rule.loc["nearest mention", row].tolist()
        assert 0 < rule.loc[("nearest mention", row), "value"] < 1


def test_a_head_among_all_words_stands_beside_rules_without_a_difference(planted):
    best = planted.tables[BEST].set_index(["candidates", "mentions"])
    every, mentions = best.loc[("all words", "all")], best.loc[("mention heads", "all")]
    assert every[["difference", "difference low", "difference high"]].isna().all()
    assert every["rule chance"] == mentions["rule chance"] == mentions["chance"] > every["chance"]
    said = [text for text in planted.findings if "all mentions, all words" in text]
    assert len(said) == 1 and "better than" not in said[0]
    assert f"which chooses among mentions alone: {every['best rule']}" in said[0]


def test_gap_documents_are_cut_between_sentences(bert, tmp_path):
    names = "ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL".split()
    first, second = "Dr. Ann Lee sat on the mat .", "She went to the store with Bob ."
    text = f"{first} {second} The dog sat ."
    at = [text.index(word) for word in ("She", "Dr. Ann Lee", "Bob")]
    row = ["g1", text, "She", at[0], "Dr. Ann Lee", at[1], "TRUE", "Bob", at[2], "FALSE", "-"]
    path = tmp_path / "gap.tsv"
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in (names, row)), "utf-8")
    source = corpus_of([str(path)])
    whole, cut = ([e.text for e in Coref(pieces=n).parts(bert, read(source))] for n in (64, 12))
    assert whole == [text]
    assert cut == [first, second, "The dog sat ."]  # "Dr." ends no sentence: it begins a name


def test_examples_show_what_the_head_chose(planted):
    name = "What encoder head 1.2 chooses"
    assert name in planted.tables  # the planted head; the table reads the model as it is
    table = planted.tables[name]
    assert (table["text"].str.count(r"\[") == 1).all() and set(table["all words"]) <= {"right", "wrong"}


# -- real heads, by the definition -----------------------------------------------------------------------------


def by_hand(model, source, pieces):
    """(layers, heads, 2) accuracies over all mentions, from traces and loops."""
    hits, asked = 0, 0
    for example in Coref(pieces=pieces).parts(model, read(source)):
        document, trace = document_of(example), model.trace(example.text, truncate=True)
        tokens = next(iter(trace.sides.values())).tokens
        owner = word_pieces(tokens, document.spans)
        places = [np.flatnonzero(owner == word) for word in range(len(document.words))]
        causal = trace.sites[0].kind == "decoder"
        for question in questions_of(document):
            own = question.word
            others = range(own) if causal else [w for w in range(len(document.words)) if w != own]
            others = [w for w in others if len(places[w])]
            right, words = question.right & set(others), question.words & set(others)
            if not len(places[own]) or not right or right == words:
                continue
            asked += 1
            found = []
            for site in trace.sites:
                for head in range(site.heads):
                    row = site.attention(head).astype(np.float64)[places[own]].mean(axis=0)
                    to = [row[place].sum() for place in places]
                    found.append([max(some, key=lambda w: to[w]) in right for some in (others, sorted(words))])
            hits = hits + np.array(found)
    return hits / asked, asked


@pytest.fixture(scope="module")
def asked(bert, novels):
    """The tiny BERT over the novels."""
    return regard.study.coref(bert, novels, pieces=60)


@pytest.mark.parametrize(("name", "file"), [("bert", "novels"), ("gpt2", "gap-mine.tsv"), ("llama", "novels")])
def test_accuracy_is_how_often_most_attention_goes_to_an_antecedent(name, file, novels, request):
    model = request.getfixturevalue(name)
    source = corpus_of([str(novels if file == "novels" else DATA / file)])
    expected, asked = by_hand(model, source, 60)
    known = (name, file) == ("bert", "novels")
    table = (request.getfixturevalue("asked") if known else regard.study.coref(model, source, pieces=60)).table
    mine = table[table["mentions"] == "all"]
    assert set(mine["questions"]) == {asked}
    for s, candidates in enumerate(SETS):
        values = mine[mine["candidates"] == candidates].sort_values(["layer", "head"])["value"]
        np.testing.assert_allclose(values, expected[:, s])


def test_the_first_piece_can_stand_for_the_attending_word(bert, novels, asked):
    assert asked.meta["settings"]["rows"] == "mean"
    one, other = asked.table, regard.study.coref(bert, novels, rows="first", pieces=60).table
    names = (one["mentions"] == "nominal") & (one["candidates"] == SETS[0])
    assert (one["value"] != other["value"])[names].any()
    pronouns = one["mentions"] == "pronoun"  # one piece each
    assert (one["value"] == other["value"])[pronouns].all()


def test_encoder_decoder_models_are_asked_in_their_encoder(bart, novels):
    result = regard.study.coref(bart, novels, limit=6)
    assert set(result.table["kind"]) == {"encoder"}


def test_counts_say_what_became_of_every_mention(bert, novels, asked):
    fates = asked.tables["What happened to the mentions"]
    assert fates["count"].sum() == 14 * 12 and fates.set_index("mentions")["count"]["asked"] > 50
    cut = regard.study.coref(bert, novels, pieces=20).tables["What happened to the mentions"]
    alone = "no antecedent in the window"
    assert cut.set_index("mentions")["count"][alone] > fates.set_index("mentions")["count"][alone]


def test_words_that_the_model_does_not_reach_are_counted(bert, tmp_path):
    words = [("cat", "(0)"), ("dog", "(1)"), ("it", "(0)"), ("Unknown", "(0)"), *[("sat", "")] * 70, ("it", "(0)")]
    path = tmp_path / "long.conll"
    path.write_text("".join(f"d\t0\t0\t{word}\t_\t{mark}\n" for word, mark in words) + "\n")
    fates = regard.study.coref(bert, path).tables["What happened to the mentions"].set_index("mentions")["count"]
    assert fates["head word without a piece"] == 2 and fates["asked"] == 1


# -- rules -----------------------------------------------------------------------------------------------------


def test_rules_choose_as_they_say():
    document = document_of(next(iter(read(corpus_of([str(DATA / "novel.conll")])))))
    asked = {(q.mention.start, document.words[q.word]): q for q in questions_of(document)}
    said = lambda word: None if word is None else (word, document.words[word])  # noqa: E731
    captain = asked[27, "captain"]
    assert said(nearest(captain)) == (24, "him")
    assert said(head_match(document, captain)) == said(sieve(document, captain)) == (2, "captain")
    him = asked[24, "him"]
    assert said(nearest(him)) == (22, "Anna") and head_match(document, him) is None
    assert said(sieve(document, him)) == (22, "Anna")  # a name's gender is not known
    his = asked[14, "his"]
    assert said(sieve(document, his)) == (12, "he")
    assert captain.right == {2, 12, 14, 24} and asked[9 - 1, "inn"].right == frozenset()


def test_gap_asks_the_pronoun_about_names_on_either_side():
    one, two, three = (document_of(example) for example in read(corpus_of([str(DATA / "gap-mine.tsv")])))
    for document, right in ((one, "Chatfield-Lane"), (two, "Long"), (three, None)):
        (question,) = questions_of(document)
        assert len(question.candidates) == 2
        assert {document.words[word] for word in question.right} == ({right} if right else set())
    assert questions_of(two)[0].groups == ("pronoun", "masculine")


# -- WinoBias --------------------------------------------------------------------------------------------------


@pytest.mark.models
def test_the_gap_between_pro_and_anti_is_given_for_every_head(minilm):
    files = [DATA / f"{side}_stereotyped_type1.txt.dev" for side in ("pro", "anti")]
    result = regard.study.coref(minilm, files)
    gaps = result.tables[GAP]
    assert len(gaps) == 2 * 72 and set(gaps["questions"]) == {8}  # two pronouns in the third sentence
    table = result.table.set_index(["layer", "head", "candidates", "mentions"])["value"]
    for row in gaps.itertuples():
        place = (row.layer, row.head, row.candidates)
        assert row.gap == pytest.approx(table[(*place, "pro")] - table[(*place, "anti")])
        assert np.isnan([row.low, row.high]).all()  # so few sentences have no interval
    assert any("pro minus anti" in text for text in result.findings)
    assert not any("nan" in text or "interval that excludes 0" in text for text in result.findings)
    assert GAP not in regard.study.coref(minilm, files[0]).tables


def test_winobias_sentences_made_from_the_same_words_are_in_one_half(bert):
    files = [str(DATA / f"{side}_stereotyped_type1.txt.dev") for side in ("pro", "anti")]
    parts = list(Coref().parts(bert, read(corpus_of(files))))
    one, two, three = (part.number for part in parts[:3])
    assert [part.number for part in parts[3:]] == [one, two, three] and one == two
    assert one % 2 != three % 2


# -- the whole command -------------------------------------------------------------------------------------------


def test_the_command_writes_its_folder_and_resumes_nothing(bert_folder, novels, tmp_path):
    arguments = ["study", "coref", novels, "-m", bert_folder, "-o", tmp_path, "--pieces", 40, "--control", "--json"]
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    record = json.loads(result.output)
    assert record["study"] == "coref" and record["meta"]["settings"]["pieces"] == 40
    assert record["meta"]["tally"]["examples"] == 14 and record["meta"]["tally"]["inputs"] > 14
    best = pd.read_parquet(tmp_path / "best-head-chosen-on-one-half-of-the-documents-and-scored-on-the-other.parquet")
    assert best["control"].notna().all() and (best["low"] <= best["high"]).all()
    assert (tmp_path / "encoder-best.png").exists() and (tmp_path / "encoder-all-words-all.svg").exists()
    assert "random weights" in " ".join(record["findings"])


@pytest.mark.models
def test_text_in_the_report_is_escaped(minilm, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("1 [The cook] saw the <b>nurse</b> when [he] left.\n2 The cook saw [the nurse] when [she] left.\n")
    page = regard.study.coref(minilm, path).report()
    assert "&lt;b&gt;nurse" in page and "<b>nurse" not in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"long": "split"}, "long must be 'truncate' or 'skip'"),
        ({"format": "jsonl"}, "coreference is read as gap, conll, winobias, not as 'jsonl'"),
        ({"rows": "last"}, "mean or first"),
        ({"format": "winobias"}, "has no examples to study"),
    ],
)
def test_what_a_user_can_put_right_is_said(bert, novels, options, message):
    with pytest.raises(ValueError, match=message):
        regard.study.coref(bert, novels, **options)


def test_a_corpus_without_a_question_is_refused(bert, tmp_path):
    path = tmp_path / "none.conll"
    path.write_text("d\t0\t0\tcat\t_\t(0)\nd\t0\t1\tdog\t_\t(1)\n")
    with pytest.raises(ValueError, match=r"no mention in none\.conll has a right and a wrong candidate"):
        regard.study.coref(bert, path)


@pytest.mark.models
def test_one_document_has_no_held_out_head(minilm):
    result = regard.study.coref(minilm, DATA / "novel.conll")
    assert result.tables[BEST]["value"].isna().all() and "use more documents" in " ".join(result.findings)
    assert result.figure("encoder-best").svg().startswith(b"<?xml")


@pytest.mark.corpora
@pytest.mark.models
def test_a_trained_head_finds_antecedents_and_random_ones_do_not(minilm, corpora, tmp_path):
    for path in sorted((corpora / "litbank" / "conll").iterdir())[:12]:
        sentences = path.read_text("utf-8").split("\n\n")
        (tmp_path / path.name).write_text("\n\n".join([*sentences[:14], "#end document\n"]), "utf-8")
    result = regard.study.coref(minilm, tmp_path, control=True, control_seeds=1)
    best = result.tables[BEST].set_index(["candidates", "mentions"])
    row = best.loc[("mention heads", "all")]
    assert row["questions"] > 150 and row["low"] > row["chance"] and row["value"] > row["control"] + 0.1
