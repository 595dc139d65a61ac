"""The app as people use it: `regard serve` in a process of its own, the default model, a real browser.

Long on purpose: its tests share one server and the models it has loaded; in a second file it would start again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from test_access import FEW, barriers, tabs
from test_heads import INK, KEY, QUERY, address, names, until
from tests.app.conftest import hosted, long_llama, started  # noqa: F401 (a fixture, and what starts servers)
from tests.app.entering import origin_of
from tests.browser.windows import Windows
from tests.tiny import saved, tiny_bert
from transformers import BertForMaskedLM
from typer.testing import CliRunner

from regard.cli import app
from regard.trace.trace import Trace

STORE = "I went to the store.", "At the store, I bought fresh strawberries."
SIZE = {"width": 1280, "height": 800}
WITHOUT = "document.querySelector('[data-trouble]') === null"
# On a phone the inspector stays at the lower edge.
DRAWER = """() => {
  const drawer = document.querySelector('.drawer');
  return !drawer || drawer.getBoundingClientRect().bottom <= innerHeight + 1;
}"""
DRAWN = "performance.getEntriesByName('regard:drawn').length"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any) -> Path:
    """A folder with a tiny BERT that fills in masked words."""
    return saved(tiny_bert(wordpiece, BertForMaskedLM), tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, tiny: Path, long_llama: Path) -> Iterator[str]:  # noqa: F811
    """The address of an app with the default model, a long decoder, and one saved study."""
    folder = tmp_path_factory.mktemp("studies")
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog ran to the park\n" * 3)
    made = CliRunner().invoke(app, ["study", "tokens", str(text), "-m", str(tiny), "-o", str(folder / "tokens-tiny")])
    assert made.exit_code == 0, made.output
    options = ("--model", "all-MiniLM-L6-v2", "--model", str(long_llama), "--model", str(tiny))
    with started(*options, "--studies", str(folder)) as (found, _):
        yield found


@pytest.fixture
def use(windows: Windows, home: str) -> Iterator[Callable[..., Any]]:
    """Opens the app and waits until it has something to show; afterwards nothing foreign may have been asked for."""
    troubles: list[str] = []
    with windows.lent() as take:

        def open_app(hash_: str = "", **options: Any) -> Any:
            page = take(**({"viewport": SIZE, "locale": "en-US"} | options))
            page.on("console", lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: troubles.append(str(error)))
            own = (origin_of(home), "blob:", "data:")
            page.on("request", lambda r: troubles.append(r.url) if not r.url.startswith(own) else None)
            page.goto(home + hash_)
            page.wait_for_selector(".tabs")
            until(page, "document.querySelector('[data-saved]') === null", seconds=240)
            return page

        yield open_app
    # A refusal is an answer; the browser notes it on the console all the same.
    assert [text for text in troubles if not text.startswith("Failed to load resource")] == []


def asked(text: str, pair: str = "", **more: object) -> str:
    """An address that asks for a text."""
    parts = {"text": text, "pair": pair, **more}
    return "#" + "&".join(f"{name}={quote(str(value))}" for name, value in parts.items() if value != "")


def store(view: str, layer: int = 0, head: int = 2, **more: object) -> str:
    return asked(*STORE, view=view, kind="encoder", layer=layer, heads=head, **more)


def fill(page: Any, field: str, text: str) -> None:
    page.fill(f"[data-field={field}]", text)


def test_the_app_opens_on_an_example_and_says_what_to_look_for(use):
    page = use()
    page.wait_for_selector(QUERY)
    assert page.input_value("[data-field=text]") == STORE[0]
    assert page.input_value("[data-field=pair]") == STORE[1]
    assert page.inner_text(".inspector h2") == "Head 0.2"
    page.wait_for_selector(".finding")
    assert "0.2 looks one token back" in page.inner_text(".story .card >> nth=0")
    assert page.locator("[data-look]").count() == 0  # which would say it twice
    assert "previous token" in page.inner_text(".finding >> nth=0")


TOPS = "all => all.map(e => Math.round(e.getBoundingClientRect().top))"


def test_model_text_and_examples_stand_in_one_line_and_on_a_phone_in_few(use):
    wide = use(store("heads", 1, 8))
    names = ".app-row .app-field, .popover-models .opener, .popover-examples .opener"
    assert max(wide.eval_on_selector_all(names, TOPS)) - min(wide.eval_on_selector_all(names, TOPS)) <= 6
    phone = use(store("heads", 1, 8), viewport={"width": 390, "height": 844})
    phone.wait_for_selector(".token")
    models, examples = phone.eval_on_selector_all(".app-row .opener", TOPS)
    assert models == examples
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    # the text is one line until somebody touches it
    assert phone.inner_text(".app-said span >> nth=0") == " · ".join(STORE)
    assert not phone.is_visible("[data-field=text]")
    assert phone.evaluate("document.querySelector('.body').getBoundingClientRect().top") < 300
    phone.click("[data-do=edit]")
    until(phone, "document.activeElement.dataset.field === 'text'")
    phone.keyboard.press("End")
    phone.keyboard.type(" Yesterday.")
    phone.click("[data-field=pair]")  # from field to field they stay
    assert phone.is_visible("[data-field=text]")
    phone.click(".app-name")
    until(phone, "document.querySelector('.app-said').innerText.startsWith('I went to the store. Yesterday. · At')")


def test_typing_updates_the_picture_and_keeps_what_is_chosen(use):
    page = use(store("heads", 1, 8))
    until(page, f"document.querySelectorAll('{QUERY}').length === 19")
    page.click("[data-field=text]")
    page.keyboard.press("End")
    page.keyboard.type(" Yesterday.", delay=15)
    until(page, f"document.querySelectorAll('{QUERY}').length === 21")
    assert names(page, QUERY)[7:9] == ["yesterday", "."]
    assert page.inner_text(".inspector h2") == "Head 1.8"
    assert page.evaluate("document.activeElement.dataset.field") == "text"
    assert "Yesterday" in address(page)
    fill(page, "pair", "")
    until(page, f"document.querySelectorAll('{QUERY}').length === 10")
    assert names(page, QUERY)[-1] == "[SEP]"


def test_every_view_shows_the_text_that_was_typed_last(use):
    page = use(store("atlas"))
    until(page, "document.querySelectorAll('.thumb[data-label]').length === 72")
    fill(page, "text", "One two three four.")
    until(page, "location.hash.includes('three')")
    until(page, "document.querySelector(`[data-cell='0-2']`).dataset.label === 'previous token'")
    page.keyboard.press("Escape")
    page.click("[data-view=heads]")
    until(page, f"document.querySelectorAll('{KEY}').length === 18")
    assert names(page, KEY)[1:4] == ["one", "two", "three"]
    page.click("[data-view=neurons]")
    page.wait_for_selector("[data-query='2']")
    assert "two" in page.inner_text("[data-query='2']")
    page.click("[data-view=matrix]")
    page.wait_for_selector(".plot")
    before = page.evaluate(INK, ".plot canvas")[0]
    fill(page, "text", "One.")
    until(page, "location.hash.includes('One.')")
    until(page, "n => document.querySelector('.plot canvas') && !document.querySelector('[data-working]')", before)
    page.click("[data-view=walk]")
    page.wait_for_selector("[data-table=tokens]")
    assert page.inner_text("[data-table=tokens] tr >> nth=0").split() == ["token", "[CLS]", "one", ".", "[SEP]"]


def test_examples_set_text_model_and_head(use):
    page = use(store("atlas"))
    page.click("[data-open-panel=examples]")
    page.click("[data-example=pronoun]")
    until(page, "document.querySelector('.inspector h2')?.textContent === 'Head 3.1'")
    assert "animal" in page.input_value("[data-field=text]")
    assert "“animal”" in page.inner_text("[data-look]")
    assert page.locator(".panel-box").count() == 0
    fill(page, "text", "Something else.")
    until(page, "document.querySelector('[data-look]') === null")


def test_another_model_brings_its_own_views(use):
    page = use(asked("I like the red house.", view="heads", layer=0, heads=0))
    page.wait_for_selector(QUERY)
    page.click("[data-open-panel=models]")
    page.click("[data-model=translator]")
    page.wait_for_selector("[data-value=cross]")
    page.wait_for_selector("[data-field=target]")
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)  # what it says moves the controls down
    page.click("[data-value=cross]")
    until(page, f"[...document.querySelectorAll('{QUERY}')].some(e => e.ariaLabel.includes('casa'))")
    assert any("house" in name for name in names(page, KEY))
    assert "model=translator" in address(page)
    page.click("[data-view=walk]")
    page.click("[data-step=cross]")
    page.wait_for_selector(".walk [data-cell=bars]")
    fill(page, "text", "Hello.")
    until(page, "document.querySelector('.walk').innerText.includes('hola')")
    page.click("[data-view=heads]")
    fill(page, "target", "Adiós.")
    until(page, f"[...document.querySelectorAll('{QUERY}')].some(e => e.ariaLabel.includes('adi'))")


def test_a_head_that_is_switched_off_changes_the_views_and_what_the_model_says(use, minilm):
    page = use(store("atlas", 0, 2))
    until(page, "document.querySelectorAll('.thumb[data-label]').length === 72")
    picture = "document.querySelector(\"[data-cell='1-9'] canvas\").toDataURL()"
    until(page, "performance.getEntriesByName('regard:exact').length")
    before = page.evaluate(picture)
    page.click(".inspector [data-switch=off]")
    page.wait_for_selector("[data-off-head='encoder:0.2']")
    until(page, f"before => {picture} !== before", before)
    assert "off" in page.get_attribute("[data-cell='0-2']", "class")
    assert "switched off" in page.get_attribute("[data-cell='0-2']", "aria-label")
    assert "switched off" in page.inner_text("[data-story='0.2'].off")
    page.wait_for_selector("[data-effect='hidden states'] [data-rank]")
    assert page.inner_text("[data-headline=news]").startswith(
        ("Without 0.2 the output hardly changes", "Without 0.2 the output changes")
    )
    assert page.locator("[data-effect] [data-after]").first.is_hidden()  # the verdict is enough for most
    page.click("[data-effect='hidden states'] summary")
    page.wait_for_selector("[data-effect='hidden states'] [data-after]")
    cosines = page.eval_on_selector_all("[data-after]", "all => all.map(e => +e.dataset.after)")
    assert 0 < min(cosines) < 0.999
    page.select_option("[data-control=mode]", "uniform")
    until(page, "location.hash.includes('mode=uniform')")
    with page.expect_response(lambda r: '"mode":"mean"' in (r.request.post_data or "")) as answer:
        page.select_option("[data-control=mode]", "mean")
    assert answer.value.ok
    assert "32 sentences that come with regard" in page.inner_text("[data-off]")
    page.select_option("[data-control=mode]", "zero")
    page.click("[data-value=change]")
    page.wait_for_selector("[data-change=shown]")
    until(page, "document.querySelector('[data-busy]') === null")  # until then it is that of the mode before
    changed = page.eval_on_selector_all(".thumb", "all => all.map(e => +e.dataset.changed)")
    assert changed[:12] == [0] * 12  # nothing in the layer of the head can change
    one, two = minilm.trace(*STORE).attention(1, 9), minilm.trace(*STORE, ablate="0.2").attention(1, 9)
    assert changed[12 + 9] == pytest.approx(abs(one - two).sum(-1).mean() / 2, rel=1e-3)
    assert page.locator("[data-still]").all_inner_texts() == ["beside 0.2, in the same layer: cannot change"]
    assert page.locator("[data-beside='0-2'] .plot").count() == 0  # its own map says nothing of what changes
    alike = float(page.get_attribute("[data-alike]", "data-alike"))
    assert f"similarity {alike:.3f} " in page.inner_text("[data-headline=news]")
    bar = page.eval_on_selector("[data-alike] i", "e => e.offsetWidth / e.parentElement.offsetWidth")
    assert bar == pytest.approx(1 - alike, abs=0.02)  # as long as the change
    rank = page.get_attribute("[data-rank]", "data-rank")
    more = re.search(
        r"Of 72 heads, each switched off alone, (\w+) changes? it more\.", page.inner_text("[data-headline]")
    )
    assert more[1] == (str(int(rank) - 1) if int(rank) > 1 else "none")
    assert page.inner_text("[data-rank] .place") == f"rank {rank} of 72"
    assert f"{sum(value > 0 for value in changed)} of 72 heads change; those without" in page.inner_text(".legend")
    assert float(page.inner_text(".change-bar span >> nth=-1")) == pytest.approx(max(changed), rel=0.06)
    page.hover("[data-cell='0-2']")
    assert page.inner_text(".tip").startswith("head 0.2 · switched off · the same · ")
    page.click("[data-value=pattern]")
    page.hover("[data-cell='1-8']")
    assert page.inner_text(".tip").startswith("head 1.8 · ") and "looks one token ahead" in page.inner_text(".tip")
    page.keyboard.press("x")
    page.wait_for_selector("[data-off-head='encoder:1.8']")
    page.click("[data-do=on]")
    until(page, "document.querySelector('[data-off]') === null")
    until(page, f"before => {picture} === before", before)
    assert page.locator("[data-effect]").count() == 0


def test_the_large_map_of_a_head_that_is_off_says_so_and_steps_back(use):
    page = use(store("atlas", 1, 8, off="encoder:1.8"), viewport={"width": 1440, "height": 900})
    page.wait_for_selector("[data-beside='1-8'] [data-large-off]")
    assert page.inner_text("[data-large-off] .is-off") == "switched off"
    assert float(page.eval_on_selector("[data-large-off] .plot", "e => getComputedStyle(e).opacity")) < 0.5
    page.click("[data-do=on]")
    until(page, "document.querySelector('[data-large-off]') === null")


def test_predictions_before_and_after_stand_side_by_side(use, tiny):
    page = use(asked("the cat [MASK] on the mat", model=tiny, view="heads", layer=0, heads=0, off="encoder:0.0"))
    page.wait_for_selector("[data-effect='masked token'] [data-before]")
    rows = page.locator("[data-effect] tbody tr")
    assert rows.count() >= 5
    text = page.inner_text("[data-effect] thead").split()
    assert text == ["prediction", "before", "zero", "uniform", "mean"]
    assert "KL" in page.inner_text("[data-effect]")
    assert "mean: over 32 sentences that come with regard" in page.inner_text("[data-effect]")


def test_two_inputs_are_compared_with_their_difference(use, minilm):
    page = use(store("compare", 1, 8))
    fill(page, "other-text", "I went to the garden.")
    fill(page, "other-pair", "At the garden, I picked fresh strawberries.")
    page.wait_for_selector("[data-panel=both] canvas")
    assert page.locator("[data-panel]").count() == 3
    assert "3 of 19 positions" in page.inner_text("[data-compared]")
    one = minilm.trace(*STORE).attention(1, 8)
    two = minilm.trace("I went to the garden.", "At the garden, I picked fresh strawberries.").attention(1, 8)
    distance = abs(one - two).sum(-1).mean() / 2
    shown = float(page.get_attribute("[data-distance]", "data-distance"))
    assert shown == pytest.approx(distance, rel=1e-3)
    assert float(page.get_attribute("[data-differs='1.8']", "data-value")) == pytest.approx(distance, rel=1e-3)
    until(page, "document.querySelector('[data-do=most]')?.textContent.startsWith('Most differs 5.2: 2')")
    verdict = f"Head 1.8 hardly differs: {100 * distance:.1f}% of its attention moves."
    assert page.inner_text("[data-distance] b") == verdict
    said = "1.8 differs most at “store”₁₀ (B: “garden”₁₀) → “,”: 0.553 in A, 0.297 in B."  # as in the list
    assert page.inner_text("[data-distance] p") == said
    first = page.inner_text("[data-most] tbody tr >> nth=0").replace("−", "-").split()
    assert float(first[-1]) == pytest.approx((one - two).flat[abs(one - two).argmax()], abs=0.001)
    for row in page.locator("[data-most] tbody tr").all():  # what is between two numbers agrees with them as they stand
        a, b, between = (float(cell.replace("−", "-")) for cell in row.locator("td").all_inner_texts())
        assert between == pytest.approx(a - b, abs=1e-9)
    canvas = page.locator("[data-panel=both] canvas")
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 12, "y": box["height"] - 50})  # above the colours
    assert page.inner_text("[data-readout]").startswith("“[SEP]”₁₈ → “[SEP]”₁₈: A ")
    page.click("[data-do=most]")  # the head that differs most
    until(page, "location.hash.includes('layer=5') && location.hash.includes('heads=2')")
    until(page, "!document.querySelector('[data-do=most]')")
    assert "“bought” (B: “picked”) → itself" in page.inner_text("[data-distance] p")
    assert page.inner_text("[data-distance] b").startswith("Head 5.2 differs most: 2")
    fill(page, "other-pair", "")
    until(page, "document.querySelectorAll('[data-panel]').length === 2")
    assert "19 tokens and B has 8" in page.inner_text("[data-compared]")


GARDEN = {"otherText": "I went to the garden.", "otherPair": "At the garden, I picked fresh strawberries."}


def test_a_comparison_opens_with_the_head_that_differs_most_until_somebody_chooses_one(use):
    texts = "&".join(f"{name}={quote(text)}" for name, text in {"text": STORE[0], "pair": STORE[1], **GARDEN}.items())
    page = use(f"#{texts}&view=compare")
    until(page, "location.hash.includes('layer=5') && location.hash.includes('heads=2')")
    page.wait_for_selector("[data-differs='5.2'][aria-pressed=true]")
    page.click("[data-view=matrix]")
    assert "layer=5" in address(page)  # one selection for all views
    page.click("[data-view=compare]")
    page.click("[data-differs='1.8']")
    fill(page, "other-text", "I went to the church.")
    until(page, "document.querySelector('[data-panel=b] figcaption span')?.textContent.includes('church')")
    until(page, "document.querySelector('[data-do=most]') !== null")
    assert page.locator("[data-differs='1.8'][aria-pressed=true]").count() == 1
    page = use(f"#{texts}&view=heads&kind=encoder&layer=1&heads=8")
    page.click("[data-view=compare]")
    page.wait_for_selector("[data-do=most]")  # a head that an address names is compared
    assert page.locator("[data-differs='1.8'][aria-pressed=true]").count() == 1


def test_both_maps_of_a_comparison_name_their_own_rows_and_share_their_colours(use, tmp_path):
    page = use(store("compare", 1, 8, **GARDEN), viewport={"width": 1440, "height": 900})
    page.wait_for_selector("[data-panel=both] canvas")
    boxes = [page.locator(f"[data-panel={one}] canvas").bounding_box() for one in ("a", "b", "both")]
    steps = [one["x"] - other["x"] for one, other in zip(boxes[1:], boxes[:-1], strict=True)]
    assert steps[0] == pytest.approx(steps[1], abs=1)
    bar = page.locator(".app-panels canvas.shared").bounding_box()
    right = boxes[1]["x"] + boxes[1]["width"]
    assert boxes[0]["x"] < bar["x"] and bar["x"] + bar["width"] == pytest.approx(right, abs=2)
    page.click("[data-open-panel=export]")
    with page.expect_download() as waiting:
        page.click("[data-export=picture]")
    waiting.value.save_as(tmp_path / "compared.svg")
    words = [one.text for one in ElementTree.parse(tmp_path / "compared.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("picked") == 2 and words.count("bought") == 2 and words.count("bought*") == 2
    assert words.count("0.20") == 1  # one row of colours for A and B


def test_maps_of_a_comparison_use_the_room_and_their_captions_are_whole(use):
    other = GARDEN
    cells = {}
    for width, height in ((1440, 900), (1920, 1080)):
        page = use(store("compare", 1, 8, **other), viewport={"width": width, "height": height})
        page.wait_for_selector("[data-panel=both] canvas")
        boxes = [page.locator(f"[data-panel={one}] canvas").bounding_box() for one in ("a", "b", "both")]
        assert len({round(box["y"]) for box in boxes}) == 1  # side by side
        assert boxes[2]["x"] + boxes[2]["width"] <= page.locator(".app-most").bounding_box()["x"]
        cells[width] = float(page.get_attribute("[data-panel=b] canvas", "data-cell"))
        texts = page.locator("[data-panel] figcaption > span").all_inner_texts()
        assert texts[0] == " · ".join(STORE) and " · ".join(other.values()) in texts
        clipped = (
            "all => all.filter(e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1).length"
        )
        assert page.eval_on_selector_all("[data-panel] figcaption > *", clipped) == 0
        assert page.inner_text("[data-most] tbody tr >> nth=0 >> th").split("\n") == ["store₁₀/garden₁₀ → “,”"]
        ticks = page.locator(".app-heads .change-bar span").all_inner_texts()
        most = max(page.eval_on_selector_all("[data-differs]", "all => all.map(e => +e.dataset.value)"))
        assert ticks[0] == "0%" and float(ticks[-1].removesuffix("%")) == pytest.approx(100 * most, rel=0.05)
    assert cells[1440] > 13.5 and cells[1920] > 21.5


def test_a_model_is_compared_with_itself_without_a_head_and_with_another(use):
    page = use(store("compare", 1, 8, off="encoder:0.2", **{"with": "on"}))
    page.wait_for_selector("[data-panel=both] canvas")
    until(page, "document.querySelector(\"[data-differs='1.9']\")")
    value = "name => +document.querySelector(`[data-differs='${name}']`).dataset.value"
    assert page.evaluate(value, "0.5") == pytest.approx(0, abs=1e-6)  # nothing before the head can change
    assert page.evaluate(value, "1.9") > 0.05
    page.click("[data-value=model]")
    page.select_option("[data-control=other-model]", "rxnmapper")
    page.wait_for_selector("[data-panel=b] canvas")
    until(page, "document.querySelector('[data-compared]')?.textContent.includes('share nothing but their numbers')")
    page.select_option("[data-control=other-head]", "3.1")
    until(page, "document.querySelector('[data-panel=b] b').textContent.includes('3.1')")


def test_an_address_that_names_a_model_and_no_text_opens_an_example_of_it(use):
    page = use("#model=translator&view=heads")
    until(page, "location.hash.includes('text=')")
    assert "model=translator" in address(page)
    page.wait_for_selector("[data-value=cross]")


def test_studies_are_listed_and_their_report_opens(use):
    page = use("#view=studies")  # without a text, an example is asked for, and the view stays
    until(page, "location.hash.includes('text=')")
    assert "view=studies" in page.evaluate("location.hash")
    page.wait_for_selector("[data-study=tokens-tiny]")
    found, how = (
        page.locator(f"[data-study=tokens-tiny] {one}").first.inner_text() for one in (".headline", "summary")
    )
    assert re.match(r"\S+ gets most: \d+% of all attention in layer [01] \(chance: \d+%\)", found) and "text.txt" in how
    page.click("[data-study=tokens-tiny] summary")
    with page.expect_download() as waiting:
        page.click("[data-study=tokens-tiny] a >> text=result.parquet")
    assert waiting.value.suggested_filename == "result.parquet"
    page.click("[data-report=tokens-tiny]")
    frame = page.frame_locator(".app-report iframe")
    assert frame.locator("h1").first.inner_text()
    page.click("[data-do=back]")
    page.wait_for_selector("[data-study=tokens-tiny]")


def is_the_page(path, show):
    saved = show(path)
    saved.wait_for_selector(".plot")
    assert saved.inner_text(".inspector h2") == "Head 1.8"


def is_the_picture(path):
    root = ElementTree.parse(path).getroot()
    said = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    for part in (
        "Head 1.8 looks one token ahead",
        "looks",
        "looked at",
        "attention weight",
        "encoder layer 1 head 8",
        "went",
    ):
        assert part in said
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(3.3 * 72, abs=1)


def are_the_numbers(path, attention):
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["query_index", "query", "key_index", "key", "value"] and len(rows) == 19 * 19
    assert [row["key"] for row in rows[:3]] == ["[CLS]", "i₁", "went"]
    assert (rows[19]["query_index"], rows[19]["query"], rows[19]["key_index"]) == ("1", "i₁", "0")
    shown = np.array([float(row["value"]) for row in rows]).reshape(19, 19)
    assert np.allclose(shown, attention, atol=1e-5)


def test_everything_can_leave(use, show, minilm, tmp_path):
    page = use(store("matrix", 1, 8))
    until(page, DRAWN)
    left = {}
    for what in ("page", "picture", "pdf", "png", "numbers", "trace"):
        if not page.locator(f"[data-export={what}]").count():
            page.click("[data-open-panel=export]")
        with page.expect_download() as waiting:
            page.click(f"[data-export={what}]")
        left[what] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(left[what])
    is_the_page(left["page"], show)
    is_the_picture(left["picture"])
    for what, start in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        assert left[what].name == f"regard-matrix-layer1-head8.{what}" and left[what].read_bytes().startswith(start)
    are_the_numbers(left["numbers"], minilm.trace(*STORE).attention(1, 8))
    assert Trace.load(left["trace"]).attention(1, 8).shape == (19, 19)


def test_what_cannot_be_done_is_said_where_it_happens(use):
    page = use(store("heads", 1, 8))
    page.wait_for_selector(QUERY)
    shown = names(page, QUERY)
    assert len(shown) == 19  # all rows fit
    fill(page, "pair", "word " * 600)
    page.wait_for_selector("[data-trouble=long]")
    said = page.inner_text("[data-trouble] span")
    assert "512" in said and "truncate" not in said  # the way out is a button here
    assert names(page, QUERY) == shown  # the last good picture stays
    page.click("[data-do=truncate]")
    until(page, f"{WITHOUT} && [...document.querySelectorAll('{QUERY}')].some(one => /: word/.test(one.ariaLabel))")
    page.click("[data-open-panel=models]")
    fill(page, "model", "<b>nobody/nothing</b>")
    page.click("[data-do=load]")
    page.wait_for_selector(".app-another [role=alert]")
    assert "<b>nobody/nothing</b> is not on" in page.inner_text(".app-another [role=alert]")
    page.keyboard.press("Escape")
    fill(page, "text", " ")
    page.wait_for_selector(".app-hint")
    assert "type a sentence" in page.inner_text(".app-hint")


def test_a_server_that_is_gone_is_told_and_found_again(use):
    page = use(store("heads", 1, 8))
    page.wait_for_selector(QUERY)
    page.route("**/api/traces", lambda route: route.abort())
    fill(page, "text", "Hello.")
    page.wait_for_selector("[data-trouble=gone]")
    assert "does not answer" in page.inner_text("[data-trouble]")
    page.unroute("**/api/traces")
    until(page, f"[...document.querySelectorAll('{QUERY}')].some(e => e.ariaLabel.includes('hello'))")  # by itself
    assert page.evaluate(WITHOUT)


def test_a_slow_answer_is_announced_and_a_newer_text_wins(use):
    page = use(store("heads", 1, 8))
    page.wait_for_selector(QUERY)
    held = []
    page.route("**/api/traces", lambda route: held.append(route))
    fill(page, "text", "Slow.")
    until(page, "document.querySelector('[data-working]') !== null")
    assert page.locator(QUERY).count() == 19
    fill(page, "text", "Quick.")
    for _ in range(400):  # until the second question is asked
        if len(held) == 2:
            break
        page.wait_for_timeout(50)
    assert len(held) == 2
    held[1].continue_()
    until(page, f"[...document.querySelectorAll('{QUERY}')].some(e => e.ariaLabel.includes('quick'))")
    until(page, "document.querySelector('[data-working]') === null")
    held[0].abort()  # nobody waits for it any more


def test_a_reload_shows_the_same_and_the_language_stays(use):
    page = use(store("heads", 1, 8))
    page.wait_for_selector(QUERY)
    page.click("[data-tool=language]")
    assert page.inner_text("[data-view=compare]") == "对比"
    assert page.inner_text("[data-open-panel=examples]").startswith("例子")
    page.click(f"{QUERY}[data-position='3']")
    page.click("[data-head='9']")
    until(page, "location.hash.includes('heads=8,9') && location.hash.includes('queries=3')")
    before = address(page)
    page.reload()
    page.wait_for_selector(QUERY)
    page.wait_for_timeout(400)
    assert address(page) == before
    assert page.input_value("[data-field=pair]") == STORE[1]
    assert page.inner_text("[data-view=compare]") == "对比"
    assert page.get_attribute("html", "lang") == "zh"


def test_the_keyboard_reaches_the_input_and_the_views(use):
    page = use(store("heads", 1, 8))
    page.wait_for_selector(QUERY)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.dataset.field") == "text"
    page.keyboard.type("x 1?")  # typed, not taken for keys
    assert page.input_value("[data-field=text]") == "x 1?"
    assert page.locator("dialog").count() == 0
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("8")
    page.wait_for_selector(".app-compare")
    page.keyboard.press("?")
    assert "to the input" in page.inner_text("dialog")


def test_script_in_a_text_is_only_text(use):
    evil = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
    page = use(asked(evil, evil, view="heads", layer=0, heads=0, otherText=evil))
    page.wait_for_selector(QUERY)
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    views = tabs(page)
    assert set(views) > {"atlas", "matrix", "walk", "compare"}
    for view in views:
        page.click(f"[data-view={view}]")
        page.wait_for_timeout(250)
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 1


def test_there_is_no_barrier_in_the_app(use):
    page = use(store("atlas", 1, 8, off="encoder:0.2", **{"with": "on"}))
    page.wait_for_selector("[data-after]", state="attached")

    def change() -> None:
        page.click("[data-value=change]")
        page.wait_for_selector("[data-change=shown]")
        until(page, DRAWER)

    def panel(name: str, selector: str) -> Callable[[], None]:
        def opened() -> None:
            page.wait_for_selector(selector)
            page.click(f"[data-open-panel={name}]")

        return opened

    views = {
        "atlas": change,
        "heads": panel("examples", ".token"),
        "matrix": panel("models", ".plot"),
        "walk": lambda: page.wait_for_selector(".walk"),
        "compare": lambda: page.wait_for_selector("[data-panel=both] canvas"),
        "studies": lambda: page.wait_for_selector("[data-study]"),
    }
    assert barriers(page, views, FEW) == []  # the same views as in a saved page, which is looked at in wider windows


def test_four_thousand_tokens_stay_usable(use, long_llama):  # noqa: F811
    page = use(asked("hello", model=long_llama, view="matrix", kind="decoder", layer=0, heads=0))
    page.wait_for_selector(".plot")
    text = "the cat sat on the mat. " * 170
    fill(page, "text", text[:4080])
    until(page, "document.querySelector('.legend')?.textContent.includes('largest of')", seconds=240)
    before = page.evaluate(INK, ".plot canvas")[0]
    assert before > 1000
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('.inspector h2').textContent.startsWith('Head 1.')")
    page.click("[data-view=atlas]")
    until(page, "[...document.querySelectorAll('.thumb canvas')].filter(c => c.width < 100).length === 16", seconds=240)
    assert "counted from every weight" in page.inner_text(".legend")
    page.click("[data-cell='3-2']")
    until(page, "document.querySelector('.inspector h2').textContent === 'Head 3.2'")
    page.click("[data-beside='3-2'] [data-open=heads]")
    page.wait_for_selector(QUERY)
    assert page.locator(QUERY).count() < 80
    assert "too long" in page.text_content(".cautions")


def opened(browser: Any, link: str) -> Any:
    """The app in a browser that comes from nowhere, with something to see."""
    page = browser.new_context(viewport=SIZE, locale="en-US").new_page()
    page.set_default_timeout(240_000)
    page.goto(link)
    page.wait_for_selector(".tabs")
    page.wait_for_selector(".finding, [data-look]")
    until(page, "document.querySelector('[data-saved]') === null", seconds=240)
    return page


def test_the_app_opens_on_the_model_that_was_named_with_a_sentence_that_suits_it(browser, long_llama):  # noqa: F811
    with hosted(models=(str(long_llama),)) as (link, _):
        page = opened(browser, link)
        assert str(long_llama) in page.inner_text("[data-open-panel=models]")
        text = "The cat sat on the mat. The dog lay on the rug. The cat sat on the mat. The dog"
        assert page.input_value("[data-field=text]") == text
        assert page.locator("[data-trouble]").count() == 0
        page.context.close()


def test_a_link_in_a_mail_opens_the_app_and_its_token_leaves_the_address(browser, tiny):
    with started("--model", str(tiny)) as (link, _):
        page = browser.new_context(viewport=SIZE).new_page()
        page.set_content(f'<a href="{link}">regard</a>')  # another site, as a mail program's page is
        page.click("a")
        page.wait_for_selector(".tabs", timeout=240_000)
        assert "token" not in page.url and page.url.startswith(origin_of(link))
        page.reload()
        page.wait_for_selector(".tabs", timeout=240_000)
        page.context.close()
