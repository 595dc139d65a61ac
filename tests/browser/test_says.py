"""What the model says, beside the picture: next tokens, the hidden word, the translation; before and after."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_heads import QUERY, until
from tests.app.conftest import hosted
from tests.browser.opening import opening
from tests.tiny import enlarged, saved, tiny_bert, tiny_llama
from transformers import BertForMaskedLM

import regard

BARS = "all => all.map(e => [+e.dataset.bar, e.dataset.ghost === undefined ? null : +e.dataset.ghost])"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "masked": saved(enlarged(tiny_bert(wordpiece, BertForMaskedLM), 16), folder / "masked"),
        "causal": saved(tiny_llama(wordpiece), folder / "causal"),
    }


@pytest.fixture(scope="module")
def home(folders: dict[str, Path]) -> Iterator[str]:
    with hosted(models=("translator", *map(str, folders.values()))) as (found, _):
        yield found


@pytest.fixture
def use(windows: Any, home: str) -> Iterator[Callable[..., Any]]:
    with opening(windows, home) as open_app:
        yield open_app


def test_a_translation_stands_below_its_sentence_and_is_one_in_all_views(use):
    page = use("translator", "I like the red house.", kind="cross", layer=2, heads=4)
    page.wait_for_selector("[data-answer]")
    assert "Me gusta la casa roja." in page.inner_text("[data-answer]")
    page.click("[data-view=walk]")
    until(page, "!document.querySelector('[data-field=target]').placeholder.includes('casa roja')")  # said once
    assert "Me gusta la casa roja." in page.inner_text("[data-answer]")


def test_next_tokens_are_bars_that_follow_the_pointer_and_leave_ghosts(use, folders):
    page = use(folders["causal"], "the cat sat on the mat", kind="decoder", layer=0, heads=0)
    page.wait_for_selector("[data-says='next token'] [data-bar]")
    heading = "document.querySelector('.inspector > :first-child h3').innerText"  # before all that is said of the head
    assert page.evaluate(heading).split("\n")[0].endswith("after “[SEP]”")
    bars = page.eval_on_selector_all("[data-says] [data-bar]", BARS)
    assert len(bars) == 5
    assert re.fullmatch(r"\d+(\.\d)?%", page.inner_text("[data-says] [data-bar] .number >> nth=0"))
    assert "Probability of each next token." in page.inner_text("[data-says]")
    assert [value for value, _ in bars] == sorted((value for value, _ in bars), reverse=True)
    assert all(ghost is None for _, ghost in bars)
    page.hover(f"{QUERY} >> nth=2")
    until(page, "document.querySelector('[data-says]').innerText.includes('after “cat”')")
    page.mouse.move(640, 5)
    until(page, "document.querySelector('[data-says]').innerText.includes('after “[SEP]”')")
    page.keyboard.press("x")
    page.wait_for_selector("[data-says] .ghost")
    after = page.eval_on_selector_all("[data-says] [data-bar]", BARS)
    assert any(now != ghost for now, ghost in after)
    assert {round(value, 6) for value, _ in bars} <= {round(ghost, 6) for _, ghost in after}
    assert "Dashed: before" in page.inner_text("[data-says]")
    assert "they no longer count" in page.inner_text("[data-off]")


def test_what_a_model_goes_on_to_say_stands_there_as_chips(use, folders):
    page = use(folders["causal"], "the cat sat", generate=10, kind="decoder", layer=0, heads=0)
    page.wait_for_selector("[data-chips] code")
    tokens = page.eval_on_selector_all(QUERY, "all => all.length")
    chips = page.locator("[data-chips] code").count()
    assert 0 < chips <= 10
    assert tokens > chips


def test_a_masked_model_says_what_would_stand_under_the_pointer(use, folders):
    page = use(folders["masked"], "the cat sat on the mat", kind="encoder", layer=0, heads=0)
    page.wait_for_selector("[data-says='masked token']")
    assert "Point at a word" in page.inner_text("[data-says]")
    assert page.locator("[data-bar]").count() == 0
    page.hover(f"{QUERY} >> nth=2")
    page.wait_for_selector("[data-bar]")
    assert "for “cat”, masked" in page.inner_text("[data-says]")
    assert "What really stands there: “cat”." in page.inner_text("[data-says]")


def test_which_words_predict_which_is_asked_on_request(use, folders):
    text = "the cat sat on the mat and a dog went to the store"
    page = use(folders["masked"], text, kind="encoder", layer=1, heads=2)
    tokens = page.eval_on_selector_all(QUERY, "all => all.length")
    button = page.locator("[data-do=predict]")
    assert f"up to {tokens * (tokens + 1) // 2} more times" in page.inner_text(".app-predict")
    button.click()
    page.wait_for_selector("[data-predicted]")
    assert button.count() == 0
    assert "layer=1&heads=2" in page.url  # what was chosen stays chosen
    told = page.inner_text("[data-predicted]")
    model = regard.load(folders["masked"])
    trace = model.trace(text, predictive=True)
    share = trace.patterns().measured[1].readings["predictive word"].mass[2]
    assert "of 6 heads" in told and f"This head: {share:.2f} of all its attention." in told
    page.fill("[data-field=text]", "the cat sat on the mat")
    page.wait_for_selector("[data-do=predict]")  # the next text is asked without
    assert page.locator("[data-predicted]").count() == 0
