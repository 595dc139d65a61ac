"""The app takes a picture: chosen, dropped, replaced, refused; in both themes and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from PIL import Image
from test_heads import until
from tests.app.conftest import hosted
from transformers import (
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2Model,
)

DROP = """async bytes => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], 'dropped.png', {type: 'image/png'}));
  document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pixels = np.zeros((48, 72, 3), np.uint8)
    pixels[:24, :36, 0] = pixels[24:, 36:, 2] = 255
    path = tmp_path_factory.mktemp("pictures") / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of a tiny model of pictures and of one of sounds."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    conv = {"conv_dim": (8, 8, 8), "conv_stride": (10, 8, 4), "conv_kernel": (10, 8, 4), "num_conv_pos_embeddings": 8}
    pictures, sounds = (tmp_path_factory.mktemp("models") / name for name in ("vit", "wav2vec2"))
    ViTModel(ViTConfig(image_size=32, patch_size=8, initializer_range=0.3, **sizes)).save_pretrained(pictures)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(pictures)
    Wav2Vec2Model(Wav2Vec2Config(**sizes, **conv, num_conv_pos_embedding_groups=2)).save_pretrained(sounds)
    Wav2Vec2FeatureExtractor().save_pretrained(sounds)
    return pictures, sounds


@pytest.fixture(scope="module")
def home(models: tuple[Path, Path]) -> Iterator[str]:
    with hosted(models=(str(models[0]), "all-MiniLM-L6-v2", str(models[1]))) as (address, _):
        yield address


@pytest.fixture
def use(browser: Any, home: str) -> Iterator[Any]:
    contexts, troubles = [], []

    def open_app(**options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}, "locale": "en-US"} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(240_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(home)
        page.wait_for_selector("[data-do=medium]")
        return page

    yield open_app
    for context in contexts:
        context.close()
    assert troubles == []


def choose(page: Any, file: Path) -> None:
    page.set_input_files("[data-do=medium] input", str(file))


def shown(page: Any) -> None:
    page.wait_for_selector(".tabs")
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)


def test_a_model_of_pictures_asks_for_one_and_shows_it(use, photo):
    page = use()
    page.wait_for_selector(".app-hint")
    assert "choose one, or drop it" in page.inner_text(".app-hint")
    assert page.locator("[data-field=text]").count() == 0
    assert page.locator("[data-look]").count() == 0  # no example of words
    choose(page, photo)
    shown(page)
    assert "photo.png" in page.inner_text("[data-do=medium]")
    page.click("[data-view=heads]")
    page.wait_for_selector(".stage.overlay .patches")
    assert "medium" not in page.url and "photo" not in page.url


def test_a_dropped_picture_replaces_it_and_a_bad_one_is_refused(use, photo, tmp_path):
    page = use()
    page.evaluate(DROP, list(photo.read_bytes()))
    shown(page)
    assert "dropped.png" in page.inner_text("[data-do=medium]")
    bad = tmp_path / "bad.png"
    bad.write_text("<svg/>")
    choose(page, bad)
    page.wait_for_selector("[data-trouble=medium_bad]")
    assert "not a picture" in page.inner_text("[data-trouble]")
    choose(page, photo)
    until(page, "document.querySelector('[data-trouble]') === null", seconds=240)
    page.click(".app-medium button")
    page.wait_for_selector(".app-hint")


def test_a_model_of_texts_says_that_it_reads_no_picture(use, photo):
    page = use()
    choose(page, photo)
    shown(page)
    page.evaluate("location.hash = 'model=all-MiniLM-L6-v2&text=a cat'")
    page.wait_for_selector("[data-trouble=medium_no_image]")
    page.click(".app-medium button")
    until(page, "document.querySelector('[data-trouble]') === null", seconds=240)


def test_a_sound_is_chosen_shown_and_a_bad_one_is_refused(use, models, tmp_path):
    page = use()
    page.evaluate("name => (location.hash = 'model=' + encodeURIComponent(name))", str(models[1]))
    until(page, "document.querySelector('[data-do=medium]')?.innerText.toLowerCase().includes('sound')", seconds=240)
    tone = np.sin(np.arange(16_000) / 20)
    soundfile.write(tmp_path / "tone.wav", tone, 16_000)
    soundfile.write(tmp_path / "eight.wav", np.zeros((1600, 8)), 16_000)
    choose(page, tmp_path / "tone.wav")
    shown(page)
    assert "tone.wav" in page.inner_text("[data-do=medium]")
    page.click("[data-view=sound]")
    page.wait_for_selector(".stage canvas")
    choose(page, tmp_path / "eight.wav")
    page.wait_for_selector("[data-trouble=medium_bad]")
    assert "8 channels" in page.inner_text("[data-trouble]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(use, photo, scheme):
    page = use(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    choose(page, photo)
    shown(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
