"""Heads over a picture: what looks, where it looks, and every head of the layer or the model."""

from __future__ import annotations

import pytest
from test_heads import address, until


def test_patches_are_drawn_on_the_image_and_reached_by_keyboard(show, pages):
    page = show(pages["vision"])
    page.wait_for_selector(".patch")
    assert page.locator(".patch[data-side=query]").count() == 16
    assert page.get_attribute(".patch[data-side=query] >> nth=5", "aria-label") == "patch row 1, column 1"
    before = page.evaluate("document.querySelectorAll('.patches canvas')[1].toDataURL()")
    page.focus(".patch[data-side=query] >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.position") == "6"
    until(page, "b => document.querySelectorAll('.patches canvas')[1].toDataURL() !== b", arg=before)
    page.click(".chip[data-side=query]")
    assert "queries=0" in address(page)


# Where a canvas is clearest: its most saturated pixel, as shares of its width and height.
CLEAREST = """canvas => {
    const { width, height } = canvas
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
    let best = [0, -1]
    for (let i = 0; i < width * height; i++) {
        const rgb = [...data.slice(4 * i, 4 * i + 3)]
        const strength = Math.max(...rgb) - Math.min(...rgb)
        if (strength > best[1]) best = [i, strength]
    }
    return [best[0] % width / width, Math.floor(best[0] / width) / height]
}"""


def test_attention_planted_on_a_patch_lights_that_patch(show, pages):
    page = show(pages["vision"], "#layer=1&heads=0")
    page.wait_for_selector(".multiple")
    page.wait_for_timeout(300)  # the picture is decoded
    x, y = page.eval_on_selector(".patches >> nth=1 >> canvas", CLEAREST)
    assert x > 0.7 and y > 0.7  # row 3, column 3
    x, y = page.eval_on_selector("[data-multiple='1'] canvas", CLEAREST)
    assert x < 0.3 and y < 0.3
    page.click("[data-multiple='1']")
    until(page, "location.hash.includes('heads=1')")


def test_the_number_of_a_patch_is_told_at_the_pointer(show, pages):
    page = show(pages["vision"], "#layer=1&heads=0&queries=0")
    page.wait_for_selector(".patch")
    page.hover(".patch[data-side=key][data-position='16']")
    page.wait_for_selector(".tip")
    assert "0.90" in page.inner_text(".tip") or "0.9" in page.inner_text(".tip")


def test_the_atlas_shows_the_picture_as_each_head_sees_it(show, pages):
    page = show(pages["vision"], "#view=atlas")
    page.wait_for_selector("[data-cell='1-0'] canvas")
    page.wait_for_timeout(500)
    x, y = page.eval_on_selector("[data-cell='1-0'] canvas", CLEAREST)
    assert x > 0.7 and y > 0.7  # row 3, column 3: nothing is around the picture
    box = page.locator("[data-cell='1-0'] .map").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(1.5, abs=0.1)  # as the picture
    assert "One picture per head, coloured where [CLS] looks" in page.inner_text(".legend")
    assert page.locator(".thumb .rest").count() == 0
    assert page.locator(".names .entry, .names [role=radiogroup]").count() == 0  # no pattern of texts is there


def test_beside_the_atlas_of_a_picture_is_the_picture_as_the_head_sees_it(show, pages):
    page = show(pages["vision"], "#view=atlas&layer=1&heads=0")
    page.wait_for_selector("[data-seen]")
    assert page.inner_text("[data-seen]") == "[CLS] looks most at row 3, column 3 (90%)."
    page.wait_for_timeout(300)  # the picture is decoded
    x, y = page.eval_on_selector(".seen-large canvas", CLEAREST)
    assert x > 0.7 and y > 0.7
    assert page.locator(".beside .plot").count() == 0  # no map of patches by patches
    page.hover("[data-cell='1-1']")
    until(page, "document.querySelector('[data-seen]').innerText.includes('row 0, column 0 (90%)')")


