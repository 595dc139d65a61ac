"""Segments of a text with a picture in it fold and unfold: on every axis, by mouse, keyboard and finger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_heads import until
from tests.models.seeing import seeing

from regard.trace.trace import Trace

COLUMNS = "#view=heads&kind=decoder&layer=1&heads=2&form=columns&folded=text.0"
QUERY = 69  # in the answer
RANKED = """() => Object.fromEntries([...document.querySelectorAll('.ranking:first-of-type li')].map(
  li => [li.querySelector('.name').textContent, Number(li.querySelector('.value').title)]))"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    pixels = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    found: Trace = seeing("llava").trace("what is here ?", image=Image.fromarray(pixels), target="a cat is here")
    return found


@pytest.fixture(scope="module")
def saved(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("folds") / "page.html"
    trace.save_html(path)
    return path


def map_of(trace: Trace) -> np.ndarray:
    site = next(s for s in trace.sites if s.query_side == "text" and s.layer == 1)
    return np.asarray(site.attention(2), np.float64)


def ranked(page: Any, address: str) -> dict[str, float]:
    page.evaluate(f"location.hash = {address!r}")
    until(page, "document.querySelectorAll('.ranking li').length > 1")
    found: dict[str, float] = page.evaluate(RANKED)
    return found


def test_a_folded_picture_gets_the_sum_or_the_mean_of_its_tokens(show, saved, trace):
    page = show(saved, COLUMNS)
    page.wait_for_selector(".sheet canvas")
    row, mean = map_of(trace)[QUERY], map_of(trace)[:64].mean(0)
    summed = ranked(page, f"{COLUMNS}&queries={QUERY}")
    assert summed["image · 64 tokens"] == pytest.approx(row[:64].sum(), rel=0.01)
    assert "sum over their tokens" in page.inner_text(".legend")
    page.click(".choice [data-value=mean]")
    until(page, "document.querySelector('.legend').innerText.includes('the mean over')")
    assert page.evaluate(RANKED)["image · 64 tokens"] == pytest.approx(row[:64].mean(), rel=0.01)
    own = ranked(page, f"{COLUMNS}&queries=0")  # the picture looks: the mean over its rows
    assert own["image · 64 tokens"] == pytest.approx(mean[:64].sum(), rel=0.01)
    every = f"{COLUMNS.replace('text.0', 'text.0,text.1,text.2')}&queries={QUERY}"
    parts = ranked(page, every)
    answer = map_of(trace)[68:]
    assert parts["answer · 4 tokens"] == pytest.approx(answer[:, 68:].sum(1).mean(), rel=0.01)
    assert sum(parts.values()) == pytest.approx(1, abs=1e-3)


def test_question_and_answer_stand_above_the_picture_and_the_end_of_the_question_looks(show, saved, trace):
    page = show(saved, "#view=heads&kind=decoder&layer=1&heads=2")
    page.wait_for_selector(".overlay .talk")
    said = {part: page.locator(f".talk [data-said={part}] .chip").all_inner_texts() for part in ("question", "answer")}
    assert said == {"question": ["what", "is", "here", "?"], "answer": ["a", "cat", "is", "here"]}
    assert page.locator(".talk .chip[data-shown]").all_inner_texts() == ["?"]
    row = map_of(trace)[67]  # from there the answer begins
    headline = page.inner_text(".headline")
    assert headline.startswith("About to say “a”, head 1.2 looks most at") and f"({100 * row.max():.1f}%)" in headline
    assert "“?” looks at" in page.inner_text(".ranking")
    page.click(".talk [data-said=answer] .chip >> nth=1")
    until(page, "document.querySelector('.headline').innerText.startsWith('Having said “cat”, about to say “is')")


def test_triangles_on_the_axes_fold_by_mouse_keyboard_and_finger(show, saved):
    page = show(saved, COLUMNS)
    page.wait_for_selector(".run .fold")
    assert page.locator(".run [data-side=query]").count() == 9  # the picture and eight words
    page.locator(".run [data-fold='text.0']").first.click()
    page.wait_for_selector(".stage.overlay .patches")  # unfolded, the picture is shown as one
    page.locator(".folds [data-fold='text.0']").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".run .fold")
    page.wait_for_timeout(200)  # what follows within a moment is the same choice
    page.locator(".run [data-fold='text.2']").last.press("Space")
    until(page, "document.querySelectorAll('.run [data-side=key]').length === 6")
    assert "folded=text.0,text.2" in page.url
    page.keyboard.press("Control+z")
    until(page, "document.querySelectorAll('.run [data-side=key]').length === 9")
    page.click("[data-view=matrix]")
    page.wait_for_selector(".plot .fold")
    triangles = page.locator(".plot [data-fold='text.1']")
    assert triangles.count() == 2  # on either axis
    triangles.last.click()
    until(page, "document.querySelector('.plot [data-fold=\"text.1\"]').ariaExpanded === 'false'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_folds_in_the_sentence_in_chinese(show, saved, scheme):
    options = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
    page = show(saved, COLUMNS.replace("&form=columns", ""), locale="zh-CN", color_scheme=scheme, **options)
    page.wait_for_selector(".run .fold")
    assert page.get_by_role("button", name="展开图像：显示它的 64 个词元").count()
    page.locator(".run [data-fold='text.1']").first.tap()
    until(page, "document.querySelectorAll('.run [data-side=query]').length === 6")
    assert "各词元之和" in page.inner_text(".legend")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".run [data-fold='text.1']").first.bounding_box()
    assert box["height"] >= 24 and box["width"] >= 24
