"""The page of the walk: what moves, what is asked, who can read it, and the pictures that leave it."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from test_heads import still, until
from tests.browser.walking import (
    DECODER,
    ENCODER,
    SEARCHED,
    barriers,
    box,
    fits,
    go,
    right_answer,
    saved,
    wide,
)

from regard.views.walk import walk


def test_the_model_stays_in_sight_as_boxes_and_the_dot_stands_before_the_lit_one(page):
    for step in ("scores", "stack", "cross", "loss"):
        go(page, step)
        still(page)
        lit, dot = box(page, "[aria-current=step]"), box(page, ".walk circle.dot")
        assert page.locator("[aria-current=step]").count() == 1 and lit["height"] >= 20
        assert page.locator("[aria-current=step]").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 12
        assert abs(dot["x"] + dot["width"] / 2 - lit["x"] - lit["width"] / 2) < 1.5
        assert 0 <= lit["y"] - dot["y"] - dot["height"] < 8  # in the space before it
    boxes = [one.bounding_box() for one in page.locator("[data-step]").all()]
    apart = [a["x"] + a["width"] <= b["x"] or a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes[:12])]
    assert all(apart)
    assert all(one["y"] >= 0 and one["y"] + one["height"] <= 760 for one in boxes)


def test_boxes_that_are_passed_show_what_their_step_made(page, walked):
    go(page, "softmax")
    passed = page.locator(".steps .passed:has(canvas.mini)")
    assert {one.get_attribute("data-step") for one in passed.all()} >= {"project", "scores", "scale"}
    assert page.locator(".steps button:not(.passed) canvas.mini").count() == 0
    size = page.eval_on_selector("[data-step=scores] canvas", "canvas => [canvas.width, canvas.height]")
    assert size == [len(walked.trace.side("encoder").tokens)] * 2


def test_headings_of_bars_do_not_look_like_links(page):
    go(page, "scale")
    page.wait_for_selector("[data-end]")
    colour = "all => [...new Set(all.map(one => getComputedStyle(one).color))]"
    (heading,) = page.eval_on_selector_all(".turning thead th", colour)
    assert heading not in page.eval_on_selector_all(".plain.again", colour)


def test_subscripts_stand_below_the_line_and_no_minus_is_made_of_a_mark(page):
    go(page, "output")
    assert page.inner_text("[data-step=output] sub") == "O"
    assert "_" not in page.inner_text(".scene") and page.locator(".scene > .words sub").all_inner_texts() == ["O"]
    assert re.search(r"WO column \d+", " ".join(page.inner_text(".dot-product").split()))
    go(page, "softmax")
    marks = "[...document.querySelectorAll('.turning td')].map(e => getComputedStyle(e, '::before').content)"
    until(page, f"{marks}.length > 3 && {marks}.every(content => content === 'none')")  # once cells have a style
    said = " ".join(page.inner_text(".note").split())
    assert "✗ A score of 0 means no attention. ✓ Every score becomes a positive weight" in said


def test_a_step_shows_the_mix_up_before_what_is_right(page):
    go(page, "residual")
    said = " ".join(page.inner_text(".note").split())
    assert said.startswith("A common mix-up: ✗ LayerNorm works over the batch") and said.index("✗") < said.index("✓")


def test_scaling_shows_the_softmax_with_and_without_it(page, walked):
    go(page, "scale")
    page.wait_for_selector("[data-end]")
    row = int(page.input_value("[data-pair=query]"))
    head = int(page.get_attribute(".head[aria-pressed=true]", "data-head"))
    scores = walked.trace.scores(0, head)[row]
    width = walked.trace.q(0, head).shape[-1]
    for end, wanted in (("walk_unscaled", scores * np.sqrt(width)), ("walk_scaled", scores)):
        weights = np.exp(wanted - wanted.max())
        weights /= weights.sum()
        shown = [text.strip() for text in page.locator(f"[data-end={end}] .part").all_inner_texts()]
        assert max(float(text.lstrip("<")) for text in shown) == pytest.approx(weights.max(), abs=0.006)


def test_a_question_is_answered_by_clicking_and_says_the_number(page, walked):
    go(page, "scores")
    # about the word after the one whose row is on the page, or the answer could be read off
    assert "Which word will “,” look at most?" in page.inner_text("[data-question]")
    texts = [one.inner_text() for one in page.locator("[data-option]").all()]
    row = walked.trace.site(0, kind="encoder").scores(0)[1] * np.sqrt(32)
    words = [token.text.strip() for token in walked.trace.sides["encoder"].tokens]
    best = texts.index(words[int(row.argmax())])
    wrong = (best + 1) % len(texts)
    page.click(f"[data-option='{wrong}']")
    said = page.inner_text("[data-said=wrong]")
    assert said.startswith(f"Not this one: it is {texts[best]}.") and f"{row.max():.2f}" in said
    page.click(f"[data-option='{best}']")
    assert page.inner_text("[data-said=right]").startswith("Yes.")


def test_every_step_asks_something_and_the_right_answer_is_there(page):
    page.click("[data-head='1']")
    for step in ENCODER + DECODER:
        go(page, step)
        answer = right_answer(page)
        if step == "scale":  # a number that could be read off
            assert answer not in page.inner_text(".cell[data-cell]")
        scene = page.inner_text(".scene")
        assert "{" not in scene and "NaN" not in scene, step


def test_formulas_are_mathml_in_the_colours_of_their_matrices(page):
    go(page, "softmax")
    assert page.locator("math.formula mfrac msqrt").count() == 1
    space = page.evaluate("document.querySelector('math.formula mi').namespaceURI")
    assert space == "http://www.w3.org/1998/Math/MathML"
    colour = "e => getComputedStyle(e).color"
    symbol = page.locator("math.formula mi.ink-A").first.evaluate(colour)
    assert symbol == page.locator("figcaption .ink-A").first.evaluate(colour)
    assert symbol != page.locator("math.formula mi.ink-Q").first.evaluate(colour)


def test_weights_are_folded_to_an_icon(page):
    page.click("[data-step=project]")
    page.click(".tables > summary")
    assert not page.locator('canvas[data-matrix="W_Q"]').is_visible()
    page.click(".weight > summary >> text=WQ")
    assert page.locator('canvas[data-matrix="W_Q"]').is_visible()


def test_nothing_moves_on_load_and_steps_move_for_at_most_a_quarter_of_a_second(show, page_file):
    page = show(page_file, "#view=walk&step=3")
    page.wait_for_selector("[data-cell=dot]")
    assert page.evaluate("document.getAnimations().length") == 0
    page.evaluate(
        """() => { window.times = []; (function look() {
          window.times.push(...document.getAnimations().map(one => one.effect.getTiming().duration));
          requestAnimationFrame(look); })(); }"""
    )
    page.keyboard.press("ArrowRight")
    until(page, "window.times.length > 0")
    still(page)
    assert all(150 <= time <= 250 for time in page.evaluate("window.times"))


def test_with_less_motion_the_states_before_and_after_stand_still_side_by_side(show, page_file):
    page = show(page_file, reduced_motion="reduce")
    page.click("[data-step=softmax]")
    assert [one.get_attribute("data-frame") for one in page.locator(".still").all()] == ["before", "after"]
    assert page.locator("[data-frame=before] .grown").count() == 0 < page.locator("[data-frame=after] .grown").count()
    assert page.evaluate("document.getAnimations().length") == 0


def test_the_target_grows_on_top_of_the_page(page):
    go(page, "softmax")
    assert "nothing yet" in page.inner_text("[data-text=target]")
    go(page, "predict")
    for position in (0, 2):
        page.click(f"[data-word=t{position}]")
        assert page.locator("[data-text=target] .word:not(.later)").count() == position + 1


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_a_step_fits_the_window(page, width):
    with wide(page, width):
        for step in ("embed", "scores", "softmax", "join", "predict", "loss"):
            go(page, step, unfold=False)
            fits(page, width)
            lit = box(page, "[aria-current=step]")
            assert lit["x"] >= 0 and lit["x"] + lit["width"] <= width


ROWS = """rows => rows.map(row => {
  const [number, bar, after, grown] = [...row.querySelectorAll('td')].map(one => one.getBoundingClientRect());
  return [row.getBoundingClientRect().height, number.right <= bar.left + 1, bar.right <= after.left + 1,
    after.right <= grown.left + 1];
})"""


def test_a_large_screen_has_taller_rows_and_each_number_stands_before_its_bar(page):
    heights = {}
    for width, height in ((1000, 700), (1440, 900), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        go(page, "softmax", unfold=False)
        still(page)
        rows = page.eval_on_selector_all(".turning tbody tr:has(.grown)", ROWS)
        assert rows and all(all(order) for _, *order in rows)
        heights[width] = min(high for high, *_ in rows)
    page.set_viewport_size({"width": 1280, "height": 760})
    assert heights[1000] < heights[1440] < heights[1920]


def test_no_step_has_a_barrier(page):
    assert barriers(page, SEARCHED["translator"]) == []


def test_words_that_occur_twice_carry_their_position(show, bert, tmp_path):
    page = show(walk("the cat sat on the mat .", bert).save(tmp_path / "twice.html"))
    go(page, "softmax")
    names = page.locator(".turning tbody th").all_inner_texts()
    assert "cat" in names and {"the₁", "the₅"} <= set(names)


def test_a_clicked_cell_opens_in_the_neuron_view_as_the_same_pair_and_back(page, walked):
    page.click("[data-head='2']")
    go(page, "cross")
    canvas = page.locator('canvas[data-matrix="A"]').first
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    canvas.click(position={"x": at["left"] + 4.5 * at["cell"], "y": at["top"] + 1.5 * at["line"]})
    assert page.input_value("[data-pair=query]") == "1"
    assert page.input_value("[data-pair=key]") == "4"
    weight = float(page.inner_text("[data-pair=numbers]").split("weight ")[1])
    assert weight == pytest.approx(float(walked.trace.attention(0, 2, kind="cross")[1, 4]), abs=6e-3)
    page.click("[data-go=neurons]")
    assert page.get_attribute("[data-view=neurons]", "aria-selected") == "true"
    for part in ("kind=cross", "layer=0", "heads=2", "queries=1", "pairs=1,4"):
        assert part in page.url
    page.wait_for_selector("[data-key='4'][aria-pressed=true]")  # it is pinned in the table
    assert page.inner_text(".pair-about h3").count("→") == 1
    page.click("[data-go=walk]")
    assert page.get_attribute("[aria-current=step]", "data-step") == "cross"
    assert page.input_value("[data-pair=key]") == "4"


def test_from_another_kind_of_attention_the_way_back_leads_to_its_scores(show, page_file):
    page = show(page_file, "#view=neurons&kind=decoder&layer=0&heads=1")
    page.click("[data-go=walk]")
    assert page.get_attribute("[aria-current=step]", "data-step") == "mask"


def test_a_layer_without_a_walk_has_no_way_back(show, page_file):
    page = show(page_file, "#view=neurons&kind=encoder&layer=1&heads=1")
    page.wait_for_selector(".neurons")
    assert page.locator("[data-go=walk]").count() == 0


def test_every_step_can_be_saved_as_a_picture_with_its_words_and_numbers(page, walked, tmp_path):
    for step in ENCODER + DECODER:
        go(page, step)
        texts = saved(page, tmp_path / f"{step}.svg")
        assert texts[0] == page.inner_text(".scene h2")
        assert texts[1] == page.get_attribute(".formula", "data-formula")
        head = page.get_attribute(".head[aria-pressed=true]", "data-head")
        assert (head != "0") == (step == "cross")  # which begins with another one, and leaves it there
        assert texts[-1].startswith(f"translator · encoder head 0.{head}")
        if step == "softmax":
            assert f"{walked.trace.attention(0, 0)[0, 0]:.2f}" in texts
            assert "hello" in texts
        if step == "tokens":
            assert str(walked.walk.ids[0]) in texts
        if step == "loss":
            assert page.inner_text("[data-loss=plain]") in texts


def test_a_saved_step_says_when_it_is_not_the_model(page, tmp_path):
    go(page, "scale")
    page.uncheck("[data-what=scaling]")
    assert "Changed: these are not the model's numbers." in saved(page, tmp_path / "changed.svg")


def test_the_walk_speaks_chinese(show, page_file):
    page = show(page_file, locale="zh-CN")
    assert page.inner_text(".scene h2") == "文本 → 词元 → 编号"
