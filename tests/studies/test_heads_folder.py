"""What the study of heads writes: tables, a page and a record for each head, the same after a stop."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from transformers import BertForMaskedLM

import regard
from regard.base.errors import UserError
from regard.measures.predictive import predictive_targets
from regard.studies.heads.describing import BY_DISTANCE
from regard.studies.heads.headvis import export_headvis
from tests.studies.portrait_lines import lines, write_lines
from tests.tiny import enlarged, tiny_bert, tiny_llama

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def saved(corpus, wordpiece, tmp_path_factory):
    folder = tmp_path_factory.mktemp("portraits")
    result = regard.study.heads(tiny_bert(wordpiece), corpus, output=folder)
    return result, folder


def strongest_shown(sequence):
    """As HeadVis finds the strongest look of a sequence: in row-major places, the first row and column left out."""
    best = (0.0, -1, -1)
    for index, value in zip(sequence["attention_indices"], sequence["attention_values"], strict=True):
        row, column = divmod(index, sequence["seq_len"])
        if row and column and value > best[0]:
            best = (value, row, column)
    return best


def test_headvis_offers_every_metric(saved, tmp_path):
    """Its axes are the columns of the first row of scatter_data that are numbers there."""
    _, folder = saved
    copied = Path(shutil.copytree(folder, tmp_path / "study"))
    table = pd.read_parquet(copied / "result.parquet")
    table["value"] = [float("nan"), *(0.5 for _ in range(len(table) - 1))]  # the first head has no description
    table.to_parquet(copied / "result.parquet")
    rows = json.loads((export_headvis(copied, tmp_path / "data") / "scatter_data.json").read_text("utf-8"))
    config = json.loads((tmp_path / "data" / "config.json").read_text("utf-8"))
    numbers = {name for name, value in rows[0].items() if isinstance(value, int | float)}
    assert numbers == {"layer", "head", *config["metrics"]}
    assert set(config["scatter"].values()) <= numbers and set(config["metric_descriptions"]) == set(config["metrics"])
    assert [one["format"] for one in config["statistics_display"].values()] == ["integer"]  # or 32 looks are 32.0000
    assert sum(row["correlation"] is None for row in rows) == 1
    assert sorted((row["layer"], row["head"]) for row in rows) == [tuple(place) for place in config["heads"]]


def test_headvis_reads_the_same_looks(saved, tmp_path, command):
    _, folder = saved
    made = command("export", folder, "-o", tmp_path / "data")
    assert made.returncode == 0 and made.stdout.startswith("6 heads in ")
    files = {path.relative_to(tmp_path / "data").as_posix() for path in (tmp_path / "data").rglob("*.json")}
    heads = {f"heads/L{layer}H{head}.json" for layer in range(2) for head in range(3)}
    assert files == {"config.json", "scatter_data.json", "server_config.json", "attributions/manifest.json", *heads}
    read = {name: json.loads((tmp_path / "data" / name).read_text("utf-8")) for name in files}
    config = read["config.json"]
    assert config["heads"] == [[layer, head] for layer in range(2) for head in range(3)]
    assert [set(row) for row in read["scatter_data.json"]] == 6 * [{"layer", "head", *config["metrics"]}]
    examples = pd.read_parquet(folder / "examples.parquet")
    mine = examples[(examples["layer"] == 1) & (examples["head"] == 2) & ~examples["group"].str.contains("arrives")]
    sequences = read["heads/L1H2.json"]["sequences"]
    assert len(sequences) == len(mine) > 0
    for one, row in zip(sequences, mine.itertuples(), strict=True):
        assert one["tokens"] == list(row.tokens) and 1 <= one["interval"] <= config["n_intervals"]
        places = [divmod(index, one["seq_len"]) for index in one["attention_indices"]]
        free = [n for n, key in enumerate(row.keys) if row.tokens[key] not in ("[CLS]", "[SEP]")]
        assert places == [(row.query, row.keys[n]) for n in free]
        assert one["attention_values"] == pytest.approx([row.weights[n] for n in free], abs=1e-6)
        assert strongest_shown(one) == (pytest.approx(one["max_activation"], abs=1e-6), row.query, row.key)
    assert sum(read["heads/L1H2.json"]["qk_distance_histogram"]["bin_values"]) == pytest.approx(1, abs=1e-4)
    tokens = pd.read_parquet(folder / "tokens.parquet").query("layer == 1 and head == 2 and side == 'looked at'")
    shares = dict(zip(tokens["token"], tokens["share"], strict=True))
    shown = {one["token"]: one["weight"] for one in read["heads/L1H2.json"]["top_key_tokens"]}
    assert shown == {token: pytest.approx(100 * shares[token], abs=0.006) for token in shown} and shown
    wrong = command("export", tmp_path)
    assert wrong.returncode == 2 and "regard study heads CORPUS -o FOLDER" in wrong.stderr


def test_the_result_is_a_folder_of_tables_and_pages(saved):
    result, folder = saved
    index = pd.read_parquet(folder / "result.parquet")
    assert len(index) == len(result.table) == 6
    pages = sorted(path.name for path in (folder / "heads").glob("*.html"))
    assert pages == sorted(f"{row.layer}.{row.head}.html" for row in index.itertuples())
    report = (folder / "report.html").read_text("utf-8")
    for row in index.itertuples():
        assert f'href="heads/{row.layer}.{row.head}.html"' in report
        page = (folder / "heads" / f"{row.layer}.{row.head}.html").read_text("utf-8")
        assert "Strongest links" in page and "Ordinary links" in page and "How far it looks" in page
        assert 'href="../report.html"' in page and "http:" not in page and "https:" not in page
        assert f'class="does">{html.escape(row.does)}' in page
        assert row.does.startswith("No description holds on new text (most above chance: ") != row.verified
    examples = pd.read_parquet(folder / "examples.parquet")
    one = examples.iloc[0]
    assert one.tokens[one["query"]] == one.query_token and one.tokens[one.key] == one.key_token
    assert set(examples.group) == {"strongest", "ordinary", "strongest by what arrives"}


def test_each_head_is_also_json_with_the_numbers_of_the_tables(saved):
    _, folder = saved
    described = (ROOT / "docs" / "reference" / "portraits.md").read_text("utf-8")
    tables = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
    assert len(list((folder / "heads").glob("*.json"))) == 6
    head = json.loads((folder / "heads" / "1.2.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert (head["format"], head["version"], head["kind"], head["layer"], head["head"]) == (
        *("regard head", 1),
        *("encoder", 1, 2),
    )
    assert all(f"`{name}`" in described for name in head)
    assert all(f"`{name}`" in described for name in head["examples"][0])
    for name in ("examples", "tokens", "distances"):
        mine = tables[name][(tables[name]["layer"] == 1) & (tables[name]["head"] == 2)]
        assert len(head[name]) == len(mine) > 0
        shares = [one["share" if name != "examples" else "weight"] for one in head[name]]
        assert shares == mine["share" if name != "examples" else "weight"].tolist()
    row = tables["result"][(tables["result"]["layer"] == 1) & (tables["result"]["head"] == 2)].iloc[0]
    assert head["said"]["sentence"] == row["sentence"] and head["said"]["verified"] == bool(row["verified"])
    assert json.loads((folder / "meta.json").read_text())["study"] == "heads"


SIMPLER = ("previous token", "other pieces of the word", "repeated token", "induction")  # what often predicts


def pooled(traces, layer, head, name):
    """The lift of a head over some traces, by their awake attention."""
    found = [awake[name] for trace in traces if name in (awake := trace.patterns().measured[layer].awake)]
    weights = np.nan_to_num([one.awake[head] for one in found])
    share, chance = (np.nansum([getattr(one, part)[head] for one in found] * weights) for part in ("share", "chance"))
    return max(0.0, (share - chance) / max(weights.sum() - chance, 1e-9))


def test_predicts_is_the_pooled_lift_of_the_first_inputs(corpus, bytelevel, tmp_path):
    model, count = enlarged(tiny_llama(bytelevel), 3), 10
    result = regard.study.heads(model, corpus, output=tmp_path, predictive=count, limit=20)
    totals, inputs = np.zeros((3, 2, 4)), []  # mass, awake, expected
    for text in corpus.read_text("utf-8").splitlines()[:count]:
        cut = model.tokenizer.decode(model.tokenizer(text)["input_ids"][:32])
        trace = model.trace(cut, predictive=True)
        inputs.append(trace)
        free = np.tril(np.ones((len(trace.tokens),) * 2, bool))
        free[:, 0] = False
        targets = predictive_targets(trace.gains(), free)
        chance = targets.sum(-1) / np.maximum(free.sum(-1), 1)
        rows = (chance > 0) & (chance < 0.5)
        for layer in (0, 1):
            maps = trace.attention(layer)[:, rows] * free[rows]
            awake = maps.sum(-1)
            totals[:, layer] += (maps * targets[rows]).sum((1, 2)), awake.sum(-1), (awake * chance[rows]).sum(-1)
    share, chance = totals[0] / totals[1], totals[2] / totals[1]
    table = result.table.sort_values(["layer", "head"])
    lifts = np.clip((share - chance) / (1 - chance), 0, 1).ravel()
    np.testing.assert_allclose(table["predicts"], lifts, atol=1e-5)
    np.testing.assert_allclose(table["predicts_chance"], chance.ravel(), atol=1e-5)
    assert (
        (lifts > 0).any() and (table["predicts_low"] <= lifts + 1e-6).all() and result.meta["predictive_inputs"] == 10
    )
    for row in table.itertuples():  # a name gives way to simpler ones
        mine, *simpler = (pooled(inputs, row.layer, row.head, name) for name in ("predictive word", *SIMPLER))
        assert row.predicts_own == (mine > max(simpler))
    page = (tmp_path / "heads" / "0.0.html").read_text("utf-8")
    assert f"lift {lifts[0]:.2f} (" in page and "first 10 inputs" in page


def test_predicts_is_not_available_without_a_head_or_a_question(saved, corpus, bytelevel):
    result, folder = saved
    assert result.table["predicts"].isna().all()
    assert "no language-model head" in (folder / "heads" / "0.0.html").read_text("utf-8")
    unasked = regard.study.heads(tiny_llama(bytelevel), corpus, predictive=0, limit=10)
    assert unasked.table["predicts"].isna().all() and "not asked" in unasked.findings[-1]


def test_text_of_the_corpus_never_becomes_markup(wordpiece, tmp_path):
    corpus = tmp_path / "odd.txt"
    corpus.write_text("\n".join("the cat <script>alert(1)</script> sat & the mat" for _ in range(20)))
    folder = tmp_path / "out"
    regard.study.heads(tiny_bert(wordpiece), corpus, output=folder)
    for page in [folder / "report.html", *(folder / "heads").glob("*.html")]:
        assert "<script>alert" not in page.read_text("utf-8")


def test_a_pipe_is_refused_in_a_sentence(wordpiece):
    with pytest.raises(UserError, match="more than once"):
        regard.study.heads(tiny_bert(wordpiece), "-")


def test_a_stopped_run_goes_on_to_the_same_bytes(saved, corpus, wordpiece, tmp_path, monkeypatch):
    monkeypatch.setattr("regard.studies.base.Pass.window", 16)
    monkeypatch.setattr("regard.corpus.engine._EVERY", 0.0)
    whole = tmp_path / "whole"
    model = tiny_bert(wordpiece, BertForMaskedLM)
    regard.study.heads(model, corpus, output=whole, predictive=2)

    def interrupt(tally, seconds):
        if tally.inputs >= 48:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        regard.study.heads(model, corpus, output=folder, report=interrupt, predictive=2)
    regard.study.heads(model, corpus, output=folder, resume=True, predictive=2)
    for name in ("result", "examples", "tokens", "distances"):
        assert (folder / f"{name}.parquet").read_bytes() == (whole / f"{name}.parquet").read_bytes()
    for page in (whole / "heads").iterdir():
        assert page.read_bytes() == (folder / "heads" / page.name).read_bytes()


def test_a_treebank_adds_grammar_that_brute_force_confirms(wordpiece, tmp_path):
    path = tmp_path / "trees.conllu"
    rows = [
        ("the", "DET", 2, "det"),
        ("cat", "NOUN", 3, "nsubj"),
        ("sat", "VERB", 0, "root"),
        ("on", "ADP", 6, "case"),
        ("the", "DET", 6, "det"),
        ("mat", "NOUN", 3, "obl"),
    ]
    block = "\n".join(
        f"{n}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{relation}\t_\t_"
        for n, (form, upos, head, relation) in enumerate(rows, 1)
    )
    path.write_text("".join(f"# sent_id = {n}\n# text = the cat sat on the mat\n{block}\n\n" for n in range(12)))
    model = tiny_bert(wordpiece)
    result = regard.study.heads(model, path)
    table = result.files["grammar"]
    maps = model.trace("the cat sat on the mat").attention(0, 1)[1:-1, 1:-1]
    whole = maps.sum() - np.trace(maps)
    one = table[(table.layer == 0) & (table["head"] == 1)].set_index(["what", "from", "to"])
    det = one.loc[("relation", "det", "up")]
    assert det.share == pytest.approx((maps[0, 1] + maps[4, 5]) / whole, abs=1e-5)
    noun = one.loc[("upos", "DET", "NOUN")]
    assert noun.share == pytest.approx(sum(maps[i, j] for i in (0, 4) for j in (1, 5)) / whole, abs=1e-5)
    # what distances alone give: the attention of determiners at each distance, spread over what stands there
    expected = 0.0
    upos = [row[1] for row in rows]
    for gap in range(-5, 6):
        there = [(i, i + gap) for i in (0, 4) if gap and 0 <= i + gap < 6]
        if there:
            expected += sum(maps[i, j] for i, j in there) * np.mean([upos[j] == "NOUN" for _, j in there])
    assert noun.chance == pytest.approx(expected / whole, abs=1e-5)


def test_a_planted_previous_token_head_is_described_and_random_ones_are_not(minilm, tmp_path):
    """Head 0.2 of a real model looks one token back; random weights of its shape do nothing that can be said."""
    corpus = tmp_path / "lines.txt"
    corpus.write_text("\n".join(lines(160, np.random.default_rng(1))), "utf-8")
    result = regard.study.heads(minilm, corpus, control=True, control_seeds=1)
    index = result.table.set_index(["layer", "head"])
    assert index.loc[(0, 2)].verified and index.loc[(0, 2)].description in ("previous token", BY_DISTANCE)
    assert "one token back" in index.loc[(0, 2)].sentence
    assert index.loc[(0, 2)].value > 0.95
    (control,) = [text for text in result.findings if text.startswith("Control")]
    random = float(re.search(r"random weights ([\d.]+)", control)[1])
    assert random <= 0.02 * len(index)
