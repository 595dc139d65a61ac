"""Controls of studies: random weights drawn several times, shuffled weights, and how results show them."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.corpus.sums import Sums
from regard.studies.controls import SEEDS, Controls, Ranged, random_model, shuffled_model
from regard.studies.tokens.study import Tokens
from tests.studies.conftest import SMALL, THREE
from tests.studies.planted import planted_model, write_planted

COLUMNS = ["model", "random weights", "lowest", "highest", "shuffled weights"]


def test_shuffled_weights_keep_their_numbers_but_not_their_places(bert):
    shuffled = shuffled_model(bert)
    moved = 0
    for (name, one), (other_name, other) in zip(
        bert.module.named_parameters(), shuffled.module.named_parameters(), strict=True
    ):
        assert name == other_name
        assert torch.equal(one.flatten().sort().values, other.flatten().sort().values)
        moved += int((one != other).sum())
    assert moved > 0.5 * bert.parameters
    assert not torch.equal(
        bert.module.embeddings.word_embeddings.weight, shuffled.module.embeddings.word_embeddings.weight
    )


def test_shuffling_leaves_the_model_as_it_was_and_tied_weights_tied(gpt2):
    before = {name: value.clone() for name, value in gpt2.module.state_dict().items()}
    shuffled = shuffled_model(gpt2).module
    assert all(torch.equal(before[name], value) for name, value in gpt2.module.state_dict().items())
    assert shuffled.lm_head.weight.data_ptr() == shuffled.transformer.wte.weight.data_ptr()


def test_draws_of_random_weights_differ_and_come_again(bert):
    weights = [random_model(bert, seed).module.encoder.layer[0].attention.self.query.weight for seed in (0, 0, 1)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_a_number_is_said_with_its_range_over_draws():
    assert Ranged([1, 2, 6], 4).said("{:.0f}") == "random weights 3 (1 to 6 over 3 draws), shuffled weights 4"


def test_a_table_of_controls_goes_by_keys_not_by_order():
    def make(sums):
        found = pd.DataFrame({"layer": [1, 0], "value": sums["v"]})
        return found if sums["v"][0] > 1 else found.iloc[::-1]

    controls = Controls([Sums({"v": np.array(v)}) for v in ([1.0, 3.0], [3.0, 5.0])], Sums({"v": np.array([7.0, 9.0])}))
    table = controls.table(pd.DataFrame({"layer": [0, 1], "value": [0.1, 0.2]}), make, ["layer"])
    assert table.to_numpy().tolist() == [[0, 0.1, 4, 3, 5, 9], [1, 0.2, 2, 1, 3, 7]]
    assert list(table.columns) == ["layer", *COLUMNS]


@pytest.mark.parametrize("name", ["tokens", "norms", "change"])
def test_a_study_by_layer_shows_the_range_over_draws_and_shuffled_weights(name, bert, corpus):
    models = (bert, bert) if name == "change" else (bert,)
    result = getattr(regard.study, name)(*models, corpus, limit=8, control=True)
    table = next(table for title, table in result.tables.items() if title.startswith("Control"))
    assert list(table.columns[-5:]) == COLUMNS
    there = table.dropna()
    assert len(there) and (there["lowest"] <= there["random weights"]).all()
    assert (there["random weights"] <= there["highest"]).all()
    assert (there["lowest"] < there["highest"]).any()  # the draws differ
    assert result.meta["control_seeds"] == SEEDS == 3


@pytest.mark.parametrize("name", ["atlas", "similarity"])
def test_a_study_of_heads_says_the_range_over_draws_and_shuffled_weights(name, bert, corpus):
    said = getattr(regard.study, name)(bert, corpus, limit=8, control=True).findings[-1]
    assert said.startswith("Control") and "over 3 draws" in said and "shuffled weights" in said


def test_syntax_shows_the_range_over_draws_and_shuffled_weights(tmp_path):
    trees = write_planted(tmp_path / "planted.conllu", 120)
    result = regard.study.syntax(planted_model(), trees, control=True, least=50)
    best = result.tables["Best head of each relation"]
    assert (best["control lowest"] <= best["control"]).all() and (best["control"] <= best["control highest"]).all()
    assert (best["control lowest"] < best["control highest"]).any() and best["shuffled"].notna().all()
    assert list(result.tables["Undirected trees"]["of"]) == [
        "model",
        *(f"random weights {seed}" for seed in range(3)),
        "shuffled weights",
    ]


def test_the_number_of_draws_can_be_chosen(bert_folder, corpus, tmp_path):
    arguments = ["study", "tokens", corpus, "-m", bert_folder, "-o", tmp_path, "--control", "--control-seeds", 2]
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert json.loads(result.output)["meta"]["control_seeds"] == 2


def test_an_interrupted_control_goes_on_where_it_was(bert, three_windows, tmp_path, monkeypatch):
    monkeypatch.setattr(Tokens, "window", SMALL)
    whole = regard.study.tokens(bert, three_windows, control=True)
    seen = []

    def interrupt(tally, seconds):
        seen.append(tally.examples)
        if seen.count(THREE) == 3:  # the model, one draw, and the second draw just now
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regard.study.tokens(bert, three_windows, control=True, output=tmp_path, report=interrupt)
    kept = {path.name.partition("checkpoint")[0] for path in tmp_path.iterdir()}
    assert kept == {"", "control-random-0-", "control-random-1-"}
    again = []
    resumed = regard.study.tokens(
        bert, three_windows, control=True, output=tmp_path, resume=True, report=lambda tally, _: again.append(tally)
    )
    assert sum(tally.examples == THREE for tally in again) == 2  # the third draw and the shuffled weights
    for name, table in whole.tables.items():
        pd.testing.assert_frame_equal(resumed.tables[name], table)
    assert not any("checkpoint" in path.name for path in tmp_path.iterdir())
