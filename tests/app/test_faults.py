"""A fault of regard's own: a 500 with a number, and the same number with the traceback in the log."""

import json
import logging
import re

import pytest
import torch
from starlette.testclient import TestClient

from regard.app.log import Lines
from regard.app.problems import of_failure
from regard.app.server import application
from regard.app.settings import AppSettings
from regard.base.errors import MissingFileError, OutOfRangeError, UnknownNameError, UserError
from regard.models.engine import Engine
from regard.trace.sentences import refusal


class Kept(logging.Handler):
    """Log records as the lines they become."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(json.loads(Lines().format(record)))


@pytest.fixture
def logged():
    log, handler = logging.getLogger("regard.app"), Kept()
    log.addHandler(handler)
    yield handler.lines
    log.removeHandler(handler)


@pytest.fixture
def asked(tiny, logged):
    """Ask for a trace in this process."""
    app = application(AppSettings(models=(str(tiny),)))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield lambda **more: client.post("/api/traces", json={"model": str(tiny), "text": "the cat sat"} | more)


BUGS = (KeyError("layer"), TypeError("f() missing"), ValueError("sat is not in list"), OSError("No space left"))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_is_a_500_with_a_number_that_the_log_has_too(asked, logged, monkeypatch, bug):
    assert asked().status_code == 200

    def broken(*_, **__):
        raise bug

    monkeypatch.setattr(Engine, "trace_rows", broken)
    answer = asked(text="the dog sat")
    assert answer.status_code == 500 and answer.json()["error"] == "internal"
    assert "this is a bug in regard, please report it" in answer.json()["message"]
    (number,) = re.findall(r"number (\w+)", answer.json()["message"])
    (line,) = [line for line in logged if line.get("number") == number]
    assert line["level"] == "error" and line["path"] == "/api/traces"
    assert "test_faults.py" in line["error"] and line["error"].endswith(type(bug).__name__)
    assert "sat" not in json.dumps(line)  # what people type is not in the log


def test_the_words_of_a_bug_are_logged_where_they_are_asked_for(logged, monkeypatch):
    monkeypatch.setenv("REGARD_DEBUG", "1")
    assert of_failure(KeyError("layer")).status == 500
    assert "KeyError: 'layer'" in logged[-1]["error"]


@pytest.mark.parametrize("kind", [UserError, MissingFileError, OutOfRangeError, UnknownNameError])
def test_what_a_user_can_put_right_is_told_as_it_is_and_not_logged(logged, kind):
    problem = of_failure(kind("there is no 'layer' 9"))
    assert (problem.status, problem.message) == (422, "there is no 'layer' 9") and not logged


def test_too_little_memory_is_no_bug(logged):
    cpu = RuntimeError("[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate memory")
    for error in (MemoryError(), torch.OutOfMemoryError("CUDA out of memory."), cpu):
        problem = of_failure(error)
        assert (problem.status, problem.code) == (413, "memory") and not logged


def test_a_bug_that_speaks_of_memory_is_a_bug(logged):
    assert of_failure(RuntimeError("unsupported memory format option Preserve")).status == 500 and logged


def test_a_sentence_with_a_code_keeps_it():
    problem = of_failure(MissingFileError(refusal("hub_empty", name="a/b")))
    assert (problem.code, problem.values) == ("hub_empty", {"name": "a/b"})
    assert json.loads(problem.response.body)["message"] == "a/b has no model files on the hub"
