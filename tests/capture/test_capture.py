"""The tap leaves models and transformers as they were, in every way a run can end; other tiers and threads."""

import threading
from copy import deepcopy

import numpy as np
import pytest
import torch
from transformers import AttentionInterface, BertModel

import regard
from regard.capture import tiers
from tests.capture.own_maps import own_maps
from tests.tiny import tiny_mpnet

IDS = torch.tensor([[2, 5, 7, 9, 3]])


def state(model):
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks)) for m in model.module.modules()]
    return hooks, [m.training for m in model.module.modules()], model.config._attn_implementation


def output(model):
    with torch.no_grad():
        return model.module.eval()(IDS).last_hidden_state


def test_nothing_of_ours_stays_after_a_trace(bert):
    original, before, result = AttentionInterface.get_interface, state(bert), output(bert)
    regard.load((bert.module, bert.tokenizer)).trace("the cat")
    assert AttentionInterface.get_interface is original
    assert state(bert) == before
    torch.testing.assert_close(output(bert), result, rtol=0, atol=0)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("surveyed", [False, True])
def test_nothing_of_ours_stays_after_an_error_or_an_interrupt(bert, error, surveyed):
    model = regard.load((bert.module, bert.tokenizer))
    if surveyed:
        model.trace("the cat")
    original, before = AttentionInterface.get_interface, state(model)

    def fail(*_):
        raise error("stop")

    last = model.module.encoder.layer[1].output.dense
    handle = last.register_forward_hook(fail)
    try:
        with pytest.raises(error):
            model.trace("the cat")
    finally:
        handle.remove()
    assert AttentionInterface.get_interface is original
    assert state(model) == before


def test_a_model_in_training_is_traced_without_dropout_and_stays_in_training(bert):
    calm = bert.trace("the cat").attention(1, 0)
    bert.module.train()
    try:
        np.testing.assert_allclose(bert.trace("the cat").attention(1, 0), calm, atol=1e-7)
        assert bert.module.training
        assert bert.module.encoder.layer[0].training
    finally:
        bert.module.eval()


def test_random_state_is_not_moved(bert):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    tiers.interface_works.cache_clear()
    regard.load((bert.module, bert.tokenizer)).trace("the cat")
    assert torch.equal(torch.get_rng_state(), before)


def test_threads_tracing_two_models_do_not_meet(bert, gpt2):
    expected = {id(m): m.trace("the cat sat").attention(1) for m in (bert, gpt2)}
    problems = []

    def work(model):
        for _ in range(20):
            trace = model.trace("the cat sat")
            if len(trace.sites) != 2 or np.abs(trace.attention(1) - expected[id(model)]).max() > 1e-6:
                problems.append(trace)

    original = AttentionInterface.get_interface
    threads = [threading.Thread(target=work, args=(m,)) for m in (bert, gpt2, bert, gpt2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert AttentionInterface.get_interface is original


def test_the_registered_name_gives_the_same_and_is_put_back(bert, monkeypatch):
    monkeypatch.setattr(tiers, "interface_works", lambda: False)
    model = regard.load((bert.module, bert.tokenizer))
    before = state(model)
    trace = model.trace("the cat", "a dog")
    assert trace.facts["tier"] == "registered"
    assert state(model) == before
    np.testing.assert_allclose(trace.attention(1), bert.trace("the cat", "a dog").attention(1), atol=1e-6)


def test_a_family_outside_the_interface_gives_its_own_maps(wordpiece):
    model = tiny_mpnet(wordpiece)
    before = state(model)
    trace = model.trace("the cat sat")
    assert trace.facts["tier"] == "maps"
    assert state(model) == before
    ids = torch.tensor([model.tokenizer("the cat sat")["input_ids"]])
    with torch.no_grad():
        own = model.module(ids, output_attentions=True).attentions
    for layer in range(2):
        np.testing.assert_allclose(trace.attention(layer), own[layer][0].numpy(), atol=1e-5)
    with pytest.raises(ValueError, match="holds attention maps only"):
        trace.scores(0, 0)
    with pytest.raises(ValueError, match="no access to its value vectors"):
        trace.norms(0, 0)


def test_a_plain_torch_encoder_is_watched():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(24, 3, 32, batch_first=True)
    module = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    fastpath = torch.backends.mha.get_fastpath_enabled()
    x = torch.randn(1, 6, 24)
    (trace,) = regard.load(module).trace_inputs({"src": x})
    assert trace.facts["tier"] == "watch"
    assert torch.backends.mha.get_fastpath_enabled() == fastpath
    with torch.no_grad():
        first = module.layers[0].self_attn(x, x, x, need_weights=True, average_attn_weights=False)[1][0]
    np.testing.assert_allclose(trace.attention(0), first.numpy(), atol=1e-5)
    assert trace.layers() == (0, 1)


def test_a_half_precision_model_is_traced_as_it_ran(bert):
    half = BertModel(deepcopy(bert.config)).to(torch.bfloat16).eval()
    trace = regard.load((half, bert.tokenizer)).trace("the cat sat")
    assert trace.facts["dtype"] == "bfloat16"
    np.testing.assert_allclose(trace.attention(0, 0).sum(-1), 1, atol=1e-5)
    own = own_maps_half(half, bert.tokenizer("the cat sat")["input_ids"])
    np.testing.assert_allclose(trace.attention(0), own, atol=2e-2)


def own_maps_half(module, ids):
    module.set_attn_implementation("eager")
    with torch.no_grad():
        return module(torch.tensor([ids]), output_attentions=True).attentions[0][0].float().numpy()


@pytest.mark.models
def test_the_default_model_is_traced_exactly(minilm):
    text, pair = "I went to the store.", "At the store, I bought fresh strawberries."
    trace = minilm.trace(text, pair)
    own = own_maps(minilm.module, **minilm.tokenizer(text, pair, return_tensors="pt"))["attentions"]
    for layer in range(6):
        np.testing.assert_allclose(trace.attention(layer), own[layer][0], atol=1e-5)
    assert trace.words().side().texts[-3:] == ["strawberries", ".", "[SEP]"]


@pytest.mark.models
def test_a_real_grouped_query_decoder_is_traced_exactly(smollm):
    trace = smollm.trace("The capital of France is", generate=4)
    ids = torch.tensor([[t.id for t in trace.tokens]])
    own = own_maps(smollm.module, input_ids=ids)["attentions"]
    assert len(own) == len(trace.layers()) == 30
    for layer in range(30):
        np.testing.assert_allclose(trace.attention(layer), own[layer][0], atol=1e-5)
    assert " Paris" in trace.side().texts


@pytest.mark.models
def test_a_real_albert_has_a_layer_for_each_call_of_its_shared_module(rxnmapper):
    trace = rxnmapper.trace("C C ( C ) S . C N ( C ) C = O")
    ids = torch.tensor([[t.id for t in trace.tokens]])
    own = own_maps(rxnmapper.module, input_ids=ids)["attentions"]
    assert len(own) == len(trace.layers()) == 12
    assert len({site.path for site in trace.sites}) == 1
    for layer in range(12):
        np.testing.assert_allclose(trace.attention(layer), own[layer][0], atol=1e-5)
