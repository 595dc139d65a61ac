"""The view of a sound: words light up their frames, moments tint their words, and it plays."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from test_colours import pixels
from test_heads import until
from test_views import picture
from tests.planted import HEARD, spoken

from regard.views import save_html


@pytest.fixture(scope="module")
def spoken_page(tmp_path_factory):
    return save_html(spoken(), tmp_path_factory.mktemp("sound") / "a.html", report=False)


FRONT = ".sound-picture canvas[role=img]"


def lit_columns(page, rows):
    """(width,) how blue the overlay of the spectrogram is, from left to right."""
    shown = pixels(page, FRONT)[rows]
    return np.ptp(shown, axis=2).mean(axis=0)


def frame_x(page, frame):
    """Where a frame lies on the page, and the top of the picture."""
    box = page.locator(FRONT).bounding_box()
    left, right = (74, 8) if box["width"] < 560 else (120, 88)
    return box["x"] + left + (box["width"] - left - right) * (frame + 0.5) / HEARD, box["y"]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_word_lights_the_frames_that_the_row_before_it_looks_at(show, spoken_page, width):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0", viewport={"width": width, "height": 800})
    page.wait_for_selector("[data-word='1']")
    assert page.get_attribute(".sound", "data-frames") == str(HEARD)
    page.hover("[data-word='1']")
    page.wait_for_selector("[data-word='1'].lit")
    assert page.inner_text("[data-told] .sound-lede") == "Before “tried” is written, head 0.0 listens most at 0.45 s."
    blue = lit_columns(page, slice(10, 60))
    x = frame_x(page, 22)[0] - page.locator(FRONT).bounding_box()["x"]
    ratio = page.evaluate("devicePixelRatio")
    assert abs(blue.argmax() - x * ratio) < 0.03 * width * ratio and blue.max() > 40


VEILED = """canvas => {
  const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  const at = (x, y) => data[4 * (Math.round(devicePixelRatio * y) * width + devicePixelRatio * x) + 3]
  const cover = x => [0, 1, 2].map(row => at(x, 156 + 23 * row + 11))
  return [cover(5), cover(140)]
}"""  # how far each row is covered: beside its word, and where its attention is drawn


def test_the_rows_of_other_words_are_a_little_paler_while_one_is_chosen_and_their_names_stay_readable(
    show, spoken_page
):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0")
    page.wait_for_selector("[data-word='1']")
    page.click("[data-word='1']")
    page.wait_for_selector("[data-word='1'][aria-pressed=true]")
    names, (above, own, below) = page.eval_on_selector(FRONT, VEILED)
    assert names == [0, 0, 0] and own == 0
    assert 40 < above < 100 and 40 < below < 100


def test_a_moment_tints_the_words_that_heard_it(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0")
    page.wait_for_selector("[data-word='1']")
    x, top = frame_x(page, 40)
    page.mouse.move(x, top + 30)
    until(page, "document.querySelector('[data-told]').innerText.startsWith('0.81 s is heard most by “.” 50%')")
    tints = page.eval_on_selector_all(
        "[data-word]", "words => words.map(one => one.style.getPropertyValue('--listens'))"
    )
    assert tints == ["0", "0", "1"]


def test_attention_on_silence_is_said(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0,1")
    page.hover("[data-word='0']")
    until(page, "document.querySelector('[data-told]').innerText.includes('50% falls on the padding after the')")
    lede = page.inner_text(".sound-lede")
    assert re.fullmatch(r"Before “ever” is written, layer 0 listens most at [\d.]+ s \(mean of its 2 heads\)\.", lede)
    page.click("[data-tool=language]")
    page.hover("[data-word='0']")
    until(page, "document.querySelector('[data-told]').innerText.includes('50% 落在录音之后的填充部分')")
    lede = page.inner_text(".sound-lede")
    assert re.fullmatch(r"写出“ever”之前，第 0 层最多在听第 [\d.]+ 秒（2 个头的平均）。", lede)


def test_a_click_plays_from_there(show, spoken_page):
    page = show(spoken_page)
    page.wait_for_selector("[data-word='1']")
    page.evaluate(
        "HTMLMediaElement.prototype.play = function() { window.from = this.currentTime; return Promise.resolve(); }"
    )
    x, top = frame_x(page, 25)
    page.mouse.click(x, top + 30)
    until(page, "window.from !== undefined")
    assert page.evaluate("window.from") == pytest.approx(0.5, abs=0.03)
    assert page.inner_text("[data-play]").endswith("Stop")


def test_the_sound_of_the_page_can_be_played(show, spoken_page):
    """By the browser itself: its length is known, and nothing is refused."""
    page = show(spoken_page)
    page.wait_for_selector("[data-play]")
    page.evaluate(
        """() => { const own = HTMLMediaElement.prototype.play; HTMLMediaElement.prototype.play = function() {
            window.audio = this; return own.call(this); } }"""
    )
    page.click("[data-play]")
    until(page, "window.audio && window.audio.duration > 0.9")
    assert page.evaluate("window.audio.duration") == pytest.approx(1.0, abs=0.01)
    assert page.evaluate("window.audio.error") is None


def test_moments_look_at_moments(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=encoder&heads=0")
    page.wait_for_selector(FRONT)
    box = page.locator(FRONT).bounding_box()
    page.mouse.move(box["x"] + 120 + (box["width"] - 128) * 10.5 / HEARD, box["y"] + 30)
    until(page, "document.querySelector('[data-told]').innerText.includes('looks most at 0.35 s (100%)')")


def test_text_that_looks_at_text_says_what_to_choose(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=decoder")
    page.wait_for_selector(".notice")
    assert "Choose cross or encoder above" in page.inner_text(".notice")


def test_arrows_go_from_word_to_word(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0")
    page.wait_for_selector("[data-word='0']")
    page.focus(".regard")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[data-word='1'][aria-pressed=true]")
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('.sound-said').innerText.startsWith('Before “tried” is written, head 1.0 ')")


def test_a_picture_of_the_view_names_its_axis_and_its_colours(show, spoken_page, tmp_path):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0")
    page.hover("[data-word='1']")
    page.wait_for_selector("[data-word='1'].lit")
    page.click("[data-word='1']")
    texts, name = picture(page, tmp_path / "sound.svg")
    assert name == "regard-sound-layer0-head0.svg"
    assert {"time, seconds", "attention weight / the row's largest", "tried", "“.”", "0 s"} <= set(texts)
    assert {"high", "low", "attention", "50%", "0"} <= set(texts)  # what goes up, and how far
    assert texts[0].startswith("Before “tried” is written, head 0.0 ") and "planted" in texts[-1]


def test_words_that_are_there_twice_have_their_number_and_the_caption_is_short(show, tmp_path):
    trace = spoken()
    side = trace.side("decoder")
    again = replace(side.tokens[4], text=" ever")
    side = replace(side, tokens=(*side.tokens[:4], again))
    saved = save_html(replace(trace, sides={**trace.sides, "decoder": side}), tmp_path / "a.html", report=False)
    page = show(saved, "#view=sound&kind=cross&layer=0&heads=0")
    page.wait_for_selector("[data-word='2']")
    page.wait_for_timeout(100)
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    svg = ElementTree.parse(waiting.value.path()).getroot()
    texts = ["".join(element.itertext()) for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text.startswith(("ever", "tried"))] == ["ever₂", "tried", "ever₄"]
    assert page.locator("[data-word]").all_inner_texts() == ["ever", "tried", "ever"]  # a sentence has no numbers
    said = page.locator(".sound-said > .sound-more").inner_text()
    assert said.startswith("Each row: where it listens just before writing that word. Blue:")


def test_pages_of_texts_have_no_such_view(show, pages):
    page = show(pages["pair"])
    assert page.query_selector("[data-view=sound]") is None
