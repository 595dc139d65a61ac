"""The atlas in a real browser: every head, sorted, named, filtered and enlarged."""

from __future__ import annotations

import numpy as np
import pytest
from test_heads import QUERY, address, still, until

import regard


def test_the_atlas_shows_every_head_and_one_large_beside_them(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=0")
    until(page, "performance.getEntriesByName('regard:exact').length")
    assert page.locator(".thumb").count() == 12
    page.hover("[data-cell='0-1']")
    until(page, "document.querySelector('.about').textContent.includes('looks one token back')")
    assert page.inner_text(".inspector h2") == "Head 0.1"
    assert "looks one token back" not in page.inner_text("[data-beside='0-1']")  # once is enough
    picture = "document.querySelector('.beside .plot canvas').toDataURL()"
    pointed = page.evaluate(picture)
    page.click("[data-cell='2-3']")
    page.wait_for_selector("[data-beside='2-3']")
    still(page)
    assert page.evaluate(picture) != pointed
    assert "layer=2" in address(page)
    page.mouse.move(5, 5)
    assert page.locator("[data-beside='2-3']").count() == 1
    assert page.locator(".enlarged").count() == 0
    page.click("[data-open=heads]")
    page.wait_for_selector(QUERY)
    assert "view=heads" in address(page)
    assert "heads=3" in address(page)


def test_where_there_is_no_room_beside_the_atlas_a_head_is_enlarged_over_it(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0", viewport={"width": 610, "height": 760})
    page.click("[data-cell='2-3']")
    page.wait_for_selector(".enlarged .plot")
    assert page.locator(".beside").count() == 0
    page.keyboard.press("Escape")
    assert page.locator(".enlarged").count() == 0
    page.click("[data-cell='1-0']")
    page.click(".enlarged [data-open=heads]")
    page.wait_for_selector(QUERY)
    assert "heads=0" in address(page)


def test_on_a_phone_maps_keep_their_size_and_the_head_that_is_tapped_is_below_them(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0", viewport={"width": 420, "height": 760})
    until(page, "performance.getEntriesByName('regard:exact').length")
    page.click("[data-cell='2-3']")  # waits until it stands still
    page.wait_for_selector("[data-beside='2-3'] .plot")
    assert page.locator(".enlarged").count() == 0
    assert page.eval_on_selector("[data-cell='2-3']", "map => map.clientWidth") > 44


def test_the_atlas_is_sorted_by_measures_and_cut_to_rows_and_columns(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0")
    until(page, "performance.getEntriesByName('regard:exact').length")
    cells = "all => all.map(e => e.dataset.cell)"
    page.select_option("[data-control=order]", "previous token")
    assert page.eval_on_selector_all(".thumb", cells)[0] == "0-1"
    page.select_option("[data-control=order]", "height")
    assert page.eval_on_selector_all(".thumb", cells)[0] == "2-3"
    page.select_option("[data-control=order]", "grid")
    page.click("[data-only-layer='1']")
    page.click("[data-only-head='2']")
    assert page.eval_on_selector_all(".thumb", cells) == ["1-2"]


def test_the_atlas_says_what_each_head_does_and_its_legend_filters(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector("[data-entry='previous token']")
    assert page.get_attribute("[data-cell='0-1']", "data-label") == "previous token"
    said = page.get_attribute("[data-cell='0-1']", "aria-label")
    assert said == "Head 0.1: previous token, rests with 0.16 of its attention"
    named = page.eval_on_selector_all("[aria-label*='previous token']", "all => all.length")
    assert page.inner_text("[data-entry='previous token'] b") == str(named)
    page.focus("[data-entry='previous token']")
    page.keyboard.press("Enter")
    assert page.get_attribute("[data-entry='previous token']", "aria-pressed") == "true"
    assert page.locator(".thumb.dimmed").count() == 12 - named
    assert "dimmed" not in page.get_attribute("[data-cell='0-1']", "class")
    page.keyboard.press("Enter")
    assert page.locator(".thumb.dimmed").count() == 0
    page.hover("[data-entry='previous token']")
    assert page.locator(".thumb.dimmed").count() == 12 - named
    page.mouse.move(5, 5)
    assert page.locator(".thumb.dimmed").count() == 0
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.locator(".thumb.dimmed").count() == 12 - named
    page.click("[data-value=type]")
    assert page.get_attribute("[data-cell='0-1']", "data-label") == "diagonal"
    entries = page.eval_on_selector_all(".entry b", "all => all.map(e => +e.textContent)")
    assert sum(entries) == 12


def test_atlas_cells_are_reached_by_keyboard(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0")
    page.focus("[data-cell='0-0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.cell") == "1-1"


LAYERS, HEADS = 30, 9
IN_SIGHT = """() => {
  const box = document.querySelector('.scroller').getBoundingClientRect();
  const whole = e => e.top >= box.top && e.bottom <= box.bottom + 1 && e.left >= box.left && e.right <= box.right + 1;
  return [...document.querySelectorAll('.thumb')].filter(e => whole(e.getBoundingClientRect())).length;
}"""

CHOSEN_IN_SIGHT = """() => {
  const box = selector => document.querySelector(selector).getBoundingClientRect();
  const [cell, scroller] = [box('.thumb[aria-pressed=true]'), box('.scroller')];
  return cell.top >= scroller.top && cell.bottom <= scroller.bottom;
}"""


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """A page with the shape of SmolLM2: thirty layers of nine heads."""
    maps = np.random.default_rng(0).dirichlet(np.ones(12), (LAYERS, HEADS, 12)).astype("f4")
    trace = regard.Trace.from_maps(maps, [f"word{i}" for i in range(12)])
    return trace.save_html(tmp_path_factory.mktemp("deep") / "deep.html", view="atlas", layer=17, heads=[5])


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_thirty_layers_are_in_sight_at_once_with_one_head_large_beside_them(show, deep, width, height):
    page = show(deep, viewport={"width": width, "height": height})
    page.wait_for_selector("[data-cell='29-8']")
    still(page)
    assert page.locator(".thumb").count() == page.evaluate(IN_SIGHT) == LAYERS * HEADS
    assert page.eval_on_selector("[data-cell='17-5']", "map => map.clientWidth") >= 28
    assert page.locator("[data-beside='17-5']").count() == 1
    assert page.locator(".blocks > .grid").count() > 1
    page.focus("[data-cell='14-5']")
    page.keyboard.press("ArrowDown")  # from the foot of one column to the head of the next
    assert page.evaluate("document.activeElement.dataset.cell") == "15-5"


def test_where_thirty_layers_do_not_fit_they_scroll_to_the_chosen_head(show, deep):
    page = show(deep, viewport={"width": 1000, "height": 520})
    page.wait_for_selector("[data-cell='17-5']")
    still(page)
    assert page.locator(".blocks > .grid").count() == 1
    assert page.evaluate(IN_SIGHT) < LAYERS * HEADS
    until(page, CHOSEN_IN_SIGHT)


def test_the_legend_says_which_heads_go_by_a_name_and_a_click_keeps_the_list(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=0")
    page.wait_for_selector("[data-entry='previous token']")
    named = page.eval_on_selector_all("[aria-label*='previous token']", "all => all.map(e => e.dataset.cell)")
    page.hover("[data-entry='previous token']")
    listed = "all => all.map(e => e.dataset.head.replace('.', '-'))"
    assert page.eval_on_selector_all("[data-listed='previous token'] [data-head]", listed) == named
    page.mouse.move(5, 5)
    assert page.locator("[data-listed]").count() == 0
    page.click("[data-entry='previous token']")
    page.mouse.move(5, 5)
    page.click("[data-listed] [data-head='0.1']")
    assert "heads=1" in address(page)


def test_the_legend_is_an_even_grid(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".entry")
    lefts = page.eval_on_selector_all(".names > *", "all => all.map(e => Math.round(e.getBoundingClientRect().left))")
    columns = page.evaluate("getComputedStyle(document.querySelector('.names')).gridTemplateColumns.split(' ').length")
    assert len({left // 12 for left in lefts}) <= columns


def test_on_a_phone_names_wrap_above_the_maps_and_edges_say_layer_or_head(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".names.in-row .entry")
    bottom = page.eval_on_selector(".names.in-row", "row => row.getBoundingClientRect().bottom")
    assert bottom <= page.eval_on_selector(".around", "maps => maps.getBoundingClientRect().top") + 1
    rights = page.eval_on_selector_all(".in-row .entry", "all => all.map(e => e.getBoundingClientRect().right)")
    assert max(rights) <= 390  # none has to be swiped into sight
    assert page.inner_text("[data-only-layer='0']") == "layer 0"
    assert page.inner_text("[data-only-head='1']") == "head 1"
    said = page.inner_text(".how-to-read")
    assert said == "Each square: rows look at columns; grey: resting. Across: layers."
    chosen = "[aria-pressed=true]"
    below, text = (page.locator(f".thumb{chosen} {part}").bounding_box() for part in (".map", ".label"))
    assert text["y"] >= below["y"] + below["height"] + 3  # off the outline


def test_the_edges_of_the_atlas_stress_the_chosen_head_not_the_one_pointed_at(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=1&heads=1", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".thumb[data-label]")
    page.hover("[data-only-head='0']")
    assert page.eval_on_selector_all("[data-here]", "all => all.map(e => e.innerText)") == ["1", "1"]
    colour = "e => getComputedStyle(e).color"
    chosen, pointed = (page.eval_on_selector(f"[data-only-head='{head}']", colour) for head in (1, 0))
    assert chosen == page.eval_on_selector(".headline", colour) != pointed


def test_the_headline_ends_in_words_and_tells_of_the_largest_group(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".entry")
    said = page.inner_text("[data-headline=finding]")
    assert "…" not in said and said.endswith(".")
