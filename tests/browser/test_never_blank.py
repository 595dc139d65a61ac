"""The app always shows something: a saved example before the model is there, then the old picture until the new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_heads import QUERY, names, until
from tests.app.conftest import started
from tests.tiny import saved, tiny_bert, tiny_llama

STALE = "document.querySelector('[data-stale]')"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, wordpiece: Any) -> Iterator[str]:
    """An app that was started with several models, none of which has an example of its own."""
    folder = tmp_path_factory.mktemp("models")
    first = saved(tiny_bert(wordpiece), folder / "first")
    second = saved(tiny_llama(wordpiece), folder / "second")
    with started("--model", str(first), "--model", str(second)) as (found, _):
        yield found


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    made = context.new_page()
    made.set_default_timeout(240_000)
    yield made
    context.close()


def busy(times: int) -> Any:
    """An answer to a request: 503 so many times, then the server's own."""
    left = [times]

    def answer(route: Any) -> None:
        if route.request.method != "POST" or left[0] <= 0:
            route.fallback()
            return
        left[0] -= 1
        headers = {"Content-Type": "application/json", "Retry-After": "1"}
        route.fulfill(status=503, headers=headers, body='{"error": "busy", "message": "the server is busy"}')

    return answer


def test_the_page_has_its_name_before_its_script_runs(browser, home):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home)
    assert page.inner_text(".app-first") == "regard"
    context.close()


def test_a_saved_example_is_there_at_once_and_the_page_asks_until_the_model_is(page, home):
    page.route("**/api/models", busy(7))  # more often than a page once had patience for
    page.goto(home)
    page.wait_for_selector(QUERY)
    assert names(page, QUERY)[:4] == ["[CLS]", "i", "went", "to"]
    assert page.inner_text("[data-stale=saved]").startswith("Saved example")
    assert "I went to the store." in page.inner_text("[data-stale]")
    page.wait_for_selector("[data-trouble=busyAgain]")
    until(page, f"{STALE} === null", seconds=240)
    assert page.query_selector("[data-trouble]") is None
    assert "first" in page.inner_text("[data-open-panel=models]")
    assert page.evaluate("document.querySelectorAll('[data-view]').length") > 4


def test_what_is_chosen_in_the_saved_example_stays_chosen(page, home):
    held: list[Any] = []
    hold = lambda route: held.append(route) if route.request.method == "POST" else route.fallback()  # noqa: E731
    page.route("**/api/models", hold)
    page.goto(home)
    page.wait_for_selector(QUERY)
    page.click("[data-view=matrix]")
    until(page, "document.querySelector('[data-view=matrix]').getAttribute('aria-selected') === 'true'")
    for route in held:
        route.continue_()
    page.unroute("**/api/models")
    until(page, f"{STALE} === null", seconds=240)
    assert page.get_attribute("[role=tab][aria-selected=true]", "data-view") == "matrix"


def test_a_picture_of_another_text_is_dim_and_says_of_which(page, home):
    page.goto(home + "#text=the+cat+sat&view=heads&kind=encoder&layer=0&heads=0")
    until(page, f"document.querySelectorAll('{QUERY}').length === 5", seconds=240)
    held: list[Any] = []
    page.route("**/api/traces", lambda route: held.append(route))
    page.fill("[data-field=text]", "the dog")
    page.wait_for_selector("[data-stale=old]")
    assert page.inner_text("[data-stale]") == "The picture is still that of “the cat sat”."
    until(page, "+getComputedStyle(document.querySelector('.stage')).opacity < 0.6")
    for route in held:
        route.continue_()
    page.unroute("**/api/traces")
    until(page, f"{STALE} === null && document.querySelectorAll('{QUERY}').length === 4")
    until(page, "+getComputedStyle(document.querySelector('.stage')).opacity === 1")


def test_two_equal_heads_are_said_to_be_the_same(page, home):
    text = "#text=the+cat+sat&otherText=the+cat+sat&view=compare&kind=encoder&layer=0&heads=0"
    page.goto(home + text)
    page.wait_for_selector("[data-distance]")
    assert page.inner_text("[data-distance]").startswith("The same")


def test_the_saved_example_is_what_the_model_gives():
    from regard.app.saved import PLACE, made_example
    from regard.views.wire import decode

    kept, made = decode(PLACE.read_bytes()), decode(made_example())
    assert [token.text for token in kept.tokens] == [token.text for token in made.tokens]
    for layer in kept.layers("encoder"):
        np.testing.assert_allclose(kept.attention(layer), made.attention(layer), atol=0.02)
    assert Path(PLACE).stat().st_size < 250_000


def test_without_a_text_the_old_picture_is_dimmed_and_says_of_which_text_it_is(page, home):
    page.goto(home + "#text=the%20cat%20sat&view=heads")
    until(page, "document.querySelector('[data-saved]') === null", seconds=240)
    page.wait_for_selector(QUERY)
    page.fill("[data-field=text]", "")
    page.wait_for_selector("[data-stale=old]")
    assert page.inner_text("[data-stale]") == "The picture is still that of “the cat sat”."
    until(page, "+getComputedStyle(document.querySelector('.stage')).opacity < 0.7")
