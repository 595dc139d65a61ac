"""Where patterns come from in the default model; docs/explanation/transformer.md says these sentences."""

import numpy as np
import pytest

from tests.conftest import ARTICLE

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def trace(minilm):
    return minilm.trace(*ARTICLE, attribution=True)


def apart(site, head, pairs):
    """(d,) what each neuron adds to the score of these keys above the mean key, mean over the pairs."""
    q, k = site.q[head], site.k[head]
    return np.mean([q[i] * (k[j] - k.mean(0)) for i, j in pairs], axis=0)


def words(trace):
    return [i for i, token in enumerate(trace.side().tokens) if not token.special]


def previous(trace):
    return [(i, i - 1) for i in words(trace) if i - 1 in words(trace)]


def test_the_previous_token_head_looks_at_the_previous_token(trace):
    weights = trace.attention(0, 2)
    assert np.mean([weights[pair] for pair in previous(trace)]) > 0.98


def test_position_makes_the_previous_token_head(trace):
    site = trace.site(0)
    parts = site.attribution(2)  # (P, P, queries, keys)
    parts = parts - parts.mean(-1, keepdims=True)
    found = np.mean([parts[:, :, i, j] for i, j in previous(trace)], axis=0)
    place = site.parts.index("position")
    assert found[place, place] / found.sum() > 0.9


def test_many_neurons_make_the_previous_token_head(trace):
    carried = apart(trace.site(0), 2, previous(trace))
    assert carried.max() / carried.sum() < 0.1


@pytest.mark.parametrize("head", [0, 5])
def test_few_neurons_make_the_heads_that_look_at_sep(trace, head):
    texts = trace.side().texts
    last = len(texts) - 1
    assert texts[last] == "[SEP]"
    carried = apart(trace.site(0), head, [(i, last) for i in words(trace)])
    assert np.sort(carried)[-4:].sum() / carried.sum() > 0.6


def test_the_heads_that_look_at_sep_are_in_the_first_layer(trace):
    special = [i for i, text in enumerate(trace.side().texts) if text == "[SEP]"]
    mass = {
        (layer, head): trace.attention(layer, head)[np.ix_(words(trace), special)].sum(1).mean()
        for layer in trace.layers()
        for head in range(12)
    }
    assert set(sorted(mass, key=mass.get)[-2:]) == {(0, 0), (0, 5)}
    assert max(mass.values()) < 0.5
