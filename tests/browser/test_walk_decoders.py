"""The walk through GPT-2 and Llama in a real browser: every table on the screen is the model's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.browser.walking import SEARCHED, barriers, cell, fits, go, readout, right_answer, wide
from tests.transformer.test_decoders import seen_in

import regard
from regard.views.walk import Walked, walk

TEXT = "the cat sat on the mat and the dog"
STEPS = "tokens embed norm project group rotate scores scale mask softmax mix join output residual feed stack".split()
STEPS += ["predict", "cache", "loss"]
ONLY_LLAMA = {"group", "rotate"}


def steps_of(kind: str) -> list[str]:
    return [step for step in STEPS if kind != "gpt2" or step not in ONLY_LLAMA]


SMOLLM = pytest.param("smollm", marks=pytest.mark.models)
TWO = pytest.mark.parametrize("kind", ["gpt2", SMOLLM], indirect=True, scope="module")  # SmolLM2 is a Llama


@pytest.fixture(scope="module", params=["gpt2", "llama", SMOLLM])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def model(kind: str, request: pytest.FixtureRequest) -> regard.Model:
    return request.getfixturevalue("smollm") if kind == "smollm" else request.getfixturevalue("sharp")(kind)


@pytest.fixture(scope="module")
def walked(kind: str, model: regard.Model) -> Walked:
    if kind == "smollm":
        return walk("The capital of France is", model, layer=2, generate=2)
    return walk(TEXT, model, layer=1)


@pytest.fixture(scope="module")
def page_file(walked: Walked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return walked.save(tmp_path_factory.mktemp("walk") / "walk.html")


@pytest.fixture(scope="module")
def own(kind: str, walked: Walked, model: regard.Model) -> dict[str, np.ndarray]:
    """What the model's modules compute in the layer, by hooks; q, k, v and maps of head 1 from the trace."""
    found = {name: value.numpy() for name, value in seen_in(model, walked.walk.ids, walked.walk.layer).items()}
    site = walked.trace.site(walked.walk.layer)
    key = 1 // (walked.walk.heads // (walked.walk.groups or walked.walk.heads))
    found |= {"turned q": site.q[1], "turned k": site.k[key], "v": site.v[key]}
    if kind != "gpt2":
        width = site.q.shape[-1]
        found |= {
            "plain q": found["q"][:, width : 2 * width],
            "plain k": found["k"][:, key * width : (key + 1) * width],
        }
    else:
        found |= {"plain q": site.q[1], "plain k": site.k[1]}
    attention = walked.trace.attention(walked.walk.layer, 1)
    return found | {"scores": site.q[1] @ site.k[key].T, "weights": attention, "mixed": attention @ found["v"]}


def shown(page: Any, name: str, expected: np.ndarray, nth: int = -1) -> None:
    """Some cells of a table on the page, against what they should be."""
    rng = np.random.default_rng(0)
    size = max(1.0, float(np.abs(expected).max()))
    for _ in range(3):
        row, column = (int(rng.integers(n)) for n in expected.shape)
        which, said = readout(page, name, row, column, nth)  # six digits are written
        pointed = which.rpartition(", ")[2]
        if pointed.isdigit():  # of columns that are narrower than a pixel, the one that was hit
            column = int(pointed)
        assert said == pytest.approx(float(expected[row, column]), abs=1e-5 * size), name


def tables_of(walked: Walked, own: dict[str, np.ndarray]) -> dict[str, list[tuple[str, np.ndarray]]]:
    """By step, the tables that it shows and what is in them."""
    arrays = walked.walk.arrays
    x = arrays["decoder.in"]
    return {
        "embed": [("X", arrays["source.x"])],
        "norm": [("X", x), ("norm(X)", own["norm"])],
        "project": [("Q", own["plain q"]), ("K", own["plain k"]), ("V", own["v"])],
        "rotate": [("turnedQ", own["turned q"]), ("turnedK", own["turned k"])],
        "scores": [("Q", own["turned q"]), ("Q·Kᵀ", own["scores"])],
        "scale": [("Q·Kᵀ/√d", own["scores"] / np.sqrt(own["v"].shape[-1]))],
        "softmax": [("A", own["weights"])],
        "mix": [("A·V", own["mixed"])],
        "join": [("joined", own["joined"])],
        "output": [("out", own["output"])],
        "residual": [("X + out", own["added"])],
        "feed": [("norm(X)", own["inner"]), ("hidden", own["hidden"]), ("out", own["fed"]), ("X + out", own["result"])],
        "stack": [("x₁", arrays["decoder.states"][1])],
        "predict": [
            ("norm(X)", arrays["decoder.final"]),
            ("logits", arrays["logits"][:, list(walked.walk.candidates)]),
        ],
    }


