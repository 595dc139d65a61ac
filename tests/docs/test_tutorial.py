"""The tutorial shows what the commands print."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from .write_page import ROOT

PAGE = ROOT / "docs" / "tutorials" / "six-patterns.md"
LEFT_OUT = ("...", "page: ", "regard-view.html")  # parts of the output, sizes, paths


@pytest.mark.models
def test_the_outputs_in_the_tutorial_are_those_of_the_commands(tmp_path):
    blocks = re.findall(r"((?:^    .*\n|^\n(?=    ))+)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = [block for block in blocks if block.lstrip().startswith("$ regard")]
    assert len(shown) == 4
    for block in shown:
        command, *lines = [_plain(line) for line in block.splitlines() if line.strip()]
        printed = _printed(shlex.split(command)[2:], tmp_path)
        assert [line for line in lines if not line.startswith(LEFT_OUT) and line not in printed] == [], command


def _printed(arguments, folder):
    command = [sys.executable, "-m", "regard", *arguments]
    environment = {**os.environ, "COLUMNS": "110"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
    return {_plain(line) for line in done.stdout.splitlines()}


def _plain(line):
    return " ".join(line.split())
