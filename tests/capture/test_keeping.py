"""What a trace keeps lies in memory of its own, bit for bit what the model computed."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from transformers import GPT2Config, GPT2Model

import regard
from regard.capture import keeping

TEXTS = ["the cat sat on the mat .", "a dog"]


@pytest.fixture
def copying(monkeypatch):
    monkeypatch.setattr(keeping, "_LARGE", 0)


def arrays(traces):
    names = ("q", "k", "v", "known_lse")
    return [getattr(site, name) for trace in traces for site in trace.sites for name in names]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("family", ["bert", "llama"])
def test_copies_are_the_very_numbers_of_the_model(request, monkeypatch, family, dtype):
    shared = request.getfixturevalue(family)
    model = regard.load((deepcopy(shared.module).to(dtype), shared.tokenizer))
    expected = arrays(model.trace(TEXTS))
    monkeypatch.setattr(keeping, "_LARGE", 0)
    found = arrays(model.trace(TEXTS))
    assert all(
        np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.usefixtures("copying")
@pytest.mark.parametrize("surveyed", [False, True])
def test_no_tensor_of_a_layer_outlives_its_attention(surveyed):
    torch.manual_seed(0)
    module = GPT2Model(GPT2Config(n_embd=24, n_layer=3, n_head=3, vocab_size=20, bos_token_id=0, eos_token_id=0)).eval()
    model, inputs = regard.load(module), {"input_ids": torch.arange(12)[None]}
    if surveyed:
        model.trace_inputs(inputs)
    made, alive = [], []
    for block in module.h:
        block.attn.c_attn.register_forward_hook(lambda _m, _i, out: made.append(StorageWeakRef(out.untyped_storage())))
        block.attn.c_proj.register_forward_pre_hook(lambda _m, i: made.append(StorageWeakRef(i[0].untyped_storage())))
        block.mlp.register_forward_pre_hook(lambda *_: alive.extend(not one.expired() for one in made))
    traces = model.trace_inputs(inputs)
    assert len(made) == 6
    assert not any(alive)
    assert len(traces[0].sites) == 3
