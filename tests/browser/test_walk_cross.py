"""Cross attention in the walk: where a head looks in the source before each word."""

from __future__ import annotations

import numpy as np


def test_a_row_of_cross_attention_says_where_the_head_looks_before_the_next_word(page, walked):
    page.click("[data-step=cross]")
    page.wait_for_selector("[data-saying]")
    words = [token.text.strip() for token in walked.trace.side("decoder").tokens]
    page.select_option("[data-pair=query]", "1")
    head = int(page.get_attribute(".head[aria-pressed=true]", "data-head"))
    weights = walked.trace.site(0, kind="cross").attention(head)
    source = [token.text.strip() for token in walked.trace.side("encoder").tokens]
    said = f"Before “{words[2]}” is written, head 0.{head} looks most at “{source[int(weights[1].argmax())]}” ("
    assert page.inner_text("[data-saying]").startswith(said)
    page.select_option("[data-pair=query]", str(len(words) - 1))
    assert page.inner_text("[data-saying]").startswith(f"Before the text ends, head 0.{head} looks most at ")
    asked = page.inner_text("[data-question] p >> nth=0")
    assert f"“{words[0]}”" in asked  # the answer that is read is that of another row


def test_the_row_that_is_asked_about_does_not_give_the_answer(page):
    page.click("[data-step=cross]")
    page.wait_for_selector("[data-alignment]")
    veiled = page.locator("[data-alignment] tr:has(.veiled)")
    assert veiled.count() == 1 and veiled.locator("td").all_inner_texts() == ["hidden: your turn"]
    asked = page.inner_text("[data-question] p >> nth=0").split("“")[1].split("”")[0]
    assert veiled.locator("th").inner_text().split()[0].startswith(asked)
    page.click("[data-option='0']")
    page.wait_for_selector("[data-said]")
    assert veiled.count() == 0


def test_cross_attention_shows_the_whole_alignment_and_whose_row_is_read(page, walked):
    page.click("[data-step=cross]")
    page.wait_for_selector("[data-alignment]")
    site = walked.trace.site(0, kind="cross")
    covers = [site.attention(head).max(axis=0).mean() for head in range(site.heads)]
    head = int(np.argmax(covers))  # it begins with the head that pairs the words best
    assert page.get_attribute(".head[aria-pressed=true]", "data-head") == str(head) != "0"
    weights = site.attention(head)
    read = "rows => rows.map(row => [...row.cells].slice(1).findIndex(cell => cell.dataset.most !== undefined))"
    page.click("[data-option='0']")  # the row that is asked about is shown once it is answered
    page.wait_for_selector("[data-said]")
    assert page.eval_on_selector_all("[data-alignment] tbody tr", read) == weights.argmax(axis=1).tolist()
    words = [token.text.strip() for token in walked.trace.side("decoder").tokens]
    page.click(f"[data-alignment] [data-row='2'] td >> nth={int(weights[2].argmin())}")
    page.wait_for_selector("[data-alignment] [data-row='2'][aria-current]")
    row = page.inner_text("[data-alignment] [data-row='2'] th").split()
    assert row[0].startswith(words[2]) and row[-1].startswith(words[3])
    assert page.input_value("[data-pair=query]") == "2"
    assert page.input_value("[data-pair=key]") == str(int(weights[2].argmin()))