def test_what_is_said_of_a_picture_is_the_look_that_it_shows(show, pages):
    page = show(pages["vision"], "#layer=1&heads=0&queries=2")
    page.wait_for_selector(".patch")
    assert page.inner_text(".headline") == "Head 1.0: row 0, column 1 looks most at row 3, column 3 (90%)."
    first = " ".join(page.inner_text(".ranking li >> nth=0").split())
    assert first == "row 3, column 3 90%"
    assert "strongest" not in page.inner_text(".inspector")
    assert page.locator(".panel h3").all_inner_texts() == ["What looks: row 0, column 1", "Where it looks"]
    assert "Rows and columns are counted from 0" in page.inner_text(".legend")
    assert "pattern" not in page.inner_text(".inspector")  # names are of patterns in texts
    page.keyboard.press("Escape")
    until(page, "document.querySelector('.headline').innerText.startsWith('Head 1.0: [CLS] looks most at')")
    assert page.locator(".chip[data-side=query][data-shown]").inner_text() == "[CLS]"
    assert "“[CLS]” looks at" in page.inner_text(".ranking")
    assert "Point at a patch or a word" in page.inner_text(".inspector")
    assert page.locator("[data-control=threshold]").count() == 0  # there are no lines to hide
    page.click(".patch[data-side=key][data-position='16']")
    until(page, "document.querySelector('.headline').innerText.includes('row 3, column 3 is looked at most by')")
    assert page.locator(".panel h3").all_inner_texts() == ["Who looks there", "What is looked at"]


def test_where_an_answer_is_chosen_it_is_said_what_is_about_to_be_said(show, pages):
    page = show(pages["asked"], "#view=heads&layer=0&heads=0")
    page.wait_for_selector(".patch")
    said = "About to say “a”, head 0.0 looks most at row 3, column 3 (67%)."
    assert page.inner_text(".headline") == said
    assert page.inner_text("[data-said=question] dd").endswith("← looks from here")
    assert page.inner_text(".talking > .chips small") == "other tokens, on the same scale"
    assert page.inner_text(".panel h3 >> nth=0") == "The picture"  # which does not look: a word does
    page.click("[data-said=answer] .chip >> nth=0")
    said = "Having said “a”, about to say “cat”, head 0.0 looks most at row 0, column 0 (60%)."
    until(page, "text => document.querySelector('.headline').innerText === text", arg=said)
    page.click("[data-said=answer] .chip >> nth=0")
    page.click("[data-said=question] .chip >> nth=0")
    said = "Head 0.0: “what” looks most at row 3, column 3 (67%)."  # no word is chosen there
    until(page, "text => document.querySelector('.headline').innerText === text", arg=said)
    page.click("[data-said=question] .chip >> nth=0")
    page.click("text=中文")
    until(page, "document.querySelector('.headline').innerText.startsWith('将要说“a”时，头 0.0 最多看向第 3 行')")


