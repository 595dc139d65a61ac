"""The walk through T5 in a real browser: every table on the screen is the model's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_walk_decoders import shown
from tests.browser.walking import barriers, cell, go
from tests.transformer.test_t5 import ANSWER, MADE, TEXT, decoder_ids, seen_in, sharpened

import regard
from regard.views.walk import Walked, walk

ENCODER = "tokens embed norm project scores bias softmax mix join output residual feed stack".split()
DECODER = "target mask attend cross dfeed predict loss".split()
HEAD, LAYER = 1, 1


@pytest.fixture(scope="module", params=["plain", "gated"])
def model(request: pytest.FixtureRequest, wordpiece: Any) -> regard.Model:
    return sharpened(MADE[request.param](wordpiece))


@pytest.fixture(scope="module")
def walked(model: regard.Model) -> Walked:
    return walk(TEXT, model, target=ANSWER, layer=LAYER)


@pytest.fixture(scope="module")
def page_file(walked: Walked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return walked.save(tmp_path_factory.mktemp("walk") / "walk.html")


@pytest.fixture(scope="module")
def own(walked: Walked, model: regard.Model) -> dict[str, dict[str, np.ndarray]]:
    """What the model's modules compute in the layer, by hooks; maps of one head from the trace, its bias from T5."""
    ids, target = walked.walk.ids, decoder_ids(walked)
    found = {
        part: {name: value.numpy() for name, value in values.items()}
        for part, values in seen_in(model, ids, target, LAYER).items()
    }
    for part, values in found.items():
        width = values["q"].shape[-1] // walked.walk.heads
        q, k, v = (values[letter][:, HEAD * width : (HEAD + 1) * width] for letter in "qkv")
        attention = walked.trace.attention(LAYER, HEAD, kind=part)
        values |= {"one q": q, "one k": k, "one v": v, "scores": q @ k.T, "weights": attention, "mixed": attention @ v}
        if part != "cross":
            stack = getattr(model.module, part)
            length = len(values["q"])
            with torch.no_grad():
                bias = stack.block[0].layer[0].SelfAttention.compute_bias(length, length)[0, HEAD].numpy()
            values |= {"bias": bias, "biased": values["scores"] + bias}
    return found


def test_every_step_is_there_and_says_asks_and_answers_something(page):
    assert [one.get_attribute("data-step") for one in page.locator("[data-step]").all()] == ENCODER + DECODER
    page.click(f"[data-head='{HEAD}']")
    for step in ENCODER + DECODER:
        go(page, step)
        assert len(page.inner_text(".words")) > 60 and page.locator("math.formula").count() == 1, step
        scene = page.inner_text(".scene")
        assert not any(bad in scene for bad in ("{", "NaN", "undefined", "√")) or step == "bias", step
        options = page.locator("[data-option]").count()
        assert options >= 2, step
        for option in range(options):
            page.click(f"[data-option='{option}']")
            if page.locator("[data-said=right]").count():
                break
        assert len(page.inner_text("[data-said=right]")) > 10, step


def test_every_table_of_both_layers_is_the_models_own(page, walked, own):
    page.click(f"[data-head='{HEAD}']")
    arrays, encoder, decoder, cross = walked.walk.arrays, own["encoder"], own["decoder"], own["cross"]
    tables = {
        "embed": [("X", arrays["source.x"])],
        "norm": [("X", arrays["encoder.in"]), ("norm(X)", encoder["norm"])],
        "project": [("Q", encoder["one q"]), ("K", encoder["one k"]), ("V", encoder["one v"])],
        "scores": [("Q", encoder["one q"]), ("Q·Kᵀ", encoder["scores"])],
        "bias": [("Q·Kᵀ", encoder["scores"]), ("B", encoder["bias"]), ("Q·Kᵀ + B", encoder["biased"])],
        "softmax": [("Q·Kᵀ + B", encoder["biased"]), ("A", encoder["weights"])],
        "mix": [("A·V", encoder["mixed"])],
        "join": [("joined", encoder["joined"])],
        "output": [("out", encoder["output"])],
        "residual": [("X + out", encoder["added"])],
        "feed": feed_of(encoder),
        "stack": [("x₁", arrays["encoder.states"][1]), ("E", arrays["memory"])],
        "target": [("X", arrays["target.x"])],
        "mask": [("Q·Kᵀ + B", decoder["biased"])],
        "attend": [("A", decoder["weights"]), ("A·V", decoder["mixed"]), ("X + out", decoder["added"])],
        "cross": [
            ("norm(D)", cross["norm"]),
            ("Q", cross["one q"]),
            ("K", cross["one k"]),
            ("V", cross["one v"]),
            ("Q·Kᵀ", cross["scores"]),
            ("A", cross["weights"]),
            ("A·V", cross["mixed"]),
        ],
        "dfeed": feed_of(decoder),
        "predict": [
            ("norm(X)", arrays["decoder.final"]),
            ("logits", arrays["logits"][:, list(walked.walk.candidates)]),
        ],
    }
    for step, found in tables.items():
        go(page, step)
        for name, expected in found:
            shown(page, name, expected)


def feed_of(part: dict[str, np.ndarray]) -> list[tuple[str, np.ndarray]]:
    names = {"norm(X)": "inner", "hidden": "hidden", "out": "fed", "X + out": "result"}
    return [(name, part[key]) for name, key in names.items()]


def test_without_its_bias_a_layer_has_the_plain_scores_and_says_so(page, own):
    page.click(f"[data-head='{HEAD}']")
    go(page, "softmax")
    assert page.locator("[data-what=scaling], [data-what=single], [data-what=positions]").count() == 0
    page.uncheck("[data-what=bias]")
    assert page.is_visible("[data-changed]")
    scores = torch.from_numpy(own["encoder"]["scores"])
    shown(page, "A", scores.softmax(-1).numpy())


def test_masked_scores_predictions_and_loss_are_the_models(page, walked):
    go(page, "mask")
    assert cell(page, "masked", 1, 2) == -np.inf and np.isfinite(cell(page, "masked", 2, 1))
    logits = torch.from_numpy(walked.walk.arrays["logits"])
    go(page, "predict")
    for position in (1, len(logits) - 1):
        page.click(f"[data-word=t{position}]")
        said = [float(one.inner_text()) for one in page.locator("[data-table=predict] .number").all()]
        np.testing.assert_allclose(said, logits[position].softmax(-1).topk(8).values, atol=1e-4)
    go(page, "loss")
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(walked.walk.targets)).item()
    assert float(page.inner_text("[data-loss=plain]")) == pytest.approx(expected, abs=2e-4)
    assert page.locator("[data-loss=smoothed]").count() == 0


def test_steps_fit_the_window(show, page_file):
    page = show(page_file)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        for step in ENCODER + DECODER:
            page.eval_on_selector(f"[data-step={step}]", "e => e.click()")
            page.wait_for_selector(f"[data-step={step}][aria-current=step]")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, step


def test_no_step_of_t5_has_a_barrier(show, page_file, model):
    page = show(page_file, reduced_motion="reduce")
    steps = ("feed", "dfeed") if model.config.is_gated_act else ENCODER + DECODER  # the others are the same
    assert barriers(page, steps) == []
