"""Long texts: what a trace does not compute, and that what it keeps is still the model's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.tiny import enlarged, tiny_llama

TOKENS = 300


@pytest.fixture
def model(wordpiece):
    return enlarged(tiny_llama(wordpiece, max_position_embeddings=512))


def inputs_of(model, tokens=TOKENS):
    ids = torch.randint(0, len(model.tokenizer), (1, tokens), generator=torch.Generator().manual_seed(0))
    return {"input_ids": ids}


def predicted(model, inputs):
    """At how many positions the model predicts in a trace of these inputs."""
    lengths: list[int] = []
    hook = model.module.lm_head.register_forward_hook(lambda _m, given, _o: lengths.append(given[0].shape[1]))
    (trace,) = model.trace_inputs(inputs)
    hook.remove()
    assert len(trace.tokens) == inputs["input_ids"].shape[1]
    return lengths


def test_a_trace_predicts_at_one_position_alone(model):
    assert predicted(model, inputs_of(model)) == [1]


def test_inputs_with_labels_keep_their_predictions(model):
    inputs = inputs_of(model)
    assert predicted(model, {**inputs, "labels": inputs["input_ids"]}) == [TOKENS]


def test_maps_of_some_hundred_tokens_are_those_of_eager_attention(model):
    inputs = inputs_of(model)
    (trace,) = model.trace_inputs(inputs)
    model.module.set_attn_implementation("eager")
    with torch.no_grad():
        maps = model.module(**inputs, output_attentions=True).attentions
    for layer, expected in enumerate(maps):
        np.testing.assert_allclose(trace.attention(layer), expected[0].numpy(), atol=1e-5)