def test_every_step_is_there_and_fits_says_asks_and_shows_the_models_own_tables(page, kind, walked, own):
    """One way through all steps: to draw one takes longer than to look at it."""
    assert [one.get_attribute("data-step") for one in page.locator("[data-step]").all()] == steps_of(kind)
    tables = tables_of(walked, own)
    with wide(page, 1440):
        page.click("[data-head='1']")
        for step in steps_of(kind):
            go(page, step)
            fits(page, 1440)
            assert len(page.inner_text(".words")) > 60 and page.locator("math.formula").count() == 1, step
            scene = page.inner_text(".scene")
            assert not any(bad in scene for bad in ("{", "NaN", "undefined")), step
            for name, expected in tables.get(step, ()):
                shown(page, name, expected)
            assert right_answer(page), step


def test_masked_scores_predictions_and_loss_are_the_models(page, walked):
    go(page, "mask")
    assert cell(page, "masked", 1, 4) == -np.inf and np.isfinite(cell(page, "masked", 4, 1))
    logits = torch.from_numpy(walked.walk.arrays["logits"])
    go(page, "predict")
    for position in (2, len(logits) - 1):
        page.click(f"[data-word=s{position}]")
        said = [float(one.inner_text()) for one in page.locator("[data-table=predict] .number").all()]
        np.testing.assert_allclose(said, logits[position].softmax(-1).topk(8).values, atol=1e-4)
    go(page, "loss")
    expected = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(walked.walk.targets)).item()
    assert float(page.inner_text("[data-loss=plain]")) == pytest.approx(expected, abs=2e-4)
    assert page.locator("[data-loss=smoothed]").count() == 0


def test_one_more_token_brings_one_row_and_keeps_the_others(page, walked, own):
    page.click("[data-head='1']")
    go(page, "cache")
    page.click("[data-word=s3]")
    rows = page.locator("[data-table=cache] tbody tr")
    assert rows.count() == 4 and page.locator("[data-table=cache] tr.on").count() == 1
    titles = page.locator("[data-table=cache] tr.on td:nth-child(3) .strip > i").evaluate_all(
        "all => all.map(i => i.title)"
    )
    few = own["turned k"][3][:16]
    assert [float(one.replace("−", "-")) for one in titles] == pytest.approx(few.tolist(), abs=0.006)
    layers, groups = len(walked.walk.arrays["decoder.states"]) - 1, walked.walk.groups or walked.walk.heads
    width = own["v"].shape[-1]
    assert page.inner_text("[data-written]") == f"2 · {layers} · {groups} · {width} = {2 * layers * groups * width}"
    shown(page, "K", own["turned k"][:4])


@pytest.mark.parametrize("kind", ["llama", SMOLLM], indirect=True, scope="module")  # GPT-2 adds its positions
def test_arrows_turn_by_the_models_angles(page, walked):
    go(page, "rotate")
    page.select_option("[data-pair=query]", "3")
    page.select_option("[data-pair=key]", "1")
    angles = [float(one.get_attribute("data-angle")) for one in page.locator(".dial").all()]
    rates = walked.walk.arrays["decoder.rates"]
    assert any(angles == pytest.approx([3 * rate, rate], rel=1e-5) for rate in rates)
    page.uncheck("[data-what=rotation]")
    assert [float(one.get_attribute("data-angle")) for one in page.locator(".dial").all()] == [0, 0]
    assert page.is_visible("[data-changed]")


@TWO
def test_steps_fit_a_phone(page, kind):
    with wide(page, 390):
        for step in steps_of(kind):
            go(page, step, unfold=False)
            fits(page, 390)


@TWO
def test_no_step_of_a_decoder_has_a_barrier(page, kind):
    assert barriers(page, SEARCHED[kind]) == []
