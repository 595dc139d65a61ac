"""Weights against what they carry, per token class."""

import numpy as np
import pytest

from regard import Trace
from regard.patterns.norms import CLASSES, class_norms

from ..conftest import ARTICLE


def test_the_table_has_a_record_per_layer_and_class(bert):
    found = class_norms(bert.trace(*ARTICLE))
    assert [(row["layer"], row["class"]) for row in found.rows] == [(n, name) for n in range(2) for name in CLASSES]
    assert list(found.to_pandas()["class"]) == [*CLASSES, *CLASSES]


def test_shares_of_attention_and_of_what_is_carried_sum_to_one(bert):
    rows = class_norms(bert.trace(*ARTICLE)).rows[:4]
    for column in ("attention", "normalised"):
        assert sum(row[column] for row in rows) == pytest.approx(1, abs=1e-4)


def test_the_carried_column_equals_the_mean_contribution(bert):
    trace = bert.trace(*ARTICLE)
    special = [i for i, token in enumerate(trace.tokens) if token.text == "[SEP]"]
    expected = np.mean([trace.contributions(0, head)[:, special].sum(axis=-1).mean() for head in range(3)])
    row = next(r for r in class_norms(trace).rows if r["class"] == "[SEP]")
    assert row["carried"] == pytest.approx(expected, abs=6e-7)  # six digits are printed


def test_a_class_without_tokens_is_none(gpt2):
    rows = class_norms(gpt2.trace("abc")).rows
    assert rows[1]["class"] == "[SEP]"
    assert rows[1]["attention"] is None


def test_a_causal_model_has_its_first_token_as_a_class(gpt2):
    trace = gpt2.trace(".bc, d")
    rows = class_norms(trace).rows
    assert rows[0]["class"] == "the first token" and rows[0]["tokens"] == 1
    expected = trace.attention(0)[:, :, 0].mean()
    assert rows[0]["attention"] == pytest.approx(expected, abs=1e-5)
    assert sum(row["attention"] or 0 for row in rows[:4]) == pytest.approx(1, abs=1e-4)


def test_the_figure_has_a_line_for_the_first_token(gpt2):
    labels = [line.get_label() for line in class_norms(gpt2.trace("abc, d")).figure().axes[0].lines]
    assert "the first token" in labels


def test_maps_without_value_vectors_say_why():
    trace = Trace.from_maps(np.full((1, 1, 3, 3), 1 / 3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="without value vectors"):
        class_norms(trace)


def test_the_figure_has_a_line_for_each_class(bert, tmp_path):
    figure = class_norms(bert.trace(*ARTICLE)).figure()
    assert [len(axes.lines) for axes in figure.axes] == [4, 4, 4]
    figure.savefig(tmp_path / "norms.png")
    assert (tmp_path / "norms.png").stat().st_size > 1000
