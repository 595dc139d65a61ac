"""Studies over a folder of images."""

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    CLIPVisionConfig,
    CLIPVisionModel,
    SwinConfig,
    SwinModel,
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
)

import regard
from regard import study
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems, Source

SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
COUNT = 6


def vit(seed=0):
    torch.manual_seed(seed)
    module = ViTModel(ViTConfig(image_size=48, patch_size=8, initializer_range=0.5, **SIZES)).eval()
    return regard.load((module, ViTImageProcessorPil(size={"height": 48, "width": 48})))


@pytest.fixture(scope="module")
def model():
    return vit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Photographs of noise in two sizes, and files that are none."""
    place = tmp_path_factory.mktemp("images")
    (place / "more").mkdir()
    (place / ".hidden.png").write_bytes(b"no")
    (place / "labels.txt").write_text("0 cat")
    draw = np.random.default_rng(0)
    for number in range(COUNT):
        size = (40 + 8 * (number % 2), 60, 3)
        here = place / "more" if number % 3 == 0 else place
        Image.fromarray(draw.integers(0, 255, size, dtype=np.uint8)).save(here / f"{number}.png")
    (place / "cut.png").write_bytes((place / "1.png").read_bytes()[:300])
    (place / "page.jpg").write_text("<html>")
    return place


def test_pictures_are_read_in_order_and_bad_ones_are_named(folder):
    problems = Problems()
    names = [example.text for example in read(Source(str(folder)), problems)]
    assert names == ["1.png", "2.png", "4.png", "5.png", "more/0.png", "more/3.png"]
    assert problems.count == 2
    assert problems.first[0].startswith("cut.png: the image cut.png is damaged")
    assert problems.first[1].startswith("page.jpg: the image page.jpg is not a picture")


def test_the_atlas_of_a_folder_is_the_mean_over_its_pictures(model, folder):
    table = study.atlas(model, folder).table.set_index(["layer", "head", "measure"])
    traces = [model.trace(image=path).patterns() for path in sorted(folder.rglob("[0-9].png"))]
    for name in ("patch to the left", "patch below", "same row", "same column", "centre of the picture", "itself"):
        for layer in (0, 1):
            masses = np.mean([found.measured[layer].readings[name].mass for found in traces], axis=0)
            mine = [table.loc[(layer, head, name), "mass"] for head in range(3)]
            np.testing.assert_allclose(mine, masses, atol=1e-5)
    assert table.loc[(0, 0, "patch below"), "rows"] == COUNT * 5 * 6
    assert table.loc[(0, 0, "previous token"), "rows"] == 0


def test_its_report_says_what_was_left_out_and_shows_the_first_picture(model, folder, tmp_path):
    result = study.atlas(model, folder, output=tmp_path / "out")
    assert result.example.side("image").medium.size == (60, 48)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "2 files could not be read, the first: cut.png" in report
    assert str(folder) not in report


@pytest.mark.parametrize("name", ["norms", "similarity"])
def test_other_studies_take_a_folder_too(model, folder, name):
    result = getattr(study, name)(model, folder)
    assert len(result.table) and result.meta["tally"]["inputs"] == COUNT


def test_change_compares_two_vision_models(model, folder):
    table = study.change(model, vit(1), folder).table
    assert (table["value"] > 0).any()


def test_a_control_prepares_pictures_as_the_model_does(model, folder):
    result = study.atlas(model, folder, control=True, control_seeds=1)
    assert any("Control" in name for name in result.tables)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SwinModel(SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2],
                                      window_size=4)), "as one sequence of patches"),
        (None, "does not read pictures alone"),
    ],
)  # fmt: skip
def test_models_that_cannot_be_studied_are_refused(folder, bert, make, message):
    asked = bert if make is None else regard.load(make().eval())
    with pytest.raises(ValueError, match=message):
        study.atlas(asked, folder)


def test_the_vision_part_of_clip_can_be_studied(folder):
    module = CLIPVisionModel(CLIPVisionConfig(image_size=32, patch_size=8, **SIZES)).eval()
    table = study.atlas(regard.load(module), folder, limit=2).table
    assert table["rows"].max() > 0


def test_strict_refuses_a_bad_file_and_texts_need_a_file(model, folder):
    with pytest.raises(ValueError, match=r"cut\.png: the image cut\.png is damaged"):
        study.atlas(model, folder, strict=True)
    with pytest.raises(ValueError, match="is a folder, and this study reads texts"):
        study.tokens(model, folder)


def test_an_empty_folder_is_refused(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="is a folder without images"):
        study.atlas(model, tmp_path)
