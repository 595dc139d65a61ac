"""Where an answer came from, beside what the model says: the prompt tinted, with Python's numbers and heads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from test_access import COLOURS, violations, with_axe
from test_heads import QUERY, until
from tests.app.conftest import hosted
from tests.browser.windows import Windows
from tests.models.talkers import NAMED
from tests.tiny import enlarged, saved, tiny_llama

import regard
from regard.ablation.evidence import answer_evidence
from regard.app.settings import Limits

TEXT = "The cat sat on the mat. 😀 A dog ran home! Who ran"
STARTS = "[...document.querySelectorAll('[data-sentence]')].map(e => Number(e.dataset.sentence))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, bytelevel: Any) -> Path:
    tokenizer = bytelevel
    tokenizer.model_max_length, tokenizer.chat_template = 512, NAMED
    model = enlarged(tiny_llama(tokenizer, max_position_embeddings=512), 12)
    return saved(model, tmp_path_factory.mktemp("models") / "talker")


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[str]:
    with hosted(models=(str(folder),), limits=Limits(answer=40)) as (found, _):
        yield found


@pytest.fixture(params=["en-US", "zh-CN"])
def page(windows: Windows, home: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    with windows.lent() as take:
        page = take(viewport={"width": 1280, "height": 800}, locale=request.param)
        page.goto(f"{home}#model={quote(str(folder))}&text={quote(TEXT)}&generate=10&view=heads")
        page.wait_for_selector(QUERY)
        page.wait_for_selector("[data-says='next token'] [data-do=evidence]")
        yield page


def test_the_prompt_is_tinted_on_request_with_what_python_finds(page, folder):
    assert page.locator("[data-evidence] .tinted").count() == 0
    page.click("[data-do=evidence]")
    page.wait_for_selector("[data-evidence=found] .tinted")
    found = answer_evidence(regard.load(str(folder)), TEXT, generate=10)
    assert page.inner_text("[data-evidence] .tinted") == TEXT
    places = list(dict.fromkeys((token.start, token.end) for token in found.tint))  # a smiley has several tokens
    assert page.locator("[data-evidence] mark").count() == len(places) < len(found.tint)
    for name in ("worth", "contribution", "attention"):
        page.check(f"[data-evidence] input[value={name}]")
        best = found.ranked(name)
        until(page, f"{STARTS}.join() === '{','.join(str(one.start) for one in best[:3])}'")
        marked = page.evaluate("[...document.querySelectorAll('[data-evidence] mark.best')].map(e => e.textContent)")
        assert "".join(marked).strip() == best[0].text
        most = max(abs(getattr(token, name)) for token in found.tint)
        tints = page.evaluate(
            "[...document.querySelectorAll('[data-evidence] mark')].map(e => Number(e.style.getPropertyValue('--t')))"
        )
        own = {place: [t for t in found.tint if (t.start, t.end) == place] for place in places}
        expected = [abs(sum(getattr(token, name) for token in tokens)) / most for tokens in own.values()]
        assert tints == pytest.approx(expected, abs=2e-3)
    assert page.locator("[data-evidence] [data-note]").get_attribute("data-note") == found.notes[0].code
    page.click("[data-do=evidence]")
    assert page.locator("[data-evidence] .tinted").count() == 0


def test_the_heads_that_fetched_a_sentence_open(page):
    page.click("[data-do=evidence]")
    head = page.locator("[data-evidence] [data-head]").first
    name = head.get_attribute("data-head")
    head.click()
    until(page, f"document.querySelector('.inspector h2').textContent.includes('{name}')")


def test_another_text_has_other_evidence(page):
    page.click("[data-do=evidence]")
    page.wait_for_selector("[data-evidence=found] .tinted")
    page.fill("[data-field=text]", "A hen sat. A dog ran.")
    until(page, "document.querySelector('[data-evidence] .tinted')?.textContent === 'A hen sat. A dog ran.'")


def test_a_message_is_searched_for_what_was_answered(browser, home, folder):
    context = browser.new_context(viewport={"width": 390, "height": 800}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(240_000)
    page.goto(f"{home}#model={quote(str(folder))}&view=chat")
    page.fill("[data-field=message]", "A hen sat. A dog ran.")
    page.click("[data-do=send]")
    page.wait_for_selector("[data-role=assistant] [data-word]")
    page.wait_for_selector("[data-do=show]")
    page.click("[data-do=show]")
    page.wait_for_selector("[data-do=evidence]", state="attached")
    page.locator("[data-do=evidence]").evaluate("e => e.click()")
    page.wait_for_selector("[data-evidence=found] .tinted", state="attached")
    assert page.text_content("[data-evidence] .tinted") == "A hen sat. A dog ran."
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_it_fits_the_drawer_and_everything_can_be_tapped(browser, home, folder, theme):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, locale="en-US", color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(240_000)
    page.goto(f"{home}#model={quote(str(folder))}&text={quote(TEXT)}&generate=10&view=heads")
    page.wait_for_selector("[data-do=evidence]", state="attached")
    page.click(".drawer summary")
    page.click("[data-do=evidence]")
    page.wait_for_selector("[data-evidence=found] .tinted")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = page.eval_on_selector_all(
        "[data-evidence] button, [data-evidence] label",
        """all => all.map(e => [e.textContent, e.getBoundingClientRect()])
          .map(([text, box]) => [text, box.left, box.right, box.height])""",
    )
    assert len(boxes) >= 1 + 3 + 3
    for text, left, right, high in boxes:
        assert left >= 0 and right <= 390 and high >= 24, text
    middles = page.eval_on_selector_all(
        "[data-evidence] legend, [data-evidence] label:first-of-type",
        "all => all.map(e => e.getBoundingClientRect()).map(b => b.top + b.height / 2)",
    )
    assert abs(middles[0] - middles[1]) <= 2  # on one line
    assert violations(with_axe(page), COLOURS if theme == "dark" else None) == []
    context.close()
