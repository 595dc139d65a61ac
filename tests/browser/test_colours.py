"""One meaning for one colour, and no pixel above the picture that it can do without."""

from __future__ import annotations

import io
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_heads import QUERY, still

PIXELS = "canvas => canvas.toDataURL('image/png').split(',')[1]"


def pixels(page: Any, selector: str) -> Any:
    """(rows, columns, 3) of a canvas."""
    file = page.eval_on_selector(selector, PIXELS)
    drawn = Image.open(io.BytesIO(b64decode(file))).convert("RGBA")
    return np.array(Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn).convert("RGB")).astype(int)


@pytest.mark.parametrize("where", [".thumb[data-cell='0-0'] canvas", ".story .card canvas"])
def test_small_maps_are_grey_where_a_head_rests_and_blue_where_it_looks(show, pages, pair_trace, where):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector(where)
    still(page)
    shown = pixels(page, where)
    special = np.array([token.special for token in pair_trace.tokens])
    spread = np.ptp(shown, axis=2)
    strong = shown.min(axis=2) < 225
    assert shown.shape[:2] == (len(special), len(special))
    assert (spread[:, special][strong[:, special]] < 30).all() and strong[:, special].any()
    assert (spread[:, ~special][strong[:, ~special]] > 20).all() and strong[:, ~special].any()


def test_what_is_chosen_has_a_frame_without_a_colour(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector(".thumb[aria-pressed=true]")
    frame = "getComputedStyle(document.querySelector('.thumb[aria-pressed=true] .map')).outlineColor"
    red, green, blue = (int(part) for part in page.evaluate(frame)[4:-1].split(","))
    assert max(red, green, blue) - min(red, green, blue) < 25
    page.focus(".thumb[aria-pressed=true]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "dashed"


def test_lines_that_rest_are_fainter_than_those_that_look(show, pages, pair_trace):
    """Beside the columns nothing is pinned: the darkest pixel of a resting line is pale."""
    page = show(pages["pair"], "#view=heads&layer=0&heads=1&form=columns")
    page.wait_for_selector(QUERY)
    still(page)
    shown = pixels(page, ".stage canvas")
    middle = shown[:, int(0.45 * shown.shape[1]) : int(0.55 * shown.shape[1])].reshape(-1, 3)
    spread, dark = np.ptp(middle, axis=1), 255 - middle.min(axis=1)
    grey, awake = dark[(spread < 25) & (dark > 8)], dark[spread > 60]
    assert grey.size and awake.size and grey.max() < 0.5 * awake.max()


def test_the_numbers_of_the_legend_add_up_to_the_heads(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector(".entry")
    counts = page.eval_on_selector_all(".entry [data-first]", "all => all.map(e => +e.dataset.first)")
    heads = page.locator(".thumb").count()
    assert sum(counts) == heads
    named = heads - counts[-1]
    assert named == 1
    assert page.inner_text("[data-headline=finding]").startswith(f"In this text, 1 of {heads} heads follows a named ")


def test_the_legend_of_lines_and_the_inspector_say_one_number(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1&form=columns")
    page.wait_for_selector("[data-resting]")
    said = page.inner_text("[data-resting]").removeprefix("grey, drawn faintly: ")
    assert said[0].isdigit() and said in page.inner_text(".lede")  # in the same words


ABOVE = "Math.round(document.querySelector('.body').getBoundingClientRect().top)"


# what says what the picture shows is one line on a screen, two on a phone
@pytest.mark.parametrize(("width", "height", "most"), [(1440, 900, 170 + 34), (390, 844, 190 + 50)])
def test_little_stands_above_the_picture(show, pages, width, height, most):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1", viewport={"width": width, "height": height})
    page.wait_for_selector(".story .card")
    still(page)
    assert page.evaluate(ABOVE) <= most
    tops = page.eval_on_selector_all(".story .card", "all => all.map(e => e.getBoundingClientRect().top)")
    assert len(set(tops)) == 1  # the story is one line
