"""The walk in a real browser: every step is reached, and the numbers on the screen are the model's."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from test_access import AXE, COLOURS, RUN
from test_heads import still, until
from tests.conftest import need
from tests.tiny import SIZES, made
from transformers import AlbertConfig, AlbertModel

import regard
from regard.transformer.model import Translator, cross_entropy
from regard.views.walk import Walked, walk

ENCODER = "tokens embed project scores scale softmax mix join output residual feed stack".split()
DECODER = "target mask attend cross dfeed predict loss".split()


@pytest.fixture(scope="module")
def walked() -> Walked:
    return walk("Hello, how are you?", target="Hola, ¿cómo estás?")


@pytest.fixture(scope="module")
def translator() -> Translator:
    return regard.load("translator").module


@pytest.fixture(scope="module")
def page_file(walked: Walked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return walked.save(tmp_path_factory.mktemp("walk") / "walk.html")


def go(page: Any, step: str) -> None:
    page.click(f"[data-step={step}]")
    page.wait_for_selector(f"[data-step={step}][aria-current=step]")
    unfold(page)


def unfold(page: Any) -> None:
    """Open the tables of a step, and the weights in them."""
    page.evaluate("for (const some of document.querySelectorAll('.walk details')) some.open = true")


def cell(page: Any, name: str, row: int, column: int, nth: int = -1) -> float:
    """The number under the pointer, as the page says it."""
    canvas = page.locator(f'canvas[data-matrix="{name}"]').nth(nth)
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    x, y = at["left"] + (column + 0.5) * at["cell"], at["top"] + (row + 0.5) * at["line"]
    canvas.scroll_into_view_if_needed()
    canvas.hover(position={"x": x, "y": y})
    said = page.inner_text("[data-readout]")
    value = said.partition("] = ")[2].split(" = ")[0].replace("−", "-")
    return float(value.replace("∞", "inf"))


def numbers(page: Any, name: str, expected: np.ndarray, nth: int = -1) -> None:
    """Some cells of a matrix on the page, against what they should be."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        row, column = (int(rng.integers(n)) for n in expected.shape)
        assert cell(page, name, row, column, nth) == pytest.approx(float(expected[row, column]), abs=2e-4)


def test_every_step_is_reached_forward_and_back_by_keys(show, page_file):
    page = show(page_file)
    seen = []
    for _ in range(len(ENCODER + DECODER) + 2):
        seen.append(page.get_attribute("[aria-current=step]", "data-step"))
        assert len(page.inner_text(".words")) > 60
        page.keyboard.press("ArrowRight")
    assert list(dict.fromkeys(seen)) == ENCODER + DECODER
    for _ in range(len(ENCODER + DECODER) + 2):
        page.keyboard.press("ArrowLeft")
    assert page.get_attribute("[aria-current=step]", "data-step") == "tokens"


def test_tokens_and_ids_are_those_of_the_trace(show, page_file, walked):
    page = show(page_file)
    rows = page.locator("[data-table=tokens] tr").all()
    texts, ids = ([cell.inner_text() for cell in row.locator("td").all()] for row in rows)
    tokens = walked.trace.sides["encoder"].tokens
    assert [text.strip() for text in texts] == [token.text.strip() for token in tokens]
    assert ids == [str(token.id) for token in tokens]


@pytest.mark.parametrize("head", [0, 4])
def test_attention_on_the_screen_is_the_attention_of_the_model(show, page_file, walked, head):
    page = show(page_file)
    page.click(f"[data-head='{head}']")
    for step, kind in (("softmax", "encoder"), ("attend", "decoder"), ("cross", "cross")):
        go(page, step)
        numbers(page, "A", walked.trace.attention(0, head, kind=kind), nth=0)
    go(page, "scale")
    numbers(page, "Q·Kᵀ/√d", walked.trace.site(0, kind="encoder").scores(head))
    go(page, "project")
    numbers(page, "V", walked.trace.site(0, kind="encoder").v[head])


def test_what_leaves_each_sublayer_is_what_leaves_it_in_the_model(show, page_file, walked, translator):
    layer = translator.encoder.layers[0]
    x = torch.from_numpy(walked.walk.arrays["encoder.in"])[None]
    with torch.no_grad():
        attended = layer.self_norm(x, layer.self_attention)[0].numpy()
        decoder = translator.decoder.layers[0]
        target = torch.from_numpy(walked.walk.arrays["decoder.in"])[None]
        memory = torch.from_numpy(walked.walk.arrays["memory"])[None]
        mask = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        decoded = decoder(target, memory, mask, None)[0].numpy()
    page = show(page_file)
    go(page, "residual")
    numbers(page, "X + out", attended)
    go(page, "feed")
    numbers(page, "X + out", walked.walk.arrays["encoder.states"][1])
    go(page, "dfeed")
    numbers(page, "X + out", decoded)
    go(page, "stack")
    numbers(page, "E", walked.walk.arrays["memory"])


