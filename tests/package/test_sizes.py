"""Files and functions that can be read in one go: 300 lines and 60, or a reason at the top of the file."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE, FUNCTION, TOP = 300, 60, 15
REASON = re.compile(r"(Long on purpose|One file and long)[:,] \w+")


def lines_of_code(function):
    """Lines from the first statement after the docstring to the last: signatures and documentation do not count."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def too_long(text, python):
    """What of a file is longer than it may be."""
    lines = text.splitlines()
    if len(lines) > FILE and not REASON.search("\n".join(lines[:TOP])):
        yield f"{len(lines)} lines without a reason in the first {TOP}"
    for node in ast.walk(ast.parse(text)) if python else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of_code(node) > FUNCTION:
            yield f"{node.name} has {lines_of_code(node)} lines"


def files():
    kept = ("*.py", "*.ts", "*.tsx", "*.css", "*.mjs", ":!src/regard/static")
    found = subprocess.run(["git", "ls-files", *kept], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.split()


def test_files_and_functions_are_short_or_say_why_not():
    faults = [
        f"{name}: {fault}"
        for name in files()
        for fault in too_long((ROOT / name).read_text("utf-8"), name.endswith(".py"))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n" * 301, 1),
        ('"""Long on purpose: a table."""\n' + "x = 1\n" * 301, 0),
        ("x = 1\n" * 300, 0),
        ("def f():\n" + "    x = 1\n" * 61, 1),
        ('def f():\n    """Says much.\n' + "\n" * 70 + '    """\n' + "    x = 1\n" * 60, 0),
    ],
)
def test_what_is_too_long_is_found(text, expected):
    assert len(list(too_long(text, python=True))) == expected
