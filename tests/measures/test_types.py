"""Kovaleva's types: synthetic maps, and real maps that were labelled by eye before any classifier saw them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.measures import shape_features
from regard.measures.types import TYPES, type_probabilities

MAPS = Path(__file__).resolve().parents[1] / "data" / "maps"


@pytest.fixture(scope="module")
def scripts():
    """The scripts that lie beside the data."""
    sys.path.insert(0, str(MAPS))
    try:
        import fit_types
        import make_maps
        import synthetic

        yield {"fit": fit_types, "make": make_maps, "synthetic": synthetic}
    finally:
        sys.path.remove(str(MAPS))


@pytest.fixture(scope="module")
def results():
    return json.loads((MAPS / "results.json").read_text(encoding="utf-8"))


def predicted(example):
    attention = example.attention.astype(np.float32)
    shape = shape_features(attention, segments=example.segments, visible=example.visible)
    return int(type_probabilities(shape).argmax())


def test_synthetic_maps_of_another_seed_are_told_apart(scripts):
    made = scripts["synthetic"].examples(100, seed=99)
    types = np.array([TYPES.index(example.type) for example in made])
    found = scripts["fit"].scores(types, np.array([predicted(example) for example in made]))
    assert found["macro F1"] >= 0.95


def test_probabilities_sum_to_one():
    maps = np.random.default_rng(0).dirichlet(np.ones(12), size=(4, 12)).astype(np.float32)
    chances = type_probabilities(shape_features(maps))
    assert chances.shape == (4, 5)
    np.testing.assert_allclose(chances.sum(axis=-1), 1)


@pytest.mark.parametrize(
    ("name", "attention"),
    [
        ("vertical", np.tile(np.eye(20)[0], (20, 1)) * 0.9 + 0.005),
        ("diagonal", np.eye(20, k=-1) * 0.9 + 0.005),
        ("heterogeneous", np.random.default_rng(1).dirichlet(np.ones(20), size=20)),
    ],
)
def test_plain_shapes_get_their_type(name, attention):
    chances = type_probabilities(shape_features((attention / attention.sum(axis=-1, keepdims=True)).astype(np.float32)))
    assert TYPES[int(chances.argmax())] == name
    assert chances.max() > 0.6


def test_three_hundred_real_maps_are_labelled():
    labels = json.loads((MAPS / "labels.json").read_text(encoding="utf-8"))
    rows = json.loads((MAPS / "maps.json").read_text(encoding="utf-8"))
    assert len(labels["first"]) == len(rows) == 300
    assert set(labels["first"]) == set(TYPES)
    assert len(labels["second"]) == 60
    assert len({row["input"] for row in rows}) == 18


def test_the_scores_on_real_maps_are_those_of_maps_not_seen(scripts, results):
    fit = scripts["fit"]
    labels = json.loads((MAPS / "labels.json").read_text(encoding="utf-8"))
    types = np.array([TYPES.index(label) for label in labels["first"]])
    inputs, rows = fit.real_maps()
    groups = np.array([row["input"] for row in rows])
    found = fit.scores(types, fit.cross_validated(fit.synthetic_maps(200, seed=1), inputs, types, groups))
    assert found["macro F1"] == pytest.approx(results["real, by input"]["macro F1"], abs=0.02)
    assert found["accuracy"] == pytest.approx(results["real, by input"]["accuracy"], abs=0.02)


def test_the_docs_give_the_scores(results):
    page = (MAPS.parents[2] / "docs" / "explanation" / "reading-patterns.md").read_text(encoding="utf-8")
    for protocol in ("real, by input", "real, by head", "synthetic, held out"):
        assert f"{results[protocol]['macro F1']:.2f}" in page


def test_the_sheets_can_be_drawn_again(scripts, tmp_path):
    subprocess.run([sys.executable, str(MAPS / "make_maps.py"), "sheets", str(tmp_path)], check=True)
    assert len(list(tmp_path.glob("sheet-*.png"))) == 12
