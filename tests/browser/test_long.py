"""A page of a long text: finding a token, layers of which it has pictures alone, and zooming to single values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_heads import until
from tests.browser.conftest import site_of

from regard.trace.mask import Mask
from regard.trace.tokens import Side, Token
from regard.trace.trace import Trace
from regard.views import save_html
from regard.views.arrays import sent_numbers

TOKENS, LAYERS, HEADS = 1200, 4, 2
PLACES = [100, 700, 1199]  # of the token that is looked for; no other token sees the last one
WORD = "Kapitän"
STATUS = "document.querySelector('.find-token [role=status]').textContent"


@pytest.fixture(scope="module")
def trace() -> Trace:
    rng = np.random.default_rng(3)
    texts = [WORD if i in PLACES else f"t{i}" for i in range(TOKENS)]
    side = Side("decoder", tuple(Token(text, word=i) for i, text in enumerate(texts)))
    sites = [
        site_of(rng, "decoder", layer, side, side, heads=HEADS, d=16, mask=Mask(right=0)) for layer in range(LAYERS)
    ]
    return Trace({"decoder": side}, tuple(sites), {"model": "long"})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> Path:
    """A page that holds two of the four layers whole."""
    path = tmp_path_factory.mktemp("long") / "page.html"
    return save_html(trace, path, view="matrix", layer=1, heads=[1], aim=sent_numbers(trace))  # two bytes for each


def exact(page: Any) -> None:
    """Wait until every tile in sight is exact."""
    until(
        page,
        "(performance.getEntriesByName('regard:exact').at(-1)?.startTime ?? -1)"
        " >= (performance.getEntriesByName('regard:drawn').at(-1)?.startTime ?? 0)",
        seconds=240,
    )


def test_every_place_of_a_token_is_found_with_the_token_that_looks_at_it_most(show, saved, trace):
    page = show(saved)
    page.wait_for_selector(".plot canvas")
    find = page.locator("[data-find=text]")
    find.fill(WORD.lower())
    until(page, f"{STATUS} === 'in 3 of the tokens'")
    maps = trace.attention(1, 1)
    for number, key in enumerate(PLACES):
        find.press("Enter")
        column = np.where(np.arange(TOKENS) == key, 0, maps[:, key])
        query = int(column.argmax())
        if column[query] == 0:
            until(page, f"{STATUS} === '{number + 1} of 3: no other token looks at it'")
            continue
        name = f"t{query}"
        until(page, f"{STATUS}.startsWith('{number + 1} of 3: looked at most by {name},')")
        said = float(page.evaluate(STATUS).rsplit(" ", 1)[1])
        assert said == pytest.approx(column[query], abs=0.006)
        assert page.evaluate("location.hash").count(f"queries={query}") == 1
        assert name in page.inner_text(".inspector")
    find.press("Enter")
    until(page, f"{STATUS}.startsWith('1 of 3')")
    find.fill("nowhere")
    until(page, f"{STATUS} === 'not in this text'")


def test_a_token_is_looked_for_once_for_each_jump(show, saved):
    page = show(saved)
    page.wait_for_selector(".plot canvas")
    page.locator("[data-find=text]").fill("t5")
    page.evaluate(
        "() => { const real = Float32Array.prototype.forEach; window.looked = 0;"
        " Float32Array.prototype.forEach = function (...a) {"
        f" if (this.length === {TOKENS}) window.looked++; return real.apply(this, a); }} }}"
    )
    page.locator("[data-find=next]").click()
    until(page, f"{STATUS}.startsWith('1 of')")
    assert page.evaluate("window.looked") == 1


def test_layers_that_are_not_in_the_page_are_pictures_alone(show, saved):
    page = show(saved)
    page.wait_for_selector(".plot canvas")
    held = page.locator("[data-control=layer] option").all_inner_texts()
    assert len(held) == 2 and "1" in held
    page.click("[data-view=atlas]")
    until(page, f"document.querySelectorAll('[data-cell]').length === {LAYERS * HEADS}")
    disabled = page.evaluate(
        "[...document.querySelectorAll('[data-cell][aria-disabled=true]')].map(e => e.dataset.cell.split('-')[0])"
    )
    gone = sorted({str(layer) for layer in range(LAYERS)} - set(held))
    assert sorted(set(disabled)) == gone and len(disabled) == HEADS * len(gone)
    assert f"has all weights of layers {', '.join(held)} only" in page.inner_text(".legend")
    before = page.inner_text(".inspector h2")
    page.locator(f"[data-cell='{gone[0]}-0']").click(force=True)
    page.keyboard.press("Enter")
    page.mouse.move(5, 5)  # a head that is pointed at is told about, too
    until(page, f"document.querySelector('.inspector h2').textContent === {before!r}")
    assert page.locator("[data-view=atlas][aria-selected=true]").count() == 1
    there = next(layer for layer in held if layer != "1")
    page.locator(f"[data-cell='{there}-0']").click()
    until(page, f"document.querySelector('.inspector h2').textContent === 'Head {there}.0'")


def test_zooming_goes_from_all_tokens_to_single_values_and_back(show, saved, trace):
    page = show(saved)
    page.wait_for_selector(".plot canvas")
    exact(page)
    assert "the largest of 2 × 2 values" in page.inner_text(".legend")
    whole = page.evaluate("document.querySelector('.plot canvas').toDataURL()")
    for _ in range(8):
        page.click("[data-zoom=in]")
    exact(page)
    assert "the largest of" not in page.inner_text(".legend")
    box = page.locator(".plot canvas.over").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"])
    until(page, "document.querySelector('.tip')?.textContent.includes('→') ?? false")
    said = page.inner_text(".tip")
    tokens, shown = said.split(" · ")[:2]
    query, key = (int(name.strip().lstrip("t")) for name in tokens.split("→"))
    value = trace.attention(1, 1, queries=query, keys=key).item()
    assert (value < 0.001) if shown.startswith("<") else float(shown) == pytest.approx(value, abs=0.006)
    page.locator(".plot canvas.over").focus()
    page.keyboard.press("0")
    page.mouse.move(5, 5)
    exact(page)
    until(page, f"document.querySelector('.plot canvas').toDataURL() === {whole!r}")
