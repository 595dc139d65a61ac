"""Switching heads off is exact: the model runs as if its weights had been edited by hand."""

import threading
from copy import deepcopy

import numpy as np
import pytest
import torch
from transformers import (
    AttentionInterface,
)

import regard
from regard.capture import Ablation
from regard.models.ablated import switch_off
from regard.trace.heads import Head
from tests.ablation import by_hand
from tests.ablation.by_hand import TEXTS, padded, result

CASES = [
    ("bert", "encoder", 1, 2),
    ("gpt2", "decoder", 1, 1),
    ("llama", "decoder", 0, 3),
    ("t5", "encoder", 0, 1),
    ("t5", "decoder", 2, 0),
    ("t5", "cross", 1, 2),
]


def width_of(model, kind):
    return next(iter(model.head_means(["a cat"], targets=["a"] if model.is_encoder_decoder else None).values())).shape[
        1
    ]


@pytest.mark.parametrize(("family", "kind", "layer", "head"), CASES)
def test_zero_equals_a_model_whose_output_weights_of_the_head_are_zero(sharp, family, kind, layer, head):
    model = sharp(family)
    inputs, book = padded(model)
    edited = by_hand.copied(model)
    by_hand.zeroed(edited, layer, head, width_of(model, kind), kind)
    plain = result(model.module, model, inputs, book)
    with model.ablate([(kind, layer, head)]):
        off = result(model.module, model, inputs, book)
    torch.testing.assert_close(off, result(edited, model, inputs, book), atol=1e-5, rtol=1e-5)
    assert (off - plain).abs().max() > 0.01
    torch.testing.assert_close(result(model.module, model, inputs, book), plain, rtol=0, atol=0)


@pytest.mark.parametrize(("family", "kind", "layer", "head"), CASES)
def test_uniform_equals_a_model_whose_queries_of_the_head_are_zero(sharp, family, kind, layer, head):
    model = sharp(family)
    if family == "t5":  # its position bias would still tell keys apart: both start without the head's bias
        model = regard.load((by_hand.copied(model), model.tokenizer))
        with torch.no_grad():
            for stack in (model.module.encoder, model.module.decoder):
                stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight[:, head] = 0
    inputs, book = padded(model)
    edited = by_hand.copied(model)
    by_hand.uniform(edited, layer, head, width_of(model, kind), kind)
    plain = result(model.module, model, inputs, book)
    with model.ablate([(kind, layer, head)], mode="uniform"):
        off = result(model.module, model, inputs, book)
    torch.testing.assert_close(off, result(edited, model, inputs, book), atol=1e-5, rtol=1e-5)
    assert (off - plain).abs().max() > 0.01


@pytest.mark.parametrize(("family", "kind", "layer", "head"), CASES)
def test_mean_equals_a_model_whose_output_bias_holds_the_mean(sharp, family, kind, layer, head):
    model = sharp(family)
    inputs, book = padded(model)
    means = model.head_means(["the dog went to the store ."], targets=["a mat"] if model.is_encoder_decoder else None)
    edited = by_hand.copied(model)
    by_hand.constant(edited, layer, head, means[kind, layer][head], kind)
    plain = result(model.module, model, inputs, book)
    with model.ablate([(kind, layer, head)], mode="mean", means=means):
        off = result(model.module, model, inputs, book)
    assert (off - plain).abs().max() > 0.01
    torch.testing.assert_close(off, result(edited, model, inputs, book), atol=1e-5, rtol=1e-5)


def test_mean_outputs_are_those_of_real_positions_alone(bert):
    together = bert.head_means(TEXTS, batch_size=2)
    lengths = [len(bert._engine.encode(text).ids) for text in TEXTS]
    alone = [bert.head_means([text]) for text in TEXTS]
    for place in together:
        expected = np.average([one[place] for one in alone], axis=0, weights=lengths)
        np.testing.assert_allclose(together[place], expected, atol=1e-6)


def test_mean_outputs_are_kept_until_the_model_changes(bert):
    model = regard.load((by_hand.copied(bert), bert.tokenizer))
    first = model.head_means(TEXTS)
    assert model.head_means(list(TEXTS)) is first
    with model.ablate("0.*"):
        assert np.abs(model.head_means(TEXTS)["encoder", 1] - first["encoder", 1]).max() > 0
    assert model.head_means(TEXTS) is first
    with torch.no_grad():
        model.module.encoder.layer[0].attention.self.value.bias += 1
    np.testing.assert_allclose(model.head_means(TEXTS)["encoder", 0], first["encoder", 0] + 1, atol=1e-5)


@pytest.mark.parametrize(("family", "heads", "cache"), [("gpt2", "*.1", True), ("t5", "cross:*.1", False)])
def test_what_a_model_generates_comes_from_the_ablated_model(sharp, family, heads, cache):
    model = sharp(family)
    kind, edited = ("cross" if family == "t5" else "decoder"), by_hand.copied(model)
    for layer in range(len(by_hand.attentions(edited, kind))):
        by_hand.zeroed(edited, layer, 1, 8, kind)
    ids = model.tokenizer("the cat sat on the mat", return_tensors="pt")["input_ids"]
    options = {
        "max_new_tokens": 6, "do_sample": False, "use_cache": cache, "output_logits": True,
        "return_dict_in_generate": True, "attention_mask": torch.ones_like(ids), "pad_token_id": 0,
    }  # fmt: skip
    with model.ablate(heads):
        made = model.module.generate(ids, **options)
    expected = edited.generate(ids, **options)
    assert made.sequences.tolist() == expected.sequences.tolist()
    torch.testing.assert_close(torch.stack(made.logits), torch.stack(expected.logits), atol=1e-5, rtol=1e-5)


