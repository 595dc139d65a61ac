"""The box for rules: heads light up, a mistake is pointed at, a saved rule is a pattern; over a study's corpus too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.app.conftest import hosted
from tests.browser.windows import Windows
from tests.tiny import enlarged, saved, tiny_bert

import regard
from regard.patterns.following import follow
from regard.patterns.rules import parse_rule

TEXT = "the cat sat on the mat . i went to the store and the dog sat at the store ."


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any) -> tuple[Path, Path]:
    """A folder with a model, and one with a study of it beside its corpus."""
    folder = tmp_path_factory.mktemp("rules")
    model = saved(enlarged(tiny_bert(wordpiece), 16), folder / "model")
    studies = folder / "studies"
    studies.mkdir()
    (studies / "lines.txt").write_text("\n".join(TEXT[n:] for n in range(0, 40, 4)))
    regard.study.heads(regard.load(str(model)), studies / "lines.txt", output=studies / "mine", predictive=0)
    meta = studies / "mine" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"model": str(model)}))
    return model, studies


@pytest.fixture
def page(windows: Windows, places: tuple[Path, Path]) -> Iterator[Any]:
    with hosted(models=(str(places[0]),), studies=places[1]) as (home, _), windows.lent() as take:
        page = take(viewport={"width": 1280, "height": 900}, locale="en-US")
        page.goto(f"{home}#text={quote(TEXT)}&view=atlas")
        page.wait_for_selector("#regard:not([data-saved]) .thumb", state="attached")
        yield page


def test_heads_light_up_and_the_rule_is_saved(page, places):
    page.fill("[data-field=rule]", "offset = -1 and")
    page.click("[data-do=rule]")
    wrong = page.wait_for_selector("[data-rule-trouble] pre").inner_text()
    line, caret = wrong.splitlines()
    assert line == "offset = -1 and" and caret.index("^") == len(line)
    page.fill("[data-field=rule]", "offset = -1")
    page.click("[data-do=rule]")
    page.wait_for_selector("[data-followed]")
    trace = regard.load(str(places[0])).trace(TEXT)
    expected = follow(trace, parse_rule("offset = -1"))
    cells = page.eval_on_selector_all("[data-lift]", "all => all.map(e => [e.dataset.cell, +e.dataset.lift])")
    assert dict(cells) == pytest.approx({f"{one.layer}-{one.head}": one.lift for one in expected.heads}, abs=2e-4)
    assert (
        page.get_attribute("[data-follower]", "data-follower") == f"{expected.heads[0].layer}.{expected.heads[0].head}"
    )
    assert "follows the rule offset = -1" in page.inner_text("[data-rule-legend]")
    page.fill("[data-field=rule-name]", "<i>back</i>")
    page.click("[data-do=rule-save]")
    assert "is no name for a rule" in page.wait_for_selector("[data-rule-trouble]").inner_text()
    page.fill("[data-field=rule-name]", "looks back")
    page.click("[data-do=rule-save]")
    page.wait_for_selector("[data-saved-rule='looks back']", state="attached")
    page.wait_for_selector(".thumb:not(.change)")
    assert page.query_selector("[data-lift]") is None


def test_over_the_corpus_of_a_study(page):
    page.click("[data-view=studies]")
    page.click("[data-study-rule] summary")
    page.fill("[data-study-rule] [data-field=rule]", "offset = -1")
    page.click("[data-study-rule] [data-do=rule]")
    assert page.wait_for_selector("[data-ranked]").get_attribute("data-ranked") == "6"
    assert page.query_selector("[data-study-rule] mark")
