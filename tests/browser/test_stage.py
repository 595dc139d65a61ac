"""The stage: how much of the window it uses, what the pointer says, the text set as text, and phones.

Long on purpose: its tests share the pages they have opened.
"""

from __future__ import annotations

import io
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from tests.browser.test_heads import KEY, QUERY, still, until

# The box around everything drawn on the canvases of a selector, in CSS pixels.
BOX = """selector => {
  let box = null;
  for (const source of document.querySelectorAll(selector)) {
    const at = source.getBoundingClientRect();
    const copy = Object.assign(document.createElement('canvas'), {width: source.width, height: source.height});
    const context = copy.getContext('2d', {willReadFrequently: true});
    context.drawImage(source, 0, 0);
    const {data} = context.getImageData(0, 0, copy.width, copy.height);
    for (let y = 0; y < copy.height; y++) for (let x = 0; x < copy.width; x++) {
      if (data[4 * (y * copy.width + x) + 3] < 9) continue;
      box ??= [1e9, 1e9, 0, 0];
      box = [Math.min(box[0], at.left + x), Math.min(box[1], at.top + y),
             Math.max(box[2], at.left + x), Math.max(box[3], at.top + y)];
    }
  }
  return box;
}"""
WIDE = {"viewport": {"width": 1920, "height": 1080}}


def box_of(page, selector):
    found = page.evaluate(
        """s => {
          const box = document.querySelector(s).getBoundingClientRect();
          return [box.left, box.top, box.right, box.bottom];
        }""",
        selector,
    )
    return tuple(found)