def test_the_trace_of_an_ablated_model_shows_what_ran(sharp):
    bert, t5 = sharp("bert"), sharp("t5")
    trace = bert.trace("the cat sat", ablate=["0.1"], mode="uniform")
    length = len(trace.tokens)
    np.testing.assert_allclose(trace.attention(0, 1), np.full((length, length), 1 / length), atol=1e-6)
    assert trace.facts["ablated"] == [{"heads": ["0.1"], "mode": "uniform"}]
    np.testing.assert_allclose(trace.attention(0, 0), bert.trace("the cat sat").attention(0, 0), atol=1e-6)
    assert np.abs(trace.attention(1, 0) - bert.trace("the cat sat").attention(1, 0)).max() > 1e-3
    assert "ablated" not in bert.trace("the cat sat").facts
    biased = t5.trace("the cat sat", target="a dog", ablate="encoder:1.2", mode="uniform")
    length = len(biased.tokens)
    np.testing.assert_allclose(biased.attention(1, 2), np.full((length, length), 1 / length), atol=1e-6)


def test_heads_named_by_a_pattern_are_those_that_show_it(minilm):
    text = "The cat sat on the mat and the dog lay on the rug."
    found = minilm.trace(text).patterns()
    with minilm.ablate("previous token", patterns=found) as ablation:
        assert {(h.layer, h.head) for h in ablation.heads} == {
            (f.layer, f.head) for f in found if f.pattern == "previous token"
        }
    trace = minilm.trace(text, ablate="previous token")
    assert trace.facts["ablated"][0]["heads"] == [f"{h.layer}.{h.head}" for h in ablation.heads]


def test_each_row_of_a_batch_may_have_other_heads_off(sharp):
    llama = sharp("llama")
    ids = torch.tensor([[5, 9, 30, 12, 7, 80]])
    first, second = [Head("decoder", 0, 1)], [Head("decoder", 1, 3), Head("decoder", 0, 0)]
    for mode in ("zero", "uniform"):
        with switch_off(llama, Ablation([first, second], mode)):
            together = llama._engine.run({"input_ids": ids.expand(2, -1)}).logits
        for row, heads in enumerate((first, second)):
            with llama.ablate(heads, mode=mode):
                torch.testing.assert_close(together[row : row + 1], llama._engine.run({"input_ids": ids}).logits)


def test_blocks_nest_and_the_inner_mode_counts(bert):
    inputs, book = padded(bert)
    with bert.ablate("0.0"), bert.ablate("1.1"):
        both = result(bert.module, bert, inputs, book)
    with bert.ablate(["0.0", "1.1"]):
        torch.testing.assert_close(result(bert.module, bert, inputs, book), both)
    with bert.ablate("0.0", mode="uniform"), bert.ablate("0.0"):
        inner = result(bert.module, bert, inputs, book)
    with bert.ablate("0.0"):
        torch.testing.assert_close(result(bert.module, bert, inputs, book), inner)


def test_gradients_pass_through_the_heads_that_are_on_only(bert):
    module = deepcopy(bert.module)
    model = regard.load((module, bert.tokenizer))
    with model.ablate("1.0"):
        module(torch.tensor([[2, 5, 7, 3]])).last_hidden_state.square().sum().backward()
    gradient = module.encoder.layer[1].attention.self.value.weight.grad
    assert gradient[:8].abs().max() == 0
    assert gradient[8:].abs().max() > 0


def test_nothing_of_ours_stays_and_other_threads_are_not_touched(bert):
    inputs, book = padded(bert)
    plain = result(bert.module, bert, inputs, book)
    original = AttentionInterface.get_interface
    seen = []

    def interrupted():
        with bert.ablate("*.1"):
            thread = threading.Thread(target=lambda: seen.append(result(bert.module, bert, inputs, book)))
            thread.start()
            thread.join()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    torch.testing.assert_close(seen[0], plain, rtol=0, atol=0)
    torch.testing.assert_close(result(bert.module, bert, inputs, book), plain, rtol=0, atol=0)
    assert AttentionInterface.get_interface is original
    assert not any(m._forward_pre_hooks for m in bert.module.modules())


@pytest.mark.parametrize(
    ("heads", "error", "says"),
    [
        ("9.1", IndexError, "no encoder layer 9; layers are 0 to 1"),
        ([(0, 3)], IndexError, "no head 3; its 3 heads count from 0"),
        ([(0, -1)], IndexError, "no head -1"),
        ("cross:0.1", ValueError, "no 'cross' attention in this model; it has encoder"),
        ([], ValueError, "no heads were named"),
        ("*.*", ValueError, "all 6 heads of the model"),
        ("wild guess", ValueError, "names no heads"),
        ([3], ValueError, "3 names no heads"),
        ("bag of words", ValueError, "depends on a text"),
    ],
)
def test_heads_that_are_not_there_are_refused_in_one_sentence(bert, heads, error, says):
    with pytest.raises(error, match=says.replace("*", r"\*")), bert.ablate(heads):
        pass


def test_a_mode_that_is_not_there_and_a_mean_without_reference_are_refused(bert, gpt2):
    with pytest.raises(ValueError, match="choose from zero, uniform, mean"), bert.ablate("0.1", mode="off"):
        pass
    wordless = regard.load(bert.module)
    wordless.trace_inputs({"input_ids": torch.tensor([[4, 5]])})
    with pytest.raises(ValueError, match="head_means"), wordless.ablate("0.1", mode="mean"):
        pass
    other = {place: values[:2] for place, values in bert.head_means(["a cat"]).items()}
    with pytest.raises(ValueError, match="no mean outputs of shape"), bert.ablate("0.1", mode="mean", means=other):
        bert.trace("a cat")
