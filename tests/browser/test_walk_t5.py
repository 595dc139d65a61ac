"""The walk through T5 in a real browser: every table on the screen is the model's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_walk_decoders import STEPS, shown
from tests.browser.walking import DECODER, SEARCHED, barriers, cell, go, right_answer, wide
from tests.transformer.test_t5 import ANSWER, MADE, TEXT, decoder_ids, seen_in, sharpened

import regard
from regard.views.walk import Walked, walk

ENCODER = "tokens embed norm project scores bias softmax mix join output residual feed stack".split()
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


def tables_of(walked: Walked, own: dict[str, dict[str, np.ndarray]]) -> dict[str, list[tuple[str, np.ndarray]]]:
    """By step, the tables that it shows and what is in them."""
    arrays, encoder, decoder, cross = walked.walk.arrays, own["encoder"], own["decoder"], own["cross"]
    return {
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


def feed_of(part: dict[str, np.ndarray]) -> list[tuple[str, np.ndarray]]:
    names = {"norm(X)": "inner", "hidden": "hidden", "out": "fed", "X + out": "result"}
    return [(name, part[key]) for name, key in names.items()]


def test_every_step_is_there_and_fits_says_asks_and_shows_the_models_own_tables(page, model, walked, own):
    """One way through all steps: to draw one takes longer than to look at it."""
    assert [one.get_attribute("data-step") for one in page.locator("[data-step]").all()] == ENCODER + DECODER
    tables = tables_of(walked, own)
    with wide(page, 1440):
        page.click(f"[data-head='{HEAD}']")
        for step in ENCODER + DECODER:
            go(page, step)
            assert page.evaluate("document.documentElement.scrollWidth") <= 1440, step
            assert len(page.inner_text(".words")) > 60 and page.locator("math.formula").count() == 1, step
            scene = page.inner_text(".scene")
            assert not any(bad in scene for bad in ("{", "NaN", "undefined", "√")) or step == "bias", step
            for name, expected in tables.get(step, ()):
                shown(page, name, expected)
            assert right_answer(page), step


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


def test_steps_fit_a_phone(page, model):
    with wide(page, 390):
        for step in SEARCHED["gated t5"] if model.config.is_gated_act else ENCODER + DECODER:
            go(page, step, unfold=False)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, step


def test_no_step_of_t5_has_a_barrier(page, model):
    assert barriers(page, SEARCHED["gated t5" if model.config.is_gated_act else "t5"]) == []


def test_every_step_of_every_walk_is_searched_for_barriers_somewhere():
    assert {*ENCODER, *DECODER, *STEPS} == {step for steps in SEARCHED.values() for step in steps}
