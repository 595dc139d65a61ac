"""The columns of the head view: what is beside and between them says what the lines say."""

from __future__ import annotations

from xml.etree import ElementTree

from test_heads import QUERY, still, until
from test_views import picture
from tests.browser.conftest import answered_trace

SVG_TEXT = "{http://www.w3.org/2000/svg}text"


def test_bars_beside_all_lines_are_what_each_token_gets_in_all(show, pages, pair_trace, tmp_path):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1&form=columns", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(QUERY)
    assert page.inner_text(".headings span:last-child") == "total received"
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    waiting.value.save_as(tmp_path / "picture.svg")
    texts = [one.text for one in ElementTree.parse(tmp_path / "picture.svg").getroot().iter(SVG_TEXT)]
    received = pair_trace.attention(0, 1).sum(axis=0)
    shown = [f"{value:.2f}" for value in received if value >= 0.1]
    assert len(shown) > 10
    assert [value for value in shown if value not in texts] == []


def test_the_scale_of_strengths_ends_with_the_strongest_line_that_does_not_rest(show, pages):
    page = show(pages["answered"], "#view=heads&layer=0&heads=3&form=columns")  # its first token can only see itself
    page.wait_for_selector(".strengths")
    trace = answered_trace()
    best = trace.attention(0, 3)[:, 1:].max()
    assert best < 0.95
    assert page.locator(".strengths > span").last.inner_text().strip() == f"{best:.2f}"


def test_prompt_and_answer_are_divided_on_every_axis(show, pages, tmp_path):
    page = show(pages["answered"], "#view=heads&layer=0&heads=1")
    page.wait_for_selector(QUERY)
    columns, _ = picture(page, tmp_path / "columns.svg")  # one rule through both columns, and not among the numbers
    assert columns.count("prompt ↑ | ↓ answer") == 1
    page.click("[data-value=sentence]")
    page.wait_for_selector("[data-value=sentence][aria-pressed=true]")
    still(page)
    sentence, _ = picture(page, tmp_path / "sentence.svg")
    page.click("[data-view=matrix]")
    page.wait_for_selector(".colour-bar")
    matrix, _ = picture(page, tmp_path / "matrix.svg")
    assert [texts.count(part) for texts in (sentence, matrix) for part in ("prompt", "answer")] == [1, 1, 2, 2]
    page.select_option("[data-control=segments]", label="answer → prompt")
    page.click("[data-view=heads]")
    page.click("[data-value=columns]")
    until(page, f"document.querySelectorAll('{QUERY}').length === 3")
    only, _ = picture(page, tmp_path / "only.svg")
    assert not any("prompt" in text for text in only[:-1])  # nothing to divide
