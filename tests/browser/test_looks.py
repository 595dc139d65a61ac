"""What can be asked of one look: why there, as lines back through the layers; and what the model says without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from test_access import COLOURS, SETTLED, violations, with_axe
from test_heads import QUERY, still, until
from tests.app.conftest import hosted
from tests.browser.windows import Windows

MODEL = "SmolLM2-135M-Instruct"
TEXT = "The cat sat on the mat. The cat sat"
WHY = {"kind": "decoder", "layer": 18, "heads": 6}
BARS = "all => all.map(e => [+e.dataset.bar, e.dataset.ghost === undefined ? null : +e.dataset.ghost])"


@pytest.fixture(scope="module")
def home(smollm: Any) -> Iterator[str]:  # skipped where the model is missing
    with hosted(models=(MODEL,)) as (found, _):
        yield found


@pytest.fixture
def use(windows: Windows, home: str) -> Iterator[Callable[..., Any]]:
    with windows.lent() as take:

        def open_app(text: str = TEXT, *, width: int = 1440, **more: object) -> Any:
            page = take(viewport={"width": width, "height": 900}, locale="en-US")
            parts = {"text": text, "view": "heads", **WHY, **more}
            page.goto(home + "#" + "&".join(f"{name}={quote(str(value))}" for name, value in parts.items()))
            page.wait_for_selector("#regard:not([data-saved]) .token")
            return page

        yield open_app


def click_line(page: Any, query: int, key: int) -> None:
    """Click a line in the middle between its two ends."""
    ends = [page.locator(f".token[data-side={side}] >> nth={at}") for side, at in (("query", query), ("key", key))]
    (a, b) = [end.bounding_box() for end in ends]
    x = (a["x"] + a["width"] + b["x"]) / 2
    y = (a["y"] + b["y"]) / 2 + a["height"] / 2
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def barriers(page: Any) -> list[str]:
    """What axe-core finds in both themes."""
    found = []
    with_axe(page)
    for rules in (None, COLOURS):
        until(page, SETTLED, seconds=60)
        still(page)
        found += violations(page, rules)
        page.click("[data-tool=theme]")
    return found


def test_a_line_leads_back_to_the_head_that_wrote_what_came_before(use):
    page = use()
    page.wait_for_selector(QUERY)
    assert page.locator("[data-do=why]").count() == 0
    click_line(page, 9, 3)
    until(page, "location.hash.includes('queries=9&keys=3')")
    page.click("[data-do=why]")
    page.wait_for_selector("[data-why=found]")
    parts = page.eval_on_selector_all(
        ".app-why > .app-parts li", "all => all.map(e => [e.dataset.part, +e.dataset.share])"
    )
    assert parts[0][0] == "16.0"  # the previous-token head of the induction circuit, found without naming it
    assert parts[0][1] == max(share for name, share in parts if name != "rest")
    assert parts[-1][0] == "rest"
    assert "Head 16.0 brought “sat”₂ here: “on”₃ carries what stood before it." in page.inner_text(".app-why")
    assert "not what would happen without a part" in page.inner_text("[data-why-sum]")
    said = page.inner_text("[data-headline=news]")
    assert page.locator(".app-back header p").count() == 0  # said once
    assert (
        "18.6 looks from “sat”₉ to “on”₃ above all because head 16.0 had copied “sat”₂, the token before it, "
        "into “on”₃: induction." in said
    )
    names = page.eval_on_selector_all("[data-line]", "all => all.map(e => e.dataset.line)")
    assert names[:2] == ["18.6 9 3", "16.0 3 2"]
    rows = page.eval_on_selector_all(".app-back-drawing svg text", "all => all.map(e => e.textContent)")
    assert rows.index("layer 18") < rows.index("layer 16") and "layer 17 not drawn" in rows
    assert not barriers(page)
    page.click("[data-line='16.0 3 2']")
    until(page, "location.hash.includes('layer=16&heads=0&queries=3&keys=2')")
    assert page.locator("[data-line]").count() == len(names)  # the drawing stays while one goes through it
    page.click("[data-why-on='16.0']")
    news = "document.querySelector('[data-headline=news]')"
    until(page, f"{news}?.innerText.startsWith('16.0 looks from “on”₃ to “sat”₂')")
    assert "18.6 looks from “sat”₉" in page.inner_text(".app-back header")
    page.keyboard.press("Control+z")
    until(page, f"{news} === null")
    assert page.locator(".app-back header p").count() == 1
    page.click("[data-do=why-close]")
    until(page, "document.querySelector('.app-back') === null")


def test_the_headline_over_a_sentence_shows_no_other_look_than_the_picture(use):
    page = use(f"{TEXT} on the mat. The cat", layer=16, heads=0, form="sentence")
    page.wait_for_selector("[data-focus]")
    until(page, "document.querySelector('[data-headline=finding]') !== null", seconds=60)
    assert page.inner_text("[data-headline]") == "Head 16.0 looks one token back."
    assert "The next word is chosen at “cat”₁₅" in page.inner_text("[data-focus]")
    page.click("[data-value=columns]")
    until(page, "document.querySelector('[data-headline]').textContent.includes(' gives ')")
    page = use(layer=16, heads=0, form="sentence")  # too short for a name
    page.wait_for_selector("[data-focus]")
    until(page, "document.querySelector('[data-headline=finding]') !== null", seconds=60)
    assert page.inner_text("[data-headline]") == "Head 16.0 follows no named pattern here."


LOWER = """() => {
  const source = document.querySelector('.sheet canvas');
  const word = document.querySelector('.token').getBoundingClientRect();
  const copy = Object.assign(document.createElement('canvas'), {width: source.width, height: source.height});
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(source, 0, 0);
  const from = Math.round(word.bottom - source.getBoundingClientRect().top + 8);
  const data = context.getImageData(0, from, copy.width, copy.height - from).data;
  return data.filter((value, i) => i % 4 === 3 && value > 8).length;
}"""


def test_one_pinned_link_over_a_sentence_has_one_arc(use):
    page = use(form="sentence", queries=9, keys=3)
    still(page)
    assert page.evaluate(LOWER) == 0  # no second arc below, which would say the same
    page.keyboard.press("Escape")
    page.locator(".token").nth(3).hover()
    until(page, f"({LOWER})() > 200")


TICKS = "all => all.map(e => [+e.dataset.tick, +e.querySelector('text').getAttribute('x'), e.textContent])"
DOTS = "all => all.map(e => [+(e.dataset.otherCut ?? e.dataset.ownCut), +e.getAttribute('cx')])"


def test_a_look_is_cut_and_restored_and_the_numbers_are_pythons(use, smollm):
    page = use(queries=9, keys=3)
    page.wait_for_selector("[data-says] [data-bar]")
    page.click("[data-do=cut]")
    page.wait_for_selector("[data-headline=news]")
    bars = page.eval_on_selector_all("[data-cut-below] [data-bar]", BARS)
    found = smollm.cut(TEXT, edges=[("decoder", 18, 6, 9, 3)], controls=0)
    rows = [(row.after["mask"], row.before) for row in found.rows]
    wanted = sorted(rows, key=lambda pair: -abs(pair[0] - pair[1]))[: len(bars)]  # what moves most comes first
    assert bars == [pytest.approx(pair, abs=1e-4) for pair in wanted] and len(bars) > 3
    assert any(abs(now - ghost) > 1e-3 for now, ghost in bars)
    said = page.locator("[data-cut-below] [data-difference]").first.inner_text().replace("−", "-")
    assert float(said) == pytest.approx(100 * (bars[0][0] - bars[0][1]), abs=0.06)  # percentage points
    done = "Cutting “sat”₉ → “on” in head 18.6 lowers “on” after “sat”₉ from {:.0%} to {:.0%}."
    assert page.inner_text("[data-headline]").startswith(done.format(found.change.before, found.change.after))
    assert "before the cut" in page.inner_text(".headings") and "weight before the cut." in page.inner_text(".legend")
    means = "From “sat”₉, this head no longer sees “on”: that share of the attention goes to the other tokens."
    assert means in page.inner_text(".app-how")
    headline, panel = (page.locator(one).bounding_box() for one in ("[data-headline]", ".inspector"))
    assert headline["x"] + headline["width"] <= panel["x"]  # in its column
    page.wait_for_selector("[data-cut-control]")
    control = page.text_content("[data-cut-control] p")
    assert "times what a random line of the nearest weight does" in control
    count, larger = re.search(r"n = (\d+), as much or more: (\d+)", control).groups()
    verdict = (
        f"{larger} of {count} random cuts did as much: not clearly more than chance."
        if int(larger)
        else f"None of {count} random cuts did as much (p = {1 / (int(count) + 1):.1g})."
    )
    assert verdict in page.inner_text("[data-headline]")
    others = page.eval_on_selector_all("[data-other-cut]", "all => all.map(e => +e.dataset.otherCut)")
    own = float(page.get_attribute("[data-own-cut]", "data-own-cut"))
    assert own == pytest.approx(found.change.after - found.change.before, abs=1e-4)
    assert (len(others), sum(abs(one) >= abs(own) for one in others)) == (int(count), int(larger))
    assert page.text_content("[data-strip] [data-axis]") == "change of the probability of “on” in percentage points"
    ticks = page.eval_on_selector_all("[data-tick]", TICKS)  # the axis has numbers, and dots stand where they say
    assert len(ticks) >= 3 and any(value == 0 for value, _, _ in ticks)
    (low, left, _), (high, right, _) = ticks[0], ticks[-1]
    assert all(float(text.replace("−", "-")) == pytest.approx(value, abs=1e-9) for value, _, text in ticks)
    for value, at in page.eval_on_selector_all("[data-other-cut], [data-own-cut]", DOTS):
        assert at == pytest.approx(left + (100 * value - low) * (right - left) / (high - low), abs=0.1)
    page.click(".app-how button >> nth=1")
    until(page, "location.hash.includes('how=zero')")
    zero = smollm.cut(TEXT, edges=[("decoder", 18, 6, 9, 3)], how="zero", controls=0).change.after
    first = "+document.querySelector('[data-cut-below] [data-bar]').dataset.bar"
    until(page, f"Math.abs({first} - {zero}) < 1e-4", seconds=60)
    assert not barriers(page)
    page.keyboard.press("Control+z")
    until(page, "!location.hash.includes('how=zero')")
    assert page.locator("[data-cut-edge='decoder:18.6:9-3']").count() == 1
    page.click("[data-do=restore]")
    until(page, "document.querySelector('.app-cut') === null")
    assert page.locator("[data-says] [data-bar]").count() > 0  # what the model says is there again


def test_a_cut_in_the_address_is_asked_about_once(use):
    """Its comparison with random lines stays: nothing asks again when it is known what the model says."""
    asked = []
    page = use(queries=9, keys=3)
    address = page.url + "&cut=decoder:18.6:9-3"
    page.goto("about:blank")
    page.on("request", lambda request: asked.append(request.post_data_json) if "/api/cut" in request.url else None)
    page.goto(address)
    page.wait_for_selector("[data-cut-control]")
    page.wait_for_selector("[data-bar]")
    page.wait_for_timeout(1500)
    assert "n = " in page.text_content("[data-cut-control] p")
    assert len({one["controls"] for one in asked}) == len(asked) == 2


@pytest.mark.parametrize(
    ("pins", "asked", "said"),
    [
        ({"keys": 3}, (None, 3), "all → on"),
        ({"queries": "8,9", "keys": "2,3"}, ([8, 9], [2, 3]), "cat₈ sat₉ → sat₂ on"),
    ],
)
def test_a_column_and_a_block_are_cut_and_the_numbers_are_pythons(use, smollm, pins, asked, said):
    page = use(**pins)
    page.click("[data-do=cut]")
    until(page, "document.querySelectorAll('[data-cut-below] [data-ghost]').length > 0", seconds=60)
    assert said in page.inner_text("[data-cut-edge]")
    made = smollm.cut(TEXT, edges=[("decoder", 18, 6, *asked)], controls=0)
    after, before = page.eval_on_selector_all("[data-cut-below] [data-bar]", BARS)[0]
    assert (before, after) == pytest.approx((made.change.before, made.change.after), abs=1e-5)


def test_a_row_is_cut_and_a_new_text_restores_it(use):
    page = use(queries=9)
    page.click("[data-do=cut]")
    until(page, "location.hash.includes('cut=decoder:18.6:9-*')")
    assert "sat₉ → all" in page.inner_text("[data-cut-edge]")
    page.click("[data-keep='3']")  # in the list of what it looks at: now both ends are pinned
    until(page, "location.hash.includes('queries=9&keys=3')")
    page.wait_for_selector("[data-do=why]")
    page.fill("[data-field=text]", "The dog ran. The dog")
    until(page, "!location.hash.includes('cut=')")
    assert page.locator(".app-cut").count() == 0


def test_what_cannot_be_asked_is_said_where_the_answer_would_be(use):
    page = use(queries=3, keys=9)  # a causal model never looks ahead
    page.click("[data-do=why]")
    page.wait_for_selector("[data-why=trouble] [role=alert]")
    page.click("[data-do=cut]")
    page.wait_for_selector(".app-cut [role=alert]")
    assert "there is no line" in page.inner_text(".app-cut [role=alert]").lower()
    assert page.locator(".stage .token").count() > 0


def test_on_a_phone_the_drawing_stands_below_the_view_within_the_page(use):
    page = use(width=390, queries=9, keys=3, why="decoder:18.6:9-3")
    page.wait_for_selector("[data-line='16.0 3 2']")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    edges = page.eval_on_selector_all(
        ".app-back-drawing svg text, .app-back-drawing li",
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.right])",
    )
    assert min(left for left, _ in edges) >= 0 and max(right for _, right in edges) <= 390
