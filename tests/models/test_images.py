"""Pictures in: read upright and without metadata, placed right through any processor, refused in one sentence."""

import io
import subprocess
import sys
import time

import numpy as np
import pytest
import transformers
from PIL import Image, PngImagePlugin

import regard
from regard.base.errors import UserError
from regard.models.images import LONGEST, medium_of, read_picture
from regard.models.placing import seen_through
from regard.trace.tiles import Patches, Tile
from tests.media import PEAK

PILLOW = {
    "ViT": ((0, 0, 1, 1), (4, 4)),
    "CLIP": ((1 / 6, 0, 5 / 6, 1), (4, 4)),  # the middle of a picture of 3 : 2
    "Siglip": ((0, 0, 1, 1), (4, 4)),
    "Blip": ((0, 0, 1, 1), (4, 4)),
}


def stored(picture, kind="PNG", **more):
    file = io.BytesIO()
    picture.save(file, kind, **more)
    return file.getvalue()


def coloured(width=60, height=40):
    """A red left half, a blue right one, a green bar along the top."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2, 0] = pixels[:, width // 2 :, 2] = 255
    pixels[: height // 4] = (0, 255, 0)
    return Image.fromarray(pixels)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_common_formats_are_read(kind, tmp_path):
    path = tmp_path / "picture"  # formats are told by content, not by name
    path.write_bytes(stored(coloured(), kind))
    assert read_picture(path).size == (60, 40)
    assert np.abs(np.asarray(read_picture(path))[30, 5].astype(int) - (255, 0, 0)).max() < 12


def test_a_picture_is_turned_as_its_camera_was_held_and_loses_its_metadata():
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a secret place"  # turn right; description
    data = stored(coloured(), "JPEG", exif=exif, quality=95)
    assert b"a secret place" in data
    picture = read_picture(data)
    assert picture.size == (40, 60)
    assert np.asarray(picture)[5, 5, 0] > 200 and np.asarray(picture)[55, 5, 2] > 200  # left is top now
    assert not picture.info and b"secret" not in medium_of(picture).data


def test_text_in_a_png_does_not_reach_a_page():
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "a secret place")
    assert b"secret" not in medium_of(read_picture(stored(coloured(), pnginfo=told))).data


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "PNG, JPEG"),
        ("page.pdf", b"%PDF-1.4 nothing", "PNG, JPEG"),
        ("empty.png", b"", "is empty; copy or save it again"),
        ("postscript.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PNG, JPEG"),
        ("tiff.tif", stored(coloured(), "TIFF"), "PNG, JPEG"),
        ("half.png", stored(coloured(400, 300))[:200], "damaged"),
        ("half.jpg", stored(coloured(400, 300), "JPEG")[:900], "damaged"),
    ],
)
def test_what_is_no_whole_picture_is_refused_in_one_sentence(name, data, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError, match=words) as refused:
        read_picture(path)
    assert name in str(refused.value) and "\n" not in str(refused.value)


def test_a_hundred_megapixels_are_refused_before_they_are_decoded():
    file = io.BytesIO()
    Image.new("1", (10_000, 10_000)).save(file, "PNG")  # a small file
    assert len(file.getvalue()) < 100_000
    start = time.process_time()
    with pytest.raises(UserError, match="over 64 megapixels; save it smaller"):
        read_picture(file.getvalue())
    assert time.process_time() - start < 0.5


def test_a_bomb_of_pixels_is_refused():
    header = stored(Image.new("1", (8, 8)))
    wide = header[:16] + (200_000).to_bytes(4, "big") * 2 + header[24:]
    with pytest.raises(UserError):
        read_picture(wide)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((0, 8, 3)), "no pixels"),
        (np.zeros((8, 8)), "numbers .height, width, 3."),
        (np.zeros((8, 8, 8)), "numbers .height, width, 3."),
        (np.full((8, 8, 3), np.nan), "NaN"),
        ([["a"]], "numbers .height, width, 3."),
    ],
)
def test_arrays_that_are_no_picture_are_refused(array, words):
    with pytest.raises(UserError, match=words):
        read_picture(array)


def test_large_pictures_are_reduced_for_model_and_page():
    picture = read_picture(stored(Image.effect_noise((6000, 3000), 60).convert("RGB"), "JPEG"))
    assert max(picture.size) <= LONGEST
    medium = medium_of(picture)
    assert medium.size == (1024, 512) and medium.mime == "image/jpeg"
    assert len(medium.data) < 700_000


def test_sixteen_bits_are_not_cut_off():
    grey = Image.fromarray(np.full((4, 4), 40_000, np.uint16))
    assert np.asarray(read_picture(grey)).max() == 40_000 >> 8


# -- places ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PILLOW)
def test_a_processor_that_is_not_known_tells_where_its_pixels_come_from(name):
    (left, top, right, bottom), _ = PILLOW[name]
    processor = getattr(transformers, f"{name}ImageProcessorPil")()
    (tile,) = seen_through(lambda one: processor(images=[one], return_tensors="np"), (300, 200), (32, 32))
    assert isinstance(tile, Tile)
    height, width = tile.real.shape
    corners = np.array([[0, 0, 1], [width, height, 1]]) @ tile.place.T
    np.testing.assert_allclose(corners, [[left, top], [right, bottom]], atol=3e-3)


def test_padding_lies_nowhere():
    processor = transformers.DonutImageProcessorPil(size={"height": 64, "width": 64}, do_align_long_axis=False)
    (tile,) = seen_through(lambda one: processor(images=[one], return_tensors="np"), (80, 40), (16, 16))
    grid = tile.grid(16)
    assert np.isnan(grid.spans[:4]).all() and np.isnan(grid.spans[-4:]).all()
    np.testing.assert_allclose(grid.spans[4], [0, 0, 0.25, 0.5], atol=0.01)


def test_a_turned_picture_is_followed():
    processor = transformers.DonutImageProcessorPil(size={"height": 64, "width": 32}, do_align_long_axis=True)
    (tile,) = seen_through(lambda one: processor(images=[one], return_tensors="np"), (128, 64), (16, 16))
    pixels = processor(images=[coloured(128, 64)], return_tensors="np")["pixel_values"][0]
    green = pixels[1].reshape(4, 16, 2, 16).mean((1, 3)).ravel() > -0.5  # patches with the bar along the top
    spans = tile.grid(8).spans
    assert green.any() and (spans[green, 1] < 0.26).all()


def test_patches_of_a_list_know_rows_and_columns_in_their_order():
    processor = transformers.Qwen2VLImageProcessorPil(patch_size=14, merge_size=2, min_pixels=28 * 28)
    (seen,) = seen_through(lambda one: processor(images=[one], return_tensors="np"), (112, 56), (14, 14))
    assert isinstance(seen, Patches) and seen.shape == (4, 8)
    assert seen.rows[:6].tolist() == [0, 0, 1, 1, 0, 0] and seen.columns[:6].tolist() == [0, 1, 0, 1, 2, 3]
    np.testing.assert_allclose(seen.merged(4).spans[1], [0.25, 0, 0.5, 0.5])


@pytest.fixture(scope="module")
def vit():
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    module = transformers.ViTModel(transformers.ViTConfig(image_size=64, patch_size=16, **sizes)).eval()
    processor = transformers.CLIPImageProcessorPil(size={"shortest_edge": 64}, crop_size={"height": 64, "width": 64})
    return regard.load((module, processor))


def test_a_trace_holds_the_picture_once_and_where_patches_are(vit, tmp_path):
    trace = vit.trace(image=coloured(300, 200))
    side = trace.side("image")
    assert len(side) == 17 and np.isnan(side.spans[0]).all()
    np.testing.assert_allclose(side.spans[1], [1 / 6, 0, 1 / 3, 1 / 4], atol=3e-3)  # of the whole picture
    trace.save(tmp_path / "a.trace")
    again = regard.Trace.load(tmp_path / "a.trace").side("image")
    assert again.medium.data == side.medium.data and again.medium.size == (300, 200)
    np.testing.assert_array_equal(again.spans, side.spans)


def test_the_largest_picture_takes_bounded_memory(tmp_path):
    path = tmp_path / "large.png"
    Image.new("RGB", (8000, 8000), (9, 99, 199)).save(path)
    script = f"from regard.models.images import read_picture as r; print({PEAK}); r({str(path)!r}); print({PEAK})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = map(int, run.stdout.split())
    assert (after - before) * 1024 < 900e6
