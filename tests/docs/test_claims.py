"""The page of claims: every number in it stands on the page that it links to, and every command exists."""

import re
from pathlib import Path

import pytest
import typer

from regard.cli import app
from regard.commands.study import app as studies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "claims.md"
LINES = PAGE.read_text("utf-8").splitlines()
ROWS = [line.strip("|").split(" | ") for line in LINES if re.match(r"\| (?!claim)", line)]
VERDICT = re.compile(r"\*\*(True|True, with limits|True, for another token|With limits|Not here|Not so)\*\*")


def linked(cell):
    paths = [(PAGE.parent / target.partition("#")[0]).resolve() for target in re.findall(r"\]\(([^)]+)\)", cell)]
    assert paths
    return " ".join(path.read_text("utf-8") for path in paths)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_row_has_a_verdict_and_its_numbers_are_on_the_linked_page(row):
    _, _, here = row
    assert VERDICT.search(here)
    text = re.sub(r"\[[^\]]*\]\([^)]*\)", "", here)  # without the links
    numbers = re.findall(r"\d+\.\d+|\d+(?:e-\d+)?", text)
    heads = set(re.findall(r"heads? (\d+\.\d+)", text))
    whole = linked(here)
    found = set(re.findall(r"\d+\.\d+|\d+(?:e-\d+)?", whole))
    assert [one for one in numbers if one not in heads and one not in found] == []
    for layer, head in (name.split(".") for name in heads):
        named = rf"layer {layer} head {head}\b|\({layer}, {head}\)|\b{layer}\.{head}\b"
        assert re.search(named, whole), (layer, head)


def test_every_command_exists():
    known = typer.main.get_command(app).commands
    for words in re.findall(r"`regard (\w+)(?: (\w+))?", PAGE.read_text("utf-8")):
        assert words[0] in known
        if words[0] == "study":
            assert words[1] in typer.main.get_command(studies).commands


def test_no_claim_is_left_out():
    assert len(ROWS) == 22
