"""The walk through decoders that are alone: every number it holds, and every formula, against hooks on the model."""

import numpy as np
import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2Model,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

import regard
from regard.transformer.decoders import computed, walk_decoder
from regard.views.walk import can_walk, walk
from tests.tiny import made, tiny_llama

TEXT = "the cat sat on the mat and the dog"
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
MADE = {
    "llama": lambda words: tiny_llama(words, num_hidden_layers=3, intermediate_size=40),
    "wide heads": lambda words: tiny_llama(words, num_hidden_layers=3, head_dim=12),
    "every head its keys": lambda words: tiny_llama(words, num_hidden_layers=3, num_key_value_heads=4),
    "mistral": lambda words: made(
        MistralForCausalLM, MistralConfig(vocab_size=len(words), sliding_window=3, **SIZES), words
    ),
    "qwen2": lambda words: made(Qwen2ForCausalLM, Qwen2Config(vocab_size=len(words), **SIZES), words),
}


@pytest.fixture(scope="module", params=["gpt2", *MADE])
def decoder(request, bytelevel):
    if request.param == "gpt2":
        return request.getfixturevalue("gpt2")
    model = MADE[request.param](bytelevel)
    with torch.no_grad():
        for name, parameter in model.module.named_parameters():  # biases and scales are not 0 and 1 in real models
            if parameter.ndim == 1:
                parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(len(name)))
    return model


def seen_in(model, ids, layer):
    """What the model's own modules compute in a layer: names of `computed`, by hooks."""
    gpt2 = model.module.config.model_type == "gpt2"
    block = model.module.base_model.h[layer] if gpt2 else model.module.base_model.layers[layer]
    attention = block.attn if gpt2 else block.self_attn
    norms = (block.ln_1, block.ln_2) if gpt2 else (block.input_layernorm, block.post_attention_layernorm)
    out, last = (attention.c_proj, block.mlp.c_proj) if gpt2 else (attention.o_proj, block.mlp.down_proj)
    found, hooks = {}, []

    def note(module, name, which):
        def hook(_module, args, output):
            found[name] = (args[0] if which == "in" else output[0] if isinstance(output, tuple) else output)[0]

        hooks.append(module.register_forward_hook(hook))

    for module, name, which in (
        (norms[0], "norm", "out"),
        (norms[1], "added", "in"),
        (norms[1], "inner", "out"),
        (out, "joined", "in"),
        (out, "output", "out"),
        (last, "hidden", "in"),
        (last, "fed", "out"),
        (block, "result", "out"),
    ):
        note(module, name, which)
    if not gpt2:
        for name, module in (("q", attention.q_proj), ("k", attention.k_proj), ("v", attention.v_proj)):
            note(module, name, "out")
    try:
        with torch.no_grad():
            model.module(input_ids=torch.tensor([ids]), use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def near(found, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))


def test_every_matrix_of_the_layer_is_the_models_own(decoder):
    found = walk(TEXT, decoder, layer=1).walk
    made, own = computed(found), seen_in(decoder, found.ids, 1)
    for name, value in own.items():
        mine = made[name]
        near(mine.transpose(0, 1).flatten(1) if name in "qkv" else mine, value)
    assert len(own) >= 8


def test_turned_queries_and_keys_and_their_weights_are_those_of_the_trace(decoder):
    found = walk(TEXT, decoder, layer=1)
    made, site = computed(found.walk), found.trace.site(1)
    near(made["turned q"], site.q)
    near(made["turned k"], site.k)
    near(made["v"], site.v)
    near(made["weights"], np.stack([found.trace.attention(1, head) for head in range(found.walk.heads)]))


def test_states_and_logits_are_the_models_own(decoder):
    found = walk(TEXT, decoder).walk
    with torch.no_grad():
        output = decoder.module(input_ids=torch.tensor([found.ids]), output_hidden_states=True, use_cache=False)
    states = torch.stack(output.hidden_states)[:, 0]  # the last is normalised
    near(found.arrays["decoder.states"][:-1], states[:-1])
    near(found.arrays["decoder.final"], states[-1])
    near(found.arrays["logits"], output.logits[0])
    near(found.arrays["decoder.final"] @ found.arrays["W_U"], output.logits[0][:, list(found.candidates)])
    assert found.targets == found.ids[1:]


def test_a_cached_step_computes_the_one_row_that_a_whole_pass_has(decoder):
    found = walk(TEXT, decoder, layer=1).walk
    made, ids = computed(found), torch.tensor([found.ids])
    with torch.no_grad():
        before = decoder.module(input_ids=ids[:, :-1], use_cache=True)
        kept = before.past_key_values.layers[1].keys.clone()
        after = decoder.module(input_ids=ids[:, -1:], past_key_values=before.past_key_values, use_cache=True)
    near(after.logits[0, -1], found.arrays["logits"][-1])
    if found.window is None:
        keys = after.past_key_values.layers[1].keys[0]
        near(keys, made["turned k"])
        assert torch.equal(keys[:, :-1], kept[0])


def test_the_text_may_go_on_with_what_the_model_adds(gpt2):
    found = walk("the cat", gpt2, generate=3)
    assert len(found.walk.ids) == len(gpt2.trace("the cat").tokens) + 3
    assert [one.name for one in found.trace.side().segments] == ["prompt", "answer"]


def test_a_decoder_without_its_map_to_words_has_no_predictions(bytelevel):
    config = GPT2Config(vocab_size=len(bytelevel), n_embd=24, n_layer=2, n_head=3, n_positions=64)
    found = walk(TEXT, made(GPT2Model, config, bytelevel)).walk
    assert "logits" not in found.arrays and not found.targets and not found.vocabulary


def test_a_model_whose_layers_are_computed_differently_is_refused(bytelevel):
    model = tiny_llama(bytelevel)
    block = model.module.model.layers[1]
    block.register_forward_hook(lambda _module, _args, output: output * 1.01)
    with pytest.raises(regard.base.errors.UserError, match="computes its layers differently from others of its type"):
        walk(TEXT, model, layer=1)


def test_a_text_too_long_for_a_page_is_refused(llama):
    with pytest.raises(regard.base.errors.UserError, match="has 129 tokens, and the walk goes through at most 128"):
        walk_decoder(llama.module, [1] * 129)


def test_more_tokens_are_asked_of_decoders_alone(bert):
    with pytest.raises(regard.base.errors.UserError, match="generate needs a decoder without an encoder"):
        walk(TEXT, bert, generate=2)


def test_a_layer_that_is_not_there_is_refused(gpt2):
    with pytest.raises(regard.base.errors.UserError, match="the model has layers 0 to 1, not 2"):
        walk(TEXT, gpt2, layer=2)


def test_no_hook_stays_in_the_model(gpt2):
    def hooks():
        return [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in gpt2.module.modules()]

    before = hooks()  # transformers leaves some of its own
    walk(TEXT, gpt2)
    assert hooks() == before
    assert can_walk(gpt2.module)


@pytest.mark.models
@pytest.mark.parametrize("layer", [0, 17])
def test_smollm_is_opened_with_its_own_numbers(smollm, layer):
    found = walk("The capital of France is", smollm, layer=layer, generate=2)
    made, own = computed(found.walk), seen_in(smollm, found.walk.ids, layer)
    for name, value in own.items():
        mine = made[name]
        near(mine.transpose(0, 1).flatten(1) if name in "qkv" else mine, value)
    near(made["weights"], np.stack([found.trace.attention(layer, head) for head in range(9)]))
    assert (found.walk.heads, found.walk.groups) == (9, 3)
