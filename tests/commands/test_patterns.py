"""`regard patterns` on the built-in model."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.commands.shared import out

from ..conftest import ARTICLE

pytestmark = [pytest.mark.models, pytest.mark.usefixtures("minilm", "wide")]


@pytest.fixture
def wide(monkeypatch):
    """A terminal of 120 columns; the console asked for its width when it was made."""
    monkeypatch.setattr(out, "_width", 120)


def run(*arguments):
    return CliRunner().invoke(app, ["patterns", *arguments])


def test_patterns_prints_the_map_and_the_strongest_heads():
    result = run(*ARTICLE)
    assert result.exit_code == 0
    assert " layer 0  ·  ·  p " in result.output
    assert "attends to the previous token in 14 of 14 rows" in result.output


def test_patterns_as_json_holds_every_head():
    record = json.loads(run(*ARTICLE, "--json").output)
    assert len(record["heads"]) == 72
    assert record["findings"][0]["pattern"] == "previous token"


def test_patterns_as_csv_has_a_line_per_finding():
    rows = list(csv.DictReader(io.StringIO(run(*ARTICLE, "--csv", "--threshold", "0.6").output)))
    assert ("1", "8", "next token") in {(row["layer"], row["head"], row["pattern"]) for row in rows}


def test_json_and_csv_together_are_refused():
    assert isinstance(run(*ARTICLE, "--json", "--csv").exception, ValueError)
