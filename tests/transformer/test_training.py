"""Training: it learns, it resumes to the same weights, and it stops with a sentence when it cannot go on."""

import io
import math
from contextlib import contextmanager
from itertools import product

import pytest
import torch
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import save_file

from regard.transformer import checkpoint, training
from regard.transformer.bert import read_documents
from regard.transformer.config import Config
from regard.transformer.model import Translator, cross_entropy
from regard.transformer.tokenizing import train_bpe, train_wordpiece
from regard.transformer.translator import capitals, read_pairs, recased, train_translator, translate

PAIRS = [(f"{a} {b} .", f"{a.upper()[::-1]} {b[::-1]} .") for a in "ab cd ef gh".split() for b in "ij kl mn".split()]
SIZES = {"width": 16, "heads": 2, "layers": 1, "decoder_layers": 1, "hidden": 32, "length": 16, "dropout": 0.1}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS * 4))
    return path


def train(data, path, **more):
    options = {"epochs": 2, "rate": 5e-3, "warmup": 2, "vocabulary": 100, "console": Console(file=io.StringIO())}
    return train_translator(data, path, **(SIZES | options | more))


@pytest.mark.slow
def test_training_lowers_the_loss_and_writes_a_model_that_translates(data, tmp_path):
    console = Console(file=io.StringIO(), width=200)
    path = train(data, tmp_path / "model.safetensors", epochs=60, console=console)
    lines = console.file.getvalue().splitlines()
    losses = [float(line.split("loss ")[1].split()[0]) for line in lines if "loss" in line]
    assert losses[-1] < losses[0] / 1.5
    made = checkpoint.load(path)
    assert translate(made.model, made.tokenizer, ["ab ij ."]) == ["Ba ji."]
    assert made.facts["pairs"] == len(PAIRS) * 4
    assert not (tmp_path / "model.running.safetensors").exists()


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(data, tmp_path):
    files = [train(data, tmp_path / f"{name}.safetensors", seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    first, same, other = (checkpoint.load(path).model.state_dict() for path in files)
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])


@contextmanager
def stopped_at(step, monkeypatch):
    """Training is interrupted at this step."""
    whole = training.Trainer._step

    def stopping(self, optimizer, batch, state, progress):
        if state["step"] == step:
            raise KeyboardInterrupt
        return whole(self, optimizer, batch, state, progress)

    with monkeypatch.context() as patch:
        patch.setattr(training.Trainer, "_step", stopping)
        with pytest.raises(KeyboardInterrupt):
            yield


def test_a_stopped_run_resumes_to_the_weights_of_an_unbroken_one(data, tmp_path, monkeypatch):
    whole = checkpoint.load(train(data, tmp_path / "whole.safetensors", epochs=3)).model.state_dict()
    monkeypatch.setattr(training, "EVERY", 1)
    with stopped_at(2, monkeypatch):
        train(data, tmp_path / "broken.safetensors", epochs=3)
    resumed = checkpoint.load(train(data, tmp_path / "broken.safetensors", epochs=3, resume=True)).model.state_dict()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_loss_that_is_no_number_stops_training_and_keeps_the_last_good_checkpoint(data, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "EVERY", 1)
    calls = []

    def broken(*_args, **_options):
        calls.append(1)
        return cross_entropy(*_args, **_options) * (math.nan if len(calls) > 2 else 1)

    monkeypatch.setattr("regard.transformer.translator.cross_entropy", broken)
    with pytest.raises(ValueError, match="no longer a number at step 2; training stopped, the last good checkpoint is"):
        train(data, tmp_path / "model.safetensors", epochs=4)
    kept = checkpoint.load(tmp_path / "model.running.safetensors")
    assert kept.state["step"] == 2
    assert all(torch.isfinite(value).all() for value in kept.model.state_dict().values())


def test_a_checkpoint_of_another_config_is_not_resumed(data, tmp_path, monkeypatch):
    monkeypatch.setattr(training.Path, "unlink", lambda *_args, **_options: None)
    train(data, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="was made with width 16, but width 32 was requested"):
        train(data, tmp_path / "model.safetensors", width=32, resume=True)


def test_resuming_with_another_seed_is_refused(data, tmp_path, monkeypatch):
    monkeypatch.setattr(training.Path, "unlink", lambda *_args, **_options: None)
    train(data, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="was started with seed 0 and 2 epochs"):
        train(data, tmp_path / "model.safetensors", seed=1, resume=True)


