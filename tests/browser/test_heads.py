"""The head view in a saved page: choosing, hovering, keeping, filtering."""

from __future__ import annotations

import time

import pytest
from tests.browser.conftest import sequence_trace

QUERY, KEY = ".token[data-side=query]", ".token[data-side=key]"
# Counted on a copy: reading a canvas again and again would make the browser warn about the page's own.
INK = """selector => [...document.querySelectorAll(selector)].map(source => {
  const copy = Object.assign(document.createElement('canvas'), {width: source.width, height: source.height});
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(source, 0, 0);
  const data = context.getImageData(0, 0, copy.width, copy.height).data;
  let inked = 0;
  for (let i = 3; i < data.length; i += 4) inked += data[i] > 8;
  return inked;
})"""


def until(page, condition, arg=None, seconds=240):
    """Wait for a condition. The page's policy forbids eval, with which playwright's own waiting works."""
    deadline, pause = time.monotonic() + seconds, 10.0
    while not page.evaluate(condition, arg):
        assert time.monotonic() < deadline, f"never came true: {condition}"
        page.wait_for_timeout(pause)
        pause = min(1.5 * pause, 150)  # milliseconds: to ask often takes time from what is waited for


def still(page):
    """Wait until the page has drawn what it was told, and nothing moves any more."""
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    until(page, "document.getAnimations().every(one => one.playState !== 'running')")


def address(page):
    return page.evaluate("decodeURIComponent(location.hash)")


def pressed(page):
    return page.eval_on_selector_all(".head[aria-pressed=true]", "all => all.map(e => +e.dataset.head)")


def names(page, selector):
    return page.eval_on_selector_all(selector, "all => all.map(e => e.getAttribute('aria-label').split(': ')[1])")


