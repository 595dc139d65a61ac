"""The sound or picture behind a side: in files, on the wire, at word level."""

from dataclasses import replace

import numpy as np
import pytest

from regard.trace.medium import Medium
from regard.trace.tokens import Side, Token
from regard.trace.trace import Trace
from regard.views.wire import decode, encode

SOUND = Medium("sound", "audio/wav", b"RIFF....WAVE", (3.0,), np.arange(6, dtype=np.uint8).reshape(2, 3))
PICTURE = Medium("picture", "image/png", b"\x89PNG\0\xff", (640, 480))
SECONDS = np.array([[np.nan, np.nan], [0, 1], [1, 1.5], [2, 3]], np.float32)
BOXES = np.array([[np.nan] * 4, [0, 0, 0.5, 0.5], [0.5, 0, 1, 0.5], [0, 0.5, 0.5, 1]], np.float32)


def traced(medium, spans):
    tokens = (Token("[CLS]", special=True), Token("straw", word=0), Token("##berry", word=0), Token("jam", word=1))
    trace = Trace.from_maps(np.full((1, 1, 4, 4), 0.25), ["a", "b", "c", "d"])
    side = Side(trace.side().name, tokens, medium=medium, spans=spans)
    return replace(trace, sides={side.name: side})


def read_back(trace, tmp_path):
    return [decode(encode(trace, report=False)), Trace.load(trace.save(tmp_path / "trace.safetensors"))]


@pytest.mark.parametrize(("medium", "spans"), [(SOUND, SECONDS), (PICTURE, BOXES)])
def test_a_medium_comes_back_from_the_wire_and_from_a_file(medium, spans, tmp_path):
    for back in read_back(traced(medium, spans), tmp_path):
        found = back.side().medium
        assert (found.kind, found.mime, found.data, found.size) == (
            medium.kind,
            medium.mime,
            medium.data,
            tuple(medium.size),
        )
        np.testing.assert_array_equal(back.side().spans, spans)
        if medium.features is None:
            assert found.features is None
        else:
            np.testing.assert_array_equal(found.features, medium.features)


def test_a_text_has_neither_medium_nor_spans(tmp_path):
    for back in read_back(traced(None, None), tmp_path):
        assert back.side().medium is None and back.side().spans is None


def test_a_word_reaches_from_its_first_token_to_its_last():
    words = traced(SOUND, SECONDS).words().side()
    np.testing.assert_array_equal(words.spans, np.array([[np.nan, np.nan], [0, 1.5], [2, 3]], np.float32))
    assert words.medium is SOUND
    boxes = traced(PICTURE, BOXES).words().side().spans
    np.testing.assert_array_equal(boxes[1:], np.array([[0, 0, 1, 0.5], [0, 0.5, 0.5, 1]], np.float32))


@pytest.mark.parametrize(
    ("kind", "mime", "size"),
    [
        ("film", "video/mp4", (1, 1)),
        ("picture", "image/svg+xml", (1, 1)),
        ("sound", "image/png", (1,)),
        ("sound", "audio/wav", (0,)),
        ("picture", "image/png", (1,)),
        ("sound", "audio/wav", (np.nan,)),
    ],
)
def test_what_no_browser_should_be_handed_is_no_medium(kind, mime, size):
    with pytest.raises(ValueError, match=r"a medium cannot be|cannot have the size"):
        Medium(kind, mime, b"", size)
