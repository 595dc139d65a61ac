"""Training a small BERT: hidden words, learning from context, stopping and going on."""

import io
import re

import pytest
import torch
from rich.console import Console

import regard
from regard.transformer import checkpoint, training
from regard.transformer.bert import IGNORE, Sentences, hide, kept_apart, measure, read_documents, train_bert
from regard.transformer.config import Config
from regard.transformer.model import Embedding
from regard.transformer.tokenizing import train_wordpiece
from tests.transformer.test_training import stopped_at


def test_bert_learns_hidden_words_and_can_be_traced(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog sat on the cat\nthe mat is red\na dog is here\n\n" * 8)
    console = Console(file=io.StringIO(), width=200)
    sizes = {"width": 16, "heads": 2, "layers": 1, "hidden": 32, "length": 32, "vocabulary": 100}
    path = train_bert(text, tmp_path / "bert.safetensors", epochs=40, rate=2e-3, warmup=5, console=console, **sizes)
    lines = [line for line in console.file.getvalue().splitlines() if line.startswith("epoch")]
    losses = [float(line.split("loss ")[1].split()[0]) for line in lines]
    assert losses[-1] < losses[0] - 0.05
    trace = regard.load(path).trace("the cat sat", "on the mat")
    assert trace.kinds == ("encoder",)
    assert [token.segment for token in trace.side().tokens] == [0, 0, 0, 0, 0, 1, 1, 1, 1]


TINY = {"width": 32, "heads": 2, "layers": 2, "hidden": 64, "length": 32, "vocabulary": 100, "dropout": 0.0}


@pytest.fixture(scope="module")
def couples(tmp_path_factory):
    """Lines of couples, each word with its partner: context tells what frequencies do not."""
    partner = dict(
        zip("red blue green black white grey".split(), "apple sky leaf night snow stone".split(), strict=True)
    )
    chosen = torch.randint(6, (300, 4), generator=torch.Generator().manual_seed(0)).tolist()
    lines = [" ".join(f"{list(partner)[i]} {partner[list(partner)[i]]}" for i in row) for row in chosen]
    path = tmp_path_factory.mktemp("couples") / "couples.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
def test_bert_learns_from_context_what_frequencies_do_not_tell(couples, tmp_path):
    console = Console(file=io.StringIO(), width=300)
    path = train_bert(couples, tmp_path / "bert.safetensors", epochs=30, rate=2e-3, warmup=30, console=console, **TINY)
    made = checkpoint.load(path)
    learned, unseen = (
        Sentences(part, made.tokenizer, 0, made.model.config) for part in kept_apart(read_documents(couples))
    )
    found = measure(made.model, learned, unseen)
    assert found.loss < 0.7 * found.by_frequency
    assert found.right > 2 * found.most_frequent
    last = console.file.getvalue().splitlines()[-1]
    assert f"loss of hidden words {found.loss:.2f} (by frequency {found.by_frequency:.2f})" in last


def test_progress_says_how_fast_it_goes_and_how_long_it_will_take(couples, tmp_path):
    console = Console(file=io.StringIO(), width=300)
    train_bert(couples, tmp_path / "bert.safetensors", epochs=2, console=console, **TINY)
    lines = [line for line in console.file.getvalue().splitlines() if line.startswith("epoch")]
    speeds = [re.search(r"([\d.]+) steps/s, ([\d.]+) min left", line) for line in lines]
    assert all(float(speed[1]) > 0 for speed in speeds)
    assert float(speeds[-1][2]) == 0


def test_a_stopped_bert_resumes_to_the_weights_of_an_unbroken_one(couples, tmp_path, monkeypatch):
    quiet = {"epochs": 3, "console": Console(file=io.StringIO()), **TINY}
    whole = checkpoint.load(train_bert(couples, tmp_path / "whole.safetensors", **quiet)).model.state_dict()
    monkeypatch.setattr(training, "EVERY", 2)
    with stopped_at(5, monkeypatch):
        train_bert(couples, tmp_path / "broken.safetensors", **quiet)
    found = checkpoint.load(train_bert(couples, tmp_path / "broken.safetensors", resume=True, **quiet))
    assert all(torch.equal(value, found.model.state_dict()[name]) for name, value in whole.items())


def test_lines_to_measure_with_are_the_last_and_are_not_learned_from():
    documents = [[f"line {d} {i}" for i in range(10)] for d in range(30)]
    learned, unseen = kept_apart(documents)
    assert [*learned, *unseen] == [*documents[:28], documents[28][:5], documents[28][5:], documents[29]]
    assert kept_apart([["a", "b"]] * 20) == ([["a", "b"]] * 20, [])  # too short to keep any apart
    alone, last = kept_apart([[str(i) for i in range(200)]])
    assert (len(alone[0]), len(last[0])) == (190, 10)


def test_a_long_paragraph_is_cut_into_runs_that_follow_each_other():
    tokenizer = train_wordpiece(["one two three four five six seven"] * 9, 120)
    config = Config(vocabulary=len(tokenizer), decoder_layers=0, length=11, width=8, heads=1)
    read = Sentences([["one two three four five six seven", "seven six"]], tokenizer, 0, config)
    assert [len(row) for row in read.ids] == [4, 3, 2]
    assert read.next == [1, 2, None]


def test_all_parts_of_an_embedding_begin_equally_large():
    torch.manual_seed(0)
    config = Config(width=64, heads=1, segments=2, position="learned", length=500, embedding_norm=True)
    embedding = Embedding(config)
    sizes = [table.std().item() for table in (embedding.word.weight[1:], embedding.position, embedding.segment.weight)]
    assert sizes == pytest.approx([0.02] * 3, rel=0.2)


def test_hidden_words_are_masked_replaced_or_left_and_nothing_else_is_asked():
    ids = torch.randint(5, 500, (64, 64))
    ids[:, 0], ids[:, -1] = 2, 0
    hidden, targets = hide(ids, 500, torch.Generator().manual_seed(0))
    asked = targets != IGNORE
    assert not asked[:, [0, -1]].any()
    assert 0.13 < asked[:, 1:-1].float().mean() < 0.17
    assert torch.equal(hidden[~asked], ids[~asked])
    assert 0.75 < (hidden[asked] == 4).float().mean() < 0.85
