"""Memory that stays level: no kernel is kept for each shape of batch, and torch is as before afterwards."""

import pytest
import torch

from regard.capture.steady import steady
from tests.conftest import need


@pytest.fixture
def onednn():
    need(torch.backends.mkldnn.is_available(), "this torch has no oneDNN")
    need(not torch.backends.mkldnn.is_acl_available(), "here products come from oneDNN")
    return torch.backends.mkldnn


def test_onednn_is_off_for_float32_and_on_again_after(bert, onednn):
    with bert._engine.steady():
        assert not onednn.enabled
    assert onednn.enabled


def test_it_is_on_again_after_an_error(bert, onednn):
    with pytest.raises(RuntimeError, match="in between"), bert._engine.steady():
        raise RuntimeError("in between")
    assert onednn.enabled


def test_it_stays_off_where_it_was(bert, onednn):
    with bert._engine.steady():
        with bert._engine.steady():
            assert not onednn.enabled
        assert not onednn.enabled
        with steady(torch.nn.Linear(2, 2, dtype=torch.bfloat16)):
            assert not onednn.enabled


@pytest.mark.parametrize(
    "module",
    [
        torch.nn.Linear(2, 2, dtype=torch.bfloat16),
        torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, dtype=torch.bfloat16)),
        torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Conv1d(2, 2, 1)),
    ],
)
def test_half_precision_and_convolutions_keep_it(module, onednn):
    with steady(module):
        assert onednn.enabled


@pytest.mark.slow
def test_a_study_runs_without_it(bert, onednn, tmp_path, monkeypatch):
    from regard import study
    from regard.studies.base import MapStudy

    seen, update = [], MapStudy.update
    monkeypatch.setattr(MapStudy, "update", lambda *given: (seen.append(onednn.enabled), update(*given)))
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat on the mat .\na dog went\n")
    study.tokens(bert, corpus, output=tmp_path / "out")
    assert seen and not any(seen)


def test_the_numbers_are_the_same_to_rounding(bert):
    inputs, _ = bert._engine.collate([bert._engine.encode("the cat sat on the mat .")])
    plain = bert._engine.run(inputs).last_hidden_state
    with bert._engine.steady():
        assert torch.allclose(bert._engine.run(inputs).last_hidden_state, plain, atol=1e-5)
