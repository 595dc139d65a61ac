"""What users get wrong ends in one sentence and exit code 2; what regard gets wrong shows as a bug."""

import json
import shutil
import sys

import pytest

from regard import cli
from regard.commands.shared import Asking
from tests.tiny import saved, tiny_bert


@pytest.fixture(scope="module")
def whole(tmp_path_factory, wordpiece):
    return saved(tiny_bert(wordpiece), tmp_path_factory.mktemp("model") / "whole")


@pytest.fixture
def folder(whole, tmp_path):
    """A model to damage."""
    return shutil.copytree(whole, tmp_path / "model")


@pytest.fixture
def said(command):
    """Run the command line: its exit code, and what it wrote to standard error."""

    def run(*args):
        ended = command(*args)
        return ended.returncode, ended.stderr

    return run


def one_sentence(answer, words):
    code, text = answer
    assert code == 2, text
    line = text.strip().splitlines()[-1]
    assert line.startswith("regard: ") and words in line, text
    assert "Traceback" not in text and "bug" not in text


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGE = {
    "config is no JSON": (lambda f: (f / "config.json").write_text("{"), "could not be loaded"),
    "config is a list": (lambda f: (f / "config.json").write_text("[1]"), "could not be loaded"),
    "config without a type": (lambda f: (f / "config.json").write_text("{}"), "could not be loaded"),
    "config of an unknown type": (
        lambda f: (f / "config.json").write_text(json.dumps({"model_type": "nothing"})),
        "could not be loaded",
    ),
    "config with odd sizes": (
        lambda f: (f / "config.json").write_text((f / "config.json").read_text().replace(": 3,", ': "three",')),
        "could not be loaded",
    ),
    "config of bytes": (lambda f: (f / "config.json").write_bytes(bytes(range(128, 200))), "could not be loaded"),
    "weights cut in half": (lambda f: cut(f / "model.safetensors"), "could not be loaded"),
    "weights of nothing": (lambda f: (f / "model.safetensors").write_bytes(b""), "could not be loaded"),
    "weights of text": (lambda f: (f / "model.safetensors").write_text("hello " * 99), "could not be loaded"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "safetensors"),
    "a tokenizer of text": (lambda f: (f / "tokenizer.json").write_text("{}"), "has no tokenizer"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_is_told_in_one_sentence(folder, said, damage):
    change, words = DAMAGE[damage]
    change(folder)
    one_sentence(said("patterns", "the cat sat", "--model", folder), words)


def test_a_text_named_gguf(tmp_path, said):
    (tmp_path / "model.gguf").write_text("this is no model " * 50)
    one_sentence(said("patterns", "the cat", "--model", tmp_path / "model.gguf"), "could not be loaded")


def test_an_unknown_name_offline(said):
    one_sentence(said("patterns", "the cat", "--model", "nobody/nothing", "--offline"), "neither a folder nor in the")


def test_an_image_that_is_none(tmp_path, vit_folder, said):
    (tmp_path / "a.png").write_text("no picture")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 40)
    for name in ("a.png", "b.png"):
        one_sentence(said("patterns", "--image", tmp_path / name, "--model", vit_folder), name)


@pytest.fixture(scope="module")
def vit_folder(tmp_path_factory):
    from transformers import ViTConfig, ViTModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    place = tmp_path_factory.mktemp("vit") / "vit"
    ViTModel(ViTConfig(image_size=32, patch_size=16, **sizes)).save_pretrained(place)
    return place


SCORES = {
    "bad.csv": (b"layer,head\n0,0\n", "needs the columns"),
    "broken.csv": (b'a,b\n"1,2\n3,4,5,6\n', "could not be read"),
    "empty.csv": (b"", "could not be read"),
    "bytes.csv": (b"\xff\xfe\x00layer", "could not be read"),
    "words.csv": (b"layer,head,importance\n0,zero,1\n", "where a number was expected"),
    "text.parquet": (b"no parquet", "could not be read"),
    "number.json": (b"7", "must hold an object"),
    "broken.json": (b"{", "is not JSON"),
    "bytes.json": (b"\xff\xfe", "is not JSON"),
    "words.json": (b'{"0.*": "much"}', "where a number was expected"),
    "none.txt": (b"", "is not a score file"),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_that_are_none(whole, tmp_path, said, name):
    content, words = SCORES[name]
    (tmp_path / name).write_bytes(content)
    answer = said("prune", whole, "--scores", tmp_path / name, "--keep", 3, "--output", tmp_path / "small")
    one_sentence(answer, words)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("folder", None, "is a folder"),
        ("bad.csv", b"one,two\n1,2\n", "has no column 'sentence'"),
        ("bad.csv.gz", b"not gzip", "could not be read"),
        ("nothing.jsonl", b"7\n", "has no examples"),
    ],
)
def test_a_corpus_that_is_none(whole, tmp_path, said, name, content, words):
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    asked = ("--text", "sentence") if "csv" in name else ()
    one_sentence(said("study", "tokens", tmp_path / name, "--model", whole, "--output", tmp_path / "o", *asked), words)


def test_a_text_to_train_on_that_is_not_utf8(tmp_path, said):
    (tmp_path / "text.txt").write_bytes(b"caf\xe9\nun caf\xe9\n")
    one_sentence(
        said("train", "bert", "--data", tmp_path / "text.txt", "--output", tmp_path / "a.safetensors"), "is not UTF-8"
    )


def test_options_that_are_not_there_are_refused_by_the_command_line(said):
    code, text = said("patterns", "the cat", "--nothing")
    assert code == 2 and "No such option" in text and "bug" not in text


@pytest.fixture
def planted(monkeypatch):
    """A bug of ours."""

    def plant(error):
        def broken(*_, **__):
            raise error

        monkeypatch.setattr("regard.models.engine.Engine.encode", broken)

    return plant


BUGS = (KeyError("layer"), TypeError("f() missing"), ValueError("not enough values to unpack"), AssertionError())


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_shows_as_one(whole, said, planted, bug):
    planted(bug)
    code, text = said("patterns", "the cat", "--model", whole)
    assert code == 70 and "this is a bug in regard, please report it" in text and type(bug).__name__ in text
    assert "Traceback" not in text and "REGARD_DEBUG=1" in text


def test_a_bug_has_its_traceback_where_it_is_asked_for(whole, planted, monkeypatch):
    planted(KeyError("layer"))
    monkeypatch.setenv("REGARD_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["regard", "patterns", "the cat", "--model", str(whole)])
    with pytest.raises(KeyError, match="layer"):  # Python prints it, with where it came from
        cli.main()


def test_an_answer_keeps_its_brackets_and_colons(capsys):
    Asking().answer({}, ["[CLS] looks at [bold] and [/i]; :smile: is a token"])
    assert capsys.readouterr().out == "[CLS] looks at [bold] and [/i]; :smile: is a token\n"
