"""The view of a sound: words light up their frames, moments tint their words, and it plays."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from test_colours import pixels
from test_heads import until

from regard.trace.mask import Mask
from regard.trace.medium import Medium
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace
from regard.views import save_html
from regard.views.wire import opening

FRAMES, HEARD, STEP = 60, 50, 0.02
PLANTED = {" ever": 5, " tried": 22, ".": 40}  # the frame that each word is listened for at


def silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(bytes(2 * 16_000))
    return file.getvalue()


def spoken() -> Trace:
    """Three words; the row before each of them looks at a frame of its own, and head 1 always at the padding."""
    times = np.arange(FRAMES, dtype=np.float32) * STEP
    frames = tuple(Token(f"{time:.2f} s", segment=int(i >= HEARD)) for i, time in enumerate(times))
    segments = (Segment("sound", 0, HEARD), Segment("padding", HEARD, FRAMES))
    loud = np.tile(np.arange(100, dtype=np.uint8), (8, 1))
    medium = Medium("sound", "audio/wav", silence(), (HEARD * STEP,), loud)
    sound = Side("sound", frames, segments, medium=medium, spans=np.stack([times, times + STEP], axis=1))
    texts = ["<|start|>", "<|quiet|>", *PLANTED]
    text = Side("decoder", tuple(Token(t, i, word=i, special=i < 2) for i, t in enumerate(texts)))
    cross = np.zeros((2, len(texts), FRAMES), np.float32)
    for row, frame in enumerate(PLANTED.values()):
        cross[0, row + 1, frame - 1 : frame + 2] = 0.25, 0.5, 0.25
    cross[0, [0, -1], 0] = 1
    cross[1, :, HEARD + 3] = 1
    own = np.tril(np.ones((2, len(texts), len(texts)), np.float32))
    own /= own.sum(axis=-1, keepdims=True)
    moments = np.roll(np.eye(FRAMES, dtype=np.float32), 7, axis=1)[None].repeat(2, axis=0)
    sites = (
        Site("encoder", 0, "sound", "sound", (0, 1), maps=moments),
        Site("decoder", 0, "decoder", "decoder", (0, 1), maps=own, mask=Mask(right=0)),
        Site("cross", 0, "decoder", "sound", (0, 1), maps=cross),
    )
    return Trace({"sound": sound, "decoder": text}, sites, {"model": "planted"})


@pytest.fixture(scope="module")
def spoken_page(tmp_path_factory):
    trace = spoken()
    return save_html(trace, tmp_path_factory.mktemp("sound") / "a.html", report=False, **opening(trace))


FRONT = ".sound-picture canvas[role=img]"


def lit_columns(page, rows):
    """(width,) how blue the overlay of the spectrogram is, from left to right."""
    shown = pixels(page, FRONT)[rows]
    return np.ptp(shown, axis=2).mean(axis=0)


def frame_x(page, frame):
    """Where a frame lies on the page, and the top of the picture."""
    box = page.locator(FRONT).bounding_box()
    left = 74 if box["width"] < 560 else 120
    return box["x"] + left + (box["width"] - left - 8) * (frame + 0.5) / HEARD, box["y"]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_word_lights_the_frames_that_the_row_before_it_looks_at(show, spoken_page, width):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0", viewport={"width": width, "height": 800})
    page.wait_for_selector("[data-word='1']")
    assert page.get_attribute(".sound", "data-frames") == str(HEARD)
    page.hover("[data-word='1']")
    page.wait_for_selector("[data-word='1'].lit")
    told = page.inner_text("[data-told]")
    assert told.startswith("Before it writes “tried”, having written “ever”, it listens most at 0.45 s.")
    blue = lit_columns(page, slice(10, 60))
    x = frame_x(page, 22)[0] - page.locator(FRONT).bounding_box()["x"]
    ratio = page.evaluate("devicePixelRatio")
    assert abs(blue.argmax() - x * ratio) < 0.03 * width * ratio and blue.max() > 40


def test_a_moment_tints_the_words_that_heard_it(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0")
    page.wait_for_selector("[data-word='1']")
    x, top = frame_x(page, 40)
    page.mouse.move(x, top + 30)
    until(page, "document.querySelector('[data-told]').innerText.startsWith('0.81 s is heard by “.” 0.50')")
    tints = page.eval_on_selector_all(
        "[data-word]", "words => words.map(one => one.style.getPropertyValue('--listens'))"
    )
    assert tints == ["0", "0", "1"]


def test_attention_on_silence_is_said(show, spoken_page):
    page = show(spoken_page, "#view=sound&kind=cross&layer=0&heads=0,1")
    page.hover("[data-word='0']")
    until(page, "document.querySelector('[data-told]').innerText.includes('0.50 of the attention is on the')")
    assert "Mean of 2 heads of layer 0" in page.inner_text(".sound-said")


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
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * 10.5 / HEARD, box["y"] + 30)
    until(page, "document.querySelector('[data-told]').innerText.includes('looks most at 0.35 s (1.00)')")


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


def test_pages_of_texts_have_no_such_view(show, pages):
    page = show(pages["pair"])
    assert page.query_selector("[data-view=sound]") is None