def area(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def test_the_columns_use_the_window(show, pages):
    page = show(pages["pair"], **WIDE)
    page.wait_for_selector(QUERY)
    drawn = page.evaluate(BOX, ".sheet canvas")
    assert area(drawn) >= 0.7 * area(box_of(page, ".scroller"))
    assert page.evaluate("document.querySelector('.token').offsetHeight") == 34


def test_rows_are_never_lower_than_they_can_be_read_and_the_rest_scrolls(show, pages):
    page = show(pages["pair"], viewport={"width": 1280, "height": 460})
    page.wait_for_selector(QUERY)
    assert page.evaluate("document.querySelector('.token').offsetHeight") == 18
    assert page.evaluate("(s => s.scrollHeight > s.clientHeight)(document.querySelector('.scroller'))")


def test_swatches_say_how_strong_a_line_is(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(".strengths")
    looks = page.eval_on_selector_all(
        ".strengths > span", "all => all.map(e => [+e.innerText, +e.firstChild.style.opacity])"
    )
    top = looks[-1][0]
    for value, opacity in looks:
        assert opacity == pytest.approx((value / top) ** 0.5, rel=0.02)


def test_the_map_is_square_at_full_height_with_ticks_and_the_row_as_bars(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1", **WIDE)
    page.wait_for_selector(".colour-bar")
    plot, stage = box_of(page, ".plot"), box_of(page, ".spread")
    assert plot[3] - plot[1] == pytest.approx(stage[3] - stage[1], abs=2)
    bars = box_of(page, ".row-bars")
    assert area((plot[0], plot[1], bars[2], plot[3])) >= 0.7 * area(stage)
    ticks = [float(t) for t in page.eval_on_selector_all(".colour-bar span", "all => all.map(e => e.textContent)")]
    assert ticks[0] == 0 and ticks == sorted(ticks) and len(ticks) >= 4
    page.mouse.move(plot[0] + (plot[2] - plot[0]) * 0.6, plot[1] + (plot[3] - plot[1]) * 0.5)
    still(page)
    row = int(page.get_attribute(".row-bars", "data-row"))
    weights = pair_trace.attention(0, 1)[row]
    shown = page.eval_on_selector_all(".row-bars .value", "all => all.map(e => e.textContent)")
    large = weights[weights >= 0.001]
    assert [float(one) for one in shown if one != "·"] == pytest.approx(large, abs=0.006)
    assert shown.count("·") <= 1  # what is pointed at
    others = f"The other {len(weights) - len(shown)}: below 0.001 each."
    assert page.inner_text(".row-bars .others") == others  # so that the large ones are found


def test_the_row_whose_numbers_stand_beside_the_map_is_marked_in_it(show, pages):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=2", **WIDE)
    page.wait_for_selector(".row-bars li")
    still(page)
    row, plot = int(page.get_attribute(".row-bars", "data-row")), box_of(page, ".plot")
    marked = page.evaluate(
        """() => {
          const canvas = document.querySelector(".plot .over"), scale = canvas.width / canvas.clientWidth;
          const x = Math.round(canvas.width * 0.9);
          const { data } = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height);
          const found = Array.from({ length: canvas.height }, (_, y) => y).filter((y) => data[4 * y + 3] > 100);
          return [found[0] / scale, found.at(-1) / scale];
        }"""
    )
    ruled = page.evaluate("document.querySelector('.colour-bar').getBoundingClientRect().toJSON()")
    step = ruled["height"] / 19
    top = ruled["y"] - plot[1] + row * step
    assert marked[0] == pytest.approx(top, abs=2) and marked[1] == pytest.approx(top + step, abs=2)


def test_in_a_small_cell_nothing_lies_over_anything(show, pages):
    for view in ("heads", "matrix"):
        page = show(pages["pair"], f"#view={view}&layer=0&heads=1", viewport={"width": 700, "height": 560})
        page.wait_for_selector(".stage")
        still(page)
        stage, inspector = box_of(page, ".stage"), box_of(page, ".inspector")
        assert stage[3] <= inspector[1] + 1
        assert stage[3] - stage[1] >= 300
        inner = box_of(page, ".scroller" if view == "heads" else ".spread")
        assert inner[3] <= stage[3] + 1


def test_the_pointer_says_the_pair_its_weight_chance_and_head(show, pages, pair_trace):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1")
    page.hover(f"{QUERY}[data-position='10']")
    weight = pair_trace.attention(0, 1)[10, 9]
    times = weight * len(pair_trace.tokens)
    assert page.inner_text(".tip") == f"store₁₀ → the₉ · {weight:.2f} · {times:.0f} x chance · head 0.1"
    page.hover(f"{KEY}[data-position='3']")
    assert page.inner_text(".tip").startswith("the₄ → to · ")
    page.mouse.move(5, 5)
    until(page, "!document.querySelector('.tip')")


def test_over_a_map_of_the_atlas_the_pointer_says_what_its_head_does(show, pages):
    page = show(pages["pair"], "#view=atlas")
    page.hover("[data-cell='0-1']")
    said = page.inner_text(".tip")
    assert said.startswith("head 0.1 · ") and said.endswith(" it looks one token back.")
    page.click("[data-cell='0-1']")
    plot = box_of(page, "[data-beside='0-1'] .plot .over")
    page.mouse.move((plot[0] + plot[2]) / 2, (plot[1] + plot[3]) / 2)
    assert " → " in page.inner_text(".tip") and page.inner_text(".tip").endswith("head 0.1")


# Choose, and look at once: whether something fades, and for how long.
SWITCHED = """value => {
  document.querySelector(`[data-value=${value}]`).click();
  const [old, ...more] = document.querySelectorAll('.fading');
  if (!old) return 0;
  old.animate = (frames, lasts) => {  // noted, since it may be over before anybody looks
    window.faded = [frames.map(({ opacity }) => opacity), lasts];
    return Element.prototype.animate.call(old, frames, lasts);
  };
  return 1 + more.length;
}"""


def test_weights_fade_into_contributions_unless_motion_is_not_wanted(show, pages):
    for view in ("heads", "matrix", "atlas"):
        page = show(pages["pair"], f"#view={view}&layer=0&heads=1")
        until(page, "performance.getEntriesByName('regard:drawn').length")
        assert page.evaluate(SWITCHED, "contributions") == 1
        until(page, "window.faded")
        assert page.evaluate("window.faded") == [[1, 0], 250]
        until(page, "!document.querySelector('.fading')")
        assert page.evaluate(SWITCHED, "words") == 0  # other words are no other quantity
    calm = show(pages["pair"], "#view=heads&layer=0&heads=1", reduced_motion="reduce")
    until(calm, "performance.getEntriesByName('regard:drawn').length")
    assert calm.evaluate(SWITCHED, "contributions") == 0


def test_a_map_stays_whole_when_its_place_becomes_smaller(show, pages):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".colour-bar")
    still(page)
    plot = box_of(page, ".plot .over")
    page.mouse.move(plot[2] - 4, plot[1] + 200)
    assert "→ [SEP]₁₈ · " in page.inner_text(".tip")


def test_chance_counts_only_the_keys_a_row_may_see(show, pages):
    page = show(pages["seq"], "#view=heads&kind=decoder&layer=0&heads=0")
    page.hover(f"{QUERY}[data-position='1']")
    value, times = page.inner_text(".tip").split(" · ")[1:3]
    assert float(times.split()[0]) == pytest.approx(2 * float(value), abs=0.06)


def test_between_the_columns_the_pointer_means_the_line_near_it_and_every_panel_marks_the_pair(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1")
    page.wait_for_selector(QUERY)
    query, key = (page.locator(s).bounding_box() for s in (f"{QUERY}[data-position='5']", f"{KEY}[data-position='4']"))
    x = (query["x"] + query["width"] + key["x"]) / 2
    page.mouse.move(x, (query["y"] + key["y"] + query["height"]) / 2)
    assert page.inner_text(".tip").startswith("store₅ → the₄ · ")
    assert page.inner_text(".ranking .lit .name") == "the₄"
    assert page.evaluate("document.querySelector('.sheet canvas').style.opacity") == "0.3"


def test_the_matrix_speaks_the_same_way(show, pages):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1", locale="zh-CN")
    page.wait_for_selector(".colour-bar")
    plot = box_of(page, ".plot .over")
    page.mouse.move(plot[0] + (plot[2] - plot[0]) * 0.5, plot[1] + (plot[3] - plot[1]) * 0.5)
    said = page.inner_text(".tip").split(" · ")
    assert " → " in said[0] and said[2].startswith("随机的 ") and said[3] == "头 0.1"
    assert page.inner_text(".row-bars .lit .name") == said[0].split(" → ")[1]


WORDS = """() => [...document.querySelectorAll('.token')].map(e => {
  const box = e.getBoundingClientRect();
  return {position: +e.dataset.position, left: box.left, right: box.right, top: box.top, bottom: box.bottom};
})"""


def test_a_sentence_is_set_as_text_with_arcs_above_and_below(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1")
    page.click("[data-value=sentence]")
    until(page, "document.querySelectorAll('.token').length === 19")
    assert "form=sentence" in page.evaluate("location.hash")
    words = page.evaluate(WORDS)
    assert all(a["top"] < b["top"] or a["right"] <= b["left"] + 1 for a, b in pairwise(words))
    assert words[17]["left"] - words[16]["right"] < 1  # straw ##berries
    page.hover(".token[data-position='10']")
    assert page.inner_text(".tip").startswith("store₁₀ → the₉ · ")
    drawn = page.evaluate(BOX, ".sheet canvas")
    assert drawn[1] < words[10]["top"] - 5
    assert drawn[3] > words[10]["bottom"] + 5
    page.click(".token[data-position='10']")
    assert "queries=10" in page.evaluate("location.hash")


def test_a_long_sentence_wraps_and_the_other_text_stands_above(show, pages):
    page = show(pages["seq"], "#view=heads&kind=cross&layer=0&heads=0&form=sentence")
    page.wait_for_selector(QUERY)
    key, query = box_of(page, KEY), box_of(page, QUERY)
    assert key[3] < query[1]
    page = show(pages["long"], "#view=heads&layer=0&heads=0&form=sentence")
    page.wait_for_selector(QUERY)
    assert page.evaluate(
        "(s => s.scrollWidth <= s.clientWidth && s.scrollHeight > s.clientHeight)(document.querySelector('.scroller'))"
    )


# Hues, in steps of 30 degrees, of what is drawn with colour.
HUES = """selector => {
  const source = document.querySelector(selector);
  const copy = Object.assign(document.createElement('canvas'), {width: source.width, height: source.height});
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(source, 0, 0);
  const {data} = context.getImageData(0, 0, copy.width, copy.height);
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
    const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
    if (data[i + 3] < 200 || most - least < 60) continue;
    const d = most - least;
    const hue = most === r ? (g - b) / d : most === g ? 2 + (b - r) / d : 4 + (r - g) / d;
    found.add(Math.round(((hue * 60 + 360) % 360) / 30));
  }
  return [...found];
}"""


@pytest.mark.parametrize("form", ["columns", "sentence"])
def test_many_heads_are_one_hue_and_named_beside_it(show, pages, form):
    page = show(pages["many"], f"#view=heads&layer=0&heads={','.join(map(str, range(12)))}&form={form}")
    page.wait_for_selector(QUERY)
    assert page.inner_text(".listed").split() == [f"0.{head}" for head in range(12)]
    assert len(page.evaluate(HUES, ".sheet canvas")) == 1
    page.hover(f"{QUERY}[data-position='2']")
    assert page.inner_text(".tip").endswith("mean of 12 heads of layer 0")


def test_where_a_head_rests_the_matrix_is_grey_and_the_colours_end_at_its_strongest_look(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1")
    page.wait_for_selector(".colour-bar span")
    still(page)
    weights = pair_trace.attention(0, 1)
    border = np.array([token.border for token in pair_trace.side("encoder").tokens])
    strongest = weights[:, ~border].max()
    ticks = [float(text) for text in page.locator(".colour-bar span").all_inner_texts()]
    assert max(ticks) == pytest.approx(strongest, abs=0.006)
    assert "Grey: resting" in page.inner_text(".legend")
    # As a file: a list of all its numbers takes twenty seconds to come over.
    file = page.evaluate("document.querySelector('.plot canvas').toDataURL('image/png').split(',')[1]")
    pixels = np.array(Image.open(io.BytesIO(b64decode(file))).convert("RGBA")).reshape(-1, 4)[:, :3]
    spread = np.ptp(pixels.astype(int), axis=1)
    dark = pixels.max(axis=1) < 215
    assert (dark & (spread < 30)).any() and (dark & (spread > 60)).any()  # greys, and blues


def test_the_focus_ring_is_not_the_colour_of_what_is_chosen(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1")
    page.wait_for_selector(QUERY)
    page.keyboard.press("Tab")
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineColor")
    accent = page.evaluate("getComputedStyle(document.querySelector('.tabs [aria-selected=true]')).borderBottomColor")
    assert ring != accent


def test_in_a_low_window_the_controls_keep_their_height(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=1", viewport={"width": 700, "height": 420})
    page.wait_for_selector(QUERY)
    inner = max(box_of(page, f".controls > :nth-child({i})")[3] for i in range(1, 6))
    assert inner <= box_of(page, ".controls")[3]
    assert box_of(page, ".controls")[3] <= box_of(page, ".body")[1] + 1


def test_a_sentence_of_a_decoder_opens_on_the_word_after_which_the_model_speaks(show, pages):
    """The sentence above says where that word looks; a chosen word takes its place."""
    page = show(pages["seq"], "#view=heads&kind=decoder&layer=0&heads=0&form=sentence")
    page.wait_for_selector("[data-focus]")
    said = page.inner_text("[data-focus]")
    words = page.evaluate(
        "[...document.querySelectorAll('.token')].map(e => e.textContent || e.getAttribute('aria-label'))"
    )
    assert "next word is chosen at" in said and len(words) > 1
    page.click(".token[data-position='1']")
    until(page, "document.querySelector('[data-focus]') === null")
    page.click("[data-value=columns]")
    assert page.locator("[data-focus]").count() == 0
