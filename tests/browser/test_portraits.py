"""A head of the app leads to its page over a corpus, and the page back to the head on the reader's own sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.app.conftest import hosted
from tests.tiny import saved

import regard

LINES = ["the cat sat on the mat .", "a dog went to the store , it bought strawberries .", "the dog sat on a mat ."]


@pytest.fixture(scope="module")
def page(browser: Any, bert: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    tiny = saved(bert, tmp_path_factory.mktemp("models") / "tiny")
    studies = tmp_path_factory.mktemp("portraits")
    corpus = studies / "lines.txt"
    corpus.write_text("\n".join(LINES * 4), "utf-8")
    regard.study.heads(str(tiny), corpus, output=studies / "heads")
    with hosted(models=(str(tiny),), studies=studies) as (address, _):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-US")
        page.goto(f"{address}#text=the+cat+sat&view=heads&layer=1&heads=0")
        page.locator("[data-portrait]").wait_for()
        yield page
        page.close()


def test_from_a_head_to_its_page_and_back(page: Any) -> None:
    assert page.locator("[data-portrait]").inner_text() == "What this head does over lines.txt"
    page.locator("[data-portrait]").click()
    shown = page.frame_locator(".app-report iframe")
    shown.locator("h1", has_text="Head 1.0 of tiny").wait_for()
    assert shown.locator(".look").count() > 6
    shown.locator("nav a", has_text="1.1").click()  # a frame may not go elsewhere by itself: the app does it
    shown.locator("h1", has_text="Head 1.1 of tiny").wait_for()
    shown.locator("a[data-open]").click()
    page.locator(".inspector h2", has_text="Head 1.1").wait_for()
    page.wait_for_url("**view=heads&*layer=1&heads=1*")


def test_the_list_of_heads_can_be_searched_and_leads_to_pages(page: Any) -> None:
    page.locator("[data-view=studies]").click()
    page.locator("[data-do=back]").click()
    page.locator("[data-report=heads]").click()
    shown = page.frame_locator(".app-report iframe")
    rows = shown.locator(".tall tbody tr:visible")
    rows.first.wait_for()
    whole = rows.count()
    shown.locator("[data-filter]").fill("no head says this")
    expect(rows).to_have_count(0)
    shown.locator("[data-filter]").fill("")
    expect(rows).to_have_count(whole)
    shown.locator(".tall a", has_text="0.1").click()
    shown.locator("h1", has_text="Head 0.1 of tiny").wait_for()


def test_a_page_opened_by_itself_offers_no_app(page: Any, browser: Any, tmp_path: Path, bert: Any) -> None:
    corpus = tmp_path / "lines.txt"
    corpus.write_text("\n".join(LINES * 4), "utf-8")
    folder = regard.study.heads(bert, corpus, output=tmp_path / "out") and tmp_path / "out"
    alone = browser.new_page()
    alone.goto((folder / "heads" / "0.0.html").as_uri())
    assert alone.locator("a[data-open]").is_hidden()
    alone.locator("nav a", has_text="0.1").click()
    alone.locator("h1", has_text="Head 0.1").wait_for()
    alone.locator("nav a", has_text="All heads").click()
    alone.locator("h2", has_text="All heads").wait_for()
    alone.close()
