"""Fine-tuning: it learns, the folder opens as a classifier, the same seed gives the same weights, bad data is named."""

import io
import json

import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

import regard
from regard.ablation import classifier
from regard.ablation.classifier import train_classifier
from regard.cli import app
from tests.tiny import saved, tiny_bert

GOOD, BAD = "the cat sat on the mat".split(), "a dog went to the store".split()


@pytest.fixture(scope="module")
def base(tmp_path_factory, wordpiece):
    """A folder with a tiny encoder."""
    return saved(tiny_bert(wordpiece, max_position_embeddings=512), tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture
def data(tmp_path):
    """Sentences whose label is told by one word."""
    path = tmp_path / "train.tsv"
    generator = torch.Generator().manual_seed(0)
    rows = []
    for number in range(120):
        words = [(GOOD if number % 2 else BAD)[i] for i in torch.randperm(6, generator=generator).tolist()]
        rows.append(f"{' '.join(words)}\t{'good' if number % 2 else 'bad'}")
    path.write_text("\n".join(["text\tlabel", *rows]), "utf-8")
    return path


def train(data, output, base, **more):
    options = {"epochs": 4, "rate": 1e-2, "length": 32, "console": Console(file=io.StringIO(), width=200)}
    return train_classifier(data, output, model=base, **(options | more))


def test_it_learns_and_the_folder_opens_as_a_classifier(data, tmp_path, base):
    console = Console(file=io.StringIO(), width=200)
    folder = train(data, tmp_path / "made", base, epochs=30, patience=30, console=console)
    model = regard.load(folder)
    assert type(model.module).__name__ == "BertForSequenceClassification"
    assert model.config.id2label == {0: "bad", 1: "good"}
    said = [
        int(model._engine.run(model._engine.collate([model._engine.encode(text)])[0]).logits.argmax())
        for text in ("the cat sat", "a dog")
    ]
    assert said == [1, 0]
    facts = json.loads((folder / "training.json").read_text())
    assert max(facts["accuracies"]) == 1.0 and facts["examples"] == 108 and facts["held-out examples"] == 12
    assert "held-out accuracy" in console.file.getvalue()
    assert not list(tmp_path.glob(".made-*"))


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(data, tmp_path, base):
    folders = [train(data, tmp_path / name, base, seed=seed, epochs=1) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    first, same, other = (regard.load(folder).module.state_dict() for folder in folders)
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["classifier.weight"], other["classifier.weight"])


def test_pairs_of_jsonl_are_read_with_segment_ids(tmp_path, base):
    path = tmp_path / "pairs.jsonl"
    lines = [{"premise": "the cat", "hypothesis": ["the cat", "a dog"][n % 2], "label": n % 2} for n in range(40)]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    folder = train(path, tmp_path / "made", base, epochs=30, patience=30)
    model = regard.load(folder)
    assert model.config.id2label == {0: "0", 1: "1"}
    inputs, _ = model._engine.collate([model._engine.encode("the cat", "a dog")])
    assert inputs["token_type_ids"].any()
    assert int(model._engine.run(inputs).logits.argmax()) == 1


def test_it_stops_early_and_keeps_the_best_epoch(data, tmp_path, base, monkeypatch):
    accuracies = iter([0.5, 0.9, 0.8, 0.95])
    monkeypatch.setattr(classifier._Tuning, "_accuracy", lambda _self: next(accuracies))
    console = Console(file=io.StringIO(), width=200)
    folder = train(data, tmp_path / "made", base, console=console)
    facts = json.loads((folder / "training.json").read_text())
    assert (facts["epoch"], facts["accuracies"]) == (2, [0.5, 0.9, 0.8])
    assert "stopped: no better than epoch 2" in console.file.getvalue()


def test_a_loss_that_is_no_number_stops_training(data, tmp_path, base, monkeypatch):
    cross_entropy = torch.nn.functional.cross_entropy
    monkeypatch.setattr(torch.nn.functional, "cross_entropy", lambda *given: cross_entropy(*given) * float("nan"))
    with pytest.raises(ValueError, match="no longer a number at step 0; training stopped, nothing was saved yet"):
        train(data, tmp_path / "made", base)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["text\tlabel"], "has no labelled example"),
        (["text\tlabel", "the cat\tgood", "a dog\tgood"], "every example of bad.tsv has the label 'good'"),
        (["text\tlabel", *(f"the cat\t{n / 7}" for n in range(150))], "has 150 different labels .* name the column"),
        (["text\tkind", "the cat\tgood", "a dog\tbad"], "has no column 'label'; its columns are text, kind"),
        (["text\tlabel", "the cat\tgood", "a dog\tbad"], "too few examples to hold some out"),
    ],
)
def test_bad_data_is_named_in_one_sentence(lines, message, tmp_path, base):
    path = tmp_path / "bad.tsv"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(ValueError, match=message):
        train(path, tmp_path / "made", base)


def test_examples_without_a_label_are_left_out_and_counted(data, tmp_path, base):
    data.write_text(data.read_text() + "\nthe mat\t\n")
    console = Console(file=io.StringIO(), width=200)
    train(data, tmp_path / "made", base, epochs=1, console=console)
    assert "1 examples left out, the first: train.tsv example 121: it has no label" in console.file.getvalue()


def test_a_label_that_only_the_dev_file_has_is_refused(data, tmp_path, base):
    dev = tmp_path / "dev.tsv"
    dev.write_text("text\tlabel\nthe cat\tnew\n", "utf-8")
    with pytest.raises(ValueError, match=r"dev\.tsv has the label 'new', which the training data does not"):
        train(data, tmp_path / "made", base, dev=dev)


def test_the_command_makes_a_folder_and_says_what_to_do_with_it(data, tmp_path, base):
    arguments = ["train", "classifier", "--data", data, "-m", base, "-o", tmp_path / "made", "--epochs", 1]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert "regard study ablation" in result.output.replace("\n", " ")
    assert (tmp_path / "made" / "model.safetensors").exists()


def test_a_decoder_gets_a_token_to_pad_with(data, tmp_path, gpt2):
    folder = train(data, tmp_path / "made", saved(gpt2, tmp_path / "gpt2"), epochs=1)
    model = regard.load(folder)
    assert model.config.pad_token_id == model.tokenizer.pad_token_id is not None
    assert model._engine.run(
        model._engine.collate([model._engine.encode("the cat"), model._engine.encode("a")])[0]
    ).logits.shape == (2, 2)
