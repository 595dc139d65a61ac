"""The views on a phone: one way to scroll, taps, a sheet and a drawer."""

from __future__ import annotations

import numpy as np
import pytest
from tests.browser.test_heads import still, until
from tests.browser.test_stage import box_of

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_the_page_scrolls_one_way_and_nothing_lies_over_anything(show, pages):
    for view in ("heads", "matrix", "atlas", "neurons"):
        page = show(pages["pair"], f"#view={view}&layer=0&heads=1", **PHONE)
        page.wait_for_selector(".stage")
        still(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    run = "document.querySelector('.neurons .scroller').scrollWidth <= document.querySelector('.neurons').clientWidth"
    assert page.evaluate(run)  # weights, in the last column, need no scrolling
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    page.wait_for_selector(".token")
    parts = [".tabs", ".choose", ".more summary", ".legend", ".scroller", ".drawer"]
    boxes = [box_of(page, part) for part in parts]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
            assert apart, (a, b)
    small = page.eval_on_selector_all(
        "button, summary",
        """all => all.map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
          .filter(([, b]) => b.width && (b.width < 23.5 || b.height < 23.5)).map(([name]) => name)""",
    )
    assert small == []


def test_where_tabs_do_not_fit_the_open_one_is_in_sight(show, pages):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=1", **{**PHONE, "viewport": {"width": 200, "height": 844}})
    page.wait_for_selector(".tabs [data-view=neurons][aria-selected=true]")
    run = """(() => {
      const bar = document.querySelector(".tabs");
      const [tab, all] = [bar.querySelector("[aria-selected=true]"), bar].map((e) => e.getBoundingClientRect());
      return bar.scrollWidth > bar.clientWidth && tab.left >= all.left && tab.right <= all.right;
    })()"""
    until(page, run)


def test_on_a_phone_a_tap_explains_and_the_next_one_keeps(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    page.wait_for_selector(".token")
    assert page.evaluate("document.querySelectorAll('.headings').length") == 0
    page.tap(".token[data-position='10']")
    until(page, "document.querySelector('.tip')?.textContent.startsWith('store₁₀ → the₉')")
    assert "queries" not in page.evaluate("location.hash")
    page.tap(".token[data-position='10']")
    assert "queries=10" in page.evaluate("location.hash")


def test_on_a_phone_choices_are_a_sheet_and_the_inspector_is_a_drawer(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    assert page.inner_text(".choose") == "0.1 ▾"
    page.tap("[data-sheet=open]")
    page.select_option(".choices [data-control=layer]", "2")
    page.dblclick(".choices [data-head='3']")
    page.tap("[data-sheet=close]")
    assert page.inner_text(".choose") == "2.3 ▾"
    assert not page.is_visible(".inspector h2")
    page.tap(".drawer summary")
    assert page.inner_text(".inspector h2") == "Head 2.3"


def test_on_a_phone_tools_are_behind_one_button_that_closes_again(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    page.wait_for_selector(".token")
    assert not page.is_visible("[data-tool=theme]")
    page.tap(".more summary")
    for tool in page.locator(".more .plain").all():
        box = tool.bounding_box()
        assert box["height"] >= 40 and box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.tap("[data-tool=theme]")
    until(page, "document.querySelector('.regard').dataset.theme === 'dark'")
    assert not page.is_visible("[data-tool=theme]")
    page.tap(".more summary")
    page.tap(".headline")
    until(page, "!document.querySelector('.more').open")


def test_on_a_phone_the_sentence_is_the_form_of_heads_and_columns_have_no_bars(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    page.wait_for_selector(".token")
    assert page.locator(".headings").count() == 0  # no columns
    page = show(pages["pair"], "#view=heads&layer=0&heads=1&form=columns", **PHONE)
    page.wait_for_selector(".headings")
    still(page)
    edges = page.eval_on_selector_all(
        ".sheet canvas",
        """all => all.map(canvas => {
          const pen = canvas.getContext("2d"), scale = canvas.width / canvas.clientWidth;
          const { data } = pen.getImageData(0, 0, Math.round(30 * scale), canvas.height);
          return data.some((value, i) => i % 4 === 3 && value > 0);
        })""",
    )
    assert not any(edges)  # beside the words there is nothing


def test_on_a_phone_a_second_card_is_in_sight_and_cards_are_swiped(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", **PHONE)
    page.wait_for_selector(".story .card")
    left, _, right, _ = box_of(page, ".story .card")
    assert (left, right) == (12, 318)  # there is room for the next one's map, and no word that is cut
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_the_picture_comes_first_and_the_drawer_says_what_the_head_does(show, pages):
    for view, picture in (("heads", ".scroller"), ("matrix", ".spread"), ("atlas", ".around")):
        page = show(pages["pair"], f"#view={view}&layer=0&heads=2", **PHONE)
        page.wait_for_selector(picture)
        still(page)
        assert box_of(page, picture)[3] <= box_of(page, ".stage > .legend")[1] + 1, view
        assert box_of(page, ".stage > .legend")[3] > box_of(page, ".stage > .legend")[1], view
        assert box_of(page, picture)[1] < PHONE["viewport"]["height"] / 3, view
        assert page.inner_text(".drawer summary").startswith("0.2 "), view
        assert box_of(page, ".drawer summary")[3] - box_of(page, ".drawer summary")[1] >= 44
    assert page.locator(".beside .plot canvas").first.is_visible()  # one head of the atlas, large, below the others


def test_on_a_phone_maps_of_the_atlas_are_as_large_as_a_finger(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=2", **PHONE)
    page.wait_for_selector(".thumb[data-label]")
    assert page.inner_text(".choose") == "Options ▾"
    cells = page.eval_on_selector_all(
        ".thumb", "all => all.map(e => [e.dataset.cell, ...Object.values(e.getBoundingClientRect().toJSON())])"
    )
    assert min(min(width, height) for _, _, _, width, height, *_ in cells) >= 44
    places = {name: (left, top) for name, left, top, *_ in cells}
    assert places["0-0"][0] < places["1-0"][0] and places["0-0"][1] == places["1-0"][1]  # layers across
    assert places["0-0"][1] < places["0-1"][1] and places["0-0"][0] == places["0-1"][0]
    assert page.inner_text(".corner").split("\n") == ["layer →", "head ↓"]


def test_on_a_phone_the_matrix_names_every_token_and_says_below_it_where_the_row_looks(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=2&queries=5", **PHONE)
    page.wait_for_selector(".row-bars li")
    bar, plot, row = (box_of(page, part) for part in (".colour-bar", ".plot", ".row-bars"))
    assert plot[3] <= bar[1] + 1 and bar[3] <= row[1] and plot[2] - plot[0] > 350
    named = page.evaluate(
        """rows => {
          const canvas = document.querySelector(".plot .over"), scale = canvas.width / canvas.clientWidth;
          const [wide, high] = [Math.round(60 * scale), canvas.height];
          const { data } = canvas.getContext("2d").getImageData(Math.round(40 * scale), 0, wide, high);
          const inked = Array.from({ length: high }, (_, y) => y).filter((y) =>
            data.subarray(4 * wide * y, 4 * wide * (y + 1)).some((value, i) => i % 4 === 3 && value > 0));
          const step = (inked.at(-1) - inked[0]) / rows;
          return new Set(inked.map((y) => Math.min(rows - 1, Math.floor((y - inked[0]) / step)))).size;
        }""",
        19,
    )
    assert named == 19
    assert page.inner_text(".row-bars h3") == "“store”₅ looks at"
    row = pair_trace.attention(0, 2, queries=5).ravel()
    most = sorted(np.argsort(-row)[:8])
    said = page.locator(".row-bars li .value").evaluate_all("all => all.map(e => +e.title)")
    assert said == pytest.approx(row[most], rel=1e-3)
    assert page.inner_text(".row-bars p") == "the 8 strongest of 19, in their order"
