"""The command line as a user meets it: what it prints, exit codes, one-line errors; once as a real process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

from tests.conftest import ARTICLE, need
from tests.media import png
from tests.models.seeing import seeing
from tests.processes import Forked, command_line, warm_python
from tests.tiny import saved

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "norms.png"


def process(*args, stdin=None):
    return subprocess.run(
        [*warm_python(), "-m", "regard", *args], capture_output=True, text=True, input=stdin, timeout=240
    )


@pytest.fixture(autouse=True)
def default_model(minilm):
    need(minilm is not None, "the default model is not installed")


pytestmark = pytest.mark.models


def test_trace_writes_a_file_that_loads(command, tmp_path):
    path = tmp_path / "trace.safetensors"
    result = command("trace", *ARTICLE, "-o", str(path), "--json")
    assert result.returncode == 0, result.stderr
    record = json.loads(result.stdout)
    assert record["attention"] == {"encoder": {"layers": 6, "heads": 12}}
    assert path.exists()


def test_view_writes_a_page_and_says_where(command, tmp_path):
    page = tmp_path / "page.html"
    result = command("view", *ARTICLE, "-o", str(page))
    assert result.returncode == 0, result.stderr
    assert page.read_text().lower().startswith("<!doctype html>")
    assert "page.html" in result.stdout.replace("\n", "")
    assert "head 0.2 attends to the previous token in 14 of 14 rows" in result.stdout
    assert f"{page}#view=heads&kind=encoder&layer=1&heads=8\n" in result.stdout


@pytest.mark.parametrize("name", ["view", "trace"])
def test_what_was_generated_is_printed(command, name, llama, tmp_path):
    folder = saved(llama, tmp_path / "llama")
    result = command(name, "the cat", "--generate", "5", "-m", str(folder), "-o", str(tmp_path / "made"))
    answer = "".join(token.text for token in llama.trace("the cat", generate=5).sides["text"].tokens if token.segment)
    assert result.returncode == 0, result.stderr
    assert f"\ngenerated: {answer}\n" in result.stdout


def test_what_a_decoder_said_by_itself_is_printed_and_a_given_target_is_not(command, t5, tmp_path):
    folder = saved(t5, tmp_path / "t5")
    options = ("the cat", "-m", str(folder), "-o", str(tmp_path / "made"))
    assert "\ngenerated: bought bought" in command("trace", *options).stdout
    assert "generated" not in command("trace", *options, "--target", "a dog").stdout


def test_of_an_answer_to_a_picture_the_words_alone_are_printed(command, tmp_path):
    model = seeing("llava", MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING)
    model.module.save_pretrained(tmp_path)
    model._engine.processor.save_pretrained(tmp_path)
    picture = tmp_path / "picture.png"
    picture.write_bytes(png())
    side = model.trace("what is here ?", image=str(picture), generate=3).side("text")
    answer = "".join(side.texts[side.segments[-1].start :])
    options = ("what is here ?", "--image", str(picture), "--generate", "3", "-m", str(tmp_path))
    assert f"\ngenerated: {answer}\n" in command("trace", *options).stdout


def test_text_comes_from_standard_input():
    result = process("trace", "-", "--json", stdin="the cat")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["sides"] == {"text": ["[CLS]", "the", "cat", "[SEP]"]}


def test_models_are_listed(command):
    names = [row["model"] for row in json.loads(command("models", "--json").stdout)]
    assert "all-MiniLM-L6-v2" in names


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["trace", ""], "the text is empty"),
        (["trace"], "nothing to trace"),
        (["trace", "word " * 600], "--truncate"),
        (["trace", "a", "-m", "/no/such/folder"], "neither a folder"),
        (["trace", "a", "--generate", "3"], "causal language model"),
        (["trace", "a", "--image", "nothing.png"], "there is no image file nothing.png"),
        (["trace", "a", "--image", str(PICTURE)], "does not read images"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_two(command, args, message):
    result = command(*args)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_a_process_says_it_in_one_line_too():
    child = Forked(command_line, "trace", "the cat", "-m", "/no/such/folder")
    printed, said = child.communicate(timeout=240)
    assert (child.returncode, len(said.strip().splitlines())) == (2, 1)
    assert "neither a folder" in said and printed == ""


def test_an_unwritable_place_is_one_line(command, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = command("trace", "a", "-o", str(blocked / "trace.safetensors"))
    assert (result.returncode, len(result.stderr.strip().splitlines())) == (2, 1)


def test_help_names_every_command_and_does_not_load_torch():
    code = "import sys; from regard.cli import app; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    result = process("--help")
    assert all(name in result.stdout for name in ("view", "trace", "models"))
