"""The walk through T5: every number it holds, and every formula, against hooks on the model."""

import numpy as np
import pytest
import torch
from transformers import (
    MT5Config,
    MT5ForConditionalGeneration,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
    T5Model,
)

import regard
from regard.transformer.t5 import computed, walk_t5
from regard.views.walk import can_walk, walk
from tests.tiny import made
from tests.transformer.test_decoders import near

TEXT, ANSWER = "the cat sat on the mat", "the dog sat"
SIZES = {
    "d_model": 24,
    "d_kv": 10,  # heads together are wider than the model
    "d_ff": 32,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 12,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
    "eos_token_id": 3,
}
MADE = {
    "plain": lambda words: made(T5ForConditionalGeneration, T5Config(vocab_size=len(words), **SIZES), words),
    "gated": lambda words: made(
        T5ForConditionalGeneration,
        T5Config(vocab_size=len(words), feed_forward_proj="gated-gelu", tie_word_embeddings=False, **SIZES),
        words,
    ),
    "mt5": lambda words: made(MT5ForConditionalGeneration, MT5Config(vocab_size=len(words), **SIZES), words),
}


def sharpened(model):
    """Scales that are not 1, biases by distance that matter, maps that are not flat: as in trained models."""
    with torch.no_grad():
        for name, parameter in model.module.named_parameters():
            noise = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(len(name)))
            if parameter.ndim == 1:
                parameter += 0.3 * noise
            elif "relative_attention_bias" in name:
                parameter.copy_(1.5 * noise)
            else:
                parameter.copy_(0.4 * noise)
    return model


@pytest.fixture(scope="module", params=[*MADE])
def model(request, wordpiece):
    return sharpened(MADE[request.param](wordpiece))


def seen_in(model, ids, target, layer):
    """What the model's own modules compute in a layer: names of `computed`, by stack, by hooks."""
    found = {"encoder": {}, "decoder": {}, "cross": {}}
    hooks = []

    def note(module, part, name, which):
        def hook(_module, args, output):
            one = args[0] if which == "in" else output[0] if isinstance(output, tuple) else output
            found[part][name] = one[0]

        hooks.append(module.register_forward_hook(hook))

    for stack, part in ((model.module.encoder, "encoder"), (model.module.decoder, "decoder")):
        block = stack.block[layer]
        own, *between, feed = block.layer
        kinds = [(part, own, own.SelfAttention), *(("cross", one, one.EncDecAttention) for one in between)]
        for kind, one, attention in kinds:
            note(one.layer_norm, kind, "norm", "out")
            for name in "qkv":
                note(getattr(attention, name), kind, name, "out")
            note(attention.o, kind, "joined", "in")
            note(attention.o, kind, "output", "out")
            note(one, kind, "added", "out")
        note(feed.layer_norm, part, "inner", "out")
        note(feed.DenseReluDense.wo, part, "hidden", "in")
        note(feed.DenseReluDense.wo, part, "fed", "out")
        note(feed, part, "result", "out")
    try:
        with torch.no_grad():
            model.module(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([target]), use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def decoder_ids(found):
    return [token.id for token in found.trace.side("decoder").tokens]


def test_every_matrix_of_both_layers_is_the_models_own(model):
    found = walk(TEXT, model, target=ANSWER, layer=1)
    mine, own = computed(found.walk), seen_in(model, found.walk.ids, decoder_ids(found), 1)
    for part, values in own.items():
        for name, value in values.items():
            one = mine[part][name]
            near(one.transpose(0, 1).flatten(1) if name in "qkv" else one, value)
    assert [len(values) for values in own.values()] == [11, 11, 7]


def test_weights_are_those_of_eager_attention(model):
    found = walk(TEXT, model, target=ANSWER, layer=1)
    mine = computed(found.walk)
    eager = model.module
    before = eager.config._attn_implementation
    eager.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            output = eager(
                input_ids=torch.tensor([found.walk.ids]),
                decoder_input_ids=torch.tensor([decoder_ids(found)]),
                output_attentions=True,
                use_cache=False,
            )
    finally:
        eager.set_attn_implementation(before)
    near(mine["encoder"]["weights"], output.encoder_attentions[1][0])
    near(mine["decoder"]["weights"], output.decoder_attentions[1][0])
    near(mine["cross"]["weights"], output.cross_attentions[1][0])


def test_states_and_logits_are_the_models_own(model):
    found = walk(TEXT, model, target=ANSWER).walk
    target = [model.module.config.decoder_start_token_id, *found.targets[:-1]]
    with torch.no_grad():
        output = model.module(
            input_ids=torch.tensor([found.ids]),
            decoder_input_ids=torch.tensor([target]),
            output_hidden_states=True,
            use_cache=False,
        )
    for part, states in (("encoder", output.encoder_hidden_states), ("decoder", output.decoder_hidden_states)):
        near(found.arrays[f"{part}.states"][:-1], torch.stack(states)[:-1, 0])
    near(found.arrays["memory"], output.encoder_last_hidden_state[0])
    near(found.arrays["logits"], output.logits[0])
    near(found.arrays["decoder.final"] @ found.arrays["W_U"], output.logits[0][:, list(found.candidates)])
    assert not found.divided and found.targets[-1] == 3


def test_the_bias_depends_on_distance_alone_and_the_decoders_own_does_not_look_ahead(model):
    found = walk(TEXT, model, target=ANSWER, layer=1).walk
    bias = found.arrays["encoder.bias"]
    for offset in range(-3, 4):
        diagonal = np.diagonal(bias, offset, 1, 2)
        assert np.ptp(diagonal, axis=1).max() == 0
    assert np.abs(bias[:, 0, 1] - bias[:, 1, 0]).min() > 0  # before and after are told apart


def test_the_answer_is_the_models_own_unless_one_is_given(model):
    found = walk(TEXT, model)
    trace = model.trace(TEXT)
    assert decoder_ids(found) == [token.id for token in trace.side("decoder").tokens]
    assert isinstance(found.said, str)


def test_a_t5_without_its_map_to_words_has_no_predictions(wordpiece):
    model = made(T5Model, T5Config(vocab_size=len(wordpiece), **SIZES), wordpiece)
    found = walk(TEXT, model, target=ANSWER).walk
    assert "logits" not in found.arrays and not found.targets and not found.vocabulary


def test_an_encoder_alone_is_refused_and_not_offered(wordpiece):
    model = made(T5EncoderModel, T5Config(vocab_size=len(wordpiece), **SIZES), wordpiece)
    assert not can_walk(model.module)
    with pytest.raises(regard.base.errors.UserError, match="T5EncoderModel has no decoder; pass the whole model"):
        walk_t5(model.module, [1, 2], [0])


def test_a_layer_that_one_stack_lacks_is_refused(model):
    assert can_walk(model.module)
    with pytest.raises(regard.base.errors.UserError, match="the model has layers 0 to 1, not 2"):
        walk(TEXT, model, target=ANSWER, layer=2)


def test_a_model_whose_layers_are_computed_differently_is_refused(wordpiece):
    model = sharpened(MADE["plain"](wordpiece))
    model.module.encoder.block[1].layer[0].SelfAttention.scaling = 0.5
    with pytest.raises(regard.base.errors.UserError, match="computes its layers differently from others of its type"):
        walk(TEXT, model, target=ANSWER, layer=1)
