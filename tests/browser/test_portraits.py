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


def test_a_page_says_first_and_largest_what_the_head_does(page: Any, browser: Any, bert: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "lines.txt"
    corpus.write_text("\n".join([*LINES * 4, "the cat sat on the mat and the dog sat on the cat and a mat ."]), "utf-8")
    result = regard.study.heads(bert, corpus, output=tmp_path / "out")
    alone = browser.new_page(viewport={"width": 1440, "height": 900})
    alone.goto((tmp_path / "out" / "heads" / "1.1.html").as_uri())
    (row,) = result.table[(result.table["layer"] == 1) & (result.table["head"] == 1)].itertuples()
    does = alone.locator(".does")
    assert does.inner_text().startswith(row.does)
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    assert does.evaluate(size) > 1.5 * alone.locator("h1").evaluate(size)
    top = alone.locator(".hero")
    assert top.locator("img:visible").bounding_box()["width"] >= 200 and top.locator(".look svg").is_visible()
    assert top.bounding_box()["y"] + top.bounding_box()["height"] < 900  # all of it on the first screen
    assert not alone.get_by_text("How well its attention is predicted").is_visible()  # folded
    for look in alone.locator(".look svg").all():
        box, around = look.bounding_box(), look.locator("..").bounding_box()
        assert box["x"] + box["width"] <= around["x"] + around["width"] + 1  # no word is cut
    alone.set_viewport_size({"width": 390, "height": 844})
    alone.reload()
    for look in alone.locator(".look").all():  # on a phone the line moves, and what is said of it stays
        around = look.locator(".scroll").bounding_box()
        ends = look.locator("path").last.bounding_box()
        assert ends["x"] >= around["x"] - 1
        assert ends["x"] + min(ends["width"], around["width"]) <= around["x"] + around["width"] + 1
        assert look.locator("figcaption").bounding_box()["x"] >= 0
    alone.close()


def test_from_a_pinned_token_to_what_is_nearest_and_the_map_is_drawn(page: Any) -> None:
    page.goto(page.url.split("#")[0] + "#text=the+cat+sat&view=heads&layer=1&heads=0&queries=2")
    page.reload()
    link = page.locator("[data-nearest=q]")
    link.wait_for()
    assert link.inner_text() == "What else makes this head look as “cat” does"
    link.click()
    shown = page.frame_locator(".app-report iframe")
    shown.locator("h1", has_text="What else makes head 1.0 do this").wait_for()
    assert shown.locator(".look").count() == 11  # the reader's own row, and ten
    assert "cat" in shown.locator("figcaption").nth(1).inner_text()
    shown.locator("nav a").click()
    shown.locator("h1", has_text="Head 1.0 of tiny").wait_for()
    shown.locator("[data-joint][data-drawn]").wait_for()


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


TYPES_EARLY = """new MutationObserver(() => {
  const field = document.querySelector("[data-filter]");
  if (field) field.value = "no head says this";
}).observe(document, { childList: true, subtree: true });"""


def test_what_is_typed_while_the_list_is_loading_is_searched_for(browser: Any, bert: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "lines.txt"
    corpus.write_text("\n".join(LINES), "utf-8")
    regard.study.heads(bert, corpus, output=tmp_path / "out")
    hasty = browser.new_page()
    hasty.add_init_script(TYPES_EARLY)
    hasty.goto((tmp_path / "out" / "report.html").as_uri())
    expect(hasty.locator(".tall tbody tr").first).to_be_attached()
    expect(hasty.locator(".tall tbody tr:visible")).to_have_count(0)
    hasty.close()


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
