"""Figures of sounds: spectrogram, words, and when each of them is listened for."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from tests.planted import HEARD, PLANTED, STEP, spoken

from regard.trace.site import Site
from regard.trace.tokens import Side, Token
from regard.trace.trace import Trace
from regard.views.cells import still_bundle


@pytest.fixture(scope="module")
def trace():
    return spoken()


def parts_of(picture):
    """The axes of the spectrogram, of the curve and of the rows."""
    return picture.figure.axes[:3]


def test_rows_of_words_are_those_of_the_token_before_them_over_the_seconds_of_the_sound(trace):
    drawn = trace.figure("sound", layer=0, head=0)
    spectrogram, _, rows = parts_of(drawn)
    assert [label.get_text() for label in rows.get_yticklabels()] == ["ever", "tried", "“.”"]
    shown = rows.images[0].get_array()
    assert shown.argmax(axis=1).tolist() == list(PLANTED.values()) and (shown.max(axis=1) == 1).all()
    np.testing.assert_allclose(shown[1, 21:24], [0.5, 1, 0.5])  # each scaled to its own maximum
    assert rows.get_xlim() == pytest.approx((0, HEARD * STEP))
    assert spectrogram.get_xlim() == rows.get_xlim()
    assert spectrogram.images[0].get_extent()[:2] == pytest.approx([0, HEARD * STEP])


def test_a_word_that_is_pointed_at_lights_its_frames(trace):
    drawn = trace.figure("sound", layer=0, head=0, query=2)
    spectrogram, curve, _ = parts_of(drawn)
    _, blue = spectrogram.images
    alpha = blue.get_array()[0, :, 3]
    assert alpha.argmax() == PLANTED[" tried"] and np.count_nonzero(alpha) == 3
    assert curve.patches[0].get_data().values[PLANTED[" tried"]] == pytest.approx(0.5)
    assert drawn.figure.get_suptitle() == "Before “tried” is written, after “ever”, head 0.0 listens most at 0.45 s"


def test_a_figure_of_a_sound_says_what_it_shows_and_what_it_leaves_out(trace):
    both = trace.figure("sound")
    assert both.figure.get_suptitle() == "When 2 heads of layer 1 listen for each word"
    below = both.figure.get_supxlabel().replace("\n", " ")
    for part in ("planted", "“ever tried.”", "recording, 1.0 s", "cross layer 1 mean of heads 0, 1"):
        assert part in below
    assert "50% of the attention falls on the padding after the recording, not drawn" in below
    svg = " ".join(ElementTree.fromstring(both.svg()).itertext())
    for part in ("time, seconds", "attention weight / the row's largest", "frequency", "word being written"):
        assert part in svg


def resting(frame, rest):
    """Eight words, each heard at a moment of its own; both heads also look at one frame, whatever comes next."""
    trace = spoken()
    texts = ["<|start|>", *(f" w{i}" for i in range(8))]
    maps = np.zeros((2, len(texts), len(trace.side("sound").tokens)), np.float32)
    for row in range(len(texts)):
        maps[:, row, 3 + 5 * row] = 1 - rest
        maps[:, row, frame] += rest
    maps[0, :8, frame] = 0  # head 0 rests there before the end alone
    maps[0, 7, frame] = 0.6
    side = Side("decoder", tuple(Token(t, i, word=i, special=i < 1) for i, t in enumerate(texts)))
    sides = {"sound": trace.side("sound"), "decoder": side}
    return Trace(sides, (Site("cross", 0, "decoder", "sound", (0, 1), maps=maps),), {"model": "planted"})


def test_a_moment_at_which_the_layer_rests_is_marked_and_explained():
    drawn = resting(46, 0.04).figure("sound", head=0).figure
    assert [text.get_text() for text in drawn.axes[2].texts] == ["▼ rests"]
    (mark,) = drawn.axes[2].texts
    assert mark.xy[0] == pytest.approx(46.5 * STEP, abs=1e-4)
    below = drawn.get_supxlabel().replace("\n", " ")
    assert f"at {46.5 * STEP:.2f} s layer 0 rests, whatever word comes next" in below
    none = resting(46, 0.004).figure("sound", head=0).figure
    assert not none.axes[2].texts and "rests" not in none.get_supxlabel()


def test_moments_are_a_map_of_seconds_by_seconds(trace):
    drawn = trace.figure("sound", kind="encoder", head=0, query=10)
    spectrogram, _, rows = parts_of(drawn)
    assert rows.images[0].get_array().shape == (HEARD, HEARD)
    assert rows.images[0].get_extent() == pytest.approx([0, 1, 1, 0])
    assert spectrogram.images[1].get_array()[0, :, 3].argmax() == 17
    assert drawn.figure.get_suptitle() == "From 0.21 s, head 0.0 looks most at 0.35 s"


def test_a_part_of_the_time_and_of_the_words(trace):
    drawn = trace.figure("sound", layer=0, head=0, keys=slice(20, 45), queries=slice(2, 4))
    rows = parts_of(drawn)[2]
    assert rows.get_xlim() == pytest.approx((0.4, 0.9))
    assert rows.images[0].get_array().argmax(axis=1).tolist() == [2, 20]


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 6.9)])
def test_a_figure_of_a_sound_has_the_width_of_a_column_or_a_page(trace, width, inches, tmp_path):
    drawn = trace.figure("sound", query=2, width=width)
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert drawn.save(tmp_path / f"f.{ending}", dpi=100).read_bytes().startswith(start)
    with Image.open(tmp_path / "f.png") as image:
        assert image.width == pytest.approx(100 * inches, abs=1)
    boxes = [axes.get_window_extent() for axes in drawn.figure.axes]
    assert all(box.x0 >= 0 and box.x1 <= drawn.figure.bbox.width for box in boxes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "decoder"}, "heads of the decoder do not look at the sound; choose cross or encoder"),
        ({"query": 4}, "query 4 is not drawn; choose from 1 to 3"),
        ({"queries": [4]}, "no word was written in these rows"),
        ({"keys": [1, 5]}, "without gaps; choose keys= as a slice of its 50 frames"),
        ({"keys": [55]}, "without gaps"),
        ({"worth": True}, "worth is shown in heads, matrix and atlas"),
    ],
)
def test_what_cannot_be_drawn_of_a_sound_is_said(trace, options, message):
    with pytest.raises(ValueError, match=message):
        trace.figure("sound", **options)


def test_a_text_has_no_sound(bert):
    with pytest.raises(ValueError, match="nothing in this trace looks at a sound; trace one with audio="):
        bert.trace("the cat sat .").figure("sound")


def test_a_notebook_keeps_a_still_of_a_sound(trace):
    assert re.search(
        r'<img [^>]*alt="when a sound is listened to" src="data:image/png', still_bundle(trace)["text/html"]
    )