def test_masked_scores_are_minus_infinity_above_the_diagonal_only(show, page_file):
    page = show(page_file)
    go(page, "mask")
    assert cell(page, "masked", 1, 4) == -np.inf
    assert np.isfinite(cell(page, "masked", 4, 1))


def test_predictions_and_loss_are_those_of_the_model(show, page_file, walked, translator):
    source = torch.tensor([walked.walk.ids])
    target = torch.tensor([[token.id for token in walked.trace.sides["decoder"].tokens]])
    with torch.no_grad():
        logits = translator(source, target)
    chances = logits.softmax(-1)[0]
    page = show(page_file)
    go(page, "predict")
    for position in (0, 3):
        page.click(f"[data-word=t{position}]")
        shown = [float(cell.inner_text()) for cell in page.locator("[data-table=predict] .number").all()]
        np.testing.assert_allclose(shown, chances[position].topk(8).values.numpy(), atol=1e-4)
    go(page, "loss")
    following = torch.tensor([walked.walk.targets])
    for name, smoothing in (("plain", 0.0), ("smoothed", 0.1)):
        expected = cross_entropy(logits, following, smoothing=smoothing).item()
        assert float(page.inner_text(f"[data-loss={name}]")) == pytest.approx(expected, abs=2e-4)


def test_a_pointed_score_names_its_row_and_column(show, page_file):
    page = show(page_file)
    go(page, "scores")
    cell(page, "Q·Kᵀ", 0, 4)
    assert "Σₖ Q[hello, k] · Kᵀ[k, you]" in page.inner_text("[data-readout]")


def test_k_in_place_of_q_makes_scores_symmetric_before_softmax_only(show, page_file):
    page = show(page_file)
    go(page, "scores")
    assert cell(page, "Q·Kᵀ", 0, 4) != pytest.approx(cell(page, "Q·Kᵀ", 4, 0), abs=1e-3)
    page.check("[data-what=symmetric]")
    assert cell(page, "Q·Kᵀ", 0, 4) == pytest.approx(cell(page, "Q·Kᵀ", 4, 0), abs=1e-4)
    assert cell(page, "Q·Kᵀ", 3, 3) >= 0
    go(page, "softmax")
    assert cell(page, "A", 0, 4) != pytest.approx(cell(page, "A", 4, 0), abs=1e-6)


def test_without_scaling_scores_are_larger_by_the_root_of_d(show, page_file):
    page = show(page_file)
    go(page, "scale")
    before = cell(page, "Q·Kᵀ/√d", 2, 3)
    page.uncheck("[data-what=scaling]")
    assert cell(page, "Q·Kᵀ", 2, 3) == pytest.approx(before * np.sqrt(32), rel=1e-4)
    assert page.is_visible("[data-changed]")
    page.click("[data-what=reset]")
    assert not page.is_visible("[data-changed]")


def test_without_a_mask_the_decoder_sees_later_words(show, page_file):
    page = show(page_file)
    go(page, "attend")
    assert cell(page, "A", 1, 4, nth=0) == 0
    page.uncheck("[data-what=masking]")
    assert cell(page, "A", 1, 4, nth=0) > 0


def test_permuted_words_give_permuted_rows_only_without_positions(show, page_file, walked):
    order = walked.walk.order
    page = show(page_file)
    go(page, "scores")

    def row(permuted: bool) -> list[float]:
        (page.check if permuted else page.uncheck)("[data-what=permuted]")
        places = [order.index(i) if permuted else i for i in (1, 2, 3)]
        return [cell(page, "Q·Kᵀ", place, places[0]) for place in places]

    assert row(False) != pytest.approx(row(True), abs=1e-2)
    page.uncheck("[data-what=positions]")
    assert row(False) == pytest.approx(row(True), abs=1e-2)


def test_one_head_has_the_full_width(show, page_file):
    page = show(page_file)
    go(page, "project")
    page.check("[data-what=single]")
    assert page.locator("canvas[data-matrix=Q]").get_attribute("aria-label") == "Q, 7 × 192"


