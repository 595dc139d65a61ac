"""Switching heads off where a family is built differently: windows, sinks, shared modules, plain torch."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    GptOssConfig,
    GptOssForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

import regard
from tests.ablation import by_hand
from tests.ablation.by_hand import padded, result
from tests.tiny import SIZES, enlarged, made, tiny_mpnet


def test_a_window_counts_only_the_keys_inside_it(bytelevel):
    config = MistralConfig(
        vocab_size=len(bytelevel), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=32, sliding_window=3, max_position_embeddings=64,
    )  # fmt: skip
    model = enlarged(made(MistralForCausalLM, config, bytelevel))
    edited = by_hand.copied(model)
    by_hand.uniform(edited, 1, 2, 8)
    ids = torch.tensor([[5, 9, 30, 12, 7, 80]])
    with model.ablate("1.2", mode="uniform"), torch.no_grad():
        off = model.module(ids).logits
        (trace,) = model.trace_inputs({"input_ids": ids})
    with torch.no_grad():
        torch.testing.assert_close(off, edited(ids).logits, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(trace.attention(1, 2)[4], [0, 0, 1 / 3, 1 / 3, 1 / 3, 0], atol=1e-6)


def test_a_head_with_a_sink_becomes_uniform_without_it(bytelevel):
    config = GptOssConfig(
        vocab_size=len(bytelevel), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=8, intermediate_size=16, num_local_experts=2, num_experts_per_tok=1, sliding_window=8,
        max_position_embeddings=64,
    )  # fmt: skip
    model = enlarged(made(GptOssForCausalLM, config, bytelevel))
    edited = by_hand.copied(model)
    by_hand.uniform(edited, 1, 3, 8)
    with torch.no_grad():
        edited.model.layers[1].self_attn.sinks[3] = -1e9
    ids = torch.tensor([[5, 9, 30, 12, 7]])
    with model.ablate("1.3", mode="uniform"), torch.no_grad():
        off = model.module(ids).logits
        (trace,) = model.trace_inputs({"input_ids": ids})
    with torch.no_grad():
        torch.testing.assert_close(off, edited(ids).logits, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(trace.attention(1, 3)[2], [1 / 3, 1 / 3, 1 / 3, 0, 0], atol=1e-6)
    assert trace.attention(1, 0)[2].sum() < 0.99


def test_the_layers_of_a_shared_module_are_told_apart_by_their_call(wordpiece):
    """ALBERT runs one module for all layers; a copy with one module per layer has the head's weights edited in one."""
    shape = {"vocab_size": len(wordpiece), "embedding_size": 16, **SIZES, "num_hidden_layers": 3}
    model = enlarged(made(AlbertModel, AlbertConfig(**shape), wordpiece))
    shared = model.module
    spread = AlbertModel(AlbertConfig(**shape, num_hidden_groups=3)).eval()
    weights = shared.state_dict()
    spread.load_state_dict(
        {
            name: weights[".".join("0" if part in "012" else part for part in name.split("."))]
            for name in spread.state_dict()
        }
    )
    with torch.no_grad():
        output = spread.encoder.albert_layer_groups[1].albert_layers[0].attention.dense
        output.weight[:, 8:16] = 0
    inputs, book = padded(model)
    with model.ablate([(1, 1)]):
        for _ in range(2):  # the count of calls starts again with each pass
            torch.testing.assert_close(
                result(shared, model, inputs, book), result(spread, model, inputs, book), atol=1e-5, rtol=1e-5
            )
        with pytest.raises(IndexError):
            shared(torch.tensor([[999]]))
        torch.testing.assert_close(result(shared, model, inputs, book), result(spread, model, inputs, book))


def test_plain_torch_models_lose_heads_before_their_output_projection():
    model = regard.load("translator")
    edited = deepcopy(model.module)
    projection = edited.decoder.layers[1].cross_attention
    linear = next(m for name, m in projection.named_children() if m is model_projection(model, projection, edited))
    with torch.no_grad():
        linear.weight[:, 32:64] = 0
    inputs, _ = model._engine.collate([model._engine.encode("the cat sat.")], ["el gato"])
    with model.ablate("cross:1.1"):
        off = model._engine.run(inputs)
    with torch.no_grad():
        torch.testing.assert_close(logits(off), logits(edited(**model._engine.ready(inputs))))
    assert not any(m._forward_pre_hooks for m in model.module.modules())
    with pytest.raises(ValueError, match="attention interface"), model.ablate("0.0", mode="uniform"):
        model._engine.run(inputs)


def model_projection(model, attention, edited):
    path = next(name for name, module in edited.named_modules() if module is attention)
    names = {module: name for name, module in model.module.named_modules()}
    return edited.get_submodule(names[model._engine.plan().projections[path]])


def logits(found):
    return found.logits if hasattr(found, "logits") else found


def test_a_family_whose_heads_cannot_be_reached_is_refused_in_one_sentence(wordpiece):
    model = tiny_mpnet(wordpiece)
    with pytest.raises(ValueError, match="outside transformers' attention interface"), model.ablate("0.1"):
        pass
