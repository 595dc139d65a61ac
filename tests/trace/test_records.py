"""Every result with a table gives it to pandas and polars and as plain lists, with the same rows."""

import json
import math
import sys
from dataclasses import dataclass

import pandas as pd
import polars as pl
import pytest

import regard
from regard.base.errors import MissingPackageError
from regard.trace.records import Tabular

from ..conftest import ARTICLE

TEXT = "the cat sat on the mat . the cat"


def results(bert, gpt2):
    trace = bert.trace(*ARTICLE)
    yield trace.patterns()
    yield trace.class_norms()
    yield trace.neurons(0, 0, "previous token")
    yield gpt2.effect(TEXT, heads="1.0")
    yield bert.effect("the cat sat", heads="1.0")
    yield gpt2.cut(TEXT, edges=["1.0:@3→@1"], position=-1)
    yield gpt2.why(TEXT, "1.0")
    yield gpt2.writes(TEXT, "1.0", top=3)
    yield gpt2.lens(TEXT)
    yield gpt2.evidence("the cat sat . the dog went .", " the cat")


def same(one, other):
    missing = [value is None or (isinstance(value, float) and math.isnan(value)) for value in (one, other)]
    return all(missing) if any(missing) else one == other


@pytest.mark.slow
def test_all_ways_give_the_same_rows(bert, gpt2):
    for result in results(bert, gpt2):
        lists, frame, table = result.to_dict(), result.to_pandas(), result.to_polars()
        assert list(lists) == list(frame.columns) == table.columns, type(result)
        assert isinstance(frame, pd.DataFrame) and isinstance(table, pl.DataFrame)
        assert {len(values) for values in lists.values()} == {len(frame)} == {len(table)}
        json.dumps(lists)
        for name, values in table.to_dict(as_series=False).items():
            if name not in ("evidence", "heads"):  # lists in cells
                assert all(same(*pair) for pair in zip(values, lists[name], strict=True)), (type(result), name)
                assert all(same(*pair) for pair in zip(frame[name].tolist(), lists[name], strict=True))


def test_the_rows_are_those_of_the_result(gpt2):
    effect = gpt2.effect(TEXT, heads="1.0", modes=["zero", "mean"], top=3)
    rows = effect.to_pandas().set_index(["name", "mode"])
    assert len(rows) == 2 * len(effect.rows)
    first = effect.rows[0]
    assert rows.loc[(first.name, "mean"), "after"] == first.after["mean"]
    why = gpt2.why(TEXT, "1.0", check=False)
    sums = why.to_pandas().groupby("side")["score"].sum()
    assert sums["key"] == pytest.approx(why.score, abs=1e-4) and sums["query"] == pytest.approx(why.score, abs=1e-4)


@pytest.mark.slow
def test_studies_found_heads_and_nearest_rows_are_tables_too(bert, tmp_path):
    corpus = tmp_path / "few.txt"
    corpus.write_text("the cat sat on the mat .\n" * 4 + "the dog went to the store .\n" * 4)
    portraits = tmp_path / "portraits"
    study = regard.study.heads(bert, corpus, output=portraits)
    found = regard.find("offset = -1", corpus, bert)
    near = regard.nearest(portraits, "the cat sat on the mat .", head="0.2", query="cat", model=bert)
    for result in (study, found, near):
        pd.testing.assert_frame_equal(result.to_pandas(), result.table)
        assert result.to_polars().columns == list(result.table.columns)
        json.dumps(result.to_dict())


@dataclass
class Row(Tabular):
    value: int = 1

    def _columns(self):
        return {"value": [self.value], "none": [None]}


@pytest.mark.parametrize(("package", "extra"), [("pandas", "studies"), ("polars", "data")])
def test_without_the_package_the_way_to_it_is_said(monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"need {package}; run: pip install 'regard\[{extra}\]'"):
        getattr(Row(), f"to_{package}")()
    assert Row().to_dict() == {"value": [1], "none": [None]}