def test_a_higher_temperature_evens_the_weights(show, page_file):
    page = show(page_file)
    go(page, "softmax")
    before = max(cell(page, "A", 0, column) for column in range(7))
    page.locator("[data-what=temperature]").fill("2")
    assert max(cell(page, "A", 0, column) for column in range(7)) < before


def test_the_numbers_of_the_pair_follow_what_is_changed(show, page_file):
    page = show(page_file)
    go(page, "softmax")

    def weight():
        return float(page.inner_text("[data-pair=numbers]").split("weight ")[1])

    page.select_option("[data-pair=query]", "1")
    page.select_option("[data-pair=key]", "2")
    before = weight()
    page.locator("[data-what=temperature]").fill("2")
    changed = weight()
    assert changed != before
    assert changed == pytest.approx(cell(page, "A", 1, 2), rel=0.02)
    page.click("[data-what=reset]")
    assert weight() == before


def test_a_step_shows_the_mix_up_before_what_is_right(show, page_file):
    page = show(page_file)
    go(page, "residual")
    said = " ".join(page.inner_text(".note").split())
    assert said.startswith("A common mix-up: ✗ LayerNorm works over the batch") and said.index("✗") < said.index("✓")


def near(text: str) -> list[float]:
    """The numbers in a text."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def box(page: Any, selector: str) -> dict[str, float]:
    return page.locator(selector).bounding_box()


def test_the_model_stays_in_sight_as_boxes_and_the_dot_stands_before_the_lit_one(show, page_file):
    page = show(page_file)
    for step in ("scores", "stack", "cross", "loss"):
        go(page, step)
        still(page)
        lit, dot = box(page, "[aria-current=step]"), box(page, ".walk circle.dot")
        assert page.locator("[aria-current=step]").count() == 1 and lit["height"] == 17
        assert abs(dot["x"] + dot["width"] / 2 - lit["x"] - lit["width"] / 2) < 1.5
        assert 0 <= lit["y"] - dot["y"] - dot["height"] < 5
    boxes = [one.bounding_box() for one in page.locator("[data-step]").all()]
    apart = [a["x"] + a["width"] <= b["x"] or a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes[:12])]
    assert all(apart)
    assert all(one["y"] >= 0 and one["y"] + one["height"] <= 760 for one in boxes)


def test_a_cell_is_the_sum_of_the_terms_that_are_written_out(show, page_file, walked):
    page = show(page_file)
    go(page, "scores")
    page.select_option("[data-pair=query]", "1")
    page.select_option("[data-pair=key]", "2")
    site = walked.trace.site(0, kind="encoder")
    products = site.q[0, 1].astype(float) * site.k[0, 2].astype(float)
    written = page.inner_text("[data-written]")
    a, b, c, d, e, f, rest, count, total = near(written)
    largest = sorted(products, key=abs, reverse=True)[:3]
    assert [a * b, c * d, e * f] == pytest.approx(largest, abs=0.03)
    assert count == len(products) - 3
    assert rest == pytest.approx(products.sum() - sum(largest), abs=0.011)
    assert total == near(page.inner_text("[data-sum]"))[0] == pytest.approx(products.sum(), abs=0.006)


def test_scores_turn_into_shares_that_are_the_models(show, page_file, walked):
    page = show(page_file)
    page.click("[data-head='2']")
    go(page, "softmax")
    page.click("[data-word=s3]")
    shares = [near(one.inner_text())[0] for one in page.locator(".turning tr td:last-child").all()]
    assert shares == pytest.approx(walked.trace.attention(0, 2)[3].tolist(), abs=0.006)
    still(page)
    widths = [box["width"] for box in (one.bounding_box() for one in page.locator(".grown .amount").all())]
    assert int(np.argmax(widths)) == int(np.argmax(walked.trace.attention(0, 2)[3]))


def test_negative_numbers_grow_to_the_left_of_zero(show, page_file):
    page = show(page_file, "#view=walk&step=4")
    page.wait_for_selector("[data-cell=bars] .amount")
    rows = page.eval_on_selector_all(
        "[data-cell=bars] tbody tr",
        """all => all.map(row => { const [bar] = row.querySelectorAll('.amount');
          const [box, around] = [bar, bar.parentElement].map(one => one.getBoundingClientRect());
          const zero = around.left + parseFloat(getComputedStyle(bar.parentElement, '::before').left);
          return [row.querySelector('.number').textContent, box.left - zero, box.right - zero] })""",
    )
    numbers = [(float(text.replace("\u2212", "-")), left, right) for text, left, right in rows]
    assert {value < 0 for value, *_ in numbers} == {True, False}
    for value, left, right in numbers:
        assert (right <= 1.5) if value < 0 else (left >= -1.5)
    longest = max(right - left for _, left, right in numbers)
    most = max(abs(value) for value, *_ in numbers)
    for value, left, right in numbers:
        assert (right - left) / longest == pytest.approx(abs(value) / most, abs=0.03)


def test_a_row_of_cross_attention_says_what_was_said_and_what_comes_next(show, page_file, walked):
    page = show(page_file, "#view=walk")
    page.click("[data-step=cross]")
    page.wait_for_selector("[data-saying]")
    words = [token.text.strip() for token in walked.trace.side("decoder").tokens]
    page.select_option("[data-pair=query]", "1")
    assert page.inner_text("[data-saying]").startswith(f"Having said “{words[1]}”, about to say “{words[2]}”")
    page.select_option("[data-pair=query]", str(len(words) - 1))
    assert "about to end" in page.inner_text("[data-saying]")


def test_a_question_is_answered_by_clicking_and_says_the_number(show, page_file, walked):
    page = show(page_file)
    go(page, "scores")
    # about the word after the one whose row is on the page, or the answer could be read off
    assert "Which word will “,” look at most?" in page.inner_text("[data-question]")
    texts = [one.inner_text() for one in page.locator("[data-option]").all()]
    row = walked.trace.site(0, kind="encoder").scores(0)[1] * np.sqrt(32)
    words = [token.text.strip() for token in walked.trace.sides["encoder"].tokens]
    best = texts.index(words[int(row.argmax())])
    wrong = (best + 1) % len(texts)
    page.click(f"[data-option='{wrong}']")
    said = page.inner_text("[data-said=wrong]")
    assert said.startswith(f"Not this one: it is {texts[best]}.") and f"{row.max():.2f}" in said
    page.click(f"[data-option='{best}']")
    assert page.inner_text("[data-said=right]").startswith("Yes.")


def test_every_step_asks_something_and_the_right_answer_is_there(show, page_file):
    page = show(page_file)
    page.click("[data-head='1']")
    for step in ENCODER + DECODER:
        go(page, step)
        count = page.locator("[data-option]").count()
        assert count >= 2, step
        assert page.locator("[data-said]").count() == 0, step
        for option in range(count):
            page.click(f"[data-option='{option}']")
            if page.locator("[data-said=right]").count():
                break
        assert len(page.inner_text("[data-said=right]")) > 10, step
        if step == "scale":  # a number that could be read off
            assert page.inner_text(f"[data-option='{option}']") not in page.inner_text(".cell[data-cell]")
        assert "{" not in page.inner_text(".scene") and "NaN" not in page.inner_text(".scene"), step


def test_formulas_are_mathml_in_the_colours_of_their_matrices(show, page_file):
    page = show(page_file)
    go(page, "softmax")
    assert page.locator("math.formula mfrac msqrt").count() == 1
    space = page.evaluate("document.querySelector('math.formula mi').namespaceURI")
    assert space == "http://www.w3.org/1998/Math/MathML"
    colour = "e => getComputedStyle(e).color"
    symbol = page.locator("math.formula mi.ink-A").first.evaluate(colour)
    assert symbol == page.locator("figcaption .ink-A").first.evaluate(colour)
    assert symbol != page.locator("math.formula mi.ink-Q").first.evaluate(colour)


def test_weights_are_folded_to_an_icon(show, page_file):
    page = show(page_file)
    page.click("[data-step=project]")
    page.click(".tables > summary")
    assert not page.locator('canvas[data-matrix="W_Q"]').is_visible()
    page.click(".weight > summary >> text=W_Q")
    assert page.locator('canvas[data-matrix="W_Q"]').is_visible()


def test_what_is_changed_reaches_the_feed_forward_network_and_says_where_it_ends(show, page_file):
    page = show(page_file)
    go(page, "feed")
    before = cell(page, "hidden", 1, 3, nth=0), cell(page, "X + out", 1, 3)
    page.uncheck("[data-what=scaling]")
    assert cell(page, "X + out", 1, 3) != pytest.approx(before[1], abs=1e-4)
    go(page, "stack")
    assert "the model's own" in page.inner_text("[data-changed]")
    go(page, "dfeed")
    changed = cell(page, "X + out", 1, 3)
    page.click("[data-what=reset]")
    assert cell(page, "X + out", 1, 3) != pytest.approx(changed, abs=1e-4)


def test_nothing_moves_on_load_and_steps_move_for_at_most_a_quarter_of_a_second(show, page_file):
    page = show(page_file, "#view=walk&step=3")
    page.wait_for_selector("[data-cell=dot]")
    assert page.evaluate("document.getAnimations().length") == 0
    page.evaluate(
        """() => { window.times = []; (function look() {
          window.times.push(...document.getAnimations().map(one => one.effect.getTiming().duration));
          requestAnimationFrame(look); })(); }"""
    )
    page.keyboard.press("ArrowRight")
    until(page, "window.times.length > 0")
    still(page)
    assert all(150 <= time <= 250 for time in page.evaluate("window.times"))


def test_with_less_motion_the_states_before_and_after_stand_still_side_by_side(show, page_file):
    page = show(page_file, reduced_motion="reduce")
    page.click("[data-step=softmax]")
    assert [one.get_attribute("data-frame") for one in page.locator(".still").all()] == ["before", "after"]
    assert page.locator("[data-frame=before] .grown").count() == 0 < page.locator("[data-frame=after] .grown").count()
    assert page.evaluate("document.getAnimations().length") == 0


def test_the_target_grows_on_top_of_the_page(show, page_file):
    page = show(page_file)
    go(page, "softmax")
    assert "nothing yet" in page.inner_text("[data-text=target]")
    go(page, "predict")
    for position in (0, 2):
        page.click(f"[data-word=t{position}]")
        assert page.locator("[data-text=target] .word:not(.later)").count() == position + 1


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_a_step_fits_the_window(show, page_file, width):
    page = show(page_file, viewport={"width": width, "height": 844})
    for step in ("embed", "scores", "softmax", "join", "predict", "loss"):
        page.eval_on_selector(f"[data-step={step}]", "e => e.click()")
        page.wait_for_selector(f"[data-step={step}][aria-current=step]")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        cell = box(page, ".cell[data-cell]")
        assert cell["x"] >= 0 and cell["x"] + cell["width"] <= width
        lit = box(page, "[aria-current=step]")
        assert lit["x"] >= 0 and lit["x"] + lit["width"] <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_step_has_a_barrier(show, page_file, theme):
    need(AXE.exists(), "needs the front end's packages (make test installs them)")
    page = show(page_file, color_scheme=theme, reduced_motion="reduce")
    page.evaluate(AXE.read_text("utf-8"))
    for step in ("tokens", "scores", "softmax", "mask", "join", "predict", "loss"):
        page.click(f"[data-step={step}]")
        page.click("[data-option='0']")
        still(page)
        assert page.evaluate(RUN, COLOURS if theme == "dark" else None) == [], step


def test_words_that_occur_twice_carry_their_position(show, bert, tmp_path):
    page = show(walk("the cat sat on the mat .", bert).save(tmp_path / "twice.html"))
    go(page, "softmax")
    names = page.locator(".turning tbody th").all_inner_texts()
    assert "cat" in names and {"the₁", "the₅"} <= set(names)


def test_a_clicked_cell_opens_in_the_neuron_view_as_the_same_pair_and_back(show, page_file, walked):
    page = show(page_file)
    page.click("[data-head='2']")
    go(page, "cross")
    canvas = page.locator('canvas[data-matrix="A"]').first
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    canvas.click(position={"x": at["left"] + 4.5 * at["cell"], "y": at["top"] + 1.5 * at["line"]})
    assert page.input_value("[data-pair=query]") == "1"
    assert page.input_value("[data-pair=key]") == "4"
    weight = float(page.inner_text("[data-pair=numbers]").split("weight ")[1])
    assert weight == pytest.approx(float(walked.trace.attention(0, 2, kind="cross")[1, 4]), abs=6e-3)
    page.click("[data-go=neurons]")
    assert page.get_attribute("[data-view=neurons]", "aria-selected") == "true"
    for part in ("kind=cross", "layer=0", "heads=2", "queries=1", "pairs=1,4"):
        assert part in page.url
    assert page.locator(".pairs .pair").count() == 1
    page.click("[data-go=walk]")
    assert page.get_attribute("[aria-current=step]", "data-step") == "cross"
    assert page.input_value("[data-pair=key]") == "4"


def test_from_another_kind_of_attention_the_way_back_leads_to_its_scores(show, page_file):
    page = show(page_file, "#view=neurons&kind=decoder&layer=0&heads=1")
    page.click("[data-go=walk]")
    assert page.get_attribute("[aria-current=step]", "data-step") == "mask"


def test_a_layer_without_a_walk_has_no_way_back(show, page_file):
    page = show(page_file, "#view=neurons&kind=encoder&layer=1&heads=1")
    page.wait_for_selector(".neurons")
    assert page.locator("[data-go=walk]").count() == 0


def test_the_pair_of_a_permuted_sentence_is_still_the_pair_of_the_text(show, page_file, walked):
    page = show(page_file)
    go(page, "scores")
    page.check("[data-what=permuted]")
    canvas = page.locator('canvas[data-matrix="Q·Kᵀ"]').last
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    canvas.click(position={"x": at["left"] + 2.5 * at["cell"], "y": at["top"] + 1.5 * at["line"]})
    chosen = [int(page.input_value(f"[data-pair={side}]")) for side in ("query", "key")]
    assert chosen == [walked.walk.order[1], walked.walk.order[2]]


def saved(page: Any, path: Path) -> list[str]:
    """The texts of the picture that the page saves."""
    with page.expect_download() as waiting:
        page.click("[data-tool=save]")
    assert waiting.value.suggested_filename.startswith("regard-walk")
    waiting.value.save_as(path)
    return [element.text for element in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")]


def test_every_step_can_be_saved_as_a_picture_with_its_words_and_numbers(show, page_file, walked, tmp_path):
    page = show(page_file)
    for step in ENCODER + DECODER:
        go(page, step)
        texts = saved(page, tmp_path / f"{step}.svg")
        assert texts[0] == page.inner_text(".scene h2")
        assert texts[1] == page.get_attribute(".formula", "data-formula")
        assert texts[-1].startswith("translator · encoder head 0.0")
        if step == "softmax":
            assert f"{walked.trace.attention(0, 0)[0, 0]:.2f}" in texts
            assert "hello" in texts
        if step == "tokens":
            assert str(walked.walk.ids[0]) in texts
        if step == "loss":
            assert page.inner_text("[data-loss=plain]") in texts


def test_a_saved_step_says_when_it_is_not_the_model(show, page_file, tmp_path):
    page = show(page_file)
    go(page, "scale")
    page.uncheck("[data-what=scaling]")
    assert "Changed: these are not the model's numbers." in saved(page, tmp_path / "changed.svg")


def test_the_walk_speaks_chinese(show, page_file):
    page = show(page_file, locale="zh-CN")
    assert page.inner_text(".scene h2") == "文本 → 词元 → 编号"


def test_a_bert_from_elsewhere_has_the_encoder_steps_with_its_numbers(show, bert, tmp_path):
    walked = walk("the cat sat on the mat .", bert, layer=1)
    page = show(walked.save(tmp_path / "bert.html"))
    steps = [item.get_attribute("data-step") for item in page.locator("[data-step]").all()]
    assert steps == ENCODER
    go(page, "softmax")
    numbers(page, "A", walked.trace.attention(1, 0), nth=0)
    go(page, "feed")
    with torch.no_grad():
        ids = torch.tensor([walked.walk.ids])
        states = bert.module(ids, output_hidden_states=True).hidden_states
    numbers(page, "norm", states[2][0].numpy())
    assert walked.said is None


def test_a_shared_narrow_albert_is_shown_with_its_numbers(show, wordpiece, tmp_path):
    config = AlbertConfig(vocab_size=len(wordpiece), embedding_size=12, **SIZES | {"num_hidden_layers": 3})
    albert = made(AlbertModel, config, wordpiece)
    walked = walk("the cat sat on the mat .", albert, layer=2)
    page = show(walked.save(tmp_path / "albert.html"))
    with torch.no_grad():
        states = albert.module(torch.tensor([walked.walk.ids]), output_hidden_states=True).hidden_states
    go(page, "embed")
    numbers(page, "X", states[0][0].numpy())
    go(page, "feed")
    numbers(page, "norm", states[3][0].numpy())  # gelu by tanh


@pytest.mark.models
def test_the_first_layer_of_the_default_model_is_split_where_the_walk_leads(show, minilm, tmp_path):
    page = show(walk("I went to the store.", minilm).save(tmp_path / "minilm.html"))
    page.click("[data-head='2']")
    go(page, "scores")
    page.select_option("[data-pair=query]", "3")
    page.select_option("[data-pair=key]", "2")
    page.click("[data-go=neurons]")
    table = page.locator("table.attribution")
    assert table.locator("tbody th").all_inner_texts() == ["word", "position", "segment", "constant"]
    assert page.locator(".pair-about h3").inner_text().split() == ["to", "→", "went"]
