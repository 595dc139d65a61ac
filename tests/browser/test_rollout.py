"""The roll-out on the screen: its numbers are Python's, a click asks about a token, and it says where there is none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_heads import address, still, until
from test_views import picture

from regard.trace.trace import Trace
from regard.views import save_html


def shares(page):
    """What is on the screen: name -> share of what does not rest."""
    read = "rows => rows.map(row => [row.querySelector('.name').textContent, Number(row.dataset.share)])"
    return dict(page.eval_on_selector_all(".rollout-ranked [data-share]", read))


def expected(trace, position, by="weights"):
    """The same in Python: shares of the tokens that are not special, the token itself before the others."""
    row = trace.rollout(by)[position]
    free = [i for i, token in enumerate(trace.tokens) if not token.special]
    others = sorted((row[i] for i in free if i != position), reverse=True)
    return np.array([row[position], *others])[:12] / row[free].sum(), 1 - row[free].sum()


def test_shares_are_those_of_python_and_a_click_asks_about_another_token(show, pages, pair_trace):
    page = show(pages["pair"], "#view=rollout")
    page.wait_for_selector("[data-asked]")
    asked = int(page.get_attribute("[data-asked]", "data-asked"))
    assert not pair_trace.tokens[asked].special
    for by in ("weights", "contributions"):
        page.click(f"[data-value={by}]")
        page.wait_for_selector(f"[data-value={by}][aria-pressed=true]")
        still(page)
        values, rests = expected(pair_trace, asked, by)
        np.testing.assert_allclose(list(shares(page).values())[:12], values, atol=1e-5)
        assert float(page.get_attribute("[data-rests]", "data-rests")) == pytest.approx(rests, abs=1e-5)
    page.click(".rollout .token[data-position='3']")
    page.wait_for_selector("[data-asked='3']")
    page.mouse.move(5, 5)
    still(page)
    assert "queries=3" in address(page)
    np.testing.assert_allclose(list(shares(page).values())[:12], expected(pair_trace, 3, "contributions")[0], atol=1e-5)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[data-asked='4']")
    said = page.inner_text(".rollout-ranked")  # beside the numbers it is about
    assert "not an explanation" in said and "Abnar" in said
    assert page.inner_text(".rollout-ranked code") == "regard study deletion"


def test_the_parts_of_a_bar_add_up_to_a_hundred(show, pages):
    whole = 0
    for query in range(8):
        page = show(pages["pair"], f"#view=rollout&queries={query}")
        page.wait_for_selector(f"[data-asked='{query}']")
        still(page)
        for row in page.locator(".mixing [data-layers]").all():
            told = row.locator("i").all_inner_texts()
            if all(told):
                whole += 1
                assert sum(int(one.removesuffix("%")) for one in told) == 100, told
    assert whole > 8


def test_the_finding_stands_above_and_colours_tell_more_from_less_than_even(show, pages, pair_trace):
    page = show(pages["pair"], "#view=rollout&queries=3")
    page.wait_for_selector("[data-finding]")
    still(page)
    read = """rows => rows.map(row => [row.querySelector('.name').textContent, +row.dataset.share,
      parseFloat(row.querySelector('i').style.width) / parseFloat(row.querySelector('b').style.left),
      getComputedStyle(row.querySelector('i')).borderTopColor])"""
    rows = page.eval_on_selector_all(".rollout-ranked [data-share]", read)
    for _, _, times, colour in rows:
        red, _, blue = (int(part) for part in colour[4:-1].split(","))
        assert (blue > red + 60) == (times >= 1)  # blue or grey
    said = page.inner_text("[data-finding]")
    last = pair_trace.rollout("weights")[3]
    first = page.inner_text(".mixing [data-layers='1'] [data-part=itself]").removesuffix("%")
    told = re.fullmatch(
        r"After 1 layer, ([\d.]+)% of “to” is still itself; after 3 layers ([\d.]+)%, and (\d+)% of what ends up in it "
        r"comes from \[CLS\] and \[SEP\]\.",
        said,
    )
    assert told and round(float(told[1])) == int(first)
    assert float(told[2]) == pytest.approx(100 * last[3], abs=0.51)
    rests = float(page.get_attribute("[data-rests]", "data-rests"))
    assert int(told[3]) == round(100 * rests)
    name, _, times, _ = max(rows[1:], key=lambda row: row[2])  # the first is the token itself
    below = page.inner_text(".rollout-said p")
    assert f", {times:.2g} × an even share." in below and name.rstrip("₀₁₂₃₄₅₆₇₈₉").strip("“”") in below
    most = page.locator(".rollout-ranked [data-share]", has_text=f"{times:.2g} ×").locator(".value").all_inner_texts()
    assert re.search(r"stands out most: (.+%),", below)[1] in most  # as the list has it
    assert page.locator(".rollout-scale span").all_inner_texts() == ["½ ×", "1 ×", "2 ×"]


def test_shares_in_the_list_are_of_the_whole_and_what_rests_is_the_remainder(show, pages, pair_trace):
    page = show(pages["pair"], "#view=rollout&queries=16")
    page.wait_for_selector("[data-rests]")
    still(page)
    row = pair_trace.rollout("weights")[16]
    assert "% of “berries” is still itself" in page.inner_text("[data-finding]")  # without the mark of a piece
    read = "all => all.map(row => ['.name', '.value'].map(part => row.querySelector(part).textContent))"
    said = dict(page.eval_on_selector_all(".rollout-ranked [data-share]", read))
    assert float(said["berries"].removesuffix("%")) == pytest.approx(100 * row[16], abs=0.51)
    rests = float(page.inner_text("[data-rests] .value").removesuffix("%"))
    assert sum(float(text.removesuffix("%")) for text in said.values()) + rests == pytest.approx(100, abs=1.5)


def test_where_a_token_only_rests_the_roll_out_says_so_and_tells_no_others_apart(show, tmp_path):
    maps = np.zeros((12, 1, 4, 4), np.float32)
    maps[..., 0] = 1
    saved = save_html(Trace.from_maps(maps, "a b c d".split(), causal=True), tmp_path / "rests.html")
    page = show(saved, "#view=rollout")
    page.wait_for_selector("[data-finding]")
    assert "100% of what ends up in “d” comes from “a”, where heads rest" in page.inner_text("[data-finding]")
    assert page.locator(".rollout-scale").count() == 0
    assert set(page.locator(".rollout-ranked .times").all_inner_texts()) == {""}


def test_the_rows_of_the_roll_out_fill_the_height(show, pages):
    page = show(pages["pair"], "#view=rollout", viewport={"width": 1440, "height": 900})
    page.wait_for_selector("[data-asked]")
    still(page)
    ends = [
        box["y"] + box["height"] for box in (page.locator(one).bounding_box() for one in (".mixing", ".rollout-ranked"))
    ]
    assert min(ends) > 780 and max(ends) <= 900


def test_each_bar_says_how_many_times_an_even_share_it_is(show, pages):
    page = show(pages["pair"], "#view=rollout&queries=3")
    page.wait_for_selector(".rollout-ranked .times")
    still(page)
    read = """rows => rows.map(row => [row.querySelector('.times').textContent,
      parseFloat(row.querySelector('i').style.width) / parseFloat(row.querySelector('b').style.left)])"""
    rows = page.eval_on_selector_all(".rollout-ranked [data-share]", read)
    assert len(rows) > 8
    for said, times in rows:
        assert float(said.removesuffix(" ×")) == pytest.approx(times, rel=0.06)


def test_the_line_of_the_token_itself_is_explained(show, pages):
    """Half of each step stays in place, so that even layers leave a token more of itself than of others."""
    page = show(pages["pair"], "#view=rollout&queries=16")
    page.wait_for_selector(".rollout-ranked .times")
    still(page)
    read = """rows => rows.map(row =>
      [row.querySelector('.name').textContent, parseFloat(row.querySelector('b').style.left)])"""
    lines = dict(page.eval_on_selector_all(".rollout-ranked [data-share]", read))
    own = lines.pop("berries")
    assert len(set(lines.values())) == 1 and own > max(lines.values())
    assert page.inner_text(".rollout-ranked [data-share] >> nth=0").startswith("berries")  # apart from the others
    assert "Its line stands farther right" in page.inner_text(".rollout-ranked .own-line")


def test_small_first_parts_have_their_number_before_the_bar(show, pages):
    page = show(pages["pair"], "#view=rollout&queries=3")
    page.wait_for_selector(".mixing [data-layers]")
    read = "rows => rows.map(row => [row.querySelector('.small').textContent, row.querySelector('i').textContent])"
    for outside, inside in page.eval_on_selector_all(".mixing [data-layers]", read):
        assert bool(outside) != bool(inside)


def test_what_a_token_consists_of_is_shown_layer_by_layer(show, pages, pair_trace):
    """A token begins as itself; after the last layer it is what Python's roll-out says."""
    page = show(pages["pair"], "#view=rollout&queries=3")
    page.wait_for_selector(".mixing [data-layers]")
    read = """rows => rows.map(row => [+row.dataset.layers, Object.fromEntries([...row.querySelectorAll('[data-part]')]
      .map(part => [part.dataset.part, part.getBoundingClientRect().width]))])"""
    rows = page.eval_on_selector_all(".mixing [data-layers]", read)
    assert [layers for layers, _ in rows] == list(range(1, len(pair_trace.sites) + 1))
    row, special = pair_trace.rollout("weights")[3], [token.special for token in pair_trace.tokens]
    wanted = {"itself": row[3], "rests": row[special].sum(), "others": row[~np.array(special)].sum() - row[3]}
    drawn = rows[-1][1]
    for part, width in drawn.items():
        assert width / sum(drawn.values()) == pytest.approx(wanted[part], abs=0.02)
    assert rows[0][1]["itself"] > drawn["itself"]


