"""Going back: what was chosen before, with the browser's Back or Ctrl-Z; where the keyboard is; what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from test_heads import QUERY, address, pressed, until
from tests.app.conftest import hosted

HEAD = "document.querySelector('.inspector h2').innerText"
ASKED = "#text=The+cat+sat.&view=heads&kind=encoder&layer=1&heads=3"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of an app with the default model."""
    with hosted() as (found, _):
        yield found


@pytest.fixture
def opened(browser: Any, site: str) -> Iterator[Any]:
    """The app with a text and a head in its address."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(240_000)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(site + ASKED)
    page.wait_for_selector(QUERY)
    until(page, "document.querySelector('[data-saved]') === null", seconds=240)
    yield page
    context.close()
    assert troubles == []


def choose(page: Any, act: str, *values: str) -> str:
    """Do something that changes the address; the address it led to."""
    before = address(page)
    getattr(page, act)(*values)
    until(page, "before => decodeURIComponent(location.hash) !== before", before)
    page.wait_for_timeout(250)
    return address(page)


def goes_to(page: Any, hash_: str) -> None:
    until(page, "wanted => decodeURIComponent(location.hash) === wanted", hash_)
    page.wait_for_timeout(150)
    assert address(page) == hash_  # and it stays


def test_ctrl_z_in_the_app_undoes_head_layer_view_and_text_one_by_one(opened):
    places = [address(opened)]
    places.append(choose(opened, "click", "[data-heads=all]"))
    places.append(choose(opened, "select_option", "[data-control=layer]", "4"))
    places.append(choose(opened, "click", "[data-view=matrix]"))
    places.append(choose(opened, "fill", "[data-field=text]", "The cat sat on the mat."))
    assert len(set(places)) == 5
    opened.evaluate("document.activeElement.blur()")
    for former in places[-2::-1]:
        opened.keyboard.press("Control+z")
        goes_to(opened, former)
    assert opened.input_value("[data-field=text]") == "The cat sat."
    assert pressed(opened) == [3]
    until(opened, f"document.querySelectorAll('{QUERY}').length === 6")
    opened.keyboard.press("Control+z")  # nothing is left to undo, and the page stays
    goes_to(opened, places[0])
    opened.keyboard.press("Control+Shift+z")
    goes_to(opened, places[1])
    assert len(pressed(opened)) == 12


def test_back_and_forward_of_the_browser_do_the_same(opened):
    first = address(opened)
    second = choose(opened, "click", "[data-view=atlas]")
    opened.go_back()
    goes_to(opened, first)
    opened.wait_for_selector(QUERY)
    opened.go_forward()
    goes_to(opened, second)
    opened.wait_for_selector(".thumb")


def test_a_sentence_typed_without_a_pause_is_one_choice(opened):
    first = address(opened)
    opened.click("[data-field=text]")
    opened.keyboard.press("End")
    opened.keyboard.type(" It slept.", delay=20)
    until(opened, "location.hash.includes('slept.')")
    until(opened, f"document.querySelectorAll('{QUERY}').length === 9")
    opened.go_back()
    goes_to(opened, first)
    assert opened.input_value("[data-field=text]") == "The cat sat."


def test_pins_come_back_with_their_text(opened):
    with_pin = choose(opened, "click", f"{QUERY} >> nth=4")
    assert "queries=4" in with_pin
    choose(opened, "fill", "[data-field=text]", "Cat.")
    until(opened, f"document.querySelectorAll('{QUERY}').length === 4")
    opened.go_back()
    goes_to(opened, with_pin)
    until(opened, f"document.querySelectorAll('{QUERY}').length === 6")


def test_arrow_keys_never_leave_the_view(opened):
    opened.click("[data-view=heads]")
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        opened.keyboard.press(key)
        assert opened.get_attribute("[role=tab][aria-selected=true]", "data-view") == "heads"
    opened.focus("[data-view=heads]")
    opened.keyboard.press("ArrowRight")
    assert opened.get_attribute("[role=tab][aria-selected=true]", "data-view") == "heads"


def test_the_focus_is_back_where_it_was_after_help_and_menus(opened):
    focused = "document.activeElement.dataset.head ?? document.activeElement.dataset.openPanel"
    opened.focus("[data-head='5']")
    opened.keyboard.press("?")
    opened.wait_for_selector("dialog.help")
    opened.click("dialog.help button")
    until(opened, f"({focused}) === '5'")
    opened.click("[data-open-panel=examples]")
    opened.click("[data-example=next]")
    until(opened, f"({focused}) === 'examples'")


def test_saved_pages_go_back_too_and_remember_language_and_theme(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(QUERY)
    first = address(page)
    second = choose(page, "click", "[data-head='2']")
    choose(page, "click", "[data-view=matrix]")
    page.keyboard.press("Control+z")
    goes_to(page, second)
    page.keyboard.press("Control+z")
    goes_to(page, first)
    page.click("[data-tool=language]")
    page.click("[data-tool=theme]")
    page.reload()
    page.wait_for_selector(QUERY)
    assert page.get_attribute(".regard", "lang") == "zh"
    assert page.get_attribute(".regard", "data-theme") == "dark"


def find(page: Any, words: str) -> list[list[str]]:
    """Type into the palette; what it finds."""
    page.keyboard.press("Control+k")
    page.wait_for_selector(".palette input")
    page.keyboard.type(words)
    every = "all => all.map(e => [e.dataset.found, e.querySelector('.label').innerText])"
    return page.eval_on_selector_all(".palette [role=option]", every)


def test_ctrl_k_finds_heads_tokens_patterns_and_views_in_a_saved_page(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(QUERY)
    page.focus("[data-head='3']")
    assert find(page, "2.1")[0] == ["head", "2.1"]
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('layer=2') && location.hash.includes('heads=1')")
    assert page.evaluate("document.activeElement.dataset.head") == "3"  # the focus is back
    found = find(page, "store")
    assert [sort for sort, _ in found][:2] == ["token", "token"]
    assert found[0][1] == "store₅"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('queries=10')")
    found = find(page, "previous")
    assert found[0] == ["pattern", "previous token"]
    assert ["head", "0.1"] in found
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('layer=0') && location.hash.includes('heads=1')")
    assert find(page, "matrix")[0] == ["view", "Matrix"]
    page.keyboard.press("Enter")
    assert page.get_attribute("[role=tab][aria-selected=true]", "data-view") == "matrix"
    assert find(page, "nothing like it") == []
    page.keyboard.press("Escape")
    assert page.query_selector(".palette") is None
    assert "queries=10" in address(page)  # Esc closed the palette, and nothing else


# Esc in the palette, and Ctrl-K as soon as it has gone, before the browser says that it closed.
AT_ONCE = """() => new Promise(done => {
  const press = (key, ctrlKey) => new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true });
  new MutationObserver((_, gone) => {
    if (document.querySelector('.palette')) return;
    gone.disconnect();
    document.activeElement.dispatchEvent(press('k', true));
    setTimeout(done, 300);
  }).observe(document.body, { childList: true, subtree: true });
  document.querySelector('.palette input').dispatchEvent(press('Escape', false));
})"""


def test_a_palette_that_is_opened_again_at_once_stays_open(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(QUERY)
    page.focus("[data-head='3']")
    find(page, "2.1")
    page.evaluate(AT_ONCE)
    assert page.query_selector(".palette") is not None


def test_ctrl_k_in_the_app_also_finds_models_and_examples(opened):
    opened.focus("[data-field=text]")
    assert ["command", "translator"] in find(opened, "translator")
    opened.keyboard.press("Control+k")
    assert opened.query_selector(".palette") is None
    assert opened.evaluate("document.activeElement.dataset.field") == "text"
    assert find(opened, "didn't")[0][1].startswith("The animal didn't")
    opened.keyboard.press("Enter")
    until(opened, "document.querySelector('[data-field=text]').value.startsWith('The animal')")
