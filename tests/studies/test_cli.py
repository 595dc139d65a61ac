"""`regard study` as a user meets it."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.commands.progress import counting, total_of
from regard.commands.study import _folders
from regard.corpus.batches import Tally
from regard.corpus.readers.source import Source


def run(*arguments):
    result = CliRunner().invoke(app, ["study", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", ["atlas", "tokens", "norms", "similarity"])
def test_a_study_writes_its_folder_and_says_what_it_found(name, bert_folder, corpus, tmp_path):
    result = run(name, corpus, "-m", bert_folder, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    written = {path.name for path in tmp_path.iterdir()}
    assert {"result.parquet", "meta.json", "report.html"} <= written
    assert {path.rsplit(".", 1)[1] for path in written} == {"parquet", "json", "html", "png", "svg"}
    assert "report.html" in result.output.replace("\n", "")
    meta = json.loads((tmp_path / "meta.json").read_text())
    assert meta["study"] == name and meta["tally"]["inputs"] == 24 and meta["corpus"]["name"] == "small.txt"
    page = (tmp_path / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "") and "Keep in mind" in page


@pytest.mark.slow
def test_change_takes_two_models(bert_folder, corpus, tmp_path):
    result = run("change", bert_folder, bert_folder, corpus, "-o", tmp_path, "--limit", 5, "--json")
    record = json.loads(result.output)
    assert record["study"] == "change" and record["meta"]["tally"]["inputs"] == 5
    assert (tmp_path / "encoder-cosine.png").exists()


def test_corpora_of_one_name_get_folders_of_their_own():
    names = ["a-2.txt", "a.txt", "x/a.txt", "y/a.txt", "a-2.tsv"]
    folders = _folders(Path("out"), [Source(name) for name in names])
    assert len(set(folders)) == len(names)


@pytest.mark.slow
def test_several_corpora_get_a_folder_each_and_one_figure(bert_folder, corpus, pairs, tmp_path):
    result = run("atlas", corpus, pairs, corpus, "-m", bert_folder, "-o", tmp_path, "--json")
    assert [record["folder"].rsplit("/", 1)[1] for record in json.loads(result.output)] == ["small", "pairs", "small-3"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "small", "pairs", "small-3", "types.parquet", "types.png", "types.svg",
    }  # fmt: skip
    shares = pd.read_parquet(tmp_path / "types.parquet")
    assert shares.groupby("corpus")["share"].sum().round(6).to_dict() == {"small": 1, "pairs": 1, "small-3": 1}
    assert not list(tmp_path.rglob("*checkpoint*"))


@pytest.mark.slow
def test_columns_limits_and_samples_reach_the_reader(bert_folder, pairs, tmp_path):
    options = ("--text", "pair", "--limit", 8, "--sample", 3, "--seed", 5, "--long", "skip")
    record = json.loads(run("tokens", pairs, "-m", bert_folder, "-o", tmp_path, *options, "--json").output)
    corpus = record["meta"]["corpus"]
    assert (corpus["text"], corpus["limit"], corpus["sample"], corpus["seed"]) == ("pair", 8, 3, 5)
    assert record["meta"]["tally"]["inputs"] == 3 and record["meta"]["settings"]["seed"] == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file.txt"], "does not exist"),
        (["{pairs}", "--text", "title"], "no column 'title'; its columns are text, pair"),
        (["{corpus}", "--unit", "word"], "choose from line, paragraph, sentence"),
        (["{corpus}", "--long", "cut"], "truncate, split, skip"),
        (["{corpus}", "--engine", "cluster"], "choose local or ray"),
        (["-", "--control"], "only be read once"),
    ],
)
def test_what_a_user_can_put_right_is_said(arguments, message, bert_folder, corpus, pairs, tmp_path):
    given = [argument.format(corpus=corpus, pairs=pairs) for argument in arguments]
    with pytest.raises((ValueError, OSError), match=message):
        run("tokens", *given, "-m", bert_folder, "-o", tmp_path / "out")


def test_the_bar_knows_the_total_and_counts_examples(corpus, monkeypatch):
    from rich.console import Console

    from regard.corpus.readers.source import Source

    source = Source(str(corpus), limit=10)
    assert total_of(source) == 10 and total_of(Source("-")) is None
    assert total_of(Source(str(corpus), format="xml")) is None  # the run says why
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    monkeypatch.setattr("regard.commands.progress.err", console)
    with counting(source) as report:
        report(Tally(examples=4), 1.0)
        report(Tally(examples=8), 2.0)
    assert "small.txt" in console.export_text()


def test_a_log_gets_a_line_a_minute(corpus, monkeypatch):
    from rich.console import Console

    from regard.corpus.readers.source import Source

    console = Console(force_terminal=False, width=100, record=True, file=io.StringIO())
    monkeypatch.setattr("regard.commands.progress.err", console)
    with counting(Source(str(corpus), limit=10)) as report:
        report(Tally(examples=2), 5.0)  # of which one may come from a checkpoint: no rate yet
        report(Tally(examples=3), 64.0)
        report(Tally(examples=4), 65.0)
        report(Tally(examples=1), 5.0)  # the control begins
        report(Tally(examples=9), 125.0)
    said = console.export_text().splitlines()
    assert said == [
        "small.txt: 4 examples, 0.0 per second, 3 min left",
        "small.txt: 9 examples, 0.1 per second, 0 min left",
    ]
