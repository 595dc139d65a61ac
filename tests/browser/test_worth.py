"""What lines are worth, on the screen: the third switch, its numbers, what they are of, and how far to believe them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_heads import INK, QUERY, address, still, until
from tests.app.conftest import hosted
from tests.browser.opening import opening
from tests.tiny import saved, tiny_bert, tiny_llama
from transformers import BertForMaskedLM

import regard
from regard.trace.trace import Trace

TEXT = "the cat sat on the mat and a dog went to the store"

ASKED = "performance.getEntriesByType('resource').filter(one => one.name.endsWith('/api/traces')).length"


@pytest.fixture(scope="module")
def causal(wordpiece: Any) -> regard.Model:
    return tiny_llama(wordpiece)


@pytest.fixture(scope="module")
def judged(causal: regard.Model) -> Trace:
    return causal.trace(TEXT, worth={"check": 16})


def largest(row: Any, count: int = 8) -> Any:
    """The numbers of a row that are farthest from 0, the farthest first; those not known last."""
    order = np.argsort(-np.where(np.isnan(row), -1, np.abs(row)), kind="stable")
    return row[order][:count]


def shown(page: Any, expected: Any) -> None:
    """Wait until the inspector lists these numbers."""
    until(page, "count => document.querySelectorAll('.ranking .value').length >= count", len(expected))
    found = page.eval_on_selector_all(".ranking", "all => [...all[0].querySelectorAll('.value')].map(e => +e.title)")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_saved_page_shows_what_python_computes(show, judged, tmp_path):
    page = show(judged.save_html(tmp_path / "worth.html", view="heads", layer=1, heads=[2]))
    page.wait_for_selector(QUERY)
    assert page.locator(".worth-line").count() == 0
    page.click("[data-value=worth]")
    assert page.inner_text("[data-value=worth]") == "worth"
    facts = judged.facts["worth"]
    line = page.inner_text(".worth-line")
    assert f"log p of “{facts['name'].strip()}”" in line
    assert f"{facts['check']['spearman']:.2f}".replace("-", "−") in line
    assert "worth=1" in address(page)
    page.hover(f"{QUERY} >> nth=6")
    shown(page, largest(judged.worth(1, 2)[6]))
    tip = page.inner_text(".tip")
    assert f"for {facts['name'].strip()}" in tip and "weight 0." in tip and "head 1.2" in tip
    page.click("[data-view=matrix]")
    page.wait_for_selector(".colour-bar")
    top = np.nanmax(np.abs(judged.worth(1, 2)))
    ticks = [
        t.replace("−", "-") for t in page.eval_on_selector_all(".colour-bar span", "all => all.map(e => e.innerText)")
    ]
    assert [float(t) for t in ticks] == pytest.approx([-top, 0, top], rel=0.05)
    page.click("[data-view=atlas]")
    page.wait_for_selector("[data-worth-bar]")
    every = max(np.nanmax(np.abs(judged.worth(layer))) for layer in judged.layers())
    until(
        page, "top => Math.abs(document.querySelector('[data-worth-bar]').dataset.worthBar - top) < 1e-5", float(every)
    )
    page.select_option("[data-control=order]", "worth")
    best = max((np.nanmax(np.abs(judged.worth(n, h))), n, h) for n in judged.layers() for h in range(4))
    assert page.get_attribute(".ranked .thumb >> nth=0", "data-cell") == f"{best[1]}-{best[2]}"


def test_lines_that_help_and_hurt_have_their_colours_and_a_page_without_worth_has_no_switch(
    show, pages, judged, tmp_path
):
    page = show(judged.save_html(tmp_path / "worth.html", view="heads", layer=1, heads=[2], worth=True))
    page.wait_for_selector(".worth-line")
    assert page.get_attribute("[data-value=worth]", "aria-pressed") == "true"
    legend = page.inner_text(".legend")
    assert "Blue: it helps" in legend and "only an exact cut can tell" in legend  # the first token sees itself alone
    assert page.evaluate(INK, ".sheet canvas")[0] > 1000
    page.keyboard.press("v")
    assert page.get_attribute("[data-value=weights]", "aria-pressed") == "true"
    plain = show(pages["pair"])
    plain.wait_for_selector(QUERY)
    assert plain.locator("[data-value=worth]").count() == 0
    plain.keyboard.press("v")
    assert "worth" not in address(plain)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any, causal: regard.Model) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "causal": saved(causal, folder / "causal"),
        "masked": saved(tiny_bert(wordpiece, BertForMaskedLM), folder / "masked"),
        "plain": saved(tiny_bert(wordpiece), folder / "plain"),
    }


@pytest.fixture(scope="module")
def home(folders: dict[str, Path]) -> Iterator[str]:
    with hosted(models=tuple(map(str, folders.values()))) as (found, _):
        yield found


@pytest.fixture
def use(windows: Any, home: str) -> Iterator[Callable[..., Any]]:
    with opening(windows, home) as open_app:
        yield open_app


def test_the_app_asks_what_lines_are_worth_for_a_chosen_word(use, show, folders, causal, tmp_path):
    page = use(folders["causal"], TEXT, layer=1, heads=2)
    page.click("[data-value=worth]")
    page.wait_for_selector("[data-worth='next token']")
    page.hover(f"{QUERY} >> nth=6")
    own = causal.trace(TEXT, worth={"check": 64})
    shown(page, largest(own.worth(1, 2)[6]))
    page.mouse.move(5, 5)
    until(page, "document.querySelector('[data-agreement]').dataset.agreement !== ''", seconds=60)
    rho = float(page.get_attribute("[data-agreement]", "data-agreement"))
    assert rho == pytest.approx(own.facts["worth"]["check"]["spearman"], abs=0.02)
    asked = page.evaluate(ASKED)
    page.click("[data-value=weights]")
    assert "Strength: attention weight" in page.inner_text(".legend")
    page.click("[data-value=worth]")
    assert page.evaluate(ASKED) == asked  # what is known is not asked again
    until(page, "document.querySelectorAll('[data-control=judged] option').length > 2")
    options = page.eval_on_selector_all("[data-control=judged] option", "all => all.map(e => e.value)")
    other = next(one for one in options if own.facts["worth"]["name"] not in one)
    page.select_option("[data-control=judged]", other)
    position, token = page.evaluate("text => JSON.parse(text)", other)
    until(page, "name => document.querySelector('.worth-line').innerText.includes(`“${name}”`)", token.strip(), 60)
    page.hover(f"{QUERY} >> nth=6")
    chosen = causal.trace(TEXT, worth={"position": position, "token": token, "check": 0})
    shown(page, largest(chosen.worth(1, 2)[6]))
    assert "&at=" in page.url and "&for=" in page.url
    page.click("[data-open-panel=export]")
    with page.expect_download() as waiting:
        page.click("[data-export=page]")
    waiting.value.save_as(tmp_path / "kept.html")
    kept = show(tmp_path / "kept.html")  # a page that is taken away opens on what was looked at
    kept.wait_for_selector(".worth-line")
    assert f"“{token.strip()}”" in kept.inner_text(".worth-line")


def ink(page: Any) -> int:
    """How much is drawn, once nothing is under way: the canvas is drawn a little later than the words beside it."""
    until(page, "document.querySelector('.sheet') && !document.querySelector('.stage.busy, .stage[aria-busy=true]')")
    still(page)
    return sum(page.evaluate(INK, ".sheet canvas"))


def test_a_check_that_comes_after_a_cut_leaves_it_dashed(use, folders):
    page = use(folders["causal"], TEXT, layer=1, heads=2, queries=6, keys=2, at=6)
    held: list[Any] = []
    page.route(re.compile(r"/api/traces/[^/]+/worth$"), lambda route: held.append(route))
    page.click("[data-value=worth]")
    page.wait_for_selector("[data-worth='next token']")
    until(page, "document.querySelector('[data-do=cut]') !== null")
    whole = ink(page)
    page.click("[data-do=cut]")
    page.wait_for_selector("[data-headline=news]")
    assert ink(page) < whole
    assert page.get_attribute("[data-agreement]", "data-agreement") == ""
    (check,) = held
    check.continue_()
    until(page, "document.querySelector('[data-agreement]').dataset.agreement !== ''", seconds=60)
    dashed = ink(page)
    page.click("[data-do=restore]")
    until(page, "!location.hash.includes('cut=')")
    assert dashed < ink(page)  # the words above the picture may have moved it


def test_a_look_that_is_cut_stays_dashed_and_another_text_is_judged_anew(use, folders):
    page = use(folders["causal"], TEXT, layer=1, heads=2, queries=6, keys=2, worth=1, at=6)
    page.wait_for_selector("[data-worth='next token']")
    until(page, "document.querySelector('[data-do=cut]') !== null")
    whole = ink(page)
    page.click("[data-do=cut]")
    until(page, "location.hash.includes('cut=decoder:1.2:6-2')")
    page.wait_for_selector("[data-headline=news]")
    assert ink(page) < whole  # the gaps between dashes
    assert page.get_attribute("[data-value=worth]", "aria-pressed") == "true"
    page.fill("[data-field=text]", "the dog sat on the mat")
    until(page, "!location.hash.includes('cut=') && !location.hash.includes('at=')")
    page.wait_for_selector("[data-worth='next token']")
    assert "worth=1" in address(page)


def test_a_masked_model_asks_for_a_word_to_hide_and_a_model_that_says_nothing_says_so(use, folders):
    page = use(folders["masked"], "the cat sat on the mat", layer=0, heads=0)
    page.click("[data-value=worth]")
    assert "Pin a word" in page.inner_text(".worth-line")
    page.click(f"{QUERY} >> nth=2")
    page.wait_for_selector("[data-worth='masked token']")
    assert "log p of “cat” at “[MASK]”₂" in page.inner_text(".worth-line")
    page = use(folders["plain"], "the cat sat on the mat", layer=0, heads=0)
    page.click("[data-value=worth]")
    page.wait_for_selector("[data-judging=refused]")
    assert "give it a second sentence" in page.inner_text(".worth-line")
    assert page.get_attribute("[data-value=weights]", "aria-pressed") == "true"
