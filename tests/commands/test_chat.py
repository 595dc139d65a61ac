"""`regard chat` and `regard replay`: conversations in the terminal, and logs of them."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import regard
from tests.models.talkers import CHAT, NAMED
from tests.processes import spawned, warm_python
from tests.tiny import enlarged, saved, tiny_llama


@pytest.fixture(scope="module")
def folder(tmp_path_factory, bytelevel) -> Path:
    tokenizer = deepcopy(bytelevel)
    tokenizer.model_max_length, tokenizer.chat_template = 2048, NAMED
    model = enlarged(tiny_llama(tokenizer, max_position_embeddings=2048), 12)
    return saved(model, tmp_path_factory.mktemp("models") / "talker")


def answer_of(trace):
    said = trace.tokens[trace.segments[-1].start :]
    return "".join(token.text if token.adds is None else token.adds for token in said if not token.special)


def test_answers_are_printed_and_the_conversation_is_traced(command, folder, tmp_path):
    page, file = tmp_path / "chat.html", tmp_path / "chat.safetensors"
    typed = f"the cat?\non?\n/trace {page}\n/trace {file}\n/quit\nnever said\n"
    done = command("chat", "-m", folder, "--tokens", 6, stdin=typed)
    assert done.returncode == 0, done.stderr
    model = regard.load(str(folder))
    messages = [{"role": "user", "content": "the cat?"}]
    first = answer_of(model.trace(messages=messages, generate=6))
    messages += [{"role": "assistant", "content": first}, {"role": "user", "content": "on?"}]
    second = model.trace(messages=messages, generate=6)
    assert first in done.stdout and answer_of(second) in done.stdout and "never said" not in done.stdout
    assert page.stat().st_size > 10_000
    kept = regard.Trace.load(file)
    np.testing.assert_allclose(kept.attention(1), second.attention(1), atol=1e-6)
    assert [one.name for one in kept.segments] == ["user", "assistant", "user 2", "answer"]


def test_the_last_message_can_be_said_differently(command, folder, tmp_path):
    file = tmp_path / "chat.safetensors"
    typed = f"the cat?\n/edit the dog?\n/trace {file}\n"
    assert command("chat", "-m", folder, "--tokens", 4, stdin=typed).returncode == 0
    kept = regard.Trace.load(file)
    text = "".join(token.text for token in kept.tokens)
    assert "the dog?" in text and "the cat?" not in text and len(kept.segments) == 2


def test_another_seed_gives_another_answer(command, folder, tmp_path):
    files = [tmp_path / f"{n}.safetensors" for n in range(2)]
    typed = f"the cat?\n/trace {files[0]}\n/again 7\n/trace {files[1]}\n/quit\n"
    command("chat", "-m", folder, "--tokens", 20, stdin=typed)
    one, other = (regard.Trace.load(file) for file in files)
    assert len(one.segments) == len(other.segments) == 2 and answer_of(one) != answer_of(other)


@pytest.mark.parametrize(
    ("typed", "said"),
    [("/trace x.html", "say something first"), ("/edit a", "nothing has been said"), ("/bow", "there is no /bow")],
)
def test_what_cannot_be_done_is_said_and_the_chat_goes_on(command, folder, typed, said):
    done = command("chat", "-m", folder, "--tokens", 2, stdin=f"{typed}\n/help\n")
    assert said in done.stderr and "/trace FILE" in done.stdout and done.returncode == 0


def test_a_template_that_refuses_leaves_the_chat_as_it_was(command, folder):
    done = command("chat", "-m", folder, "--system", "be brief", "--tokens", 2, stdin="the cat?\n/system\nthe cat?\n")
    assert "no system here" in done.stderr and done.returncode == 0


def test_ctrl_c_stops_the_answer_and_keeps_it(folder, tmp_path):
    file = tmp_path / "chat.safetensors"
    command = [*warm_python(), "-m", "regard", "chat", "-m", str(folder), "--tokens", "1800", "--temperature", "1.5"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with spawned(command, **pipes, text=True) as process:
        try:
            process.stdin.write("the cat?\n")
            process.stdin.flush()
            assert process.stdout.read(20)  # it is speaking
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            process.stdin.write(f"/trace {file}\n/quit\n")
            process.stdin.close()
            process.stdout.read()
            assert process.wait(60) == 0, process.stderr.read()
            assert "stopped" in process.stderr.read()
        finally:
            process.kill()
    kept = regard.Trace.load(file)
    assert 10 < kept.segments[-1].end - kept.segments[-1].start < 1800


# -- logs ----------------------------------------------------------------------------------------------------

ANSWERED = [*CHAT, {"role": "assistant", "content": "mat"}]
CHOICES = [{"message": {"role": "assistant", "content": word}} for word in ("mat", "rug")]
LINES = [
    {"messages": ANSWERED},
    {"prompt": "the cat", "completion": " sat"},
    {"request": {"messages": CHAT}, "response": {"id": "x", "choices": CHOICES}},
    {"request": {"body": {"prompt": "the cat"}}, "response": {"body": {"choices": [{"text": " sat"}]}}},
    {"messages": CHAT, "choices": CHOICES[:1]},
]
BAD = ["{", "[1]", '{"messages": []}', '{"text": "a"}', '{"choices": [{"text": "a"}]}', '{"prompt": "a"}']


def test_every_kind_of_line_is_replayed_and_bad_ones_are_numbered(command, folder, tmp_path):
    log, output = tmp_path / "log.jsonl", tmp_path / "out"
    good = [json.dumps(line) for line in LINES]
    log.write_text("\n".join([*good, *BAD, json.dumps({"messages": [{"role": "user", "content": "<b>" * 900}]})]))
    done = command("replay", log, "-m", folder, "-o", output, "--traces", width=200)
    assert done.returncode == 0, done.stderr
    for number in range(len(good) + 1, len(good) + len(BAD) + 2):
        assert f"line {number}: " in done.stderr
    assert "6 answers replayed, 7 lines refused" in done.stdout
    names = ["line-0001", "line-0002", "line-0003", "line-0003-1", "line-0004", "line-0005"]
    assert sorted(one.stem for one in output.glob("*.safetensors")) == names
    assert sorted(one.stem for one in output.glob("line-*.html")) == names
    model = regard.load(str(folder))
    for name, expected in (
        ("line-0001", model.trace(messages=ANSWERED)),
        ("line-0004", model.trace("the cat", target=" sat")),
    ):
        kept = regard.Trace.load(output / f"{name}.safetensors")
        assert [token.id for token in kept.tokens] == [token.id for token in expected.tokens]
        np.testing.assert_allclose(kept.attention(1), expected.attention(1), atol=1e-6)
    index = (output / "index.html").read_text()
    assert 'href="line-0003-1.html"' in index and "mat" in index and "<b><b>" not in index


def test_a_log_without_a_chat_is_one_sentence(command, folder, tmp_path):
    (tmp_path / "log.jsonl").write_text('{"a": 1}\n')
    done = command("replay", tmp_path / "log.jsonl", "-m", folder, "-o", tmp_path / "out")
    assert done.returncode == 2 and "no chat that could be replayed" in done.stderr
    assert not (tmp_path / "out").exists()
    done = command("replay", tmp_path / "none.jsonl", "-m", folder)
    assert done.returncode == 2 and "there is no file" in done.stderr


def test_layers_of_pages_can_be_chosen(command, folder, tmp_path):
    (tmp_path / "log.jsonl").write_text(json.dumps(LINES[0]))
    sizes = []
    for name, more in (("all", ()), ("one", ("--layers", "1"))):
        assert command("replay", tmp_path / "log.jsonl", "-m", folder, "-o", tmp_path / name, *more).returncode == 0
        sizes.append((tmp_path / name / "line-0001.html").stat().st_size)
    assert sizes[1] < sizes[0]
    done = command("replay", tmp_path / "log.jsonl", "-m", folder, "--layers", "x")
    assert "numbers and ranges" in done.stderr
