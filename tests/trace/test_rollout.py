"""From the last layer to the input."""

import numpy as np
import pytest

from regard import Trace
from regard.base.errors import UserError


def by_hand(layers):
    total = np.eye(layers.shape[-1])
    for layer in layers:
        rows = layer / layer.sum(-1, keepdims=True)
        total = (0.5 * rows + 0.5 * np.eye(len(rows))) @ total
    return total


def test_rollout_is_the_product_of_layers_with_the_residual_stream(bert):
    trace = bert.trace("the cat sat on the mat .")
    maps = np.stack([trace.attention(layer).mean(0) for layer in trace.layers()])
    np.testing.assert_allclose(trace.rollout(), by_hand(maps), atol=1e-6)
    np.testing.assert_allclose(trace.rollout().sum(-1), 1)
    added = np.stack([trace.contributions(layer).sum(0) for layer in trace.layers()])
    np.testing.assert_allclose(trace.rollout("contributions"), by_hand(added), atol=1e-6)


def test_rollout_of_a_causal_model_looks_back_alone(llama):
    assert not np.triu(llama.trace("ab cab").rollout(), 1).any()


def test_a_row_that_sees_nothing_stays_itself():
    maps = np.zeros((1, 1, 2, 2))
    maps[0, 0, 1] = 0.5
    rolled = Trace.from_maps(maps, ["a", "b"]).rollout()
    np.testing.assert_allclose(rolled, [[1, 0], [0.25, 0.75]])


def test_rollout_says_what_it_cannot_do(bart):
    trace = bart.trace("the cat sat", target="a dog")
    assert trace.rollout(kind="decoder").shape == (len(trace.side("decoder")),) * 2
    with pytest.raises(UserError, match="cross does not"):
        trace.rollout(kind="cross")
    with pytest.raises(UserError, match="'weights' or 'contributions'"):
        trace.rollout("sizes")
