"""The tutorials show what the commands print."""

import re
import shlex

import pytest

from .write_page import ROOT

PAGES = {"six-patterns": 4, "what-is-a-head-for": 4}  # and how many commands each shows with what they print
LEFT_OUT = ("...", "page: ", "regard-view.html")  # parts of the output, sizes, paths


@pytest.mark.models
@pytest.mark.parametrize("page", PAGES)
def test_the_outputs_in_a_tutorial_are_those_of_the_commands(command, tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"((?:^    .*\n|^\n(?=    ))+)", text, flags=re.MULTILINE)
    shown = [block for block in blocks if block.lstrip().startswith("$ regard")]
    assert len(shown) == PAGES[page]
    for block in shown:
        typed, *lines = [_plain(line) for line in block.splitlines() if line.strip()]
        done = command(*shlex.split(typed)[2:], width=110)
        assert done.returncode == 0, done.stderr
        printed = {_plain(line) for line in done.stdout.splitlines()}
        assert [line for line in lines if not line.startswith(LEFT_OUT) and line not in printed] == [], typed


def _plain(line):
    return " ".join(line.split())