def test_resuming_what_was_never_begun_says_so(data, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        train(data, tmp_path / "model.safetensors", resume=True)


def test_label_smoothing_spreads_a_share_over_the_whole_vocabulary():
    logits, target = torch.randn(1, 3, 7), torch.tensor([[1, 0, 4]])
    chances = logits.log_softmax(-1)
    right = -chances[0, range(3), target[0]]
    expected = (0.9 * right - 0.1 * chances[0].mean(-1)).mean()
    torch.testing.assert_close(cross_entropy(logits, target, smoothing=0.1), expected)


def test_ignored_targets_have_no_loss():
    logits = torch.randn(1, 2, 5)
    torch.testing.assert_close(
        cross_entropy(logits, torch.tensor([[3, 0]]), ignore=0), cross_entropy(logits[:, :1], torch.tensor([[3]]))
    )


def test_wordpiece_marks_inner_pieces_and_joins_pairs():
    tokenizer = train_wordpiece(["unbelievable strawberries", "straw berries believable"] * 9, 120)
    both = tokenizer("straw", "berries")
    assert tokenizer.convert_ids_to_tokens(both["input_ids"])[0] == "[CLS]"
    assert both["token_type_ids"][-1] == 1
    assert any(piece.startswith("##") for piece in tokenizer.tokenize("unstraw"))


def test_bpe_gives_back_the_spelling_of_punctuation():
    tokenizer = train_bpe(["hola , ¿ cómo estás ? ¡ bien !"] * 9, 120)
    ids = tokenizer("Hola, ¿cómo estás? ¡Bien!")["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=True) == "hola, ¿cómo estás? ¡bien!"


def test_names_get_their_capitals_back():
    names = capitals(["Vi a Tom ayer.", "Dijo que Tom vino.", "Fue con Tom a casa.", "Se va a casa."])
    assert names == ["tom"]
    assert recased("vi a tom. ¿y tom?", names) == "Vi a Tom. ¿Y Tom?"


def test_a_line_that_is_no_pair_is_named(tmp_path):
    (tmp_path / "bad.tsv").write_text("a\tb\nonly one\n")
    with pytest.raises(ValueError, match=r"line 2 of .* is not `source TAB target`: 'only one'"):
        read_pairs(tmp_path / "bad.tsv")


@pytest.mark.parametrize(("text", "reader"), [("\n\n", read_pairs), ("alone\n", read_documents)])
def test_a_file_without_data_is_refused(tmp_path, text, reader):
    (tmp_path / "empty").write_text(text)
    with pytest.raises(ValueError, match=r"has no sentence pairs|fewer than two lines"):
        reader(tmp_path / "empty")


def test_empty_and_overlong_sentences_are_refused(tiny, pieces):
    with pytest.raises(ValueError, match="the sentence is empty"):
        translate(tiny, pieces, ["  "])
    with pytest.raises(ValueError, match=r"the sentence has .* tokens but the model takes at most 24"):
        translate(tiny, pieces, ["cat " * 40])


@pytest.mark.parametrize("change", [{"epochs": 0}, {"rate": 0.0}])
def test_settings_that_cannot_train_are_refused(data, tmp_path, change):
    with pytest.raises(ValueError, match="must be"):
        train(data, tmp_path / "model.safetensors", **change)


@pytest.mark.parametrize("change", [{"heads": 5}, {"norm": "middle"}, {"activation": "tanh"}, {"position": "none"}])
def test_sizes_that_do_not_fit_are_refused(change):
    with pytest.raises(ValueError, match=r"cannot be split|must be one of"):
        Config(**change)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "no.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="damaged or not a safetensors file"):
        checkpoint.load(tmp_path / "no.safetensors")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *product(["config", "tokenizer", "facts", "state"], [None, "", "null", "3", "{"]),
        ("config", '{"heads": 0}'),
        ("config", '{"novm": "pre"}'),
    ],
)
def test_a_damaged_header_is_one_sentence(tmp_path, pieces, name, said):
    path = tmp_path / "a.safetensors"
    checkpoint.save(checkpoint.Checkpoint(Translator(Config(vocabulary=len(pieces), **SIZES)), pieces), path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata() | {name: said}
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
    save_file(tensors, path, {key: value for key, value in metadata.items() if value is not None})
    with pytest.raises(ValueError, match=r"is damaged \(its header: .+\); train it again") as error:
        checkpoint.load(path)
    assert "\n" not in str(error.value)


def test_a_checkpoint_gives_back_what_was_put_in(tmp_path, pieces):
    torch.manual_seed(0)
    model = Translator(Config(vocabulary=len(pieces), **SIZES))
    made = checkpoint.Checkpoint(model, pieces, {"data": "é"}, {"step": 3}, {"m": torch.ones(2)})
    found = checkpoint.load(checkpoint.save(made, tmp_path / "a.safetensors"), expected=model.config)
    assert found.facts == {"data": "é"}
    assert found.state == {"step": 3}
    assert found.tokenizer.get_vocab() == pieces.get_vocab()
    kept = found.model.state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    assert found.model.output.weight is found.model.source.word.weight
