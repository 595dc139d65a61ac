"""What a stranger must see at once: one line of choices, a way out where a model does not answer, verdicts first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any
from urllib.parse import quote

import pytest
from test_heads import QUERY, until
from tests.app.conftest import hosted
from tests.models.talkers import NAMED
from tests.tiny import enlarged, saved, tiny_bert, tiny_llama

from regard.app.settings import Limits

TEXT = "the cat sat on the mat and a dog went to the store"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, bytelevel: Any, wordpiece: Any) -> tuple[str, str]:
    tokenizer = deepcopy(bytelevel)
    tokenizer.model_max_length, tokenizer.chat_template = 512, NAMED
    place = tmp_path_factory.mktemp("models")
    reader = saved(tiny_bert(wordpiece, num_attention_heads=12, hidden_size=48), place / "all-MiniLM-L6-v2-like")
    talker = saved(enlarged(tiny_llama(tokenizer, max_position_embeddings=512), 12), place / "talker")
    return str(reader), str(talker)


@pytest.fixture(scope="module")
def home(models: tuple[str, str]) -> Iterator[str]:
    with hosted(models=models, limits=Limits(answer=40)) as (found, _):
        yield found


@pytest.fixture
def use(browser: Any, home: str) -> Iterator[Callable[..., Any]]:
    contexts, troubles = [], []

    def open_app(address: str, width: int = 1280, prepare: str = "", **options: Any) -> Any:
        size = {"width": width, "height": 844 if width < 600 else 800}
        context = browser.new_context(viewport=size, **{"locale": "en-US", **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(240_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.add_init_script(prepare)
        page.goto(f"{home}/{address}")
        return page

    yield open_app
    for context in contexts:
        context.close()
    assert troubles == []


def heads(models: tuple[str, str], number: int, *more: str) -> str:
    parts = [f"model={quote(models[number])}", f"text={quote(TEXT)}", "view=heads", "layer=0", "heads=0", *more]
    return "#" + "&".join(parts)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_choices_stand_in_one_line_and_contributions_move_nothing(use, models, locale):
    pair = f"pair={quote('the cat bought strawberries')}"  # a word of several tokens
    page = use(heads(models, 0, pair, "form=columns"), locale=locale)
    page.wait_for_selector(QUERY)
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    page.wait_for_selector("[data-value=contributions]")
    for needed in ("[data-control=segments]", "[data-control=special]", "[data-value=words]", "[data-head='11']"):
        assert page.locator(needed).is_visible()  # as much as there ever is with twelve heads
    slider, first = (page.locator(f"[data-control={name}]").bounding_box() for name in ("threshold", "layer"))
    assert abs(slider["y"] + slider["height"] / 2 - first["y"] - first["height"] / 2) < 12
    before = page.locator("[data-tool=help]").bounding_box()
    page.click("[data-value=contributions]")
    page.wait_for_selector("[data-control=relative]")
    after = page.locator("[data-tool=help]").bounding_box()
    tabs = page.locator("[data-view=atlas]").bounding_box()
    assert abs(before["x"] - after["x"]) < 1 and abs(after["y"] - tabs["y"]) < 20
    slider = page.locator("label.slider").bounding_box()
    assert abs(slider["y"] + slider["height"] / 2 - first["y"] - first["height"] / 2) < 12
    left = page.viewport_size["width"] - 24 - slider["x"] - slider["width"]
    assert left >= 30  # whatever the letters of the machine, and the threshold that is written there


STATES = """window.states = new Set();
new MutationObserver(() => {
  const has = (name) => document.getElementById("regard")?.hasAttribute(name);
  if (has("data-saved")) states.add(has("data-busy") ? "busy" : "idle");
}).observe(document, { attributes: true, subtree: true });"""


def test_the_page_is_busy_until_its_own_picture_is_there(use, models):
    page = use(heads(models, 0), prepare=STATES)
    page.wait_for_selector(QUERY)
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    assert page.locator("[data-stale]").count() == 0  # the line that says whose picture it was moves nothing later
    assert page.evaluate("[...states]") in (["busy"], [])  # nothing, where the model was sooner than the example


def test_a_model_that_does_not_answer_leads_to_one_that_does(use, models):
    page = use(f"#model={quote(models[1])}&view=chat")  # so that it is known what it can do
    page.wait_for_selector("[data-field=message]")
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    page = use(heads(models, 0).replace("view=heads", "view=chat"))
    page.wait_for_selector("[data-mute]")
    said, way = page.locator("[data-mute] h2"), page.locator(f"[data-talk={json.dumps(models[1])}]")
    assert "does not answer" in said.inner_text() and models[1] in way.inner_text()
    assert way.bounding_box()["y"] < 400  # where the eye is
    assert page.locator("[data-field=message]").count() == 0
    way.click()
    page.wait_for_selector("[data-field=message]")
    assert models[1] in page.get_attribute("[data-field=message]", "placeholder")
    until(page, "name => location.hash.includes(encodeURIComponent(name))", models[1])  # the address follows


def test_a_chat_begins_with_something_to_say_and_what_was_looked_at_is_beside_the_answer(use, models):
    page = use(f"#model={quote(models[1])}&view=chat")
    page.wait_for_selector("[data-start]")
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    assert page.locator("[data-field=text]").count() == 0  # one box to type in
    asked = page.locator("[data-start]").first.inner_text()
    page.locator("[data-start]").first.click()
    page.wait_for_selector("[data-do=send]")
    assert page.inner_text("[data-role=user] p") == asked
    answer, looked = page.locator("[data-role=assistant]").bounding_box(), page.locator("[data-looked]").bounding_box()
    form = page.locator("[data-field=message]").bounding_box()
    assert looked["x"] >= answer["x"] + answer["width"] and looked["y"] <= answer["y"]  # beside it, and not below
    lower = page.viewport_size["height"] - form["y"] - form["height"]
    assert 0 <= form["y"] - answer["y"] - answer["height"] < 60 and lower >= 0  # below what was said, in sight
    lit = page.locator("[data-word]:has([data-lit])")
    assert lit.count() == 1
    number = page.locator("[data-word]:not(:has([data-lit]))").first.get_attribute("data-word")
    other = page.locator(f"[data-word='{number}']")
    other.hover()
    assert other.locator("[data-lit]").count() == lit.count() == 1


def test_on_a_phone_what_a_switched_off_head_changes_is_said_once_above_the_picture(use, models):
    page = use(heads(models, 1, "off=decoder:0.0"), width=390, has_touch=True)
    page.wait_for_selector("[data-headline=news]")
    news, drawer = page.inner_text("[data-headline]"), page.inner_text(".drawer > summary span")
    assert news.startswith("Without 0.0 ") and drawer and drawer not in news


def test_rules_are_not_offered_to_be_saved_where_that_is_refused(browser, models, tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_RULES", str(tmp_path / "rules.toml"))
    for may in (True, False):
        with hosted(models=models[:1], save_rules=may) as (address, _):
            page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-US")
            page.goto(f"{address}/{heads(models, 0).replace('view=heads', 'view=atlas')}")
            page.fill("[data-field=rule]", "offset = -1")
            page.press("[data-field=rule]", "Enter")
            page.wait_for_selector("[data-followed]")
            assert page.locator("[data-do=rule-save]").count() == int(may)
            page.close()


def test_chinese_has_room_around_what_is_filled_in_and_none_between_sentences(use, models):
    page = use(heads(models, 0), locale="zh-CN")
    page.wait_for_selector(QUERY)
    page.wait_for_selector(".lede")
    text = page.inner_text(".inspector .about") + page.inner_text(".stage .legend")
    assert "。 " not in text and "停在[" not in text and "]上" not in text
