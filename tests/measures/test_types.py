"""Kovaleva's types: synthetic maps, and real maps that were labelled by eye."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from regard.measures import shape_features
from regard.measures.types import TYPES, type_probabilities

MAPS = Path(__file__).resolve().parents[1] / "data" / "maps"
PAGE = (MAPS.parents[2] / "docs" / "explanation" / "reading-patterns.md").read_text(encoding="utf-8")


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


@pytest.fixture(scope="module")
def labelled(scripts):
    """The 480 maps of two readers, and the synthetic ones."""
    fit = scripts["fit"]
    return SimpleNamespace(maps=fit.blind(), synthetic=fit.synthetic_maps(200, seed=1))


def near(score):
    return pytest.approx(score, abs=0.01)  # another machine may tell one or two maps otherwise


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


def test_the_agreement_of_the_readers_is_as_told(scripts, results):
    assert scripts["fit"].readers() == results["readers"]


def test_the_scores_are_those_of_heads_not_seen(scripts, results, labelled):
    fit, made = scripts["fit"], labelled
    found = fit.cross_validated(made.synthetic, made.maps, fit.folds(made.maps.head))
    sure = made.maps.agreed
    assert fit.scores(made.maps.types[sure], found[sure])["macro F1"] == near(results["by head"]["macro F1"])


def test_the_score_of_the_half_held_out_is_as_told(scripts, results, labelled):
    found = scripts["fit"].held_out(labelled.synthetic, labelled.maps)
    assert found["macro F1"] == near(results["half of the heads held out"]["macro F1"])
    assert found["maps"] == 224


def test_the_shipped_weights_are_those_of_the_fit(scripts, labelled):
    fit, maps = scripts["fit"], labelled.maps
    stored = json.loads(fit.MODEL.read_text(encoding="utf-8"))
    shipped = fit.Weights(*(np.array(stored[name]) for name in fit.Weights._fields))
    again = fit.fit(labelled.synthetic, maps.where(maps.agreed))
    assert np.mean(fit.predict(shipped, maps.inputs) == fit.predict(again, maps.inputs)) > 0.99


def test_no_head_is_in_two_folds(scripts, labelled):
    fold = scripts["fit"].folds(labelled.maps.head)
    assert len(set(zip(labelled.maps.head, fold, strict=True))) == len(set(labelled.maps.head))


@pytest.mark.parametrize(
    ("row", "protocol"),
    [
        ("half of the heads, not looked at before the end", "half of the heads held out"),
        ("heads not seen in fitting", "by head"),
        ("of these, the maps drawn at random", "by head, the maps drawn at random"),
        ("of these, without reactions", "by head, without reactions"),
        ("inputs not seen in fitting", "by input"),
        ("weights not seen in fitting", "by weights"),
        ("models not seen in fitting", "by model"),
        ("heads not seen, also where the readers differ", "by head, also where readers differ"),
        ("heads not seen, labels of the first reader", "by head, the 260 maps of the first reader"),
        ("synthetic, another seed", "synthetic, held out"),
    ],
)
def test_the_docs_give_the_scores(results, row, protocol):
    found = results[protocol]
    assert f"| {row} ({found['maps']:,}) | {found['macro F1']:.2f} | {found['accuracy']:.2f} |" in PAGE


def test_the_docs_give_the_agreement_of_the_readers(results):
    readers = results["readers"]
    score = readers["one by the other"]
    assert f"| one reader by the other ({score['maps']}) | {score['macro F1']:.2f} | {score['accuracy']:.2f} |" in PAGE
    each = ", ".join(f"{name} {value:.2f}" for name, value in readers["kappa of each"].items())
    assert f"κ = {readers['kappa']:.2f} ({each})" in " ".join(PAGE.split())


def test_the_docs_give_the_intervals(results):
    second, first = (results[name]["interval"] for name in ("by head", "half of the heads held out"))
    told = "is {:.2f} to {:.2f} for the second row and {:.2f} to {:.2f} for the first".format(*second, *first)
    assert told in " ".join(PAGE.split())


def test_the_docs_tell_how_many_blocks_of_texts_are_found(results):
    blocks = results["by head, without reactions"]["confusion"][TYPES.index("block")]
    assert (sum(blocks), blocks[TYPES.index("block")]) == (6, 2)
    assert "of the six in pairs of sentences two are found" in " ".join(PAGE.split())


def test_the_docs_give_the_confusions(results):
    found = results["by head"]
    for name, row in zip(TYPES, found["confusion"], strict=True):
        cells = " | ".join(str(cell) for cell in row)
        assert f"| {name} ({sum(row)}) | {cells} | {found['F1'][name]:.2f} |" in PAGE


@pytest.mark.slow
def test_the_sheets_can_be_drawn_again(scripts, tmp_path):
    subprocess.run([sys.executable, str(MAPS / "make_maps.py"), "sheets", str(tmp_path)], check=True)
    assert len(list(tmp_path.glob("sheet-*.png"))) == 12
