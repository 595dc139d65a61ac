"""Atlas, matrix and neurons in a saved page; address, language, theme, pictures, damaged pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from test_heads import INK, QUERY, address, until

from regard.patterns.entries import DOES

WHOLE = "all => all.map(e => e.getBoundingClientRect().width * devicePixelRatio / e.width)"


def test_the_inspector_gives_the_evidence_and_what_cannot_be_said(show, pages, pair_trace):
    page = show(pages["pair"], "#view=matrix&layer=0&heads=1")
    page.wait_for_selector(".finding")
    text = page.inner_text(".about")
    found = next(f for f in pair_trace.patterns().of(0, 1) if f.pattern == "previous token")
    rest = round(100 * found.rest)
    assert f"{rest}% of the words' attention rests, mostly on [SEP], an attention sink." in text
    assert f"With the other {100 - rest}% it looks one token back." in text
    bars = re.search(
        rf"previous token · {found.hits} of {found.rows} eligible tokens\s+measured\s+([\d.]+)%\s+chance\s+([\d.]+)%\s+"
        rf"Both are shares of the {100 - rest}% of its attention that does not rest\.",
        text,
    )
    assert float(bars[1]) == pytest.approx(100 * found.mass, abs=0.6)
    assert float(bars[2]) == pytest.approx(100 * found.chance, abs=0.06)
    shares = re.findall(r"(\d+)%", text.split("Of its output, ")[1].split("“previous token”")[0])
    assert len(shares) == 2 and sum(map(int, shares)) <= 100  # of one whole
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
    scales = page.eval_on_selector_all(".story canvas", WHOLE)
    assert len(scales) == len(places) and all(scale >= 1 and scale == int(scale) for scale in scales)  # sharp
    page.click(".story .card >> nth=0")
    layer, head = map(int, places[0].split("."))
    until(page, f"location.hash.includes('view=heads') && location.hash.includes('layer={layer}')")
    queries = {finding.evidence[0][0] for finding in found.of(layer, head)}
    assert any(f"queries={query}" in page.evaluate("location.hash") for query in queries)
    page.click("[data-story=close]")
    assert page.locator(".story").count() == 0


def test_a_sentence_above_every_picture_says_what_it_shows(show, pages, pair_trace):
    found = pair_trace.patterns()
    names = [[f.pattern for f in found.of(site.layer, head)] for site in found.measured for head in site.heads]
    awake = [[name for name in some if name not in ("resting", "always rests")] for some in names]
    named = sum(bool(some) for some in awake)
    page = show(pages["pair"], "#view=atlas&layer=0&heads=1")
    said = page.inner_text("[data-headline=finding]")
    assert 0 < named < len(names)
    places = [f"{site.layer}.{head}" for site in found.measured for head in site.heads]
    ((only, name),) = [(place, some[0]) for place, some in zip(places, awake, strict=True) if some]
    does = DOES[name]
    assert said == f"In this text, {named} of {len(names)} heads follows a named pattern: {only} {does}."
    page.click("[role=tab]:has-text('Heads')")
    page.wait_for_selector(QUERY)
    (one,) = [f for f in found.of(0, 1) if f.pattern == "previous token"]
    weights = pair_trace.attention(0, 1)  # evidence is a share of what does not rest; the picture shows weights
    weight = max(weights[query, key] for query, key, _ in one.evidence)
    assert page.inner_text("[data-headline]").startswith("Head 0.1 looks one token back: ")
    assert f" {100 * weight:.0f}% of its attention." in page.inner_text("[data-headline]")
    page.click(f"{QUERY} >> nth=3")  # a pinned token is the example
    until(page, "document.querySelector('[data-headline]').innerText.includes('“to” gives “went” ')")
    page.click("[data-tool=language]")
    assert "头 0.1" in page.inner_text("[data-headline]")


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
    until(page, "document.querySelector('.row-bars .lit')")
    query = int(page.get_attribute(".row-bars", "data-row"))
    row = page.eval_on_selector_all(".row-bars .value", "all => all.map(e => +e.title)")
    large = weights[query][weights[query] >= 0.001]
    np.testing.assert_allclose([one for one in row if one >= 0.001], large, atol=1e-4)
    assert len(row) <= len(large) + 1  # of the others only what is pointed at
    assert "is looked at by" in page.inner_text(".ranking")  # where the row looks is beside the map, and only there
    assert page.locator(".ranking").count() == 1
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
    "heads": ("Where head 0.1 looks", "looks", "looked at", "attention weight", "0.3"),
    "atlas": ("Every head of the model", "layer", "head", "weight / the head's largest", "1.0"),
    "matrix": ("Where head 0.1 looks", "looks", "looked at", "attention weight", "0.20"),
    "neurons": ("How head 0.1 scores each key", "× k", "= q × k / √16", "sum → score", "softmax → weight"),
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
