"""The maps that two blind readers label: what is kept of them, and what the readers see."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

MAPS = Path(__file__).resolve().parents[1] / "data" / "maps"


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(MAPS))
    try:
        import blind_sheets
        import draw_blind

        yield {"sheets": blind_sheets, "draw": draw_blind}
    finally:
        sys.path.remove(str(MAPS))


@pytest.fixture(scope="module")
def maps(scripts):
    return list(scripts["sheets"].blind_maps())


def test_four_hundred_and_eighty_maps_can_be_read(maps):
    assert [row["map"] for row, _ in maps] == list(range(480))
    for row, attention in maps:
        assert attention.shape == (len(row["segment"]),) * 2
        np.testing.assert_allclose(attention.sum(axis=-1), 1, atol=0.01)


def test_as_many_maps_of_each_kind_were_drawn_as_the_script_says(scripts, maps):
    kinds = scripts["draw"].KINDS
    wanted = {
        (n, why): count for n, kind in enumerate(kinds) for why, count in (*kind.rare.items(), ("random", kind.random))
    }
    assert Counter((row["kind"], row["why"]) for row, _ in maps if row["why"] != "old") == wanted


def test_no_text_of_a_corpus_is_kept():
    for row in json.loads((MAPS / "blind.json").read_text(encoding="utf-8")):
        assert "tokens" not in row
    for given in json.loads((MAPS / "blind_inputs.json").read_text(encoding="utf-8")):
        assert set(given) == {"model", "file", "place", "texts", "maps"}


def test_two_squares_are_sharp_and_a_broad_diagonal_is_not(scripts):
    sharpness = scripts["draw"].sharpness
    side = np.arange(24) >= 11
    squares = (side[:, None] == side[None, :]).astype(float)
    band = np.exp(-abs(np.arange(24)[:, None] - np.arange(24)) / 4)
    visible = np.ones((24, 24), bool)
    assert sharpness(squares / squares.sum(axis=-1, keepdims=True), visible, 11) > 0.4
    assert sharpness(band, visible, 11) == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_the_sheets_can_be_printed(tmp_path):
    subprocess.run([sys.executable, str(MAPS / "blind_sheets.py"), str(tmp_path)], check=True)
    assert len(list(tmp_path.glob("sheet_*.png"))) == 24
    assert (tmp_path / "README.md").is_file()


def test_two_readers_agree_on_nearly_all_maps():
    rows = json.loads((MAPS / "blind_labels.json").read_text())
    assert [row["map"] for row in rows] == list(range(480))
    one, other = ([row[reader] for row in rows] for reader in "AB")
    agreed = sum(a == b for a, b in zip(one, other, strict=True)) / len(rows)
    luck = sum(one.count(label) * other.count(label) for label in set(one)) / len(rows) ** 2
    assert (agreed - luck) / (1 - luck) == pytest.approx(0.93, abs=0.005)  # Cohen's kappa
    assert all(row["final"] == row["A"] for row in rows if row["A"] == row["B"])
