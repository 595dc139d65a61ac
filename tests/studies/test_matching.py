"""Heads of two models are matched by where their attention goes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import entropy

import regard
from regard.base.errors import UserError
from regard.studies.heads.matching import distances_between, match_portraits
from tests.studies.portrait_lines import lines
from tests.tiny import enlarged, tiny_bert

ORDER = [2, 0, 1]  # the heads of layer 0, permuted


def permuted(model):
    """The same model with the heads of its first layer in another order, which changes nothing that it says."""
    layer = model.module.encoder.layer[0].attention
    size = layer.self.attention_head_size
    rows = torch.cat([torch.arange(size) + head * size for head in ORDER])
    with torch.no_grad():
        for part in (layer.self.query, layer.self.key, layer.self.value):
            part.weight.copy_(part.weight[rows])
            part.bias.copy_(part.bias[rows])
        layer.output.dense.weight.copy_(layer.output.dense.weight[:, rows])
    return model


@pytest.fixture(scope="module")
def folders(wordpiece, tmp_path_factory):
    root = tmp_path_factory.mktemp("matching")
    corpus = root / "lines.txt"
    corpus.write_text("\n".join(lines(60, np.random.default_rng(0))), "utf-8")
    for name, model in (
        ("before", enlarged(tiny_bert(wordpiece))),
        ("after", permuted(enlarged(tiny_bert(wordpiece)))),
    ):
        regard.study.heads(model, corpus, output=root / name)
    return root


def test_heads_in_another_order_are_found_again(folders, tmp_path):
    result = match_portraits(folders / "before", folders / "after")
    first = result.table[result.table.layer == 0].set_index("head")
    assert [ORDER[first.loc[head].other_head] for head in range(3)] == [0, 1, 2]
    np.testing.assert_allclose(result.table.distance, 0, atol=1e-6)
    assert set(result.table.what) <= {"kept", "neither"}
    folder = result.save(tmp_path / "matched")
    assert len(pd.read_parquet(folder / "result.parquet")) == 6
    assert "pairs at random" in (folder / "report.html").read_text("utf-8")


def test_distances_are_those_of_jensen_and_shannon():
    one, other = np.random.default_rng(0).dirichlet(np.ones(5), 3), np.random.default_rng(1).dirichlet(np.ones(5), 2)
    found = distances_between(one, other)
    for (i, j), value in np.ndenumerate(found):
        middle = (one[i] + other[j]) / 2
        assert value == pytest.approx((entropy(one[i], middle) + entropy(other[j], middle)) / 2)


def test_the_command_says_what_was_kept(folders, command):
    done = command("match", str(folders / "before"), str(folders / "after"))
    assert done.returncode == 0, done.stderr
    assert "pairs at random" in done.stdout and "0 lose theirs, 0 get one" in " ".join(done.stdout.split())


def test_a_folder_without_portraits_is_refused_in_a_sentence(folders, tmp_path):
    with pytest.raises(UserError, match="holds no portraits; make them with: regard study heads"):
        match_portraits(folders / "before", tmp_path)