def test_a_saved_picture_has_the_question_the_text_and_the_shares(show, pages, tmp_path):
    page = show(pages["pair"], "#view=rollout&queries=3")
    page.wait_for_selector("[data-asked='3']")
    texts, name = picture(page, tmp_path / "picture.svg")
    assert name == "regard-rollout.svg"
    assert any("% of “to” is still itself" in text for text in texts)
    assert "bought" in texts and texts[-1].startswith("pair · ")


def test_kinds_that_cannot_be_multiplied_say_why(show, pages):
    page = show(pages["seq"], "#view=rollout&kind=decoder")
    page.wait_for_selector("[data-asked='5']")  # a decoder is asked about its last token
    page.click("[data-value=cross]")
    until(page, "document.querySelector('.notice')?.textContent.includes('Cross attention')")
    page.click("[data-value=encoder]")
    page.wait_for_selector("[data-asked='3']")
    page.click("[data-tool=language]")
    until(page, "document.querySelector('.rollout-said').textContent.includes('还有')")
    vision = show(pages["vision"], "#view=rollout")
    until(vision, "document.querySelector('.notice')?.textContent.includes('shown for texts')")


def test_on_a_phone_the_list_is_below_the_text(show, pages):
    page = show(pages["pair"], "#view=rollout", viewport={"width": 390, "height": 844})
    page.wait_for_selector("[data-asked]")
    text, list_ = (page.locator(one).bounding_box() for one in (".rollout .scroller", ".rollout-ranked"))
    assert list_["y"] >= text["y"] + text["height"] and list_["x"] + list_["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
