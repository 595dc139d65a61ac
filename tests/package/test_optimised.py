"""`python -O` leaves asserts out: nothing a user sees may hang on one."""

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.package.answers import answer
from tests.processes import warm_python
from tests.tiny import saved, tiny_bert

SOURCE = Path(__file__).resolve().parents[2] / "src" / "regard"
NARROWING = {"isinstance", "list"}  # calls that change nothing


def properties():
    """Names of everything that runs when it is read."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
                if marks & {"property", "cached_property"}:
                    yield node.name


def test_no_assert_does_anything():
    run = set(properties())
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            for part in ast.walk(node.test) if isinstance(node, ast.Assert) else ():
                calls = isinstance(part, ast.Call) and getattr(part.func, "id", None) not in NARROWING
                if calls or (isinstance(part, ast.Attribute) and part.attr in run):
                    found.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert found == []


@pytest.fixture(scope="module")
def bad(wordpiece, tmp_path_factory):
    """Command lines that a user may get wrong."""
    folder = tmp_path_factory.mktemp("bad")
    model = str(saved(tiny_bert(wordpiece), folder / "bert"))
    for name, content in (("empty.txt", ""), ("odd.conllu", "1\tno\n"), ("notes.md", "hello"), ("flat.csv", "a,b\n")):
        (folder / name).write_text(content)
    here = {name: str(folder / name) for name in ("empty.txt", "odd.conllu", "notes.md", "flat.csv", "missing.txt")}
    return [
        ["view"],
        ["view", "", "-m", model],
        ["view", "the cat " * 100, "-m", model],
        ["view", "the cat", "-m", here["missing.txt"]],
        ["view", "the cat", "-m", here["notes.md"]],
        ["view", "the cat", "--generate", "5", "-m", model],
        ["view", "the cat", "--target", "a dog", "-m", model],
        ["view", "the cat", "--image", here["notes.md"], "-m", model],
        ["patterns", "the cat", "--json", "--csv", "-m", model],
        ["patterns", "the cat", "--threshold", "7", "-m", model],
        ["neurons", "the cat", "--layer", "9", "--head", "0", "-m", model],
        ["neurons", "the cat", "--layer", "0", "--head", "-1", "-m", model],
        ["ablate", "the cat", "-m", model],
        ["ablate", "the cat", "-m", model, "--heads", "9.9"],
        ["ablate", "the cat", "-m", model, "--heads", "nonsense"],
        ["prune", model, "-o", str(folder / "pruned")],
        ["prune", model, "--keep", "0.5", "-o", str(folder / "pruned")],
        ["prune", model, "--keep", "7", "--on", here["flat.csv"], "-o", str(folder / "pruned")],
        ["prune", model, "--heads", "0.*", "1.*", "-o", str(folder / "pruned")],
        ["study", "atlas", here["empty.txt"], "-m", model],
        ["study", "atlas", here["missing.txt"], "-m", model],
        ["study", "syntax", here["odd.conllu"], "-m", model],
        ["study", "coref", here["notes.md"], "-m", model],
        ["study", "ablation", here["flat.csv"], "-m", model],
        ["walk", "hello", "-m", here["notes.md"]],
        ["train", "classifier", here["flat.csv"], "-m", model, "-o", str(folder / "trained")],
    ]


def test_what_is_wrong_is_said_in_the_same_words_without_asserts(bad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [*warm_python(), "-m", "tests.package.answers", json.dumps(bad)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE.parents[1]), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=here)
    assert done.returncode == 0, done.stderr[-2000:]
    for arguments, other in zip(bad, json.loads(done.stdout.splitlines()[-1]), strict=True):
        one = answer(arguments)
        assert one == other, arguments
        assert one[0] == 2 and "AssertionError" not in one[1] and "Traceback" not in one[1], (arguments, one)
