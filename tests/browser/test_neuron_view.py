"""The neuron view in a real browser: its columns, its pin, and what a score is made of."""

from __future__ import annotations

import re

import pytest
from test_heads import QUERY, address, until


def test_neurons_expand_collapse_order_and_pin(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=2&queries=5")
    page.wait_for_selector("[data-key='3']")
    assert "Score: 1/√16 × the sum" in page.inner_text(".legend")
    label = page.get_attribute("[data-key='3']", "aria-label")
    score, weight = re.search(r"score (−?[\d.]+), ([\d.<]+)", label).groups()
    assert float(score.replace("−", "-")) == pytest.approx(pair_trace.scores(0, 2)[5, 3], rel=0.01)
    assert float(weight.strip("< ")) == pytest.approx(pair_trace.attention(0, 2)[5, 3], rel=0.01, abs=1e-6)
    page.hover("[data-key='3']")
    page.wait_for_selector(".pair-about")
    said = page.inner_text("[data-rise]")
    scores = pair_trace.scores(0, 2)[5]
    assert float(re.search(r"is ([\d.]+) (above|below)", said)[1]) == pytest.approx(
        abs(scores[3] - scores.mean()), rel=0.06
    )
    assert re.search(r"Half of that comes from \d+ of 16 neurons", said)
    assert re.search(r"\d+ of 16 neurons make up 90 %", page.text_content(".pair-about details"))
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
    shown = float(page.inner_text(".attribution tfoot td").replace("−", "-"))
    assert shown == pytest.approx(scores[3] - scores.mean(), rel=0.01)
    assert page.locator(".attribution tbody tr").count() == 2
    assert page.locator(".attribution thead th").count() == 2  # the constant part of k moves nothing


def test_neurons_say_first_which_key_agrees_best(show, pages, pair_trace):
    page = show(pages["pair"], "#view=neurons&layer=0&heads=1&queries=10")
    said = page.inner_text(".agrees")
    scores = pair_trace.scores(0, 1)[10]
    assert int(page.get_attribute(".agrees", "data-best")) == scores.argmax() == 9
    assert said.startswith("“store₁₀” looks most at “the₉”")
    assert float(re.search(r"score of ([\d.]+)\.$", said)[1]) == pytest.approx(scores.max(), rel=0.05)
    page.click("[data-query='5']")
    until(page, "document.querySelector('.agrees').textContent.startsWith('“store₅” looks most at “the₄”')")


def test_neurons_without_vectors_say_so(show, pages):
    page = show(pages["maps"], "#view=neurons&layer=0")
    page.wait_for_selector(".notice")
    assert "needs q and k" in page.inner_text(".notice")
