"""The next word over the layers, beside what the model says: asked on request, and Python's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from test_heads import QUERY, until
from tests.app.conftest import hosted
from tests.browser.windows import Windows
from tests.tiny import enlarged, saved, tiny_llama

import regard

TEXT = "the cat sat on the mat"
RANKS = "[...document.querySelectorAll('[data-lens] tbody td:last-child')].map(e => e.textContent).join()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any) -> Path:
    model = enlarged(tiny_llama(wordpiece, num_hidden_layers=4), 4)
    return saved(model, tmp_path_factory.mktemp("models") / "causal")


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[str]:
    with hosted(models=(str(folder),)) as (found, _):
        yield found


@pytest.fixture(params=["en-US", "zh-CN"])
def page(windows: Windows, home: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    with windows.lent() as take:
        page = take(viewport={"width": 1280, "height": 800}, locale=request.param)
        page.goto(f"{home}#model={quote(str(folder))}&text={quote(TEXT)}&view=heads")
        page.wait_for_selector(QUERY)
        page.wait_for_selector("[data-says='next token'] [data-do=lens]")
        yield page


def rows(page: Any) -> list[list[str]]:
    return [one.locator("th, td").all_inner_texts() for one in page.locator("[data-lens] tbody tr").all()]


def test_the_lens_is_read_on_request_and_shows_what_python_finds(page, folder):
    assert page.locator("[data-lens] table").count() == 0
    page.click("[data-do=lens]")
    page.wait_for_selector("[data-lens=found] table")
    found = regard.load(str(folder)).lens(TEXT)
    shown = rows(page)
    assert [int(row[0]) for row in shown] == [row.layers for row in found.rows]
    assert [row[1].strip() for row in shown] == [row.words[0].token.strip() for row in found.rows]
    assert [int(row[4]) for row in shown] == [row.rank + 1 for row in found.rows]
    for row, expected in zip(shown, found.rows, strict=True):
        value = 0.0 if row[3].startswith("<") else float(row[3])
        assert value == pytest.approx(expected.probability, abs=0.006)
    assert page.get_attribute("[data-leads]", "data-leads") == str(found.leads)
    page.click("[data-do=lens]")
    assert page.locator("[data-lens] table").count() == 0


def test_the_lens_follows_the_token_that_is_pinned(page, folder):
    page.click("[data-do=lens]")
    page.wait_for_selector("[data-lens=found] table")
    page.locator(QUERY).nth(2).click()
    expected = ",".join(str(row.rank + 1) for row in regard.load(str(folder)).lens(TEXT, 2).rows)
    until(page, f"{RANKS} === '{expected}'")
    assert ",".join(row[4] for row in rows(page)) == expected
