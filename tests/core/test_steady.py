"""Memory that stays level: no kernel is kept for each shape of batch, and torch is as before afterwards."""

import pytest
import torch

from regard.capture.steady import steady


@pytest.fixture
def onednn():
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    return torch.backends.mkldnn


def test_onednn_is_off_for_float32_and_on_again_after(bert, onednn):
    with steady(bert.module):
        assert onednn.enabled == onednn.is_acl_available()
    assert onednn.enabled


def test_it_is_on_again_after_an_error_and_stays_off_where_it_was(bert, onednn):
    with pytest.raises(RuntimeError, match="in between"), bert.steady():
        raise RuntimeError("in between")
    assert onednn.enabled
    with steady(bert.module), steady(bert.module):
        pass
    assert onednn.enabled


def test_half_precision_keeps_its_products(onednn):
    with steady(torch.nn.Linear(2, 2, dtype=torch.bfloat16)):
        assert onednn.enabled


def test_a_module_without_weights_is_run_all_the_same(onednn):
    with steady(torch.nn.GELU()):
        assert torch.nn.functional.gelu(torch.zeros(2)).tolist() == [0, 0]


def test_the_numbers_are_the_same_to_rounding(bert):
    inputs, _ = bert.collate([bert.encode("the cat sat on the mat .")])
    plain = bert.run(inputs).last_hidden_state
    with steady(bert.module):
        assert torch.allclose(bert.run(inputs).last_hidden_state, plain, atol=1e-5)