def test_in_the_atlas_of_a_question_the_look_is_said_with_the_answer(show, pages):
    page = show(pages["asked"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector("[data-seen]")
    assert page.inner_text("[data-seen]") == "About to say “a”, it looks most at row 0, column 0 (67%)."


def test_a_row_of_words_with_a_start_token_alone_is_left_out(show, pages):
    page = show(pages["asked"], "#view=heads&layer=0&heads=0")
    page.wait_for_selector("[data-said=question]")
    assert page.locator("[data-said]").count() == 2
    assert page.inner_text(".chip[data-side=key] >> nth=0") == "<s>"  # it can be looked at
    page = show(pages["asked"], "#view=heads&layer=0&heads=0&queries=0")  # chosen by an address, it is shown
    page.wait_for_selector("[data-said=before] [data-shown]")


def test_the_heads_stand_below_what_looks_so_that_what_is_looked_at_is_larger(show, pages):
    page = show(pages["square"], "#layer=1&heads=0", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".multiple")
    left, right = (page.locator(f".patches >> nth={n}").bounding_box() for n in (0, 1))
    heads = page.locator(".multiples").bounding_box()
    assert left["y"] == right["y"] and left["width"] == left["height"]
    assert right["width"] == right["height"] > 540
    assert heads["y"] >= left["y"] + left["height"] and heads["x"] + heads["width"] < right["x"]
    overlay = page.eval_on_selector(".overlay", "e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]")
    assert overlay == [0, 0]
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, "document.querySelectorAll('.multiple')[1].getBoundingClientRect().left > 100")  # in a row again
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_maps_of_pictures_grow_into_the_room_of_the_atlas(show, pages):
    page = show(pages["square"], "#view=atlas", viewport={"width": 1440, "height": 900})
    page.wait_for_selector("[data-cell='1-0'] canvas")
    until(page, "document.querySelector('[data-cell=\"1-0\"] .map').getBoundingClientRect().width > 150")


def test_where_no_head_has_a_name_the_one_that_looks_most_at_a_patch_is_told(show, pages):
    page = show(pages["asked"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector(".headline")
    said = "Of all 2 heads, 0.0 looks most at a single patch: “?” gives 67% of its attention to row 3, column 3."
    assert page.inner_text(".headline") == said
    page.click("text=中文")
    said = "2 个头中，0.0 最集中于单个图块：“?”把 67% 的注意力给了第 3 行第 3 列。"
    until(page, "text => document.querySelector('.headline').innerText === text", arg=said)


def test_a_saved_page_has_the_labels_that_a_classifier_gave(show, pages):
    page = show(pages["labelled"], "#layer=1&heads=0")
    page.wait_for_selector("[data-labels]")
    assert page.inner_text(".inspector > :first-child h3") == "What the model says"
    rows = [row.split() for row in page.locator("[data-labels] li").all_inner_texts()]
    assert rows == [["flag", "75%"], ["kite", "25%"]]  # they are nearly all
    assert show(pages["vision"]).locator("[data-labels]").count() == 0


# The colour at a place of the picture, which begins after the numbers of its rows and columns.
COLOUR = """(canvas, at) => {
    const { width, height } = canvas
    const copy = Object.assign(document.createElement('canvas'), { width, height })
    const context = copy.getContext('2d', { willReadFrequently: true })
    context.drawImage(canvas, 0, 0)
    const edge = 16 * width / canvas.getBoundingClientRect().width
    const [x, y] = at.map((share, i) => Math.round(edge + share * ([width, height][i] - edge)))
    return [...context.getImageData(x, y, 1, 1).data.slice(0, 3)]
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_same_share_has_the_same_colour_on_paper_and_on_ink(show, pages, theme):
    page = show(pages["inked"], "#layer=1&heads=0", color_scheme=theme)
    page.wait_for_selector(".patch")
    page.wait_for_timeout(300)  # the picture is decoded
    of = lambda x: page.eval_on_selector(".patches >> nth=1 >> canvas", COLOUR, [x, 0.79])  # noqa: E731
    ink, paper = of(0.8), of(0.95)  # both in the patch that is looked at
    assert max(abs(a - b) for a, b in zip(ink, paper, strict=True)) < 30
    assert max(paper) - min(paper) > 80  # blue, not grey
    left = page.eval_on_selector(".patches >> nth=0 >> canvas", COLOUR, [0.95, 0.79])
    assert left == [255, 255, 255] if theme == "light" else max(left) < 225  # softer on a dark page


def test_on_a_dark_page_maps_of_a_picture_of_paper_have_light_ink_and_photographs_stay(show, pages):
    def lightness(name: str, theme: str, x: float, *, panel: int = 1) -> int:
        page = show(pages[name], "#layer=1&heads=0", color_scheme=theme)
        page.wait_for_selector(".patch")
        page.wait_for_timeout(300)  # the picture is decoded
        return max(page.eval_on_selector(f".patches >> nth={panel} >> canvas", COLOUR, [x, 0.29]))

    paper, ink = 0.1, 0.225  # of a patch that is not looked at
    assert lightness("paper", "dark", ink) > 60 > 40 > lightness("paper", "dark", paper)
    assert lightness("paper", "light", ink) < 200 < 240 < lightness("paper", "light", paper)
    assert lightness("inked", "dark", ink) > lightness("inked", "dark", paper)  # as it is: white there, black here
    assert lightness("paper", "dark", paper, panel=0) < 200 < lightness("inked", "dark", ink, panel=0)


def test_tiny_shares_of_a_picture_are_one_line_and_little_rest_is_not_told(show, pages):
    page = show(pages["paper"], "#layer=1&heads=0")
    page.wait_for_selector(".ranking")
    rows = [" ".join(row.split()) for row in page.locator(".ranking li").all_inner_texts()]
    assert rows == ["row 3, column 3 97%", "[CLS] 3.0%"]
    assert page.inner_text(".ranking .hint") == "all others: below 0.1%"
    assert "rests" not in page.inner_text(".inspector")
    assert page.locator("[data-other]").count() == 0  # what its output is made of: no name is there to compare it with
    page.click("[data-multiple='1']")
    until(page, "document.querySelector('.inspector').innerText.includes('7% of the tokens\\' attention rests')")


def test_what_the_model_says_with_and_without_a_head_is_on_one_scale(show, pages):
    page = show(pages["labelled"], "#layer=1&heads=1")
    page.wait_for_selector("[data-labels-without]")
    bars = page.eval_on_selector_all(
        "[data-bar]",
        "all => all.map(e => [e.dataset.bar, e.querySelector('i').getBoundingClientRect()])"
        ".map(([share, {left, width}]) => [left, width / share])",
    )
    assert len(bars) == 4
    for left, scale in bars:
        assert (left, scale) == pytest.approx(bars[0], abs=1)


def test_a_saved_page_says_what_the_model_says_without_a_head_where_the_trace_knows(show, pages):
    page = show(pages["labelled"], "#layer=1&heads=0")
    page.wait_for_selector("[data-labels-without='1.0']")
    rows = [row.split() for row in page.locator("[data-labels-without] li").all_inner_texts()]
    assert rows == [["kite", "90%"], ["flag", "10%"]]
    assert page.inner_text("[data-labels-without] h3") == "Without head 1.0"
    turned = "Without head 1.0, the model says “kite” (90%), not “flag”."
    assert page.inner_text(".headline").endswith(turned)
    page.click("[data-multiple='1']")
    page.wait_for_selector("[data-labels-without='1.1']")
    assert page.inner_text(".headline").endswith("Without head 1.1, “flag” falls from 75% to 70%.")
    page = show(pages["labelled"], "#layer=0&heads=0")
    page.wait_for_selector("[data-labels]")
    assert page.locator("[data-labels-without]").count() == 0  # nobody asked


def test_on_a_phone_what_is_lit_stands_above_a_picture_in_which_nothing_looks(show, pages):
    page = show(pages["square"], "#layer=1&heads=0", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".patch")
    plain, lit = (page.locator(f".patches >> nth={n}").bounding_box() for n in (0, 1))
    assert lit["y"] < plain["y"]
    assert lit["x"] >= 16  # the numbers of rows are on the screen
    page = show(pages["square"], "#layer=1&heads=0&queries=3", viewport={"width": 390, "height": 844})
    page.wait_for_selector(".patch")
    looks, lit = (page.locator(f".patches >> nth={n}").bounding_box() for n in (0, 1))
    assert looks["y"] < lit["y"]


def test_pictures_are_as_large_as_there_is_room_and_stand_side_by_side(show, pages):
    page = show(pages["vision"], "#layer=1&heads=0", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".patch")
    left, right = (page.locator(f".patches >> nth={n}").bounding_box() for n in (0, 1))
    assert left["y"] == right["y"] and right["width"] > 560 > left["width"] > 280
    assert page.evaluate(
        "(() => { const e = document.querySelector('.overlay'); return e.scrollHeight <= e.clientHeight })()"
    )
