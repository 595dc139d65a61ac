"""The walk in a real browser: every step is reached, and the numbers on the screen are the model's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from test_heads import still
from tests.browser.walking import DECODER, ENCODER, cell, go, near, numbers
from tests.tiny import SIZES, made
from transformers import AlbertConfig, AlbertModel

from regard.transformer.model import cross_entropy
from regard.views.walk import walk


def test_every_step_is_reached_forward_and_back_by_keys(page):
    seen = []
    for _ in range(len(ENCODER + DECODER) + 2):
        seen.append(page.get_attribute("[aria-current=step]", "data-step"))
        assert len(page.inner_text(".words")) > 60
        page.keyboard.press("ArrowRight")
    assert list(dict.fromkeys(seen)) == ENCODER + DECODER
    for _ in range(len(ENCODER + DECODER) + 2):
        page.keyboard.press("ArrowLeft")
    assert page.get_attribute("[aria-current=step]", "data-step") == "tokens"


def test_tokens_and_ids_are_those_of_the_trace(page, walked):
    rows = page.locator("[data-table=tokens] tr").all()
    texts, ids = ([cell.inner_text() for cell in row.locator("td").all()] for row in rows)
    tokens = walked.trace.sides["encoder"].tokens
    assert [text.strip() for text in texts] == [token.text.strip() for token in tokens]
    assert ids == [str(token.id) for token in tokens]


@pytest.mark.parametrize("head", [0, 4])
def test_attention_on_the_screen_is_the_attention_of_the_model(page, walked, head):
    for step, kind in (("softmax", "encoder"), ("attend", "decoder"), ("cross", "cross")):
        go(page, step)
        page.click(f"[data-head='{head}']")  # cross attention begins with one of its own
        numbers(page, "A", walked.trace.attention(0, head, kind=kind), nth=0)
    go(page, "scale")
    numbers(page, "Q·Kᵀ/√d", walked.trace.site(0, kind="encoder").scores(head))
    go(page, "project")
    numbers(page, "V", walked.trace.site(0, kind="encoder").v[head])


def test_what_leaves_each_sublayer_is_what_leaves_it_in_the_model(page, walked, translator):
    layer = translator.encoder.layers[0]
    x = torch.from_numpy(walked.walk.arrays["encoder.in"])[None]
    with torch.no_grad():
        attended = layer.self_norm(x, layer.self_attention)[0].numpy()
        decoder = translator.decoder.layers[0]
        target = torch.from_numpy(walked.walk.arrays["decoder.in"])[None]
        memory = torch.from_numpy(walked.walk.arrays["memory"])[None]
        mask = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        decoded = decoder(target, memory, mask, None)[0].numpy()
    go(page, "residual")
    numbers(page, "X + out", attended)
    go(page, "feed")
    numbers(page, "X + out", walked.walk.arrays["encoder.states"][1])
    go(page, "dfeed")
    numbers(page, "X + out", decoded)
    go(page, "stack")
    numbers(page, "E", walked.walk.arrays["memory"])


def test_masked_scores_are_minus_infinity_above_the_diagonal_only(page):
    go(page, "mask")
    assert cell(page, "masked", 1, 4) == -np.inf
    assert np.isfinite(cell(page, "masked", 4, 1))


def test_predictions_and_loss_are_those_of_the_model(page, walked, translator):
    source = torch.tensor([walked.walk.ids])
    target = torch.tensor([[token.id for token in walked.trace.sides["decoder"].tokens]])
    with torch.no_grad():
        logits = translator(source, target)
    chances = logits.softmax(-1)[0]
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


def test_a_pointed_score_names_its_row_and_column(page):
    go(page, "scores")
    cell(page, "Q·Kᵀ", 0, 4)
    assert "Σₖ Q[hello, k] · Kᵀ[k, you]" in page.inner_text("[data-readout]")


def test_k_in_place_of_q_makes_scores_symmetric_before_softmax_only(page):
    go(page, "scores")
    assert cell(page, "Q·Kᵀ", 0, 4) != pytest.approx(cell(page, "Q·Kᵀ", 4, 0), abs=1e-3)
    page.check("[data-what=symmetric]")
    assert cell(page, "Q·Kᵀ", 0, 4) == pytest.approx(cell(page, "Q·Kᵀ", 4, 0), abs=1e-4)
    assert cell(page, "Q·Kᵀ", 3, 3) >= 0
    go(page, "softmax")
    assert cell(page, "A", 0, 4) != pytest.approx(cell(page, "A", 4, 0), abs=1e-6)


def test_without_scaling_scores_are_larger_by_the_root_of_d(page):
    go(page, "scale")
    before = cell(page, "Q·Kᵀ/√d", 2, 3)
    page.uncheck("[data-what=scaling]")
    assert cell(page, "Q·Kᵀ", 2, 3) == pytest.approx(before * np.sqrt(32), rel=1e-4)
    assert page.is_visible("[data-changed]")
    page.click("[data-what=reset]")
    assert not page.is_visible("[data-changed]")


def test_without_a_mask_the_decoder_sees_later_words(page):
    go(page, "attend")
    assert cell(page, "A", 1, 4, nth=0) == 0
    page.uncheck("[data-what=masking]")
    assert cell(page, "A", 1, 4, nth=0) > 0


def test_permuted_words_give_permuted_rows_only_without_positions(page, walked):
    order = walked.walk.order
    go(page, "scores")

    def row(permuted: bool) -> list[float]:
        (page.check if permuted else page.uncheck)("[data-what=permuted]")
        places = [order.index(i) if permuted else i for i in (1, 2, 3)]
        return [cell(page, "Q·Kᵀ", place, places[0]) for place in places]

    assert row(False) != pytest.approx(row(True), abs=1e-2)
    page.uncheck("[data-what=positions]")
    assert row(False) == pytest.approx(row(True), abs=1e-2)


def test_one_head_has_the_full_width(page):
    go(page, "project")
    page.check("[data-what=single]")
    assert page.locator("canvas[data-matrix=Q]").get_attribute("aria-label") == "Q, 7 × 192"


def test_a_higher_temperature_evens_the_weights(page):
    go(page, "softmax")
    before = max(cell(page, "A", 0, column) for column in range(7))
    page.locator("[data-what=temperature]").fill("2")
    assert max(cell(page, "A", 0, column) for column in range(7)) < before


def test_the_numbers_of_the_pair_follow_what_is_changed(page):
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


def test_a_cell_is_the_sum_of_the_terms_that_are_written_out(page, walked):
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


def test_scores_turn_into_shares_that_are_the_models(page, walked):
    page.click("[data-head='2']")
    go(page, "softmax")
    page.click("[data-word=s3]")
    shares = [near(one.inner_text())[0] for one in page.locator(".turning td.number:nth-child(4)").all()]
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


def test_what_is_changed_reaches_the_feed_forward_network_and_says_where_it_ends(page):
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


def test_the_pair_of_a_permuted_sentence_is_still_the_pair_of_the_text(page, walked):
    go(page, "scores")
    page.check("[data-what=permuted]")
    canvas = page.locator('canvas[data-matrix="Q·Kᵀ"]').last
    at = {key: float(canvas.get_attribute(f"data-{key}")) for key in ("left", "top", "cell", "line")}
    canvas.click(position={"x": at["left"] + 2.5 * at["cell"], "y": at["top"] + 1.5 * at["line"]})
    chosen = [int(page.input_value(f"[data-pair={side}]")) for side in ("query", "key")]
    assert chosen == [walked.walk.order[1], walked.walk.order[2]]


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
    assert page.locator(".pair-about h3[dir]").inner_text().split() == ["“to”", "→", "“went”"]
