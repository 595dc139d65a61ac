"""The chat of the app: answers as they come, what their words looked at, and the conversation in the views."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import httpx
import pytest
from test_heads import QUERY, until
from tests.app.conftest import hosted
from tests.models.talkers import CHAT, NAMED
from tests.tiny import enlarged, saved, tiny_llama

import regard
from regard.app.server import App
from regard.app.settings import Limits
from regard.models.speech import Speech

LONGEST = 40  # tokens of an answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, bytelevel: Any) -> str:
    tokenizer = deepcopy(bytelevel)
    tokenizer.model_max_length, tokenizer.chat_template = 2048, NAMED
    model = enlarged(tiny_llama(tokenizer, max_position_embeddings=2048), 12)
    return str(saved(model, tmp_path_factory.mktemp("models") / "talker"))


@pytest.fixture(scope="module")
def home(folder: str) -> Iterator[tuple[str, App]]:
    with hosted(models=(folder,), openai=True, limits=Limits(answer=LONGEST)) as found:
        yield found


@pytest.fixture
def use(windows: Any, home: tuple[str, App]) -> Iterator[Callable[..., Any]]:
    troubles: list[str] = []
    with windows.lent() as take:

        def open_app(address: str = "#view=chat", **options: Any) -> Any:
            page = take(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-US", **options})
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.goto(f"{home[0]}/{address}")
            until(page, "document.querySelector('[data-saved]') === null", seconds=240)
            return page

        yield open_app
    assert troubles == []


def say(page: Any, text: str) -> None:
    page.fill("[data-field=message]", text)
    page.press("[data-field=message]", "Enter")


def answered(page: Any, count: int) -> None:
    until(page, f"document.querySelectorAll('[data-role=assistant]').length === {count}", seconds=120)
    page.wait_for_selector("[data-do=send]")


def test_an_answer_comes_with_its_looks_and_then_the_conversation_is_in_the_views(use, folder):
    page = use()
    say(page, "the cat?")
    answered(page, 1)
    model = regard.load(folder)
    said = model._engine.speak(model._engine.prompt(conversation(CHAT[:1]), LONGEST), LONGEST)
    assert page.text_content("[data-role=assistant] p") == said.text
    assert int(page.get_attribute("[data-looked]", "data-looked")) > 0
    told = page.inner_text("[data-looked]")
    most, share = re.search(r"the word it looked at most was “(.+?)”\.\s+([\d.]+)% of all its attention", told).groups()
    parts = [int(one.removesuffix("%")) for one in page.locator("[data-share] b").all_inner_texts()]
    assert sum(parts) == 100 and len(parts) > 1  # one bar, divided
    shares = [float(one.removesuffix("%")) for one in page.locator("[data-looked] .look b").all_inner_texts()]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= sum(parts[:2]) + 1  # of all, as the parts are
    first = page.locator("[data-looked] .look .name").first.inner_text()
    assert float(share) >= shares[0] - 0.5 and (first == most or len(shares) > 1)  # equal tokens count together
    page.click("[data-do=show]")
    page.wait_for_selector(QUERY)
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    assert "the cat?" in page.inner_text("[data-spoken]")
    options = "[...document.querySelectorAll('[data-control=segments] option')].map(e => e.textContent)"
    until(page, f"{options}.includes('answer → user')")
    page.reload()
    page.wait_for_selector("[data-spoken]")
    page.click("[data-do=go-on]")
    assert page.text_content("[data-role=assistant] p") == said.text
    say(page, "on?")
    answered(page, 2)


def test_what_a_word_looked_at_is_tinted_where_it_was_said(use):
    """The tinted parts of the conversation are the tokens of the list, with their shares over them."""
    page = use()
    say(page, "the cat? \U0001f600 and the dog?")
    answered(page, 1)
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    page.locator("[data-word]").last.hover()
    until(page, "[...document.querySelectorAll('[data-word]')].at(-1).querySelector('[data-lit]') !== null")
    rows = "all => all.map(e => ['.name', 'small', 'b'].map(one => e.querySelector(one).textContent))"
    listed = page.eval_on_selector_all("[data-looked] .look", rows)
    ground = "e => getComputedStyle(e).backgroundColor"
    parts = page.locator(".turns [data-tint]").all()
    assert parts and all(part.evaluate(ground) != "rgba(0, 0, 0, 0)" for part in parts)
    assert all(part.get_attribute("data-tint") for part in parts)  # nothing is tinted without its share
    role = "e => [e.closest('[data-role]').dataset.role, e.dataset.tint]"
    tinted = [part.evaluate(role) for part in parts]
    where = {"prompt": "user", "answer": "assistant"}
    shares = [float(share[:-1]) for *_, share in listed]
    for name, who, share in listed:
        assert who or float(share[:-1]) <= 0.3 * shares[0]  # only small ones may be of no message
        if who and float(share[:-1]) > 0.12 * shares[0]:  # much smaller ones are not tinted
            assert (where[who], share) in map(tuple, tinted), (name, who, share, tinted)
    assert (
        page.evaluate("document.querySelector('[data-role=user] p').textContent") == "the cat? \U0001f600 and the dog?"
    )


def test_what_is_typed_stands_below_what_was_said_and_a_long_conversation_scrolls(use):
    page = use(viewport={"width": 1280, "height": 800})
    say(page, "the cat")
    answered(page, 1)
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    below = """() => {
      const [log, form] = ['.turns', '.app-chat form'].map(one => document.querySelector(one).getBoundingClientRect());
      const last = [...document.querySelectorAll('.turns article')].at(-1).getBoundingClientRect();
      return {gap: form.top - log.bottom, left: innerHeight - form.bottom, over: log.bottom - last.bottom};
    }"""
    found = page.evaluate(below)
    assert 0 <= found["gap"] < 20 and found["over"] < 20 and found["left"] > 100
    for n in range(2, 5):
        say(page, "the dog sat on the mat and the cat lay on the rug " * 6)
        answered(page, n)
    found = page.evaluate(below)
    assert 0 <= found["gap"] < 20 and 0 <= found["left"] < 60  # in sight, at the lower edge
    assert page.eval_on_selector(".turns", "log => log.scrollHeight > log.clientHeight")


def test_an_answer_can_be_stopped_and_a_message_said_differently(use, monkeypatch):
    hear = Speech.hear
    monkeypatch.setattr(Speech, "hear", lambda *given: time.sleep(1.5) or hear(*given))  # a minute to press in
    page = use()
    page.fill("[data-control=temperature]", "1.5")
    say(page, "the cat?")
    until(page, "document.querySelectorAll('[data-word]').length > 3", seconds=120)
    page.click("[data-do=stop]")
    answered(page, 1)
    monkeypatch.undo()
    count = page.locator("[data-word]").count()
    assert 3 < count < LONGEST - 5
    until(page, "document.querySelector('[data-busy]') === null", seconds=240)
    assert page.locator("[data-word]").count() == count  # nothing more came
    page.click("[data-do=edit]")
    assert page.input_value("[data-field=message]") == "the cat?" and page.locator("[data-role]").count() == 0
    page.fill("[data-control=temperature]", "0")
    say(page, "the dog?")
    answered(page, 1)
    assert page.inner_text("[data-role=user] p") == "the dog?"


def test_what_a_template_refuses_goes_back_to_where_it_was_typed(use):
    page = use()
    say(page, "a" * 3000)
    page.wait_for_selector("[data-trouble]")
    assert page.input_value("[data-field=message]") == "a" * 3000 and page.locator("[data-role]").count() == 0


def test_one_persons_conversation_is_not_in_anothers(use):
    one, other = use(), use()
    say(one, "a secret?")
    answered(one, 1)
    other.reload()
    other.wait_for_selector("[data-field=message]")
    assert other.locator("[data-role]").count() == 0 and "secret" not in other.content()


def test_the_link_of_an_answer_opens_its_views(use, home):
    body = {"messages": CHAT, "max_tokens": 12, "temperature": 0}
    link = httpx.post(f"{home[0]}/v1/chat/completions", json=body, timeout=240).json()["regard"]
    page = use(link.removeprefix(f"{home[0]}/"))
    page.wait_for_selector("[data-spoken]")
    page.wait_for_selector(QUERY)
    assert "on?" in page.inner_text("[data-spoken]")
    gone = use("#answer=nobody")
    assert "no longer kept" in gone.inner_text("[data-trouble]")


def test_it_speaks_chinese(use):
    page = use(locale="zh-CN")
    assert page.inner_text("[data-view=chat]") == "对话"
    say(page, "the cat?")
    answered(page, 1)
    assert "你的提问" in page.inner_text("[data-role=user] h3")


def conversation(messages: list[dict[str, str]]) -> Any:
    from regard.models.conversation import conversation_of

    return conversation_of(messages)