@pytest.fixture
def pair(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(QUERY)
    return page


def test_it_draws_lines_between_two_columns_of_tokens(pair, pair_trace):
    assert names(pair, QUERY) == [t.text for t in pair_trace.tokens] == names(pair, KEY)
    assert pair.evaluate("performance.getEntriesByName('regard:drawn').length") == 1
    lines, front = pair.evaluate(INK, ".sheet canvas")
    assert lines > 5000
    assert front > 500
    assert "looks at" in pair.inner_text(".legend")
    assert pair.inner_text("[data-resting]") == "grey, drawn faintly: rests on [CLS], [SEP]"
    pair.dblclick("[data-head='1']")
    share = "drawn faintly: 16% of the words' attention rests, mostly on ["
    until(pair, "share => document.querySelector('[data-resting]').textContent.includes(share)", share)


def test_the_first_picture_does_not_wait_until_the_page_is_read(pair):
    marked = "performance.getEntriesByName('regard:drawn')[0].startTime"
    assert pair.evaluate(f"{marked} < performance.getEntriesByType('navigation')[0].domInteractive")


def test_heads_toggle_isolate_all_and_none(pair):
    assert pressed(pair) == [0, 1, 2, 3]
    pair.click("[data-head='2']")
    assert pressed(pair) == [0, 1, 3]
    pair.dblclick("[data-head='3']")
    assert pressed(pair) == [3]
    assert "heads=3" in address(pair)
    pair.click("[data-heads=none]")
    assert "No head is chosen" in pair.inner_text(".notice")
    pair.click("[data-heads=all]")
    assert pressed(pair) == [0, 1, 2, 3]


def test_pointing_at_a_query_shows_its_lines_alone_and_fills_the_keys(pair, pair_trace):
    pair.dblclick("[data-head='1']")
    pair.hover(f"{QUERY}[data-position='5']")
    pair.wait_for_selector(".ranking")
    assert "“store”₅ looks at" in pair.inner_text(".ranking h3")
    first = pair.inner_text(".ranking li >> nth=0").split()
    assert first[0] == "the₄"
    assert float(first[1].rstrip("%")) == pytest.approx(100 * pair_trace.attention(0, 1)[5, 4], abs=0.6)
    assert pair.evaluate("document.querySelector('.sheet canvas').style.opacity") == "0"
    pair.mouse.move(5, 5)
    until(pair, "document.querySelector('.sheet canvas').style.opacity === '1'")


def test_pointing_at_a_key_shows_who_looks_at_it(pair):
    pair.hover(f"{KEY}[data-position='3']")
    assert "“to” is looked at by" in pair.inner_text(".ranking h3")


def test_pins_stay_are_summed_and_are_cleared_by_escape(pair, pair_trace):
    pair.click(f"{QUERY}[data-position='2']")
    pair.click(f"{QUERY}[data-position='9']")
    pair.mouse.move(5, 5)
    assert "queries=2,9" in address(pair)
    assert "2 tokens together" in pair.inner_text(".ranking h3")
    both = pair_trace.attention(0)[:, [2, 9]].sum(axis=1).mean(axis=0)
    value = float(pair.inner_text(".ranking li >> nth=0").split()[-1])
    assert value == pytest.approx(both.max(), rel=0.02)
    pair.keyboard.press("Escape")
    assert "queries" not in address(pair)


def test_double_click_keeps_only_that_token(pair):
    pair.click(f"{QUERY}[data-position='2']")
    pair.dblclick(f"{KEY}[data-position='4']")
    assert "keys=4" in address(pair)
    assert "queries" not in address(pair)


def test_segments_filter_both_columns(pair, pair_trace):
    pair.select_option("[data-control=segments]", label="A → B")
    until(pair, f"document.querySelectorAll('{QUERY}').length === 8")
    texts = [t.text for t in pair_trace.tokens]
    assert names(pair, QUERY) == texts[:8]
    assert names(pair, KEY) == texts[8:]
    options = pair.eval_on_selector_all("[data-control=segments] option", "all => all.map(o => o.text)")
    assert options == ["all", "A → A", "A → B", "B → A", "B → B"]


def test_words_and_special_tokens(pair):
    pair.click("[data-value=words]")
    until(pair, f"[...document.querySelectorAll('{KEY}')].some(e => e.ariaLabel.endsWith('strawberries'))")
    pair.uncheck("[data-control=special]")
    until(pair, f"document.querySelectorAll('{KEY}').length === 15")
    assert not any(name.startswith("[") for name in names(pair, KEY))


def test_the_threshold_hides_weak_lines(pair):
    before = pair.evaluate(INK, ".sheet canvas")[0]
    pair.evaluate(
        "e => { e.value = 95; e.dispatchEvent(new Event('input', {bubbles: true})) }",
        pair.query_selector("[data-control=threshold]"),
    )
    until(pair, f"({INK})('.sheet canvas')[0] < {0.7 * before}")
    assert "threshold=0.857" in address(pair)


def test_layers_change_by_list_buttons_and_keys(pair):
    pair.select_option("[data-control=layer]", "2")
    assert "layer=2" in address(pair)
    pair.keyboard.press("Escape")
    pair.click(".inspector h2")  # where there is nothing to choose
    pair.keyboard.press("ArrowUp")
    assert "layer=1" in address(pair)
    pair.keyboard.press("ArrowRight")
    assert pressed(pair) == [1]


def test_contributions_raw_and_as_shares(pair, pair_trace):
    pair.dblclick("[data-head='0']")
    pair.click("[data-value=contributions]")
    pair.click(f"{QUERY}[data-position='4']")
    row = pair_trace.contributions(0, 0)[4]
    value = float(pair.inner_text(".ranking li >> nth=0").split()[-1])
    assert value == pytest.approx(row.max(), rel=0.02)
    pair.check("[data-control=relative]")
    until(pair, "document.querySelector('.legend').textContent.includes('share')")
    value = float(pair.inner_text(".ranking li >> nth=0").split()[-1])
    assert value == pytest.approx(row.max() / row.sum(), rel=0.02)


def test_maps_alone_say_why_there_are_no_contributions(show, pages):
    page = show(pages["maps"])
    page.wait_for_selector(QUERY)
    assert "without value vectors" in page.get_attribute("[data-contributions=none]", "title")


def test_an_encoder_decoder_has_three_kinds_with_their_own_layers_and_tokens(show, pages):
    page = show(pages["seq"])
    page.wait_for_selector(QUERY)
    layers = "all => all.map(o => +o.value)"
    assert page.eval_on_selector_all("[data-control=layer] option", layers) == [0, 1]
    page.click("[data-value=cross]")
    until(page, f"document.querySelectorAll('{QUERY}').length === 6")
    assert page.eval_on_selector_all("[data-control=layer] option", layers) == [0, 1, 2]
    assert names(page, QUERY)[:2] == ["wir", "mögen"]
    assert names(page, KEY) == ["we", "like", "fresh", "fruit", "."]
    crossing = [site for site in sequence_trace().sites if site.kind == "cross"]
    covers = {(site.layer, h): site.attention(h).max(axis=0).mean() for site in crossing for h in site.head_ids}
    layer, head = max(covers, key=lambda place: covers[place])  # the head that pairs the words best comes first
    assert f"layer={layer}" in address(page) and pressed(page) == [head]


def test_hues_tell_two_to_four_heads_apart_and_nothing_else(show, pages):
    page = show(pages["many"])
    page.wait_for_selector(".head")
    read = "all => all.map(e => getComputedStyle(e).backgroundColor)"
    chosen, others = ".head[aria-pressed=true]", ".head[aria-pressed=false]"
    (together,) = set(page.eval_on_selector_all(chosen, read))
    page.dblclick("[data-head='0']")
    assert page.eval_on_selector_all(chosen, read) == [together]
    for count, head in enumerate((1, 2, 3), start=2):
        page.click(f"[data-head='{head}']")
        hues = set(page.eval_on_selector_all(chosen, read))
        assert len(hues) == count and together not in hues
        assert len(set(page.eval_on_selector_all(others, read))) == 1


def test_any_token_is_just_text(show, pages):
    page = show(pages["odd"])
    page.wait_for_selector(QUERY)
    shown = names(page, QUERY)
    assert shown[0] == "</script><img src=x onerror=alert(1)>"
    assert shown[2:] == ["草莓", "فراولة", "space", "⏎"]
    titles = page.eval_on_selector_all(QUERY, "all => all.map(e => e.title)")
    assert titles[4:] == ["␣space", ""]  # the exact text where it is drawn in another way
    assert page.locator("img").count() == 0
    assert page.inner_text(".model") == "<b>odd</b>"
