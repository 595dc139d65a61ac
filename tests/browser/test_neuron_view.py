"""The neuron view in a real browser: its columns, its pin, and what a score is made of."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_heads import QUERY, address, until

N = r"(−?[\d.]+)"


def number(text):
    return float(text.replace("−", "-"))


def test_neurons_expand_collapse_order_and_pin(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5")
    page.wait_for_selector("[data-key='3']")
    assert "q × k / √16. The sum is the score." in page.inner_text(".legend")
    label = page.get_attribute("[data-key='3']", "aria-label")
    score, weight = re.search(r"score (−?[\d.]+), ([\d.<]+)", label).groups()
    assert float(score.replace("−", "-")) == pytest.approx(pair_trace.scores(0, 2)[5, 3], rel=0.01)
    assert float(weight.strip("< ")) == pytest.approx(pair_trace.attention(0, 2)[5, 3], rel=0.01, abs=1e-6)
    page.hover("[data-key='3']")
    page.wait_for_selector(".pair-about")
    said = page.inner_text("[data-rise]")
    scores = pair_trace.scores(0, 2)[5]
    score, above, average = map(
        number, re.search(rf"Score {N}, {N} (?:above|below) its row's average of {N}\.", said).groups()
    )
    assert (score, average) == pytest.approx((scores[3], scores.mean()), rel=0.06)
    assert above == pytest.approx(abs(scores[3] - scores.mean()), rel=0.06)
    assert re.search(r"\d+ of 16 neurons make up 90%", page.text_content(".pair-about details"))
    page.click("[data-key='3']")
    page.click("[data-query='8']")
    page.click("[data-key='12']")
    assert "pairs=5,3,8,12" in address(page)
    assert page.locator(".pair canvas").count() == 2
    strip = "document.querySelector('.pair canvas').toDataURL()"
    before = page.evaluate(strip)
    page.uncheck("[data-control=ordered]")  # they are ordered at first
    until(page, f"b => {strip} !== b", arg=before)
    page.click("[data-query='8']")
    assert page.get_attribute("[data-query='8']", "aria-expanded") == "false"


def test_the_neuron_view_takes_along_the_pin_that_nobody_chose(show, pages):
    page = show(pages["pair"], "#view=heads&layer=0&heads=2")
    page.wait_for_selector(QUERY)
    page.click("[data-view=neurons]")
    page.wait_for_selector("[data-query][aria-expanded=true]")
    page.click("[data-view=heads]")
    page.wait_for_selector(QUERY)
    assert "queries" not in address(page) and page.locator(".pins").count() == 0
    page.click("[data-view=neurons]")
    page.click("[data-query='5']")
    page.click("[data-view=heads]")
    page.wait_for_selector(QUERY)
    assert "queries=5" in address(page)


def test_the_score_is_attributed_exactly_where_parts_are_known(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5&pairs=5,3")
    page.wait_for_selector(".attribution")
    scores = pair_trace.scores(0, 2)[5]
    shown = float(page.get_attribute(".attribution caption", "data-sum"))
    assert shown == pytest.approx(scores[3] - scores.mean(), rel=1e-4)
    assert page.inner_text(".attribution caption").endswith(f": {shown:+.3g} in all".replace("-", "−"))
    assert page.locator(".attribution tbody tr").count() == 2
    assert page.locator(".attribution thead th").count() == 2  # the constant part of k moves nothing


def test_neurons_say_first_which_key_agrees_best(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=1&queries=10")
    said = page.inner_text(".agrees")
    scores = pair_trace.scores(0, 1)[10]
    assert int(page.get_attribute(".agrees", "data-best")) == scores.argmax() == 9
    assert said.startswith("“store”₁₀ looks most at “the”₉")
    score, above = map(number, re.search(rf"its score, {N}, is {N} above the row's average;", said).groups())
    assert (score, above) == pytest.approx((scores.max(), scores.max() - scores.mean()), rel=0.06)
    beside = page.inner_text("[data-rise]")  # what the headline leaves out, and nothing twice
    gets, average = re.match(rf"It gets ([\d.]+)% of the attention\. The row's average is {N}\.", beside).groups()
    assert "neurons" in said and "neurons" not in beside
    assert number(average) == pytest.approx(scores.mean(), rel=0.06)
    assert number(gets) == pytest.approx(100 * pair_trace.attention(0, 1)[10, 9], abs=0.6)
    page.click("[data-query='5']")
    until(page, "document.querySelector('.agrees').textContent.startsWith('“store”₅ looks most at “the”₄')")


def test_the_headline_tells_of_neurons_and_the_table_beside_it_of_the_parts_of_the_same_number(show, pages, pair_trace):
    """One number split two ways: each split says what it adds up to."""
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5")
    page.wait_for_selector(".attribution .most")
    scores, q, k = pair_trace.scores(0, 2)[5], pair_trace.q(0, 2)[5], pair_trace.k(0, 2)
    above = scores.max() - scores.mean()
    rise = pair_trace.site(0).scale * q * (k[scores.argmax()] - k.mean(0))
    most = np.argsort(-np.abs(rise))[:6]
    said = page.inner_text(".agrees")
    make = re.search(rf"; (?:(?:the )?6 of 16 neurons .*?){N}(?: of that| together)\.", said)
    assert number(make[1]) == pytest.approx(rise[most].sum(), abs=0.051)
    assert "position" not in said
    for heading in (".attribution caption", ".pair-about .parts h3"):
        told = re.search(r": ([+−][\d.]+) in all", page.inner_text(heading))
        assert number(told[1].lstrip("+")) == pytest.approx(above, rel=0.006)
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('.agrees').textContent.includes('of 16 neurons')")
    assert page.locator(".attribution").count() == 0


def test_it_is_said_in_how_many_of_the_neurons_that_count_q_and_k_have_the_same_sign(show, pages, pair_trace):
    counted = set()
    for query in (5, 8, 10):
        page = show(pages["pair"], f"#view=neurons&layer=0&heads=2&queries={query}")
        page.wait_for_selector(".counting")
        scores, q, k = pair_trace.scores(0, 2)[query], pair_trace.q(0, 2)[query], pair_trace.k(0, 2)
        key = scores.argmax()
        most = np.argsort(-np.abs(q * (k[key] - k.mean(0))))[:6]
        same = int((q[most] * k[key][most] > 0).sum())
        said = page.inner_text(".counting")
        assert ", ".join(map(str, most)) in said
        assert f"In {same} of these 6, " in said if 0 < same < 6 else "In all 6, " in said
        assert ("the same sign" in said) == (same > 0)
        counted.add(same)
    assert max(counted) > 0


def test_neurons_without_vectors_say_so(show, pages):
    page = show(pages["maps"], "#view=neurons&layer=0")
    page.wait_for_selector(".notice")
    assert "needs q and k" in page.inner_text(".notice")


def test_the_table_and_the_figure_name_the_same_neurons_in_the_same_order(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5")
    page.wait_for_selector(".pair-about .parts li")
    tops = page.eval_on_selector_all(".pair-about .parts li", "all => all.map(e => e.getBoundingClientRect().top)")
    assert tops[:3] == tops[3:6]  # two columns, so that they are in sight
    listed = [
        int(text.split()[-1]) for text in page.locator(".pair-about .parts ol li > span:first-child").all_inner_texts()
    ]
    said = re.search(r"By neuron: ([+−][\d.]+) in all", page.inner_text(".pair-about .parts h3"))
    scores, key = pair_trace.scores(0, 2)[5], pair_trace.scores(0, 2)[5].argmax()
    assert float(said[1].replace("−", "-")) == pytest.approx(scores[key] - scores.mean(), rel=0.06)
    drawn = pair_trace.figure("neurons", layer=0, head=2, query=5).figure
    assert listed == [int(label.get_text()) for label in drawn.axes[5].get_xticklabels()]
    q, k, scores = pair_trace.q(0, 2)[5], pair_trace.k(0, 2), pair_trace.scores(0, 2)[5]
    rise = pair_trace.site(0).scale * q * (k[scores.argmax()] - k.mean(0))
    assert listed == list(np.argsort(-np.abs(rise))[:6])


def test_a_neuron_table_says_once_which_tokens_cannot_be_looked_at(show, pages, tmp_path):
    page = show(pages["answered"], "#view=neurons&layer=0&heads=0&queries=3")
    page.wait_for_selector("[data-key='8']")
    page.hover("[data-key='8']")
    until(page, "document.querySelector('.pair-about p')?.textContent === '“on” cannot look at “purred”.'")
    assert page.locator("[data-rise]").count() == 0
    page.click("[data-query='0']")
    until(page, "document.querySelector('.agrees').textContent === '“the”₀ can look at one token only: “the”₀.'")


def test_rows_of_neurons_fill_the_height_and_stay_level_with_the_tokens_that_look(show, pages):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5", viewport={"width": 1440, "height": 900})
    page.wait_for_selector("[data-key='18']")
    box = page.locator(".neurons .scroller").bounding_box()
    last, first = page.locator("[data-key='18']").bounding_box(), page.locator("[data-key='0']").bounding_box()
    assert last["height"] >= 24
    assert box["height"] - last["height"] < last["y"] + last["height"] - box["y"] <= box["height"] + 1
    for key, beside in ((first, "0"), (last, "18")):
        assert page.locator(f"[data-query='{beside}']").bounding_box()["y"] == pytest.approx(key["y"], abs=1)
