"""Atlas, matrix and neurons in a saved page; address, language, theme, pictures, damaged pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from test_heads import INK, QUERY, address, still, until


def test_the_atlas_shows_every_head_and_one_large_beside_them(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=0")
    until(page, "performance.getEntriesByName('regard:exact').length")
    assert page.locator(".thumb").count() == 12
    page.hover("[data-cell='0-1']")
    until(page, "document.querySelector('.about').textContent.includes('looks one token back')")
    assert page.inner_text(".inspector h2") == "Head 0.1"
    assert "looks one token back" in page.inner_text("[data-beside='0-1']")
    picture = "document.querySelector('.beside .plot canvas').toDataURL()"
    pointed = page.evaluate(picture)
    page.click("[data-cell='2-3']")
    page.wait_for_selector("[data-beside='2-3']")
    still(page)
    assert page.evaluate(picture) != pointed
    assert "layer=2" in address(page)
    page.mouse.move(5, 5)
    assert page.locator("[data-beside='2-3']").count() == 1
    assert page.locator(".enlarged").count() == 0
    page.click("[data-open=heads]")
    page.wait_for_selector(QUERY)
    assert "view=heads" in address(page)
    assert "heads=3" in address(page)


def test_where_there_is_no_room_beside_the_atlas_a_head_is_enlarged_over_it(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0", viewport={"width": 610, "height": 760})
    page.click("[data-cell='2-3']")
    page.wait_for_selector(".enlarged .plot")
    assert page.locator(".beside").count() == 0
    page.keyboard.press("Escape")
    assert page.locator(".enlarged").count() == 0
    page.click("[data-cell='1-0']")
    page.click(".enlarged [data-open=heads]")
    page.wait_for_selector(QUERY)
    assert "heads=0" in address(page)


def test_on_a_phone_maps_keep_their_size_and_the_head_that_is_tapped_is_below_them(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0", viewport={"width": 420, "height": 760})
    until(page, "performance.getEntriesByName('regard:exact').length")
    page.click("[data-cell='2-3']")  # waits until it stands still
    page.wait_for_selector("[data-beside='2-3'] .plot")
    assert page.locator(".enlarged").count() == 0
    assert page.eval_on_selector("[data-cell='2-3']", "map => map.clientWidth") > 44


def test_the_atlas_is_sorted_by_measures_and_cut_to_rows_and_columns(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0")
    until(page, "performance.getEntriesByName('regard:exact').length")
    cells = "all => all.map(e => e.dataset.cell)"
    page.select_option("[data-control=order]", "previous token")
    assert page.eval_on_selector_all(".thumb", cells)[0] == "0-1"
    page.select_option("[data-control=order]", "height")
    assert page.eval_on_selector_all(".thumb", cells)[0] == "2-3"
    page.select_option("[data-control=order]", "grid")
    page.click("[data-only-layer='1']")
    page.click("[data-only-head='2']")
    assert page.eval_on_selector_all(".thumb", cells) == ["1-2"]


def test_the_atlas_says_what_each_head_does_and_its_legend_filters(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector("[data-entry='previous token']")
    assert page.get_attribute("[data-cell='0-1']", "data-label") == "previous token"
    said = page.get_attribute("[data-cell='0-1']", "aria-label")
    assert said == "Head 0.1: previous token, rests with 0.16 of its attention"
    named = page.eval_on_selector_all("[aria-label*='previous token']", "all => all.length")
    assert page.inner_text("[data-entry='previous token'] b") == str(named)
    page.focus("[data-entry='previous token']")
    page.keyboard.press("Enter")
    assert page.get_attribute("[data-entry='previous token']", "aria-pressed") == "true"
    assert page.locator(".thumb.dimmed").count() == 12 - named
    assert "dimmed" not in page.get_attribute("[data-cell='0-1']", "class")
    page.keyboard.press("Enter")
    assert page.locator(".thumb.dimmed").count() == 0
    page.click("[data-value=type]")
    assert page.get_attribute("[data-cell='0-1']", "data-label") == "diagonal"
    entries = page.eval_on_selector_all(".entry b", "all => all.map(e => +e.textContent)")
    assert sum(entries) == 12


def test_the_inspector_gives_the_evidence_and_what_cannot_be_said(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1")
    page.wait_for_selector(".finding")
    text = page.inner_text(".about")
    (found,) = [f for f in pair_trace.patterns().of(0, 1) if f.pattern == "previous token"]
    rest = round(100 * found.rest)
    assert f"{rest}% of its attention rests, mostly on [SEP]." in text
    assert f"With the other {100 - rest}% it looks one token back." in text
    assert re.search(rf"measured\s+{found.mass:.2f}\s+chance\s+{found.chance:.2f}\s+for 14 of the 14 tokens", text)
    assert "previous token" in text.split("Measured by what it passes on: ")[1]
    page.click(".missing summary")
    assert "Type of map: diagonal" in page.inner_text(".missing")
    assert "not why the model answers" in page.text_content(".cautions")
    page.click("[data-tool=language]")
    assert "前一个词元" in page.inner_text(".finding >> nth=0")
    other = show(pages["many"], "#view=matrix&layer=0&heads=0")
    assert "no punctuation" not in other.inner_text(".about")
    other.click(".missing summary")
    assert "punctuation: the text has no punctuation" in other.inner_text(".missing")


def test_the_story_opens_each_head_with_its_token_pinned(show, pages, pair_trace):
    page = show(pages["pair"], "#view=atlas&layer=1&heads=0")
    page.wait_for_selector(".story .card")
    places = page.eval_on_selector_all(".story .card", "all => all.map(e => e.dataset.story)")
    assert 1 <= len(places) == len(set(places)) <= 3
    found = pair_trace.patterns()
    for place in places:
        layer, head = map(int, place.split("."))
        assert found.of(layer, head)
    page.click(".story .card >> nth=0")
    layer, head = map(int, places[0].split("."))
    until(page, f"location.hash.includes('view=heads') && location.hash.includes('layer={layer}')")
    queries = {finding.evidence[0][0] for finding in found.of(layer, head)}
    assert any(f"queries={query}" in page.evaluate("location.hash") for query in queries)
    page.click("[data-story=close]")
    assert page.locator(".story").count() == 0


def test_in_contributions_heads_go_by_what_arrives(show, pages, pair_trace):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    page.wait_for_selector(".thumb .rest")
    for by in ("weights", "contributions"):
        page.click(f"[data-value={by}]")
        found = pair_trace.patterns(by=by)
        for site in found.measured:
            for index, head in enumerate(site.heads):
                cell = f"[data-cell='{site.layer}-{head}']"
                label = page.get_attribute(cell, "data-label")
                assert (label in {f.pattern for f in found.of(site.layer, head)}) or not found.of(site.layer, head)
                tick = page.eval_on_selector(f"{cell} .rest i", "e => parseFloat(e.style.height)")
                assert tick == pytest.approx(100 * site.rest[index], abs=0.01)


def test_pages_without_a_report_count_for_themselves(show, tmp_path, pair_trace):
    page = show(pair_trace.save_html(tmp_path / "plain.html", report=False, layer=0, heads=[1]), "#view=atlas&layer=0")
    until(page, "document.querySelector('.about').textContent.includes('the previous token')")
    assert page.locator(".entry").count() == 0
    until(page, "performance.getEntriesByName('regard:exact').length")
    page.select_option("[data-control=order]", "previous")
    assert page.eval_on_selector_all(".thumb", "all => all[0].dataset.cell") == "0-1"


def test_a_page_opens_on_a_telling_head(show, tmp_path, pair_trace):
    page = show(pair_trace.save_html(tmp_path / "first.html"))
    page.wait_for_selector(QUERY)
    assert page.inner_text(".inspector h2") == "Head 0.1"


def test_segments_filter_the_matrix(show, pages):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1")
    until(page, "performance.getEntriesByName('regard:exact').length")
    before = page.evaluate(INK, ".plot canvas")[0]
    page.select_option("[data-control=segments]", label="A → B")
    picture = "document.querySelector('.plot canvas').toDataURL()"
    seen = page.evaluate(picture)
    page.select_option("[data-control=segments]", label="A → A")
    until(page, f"b => {picture} !== b", arg=seen)
    assert before > 0


def test_atlas_cells_are_reached_by_keyboard(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0")
    page.focus("[data-cell='0-0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.cell") == "1-1"


def test_arrow_keys_never_leave_the_view(show, pages):
    page = show(pages["pair"], "#view=atlas&layer=0&heads=0")
    page.click("[data-view=heads]")
    page.wait_for_selector(QUERY)
    page.keyboard.press("ArrowRight")
    assert "view=heads" in address(page) and "heads=1" in address(page)
    page.focus("[data-view=heads]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.view") == "matrix"
    assert "view=heads" in address(page)
    page.keyboard.press("Enter")
    page.wait_for_selector(".plot")
    assert page.evaluate("document.activeElement.dataset.view") == "matrix"


def test_the_matrix_tells_the_value_under_the_pointer(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1")
    until(page, "performance.getEntriesByName('regard:exact').length")
    box = page.locator(".over").bounding_box()
    weights = pair_trace.attention(0, 1)
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.6)
    page.wait_for_selector(".ranking")
    text = page.inner_text(".ranking >> nth=0")
    query = int(re.search(r"“(\S+)” looks at", text) is not None)
    assert query
    value = float(page.inner_text(".ranking li >> nth=0").split()[-1].lstrip("<"))
    assert value <= weights.max() + 0.01
    page.mouse.down()
    page.mouse.up()
    assert re.search(r"queries=\d+&keys=\d+", address(page))


def test_the_matrix_zooms_pans_and_changes_its_scale(show, pages):
    page = show(pages["long"], "#view=matrix&layer=0&heads=1")
    until(page, "performance.getEntriesByName('regard:exact').length")
    whole = page.inner_text(".legend p")
    assert "largest of" in whole
    box = page.locator(".over").bounding_box()
    middle = box["x"] + 250, box["y"] + box["height"] * 0.75  # below the diagonal: above it, all is masked
    page.mouse.move(*middle)
    for _ in range(12):
        page.mouse.wheel(0, -400)
    until(page, "!document.querySelector('.legend p').textContent.includes('largest of')")
    page.click("[data-value=log]")
    assert "log=1" in address(page)
    page.mouse.move(*middle)
    picture = "document.querySelector('.plot canvas').toDataURL()"
    before = page.evaluate(picture)
    page.mouse.down()
    page.mouse.move(middle[0] + 90, middle[1] - 60, steps=4)
    page.mouse.up()
    until(page, f"b => {picture} !== b", arg=before)
    page.click("[data-zoom=fit]")
    until(page, "document.querySelector('.legend p').textContent.includes('largest of')")


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


def test_the_address_opens_what_was_shared(show, pages):
    page = show(pages["pair"], "#view=heads&kind=encoder&layer=1&heads=0,2&queries=4&level=words&segments=0,1")
    page.wait_for_selector(QUERY)
    assert page.input_value("[data-control=layer]") == "1"
    assert page.get_attribute("[data-value=words]", "aria-pressed") == "true"
    page.evaluate("location.hash = '#view=matrix&layer=2&heads=3'")
    page.wait_for_selector(".plot")
    assert page.inner_text(".inspector h2") == "Head 2.3"


def test_the_language_and_the_theme_switch(show, pages):
    page = show(pages["pair"], color_scheme="dark")
    page.wait_for_selector(QUERY)
    assert page.get_attribute(".regard[data-theme]", "data-theme") == "dark"
    page.click("[data-tool=theme]")
    assert page.get_attribute(".regard[data-theme]", "data-theme") == "light"
    page.click("[data-tool=language]")
    assert page.inner_text("[data-view=heads]") == "注意力头"
    assert show(pages["pair"], locale="zh-CN").inner_text("[data-view=atlas]") == "总览"


def test_the_keys_are_explained(show, pages):
    page = show(pages["pair"])
    page.wait_for_selector(QUERY)
    page.keyboard.press("?")
    assert "← →" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    assert page.locator("dialog").count() == 0
    page.keyboard.press("3")
    page.wait_for_selector(".plot")


def picture(page, path):
    """The texts of the picture that a page saves of itself, and what its file is called."""
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    waiting.value.save_as(path)
    svg = ElementTree.parse(path).getroot()
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    return texts, waiting.value.suggested_filename


# What a picture says besides its tokens: title, names of the axes, and what its colours mean.
SAID = {
    "heads": ("Where head 0.1 looks", "query", "key", "attention weight", "0.3"),
    "atlas": ("Every head of the model", "layer", "head", "weight / the head's largest", "1.0"),
    "matrix": ("Where head 0.1 looks", "query", "key", "attention weight", "0.20"),
    "neurons": ("How head 0.1 scores each key", "key k", "weight (· below 0.001)"),
}


@pytest.mark.parametrize("view", SAID)
def test_a_picture_has_a_title_axis_names_and_colours_and_says_where_it_comes_from(show, pages, tmp_path, view):
    page = show(pages["pair"], f"#view={view}&layer=0&heads=1&queries=5")
    until(page, "performance.getEntriesByName('regard:drawn').length")
    texts, name = picture(page, tmp_path / "picture.svg")
    assert name.startswith(f"regard-{view}")
    assert [said for said in SAID[view] if said not in texts] == []
    assert texts[-1].startswith("pair · ")
    assert "regard 0" in texts[-1]
    if view != "atlas":
        assert "head 0.1" in texts[-1]
        assert "bought" in texts


def test_prompt_and_answer_are_divided_on_every_axis(show, pages, tmp_path):
    page = show(pages["answered"], "#view=heads&layer=0&heads=1")
    page.wait_for_selector(QUERY)
    columns, _ = picture(page, tmp_path / "columns.svg")
    assert columns.count("prompt ↑ | ↓ answer") == 2
    page.click("[data-value=sentence]")
    page.wait_for_selector("[data-value=sentence][aria-pressed=true]")
    still(page)
    sentence, _ = picture(page, tmp_path / "sentence.svg")
    page.click("[data-view=matrix]")
    page.wait_for_selector(".colour-bar")
    matrix, _ = picture(page, tmp_path / "matrix.svg")
    assert [texts.count(part) for texts in (sentence, matrix) for part in ("prompt", "answer")] == [1, 1, 2, 2]
    page.select_option("[data-control=segments]", label="answer → prompt")
    page.click("[data-view=heads]")
    page.click("[data-value=columns]")
    until(page, f"document.querySelectorAll('{QUERY}').length === 3")
    only, _ = picture(page, tmp_path / "only.svg")
    assert not any("prompt" in text for text in only[:-1])  # nothing to divide


def test_a_picture_of_any_token_is_valid(show, pages, tmp_path):
    page = show(pages["odd"])
    page.wait_for_selector(QUERY)
    texts, _ = picture(page, tmp_path / "odd.svg")
    assert any(text and text.startswith("</script><img") for text in texts)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda page: page.replace('text/plain">', 'text/plain">AAAA', 1), "damaged"),
        (lambda page: re.sub(r'(text/plain">.{400})[^<]*', r"\1", page), "damaged"),
        (lambda page: re.sub(r'(text/plain">)[^<]*', r"\1", page), "damaged"),
        (lambda page: re.sub(r'(text/plain">)[^<]*', r"\1%%%%%", page), "damaged"),
        (lambda page: re.sub(r'(</script>\n<script type="text/plain">)[^<]*', r"\1", page), "damaged"),
    ],
)
def test_a_damaged_page_says_so(show, pages, tmp_path, change, sentence):
    path = tmp_path / "damaged.html"
    path.write_text(change(pages["pair"].read_text("utf-8")), "utf-8")
    page = show(path)
    page.wait_for_selector(".notice")
    assert sentence in page.inner_text(".notice")


def test_long_inputs_scroll_and_draw_only_what_is_in_sight(show, pages):
    page = show(pages["long"], "#view=heads&layer=0&heads=0")
    page.wait_for_selector(QUERY)
    assert page.locator(QUERY).count() < 60
    page.evaluate("document.querySelector('.scroller').scrollTop = 40000")
    until(page, f"document.querySelector('{QUERY}').dataset.position > 1900")
    assert page.evaluate(INK, ".sheet canvas")[1] > 500
