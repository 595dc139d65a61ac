"""One module, many threads: a run of regard has the module for itself, in whichever `Model` it is."""

import copy
import os
import pickle
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import regard
from regard.ablation.effects import effect
from regard.base.errors import UserError
from regard.capture import Ablation
from regard.capture.prefix import Shared
from regard.trace.heads import Head
from tests.processes import warm_python
from tests.tiny import enlarged, tiny_bert

TEXTS = ["the cat sat on the mat .", "a dog", "i went to the store , at the store i bought fresh straw", "it sat"]


@pytest.fixture
def pair(wordpiece):
    """Two models of one module, which is in training with much dropout."""
    one = enlarged(tiny_bert(wordpiece, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5))
    one.module.train()
    return one, regard.load((one.module, one.tokenizer))


def same(one, other):
    """Equal but for the last bits, which kernels may round otherwise in another thread; dropout changes tenths."""
    return np.allclose(one, other, rtol=0, atol=1e-5)


def maps(model, text):
    return np.stack([site.q for site in model.trace(text).sites])


@pytest.mark.slow
def test_hundreds_of_traces_from_eight_threads_over_two_models_of_one_module_are_all_right(pair):
    expected = {text: maps(pair[0], text) for text in TEXTS}

    def wrong(number):
        text = TEXTS[number % len(TEXTS)]
        return not same(maps(pair[number // 8 % 2], text), expected[text])

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(wrong, range(400))) == 0
    assert all(module.training for module in pair[0].module.modules())


def test_two_modules_that_share_a_part_wait_for_each_other(pair):
    whole, part = pair[0], regard.load(pair[0].module.encoder)
    inputs = {"hidden_states": torch.randn(1, 6, 24, generator=torch.Generator().manual_seed(0))}
    expected = part.trace_inputs(inputs)[0].attention(1), whole.trace(TEXTS[0]).attention(1)

    def wrong(number):
        if number % 2:
            return not same(part.trace_inputs(inputs)[0].attention(1), expected[0])
        return not same(whole.trace(TEXTS[0]).attention(1), expected[1])

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(wrong, range(200))) == 0


def test_streams_runs_and_effects_wait_for_traces_of_the_same_module(wordpiece):
    model = enlarged(tiny_bert(wordpiece, BertForMaskedLM, hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5))
    other = regard.load((model.module.train(), wordpiece))
    inputs, book = model._engine.collate([model._engine.encode(TEXTS[0])])

    def streamed():
        found = []
        model._engine.stream(inputs, book, lambda layer: found.append(layer.attention().numpy()))
        return np.stack(found)

    ways = [
        lambda: maps(other, TEXTS[0]),
        streamed,
        lambda: model._engine.run(inputs).logits.numpy(),
        lambda: np.array(list(effect(other, "the [MASK] sat", heads="1.1", modes="zero").kl.values())),
    ]
    expected = [way() for way in ways]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: ways[number % 4](), range(200)))
    assert all(same(one, expected[number % 4]) for number, one in enumerate(found))


def test_runs_that_share_what_lies_below_do_not_show_in_traces_of_other_threads(pair):
    model, other = pair
    inputs, _ = model._engine.collate([model._engine.encode(TEXTS[0])])
    expected, done = maps(other, TEXTS[0]), threading.Event()

    def edit():
        runs = Shared(model.module, model._engine.plan(), model._engine.places(), model._engine.run).batch(inputs)
        while not done.is_set():
            runs.run_edited(Ablation([[Head("encoder", 1, 0)]], "zero"), [("encoder", 1)])

    with ThreadPoolExecutor(2) as pool:
        editing = pool.submit(edit)
        found = [maps(other, TEXTS[0]) for _ in range(100)]
        done.set()
        editing.result()
    assert all(same(one, expected) for one in found)


def test_a_trace_from_a_hook_of_the_traced_model_is_refused_and_the_next_one_runs(pair):
    model, other = pair
    expected = maps(model, TEXTS[0])
    handle = model.module.encoder.layer[0].register_forward_hook(lambda *_: other.trace(TEXTS[1]) and None)
    try:
        with pytest.raises(
            RuntimeError, match=r"BertModel is already running in this thread.*before or after that run"
        ):
            model.trace(TEXTS[0])
    finally:
        handle.remove()
    assert same(maps(model, TEXTS[0]), expected)


def test_a_hook_may_trace_another_model(bert, gpt2):
    expected, found = gpt2.trace("a dog").attention(1), []
    handle = bert.module.pooler.register_forward_hook(lambda *_: found.append(gpt2.trace("a dog")))
    try:
        assert len(bert.trace("the cat").sites) == 2
    finally:
        handle.remove()
    assert same(found[0].attention(1), expected)


def test_two_models_that_trace_each_other_from_hooks_end_with_a_sentence_not_in_a_deadlock(wordpiece):
    models = [tiny_bert(wordpiece), tiny_bert(wordpiece)]
    both, sentences = threading.Barrier(2), []

    def hook(other):
        def trace(*_):
            both.wait()
            try:
                other.trace("a dog")
            except RuntimeError as error:
                sentences.append(str(error))
            both.wait()

        return trace

    for model, other in (models, models[::-1]):
        model.module.pooler.register_forward_hook(hook(other))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda model: model.trace("the cat"), models))
    assert len(sentences) == 2
    assert all("in use by another thread" in sentence for sentence in sentences)


def test_plain_torch_models_may_be_traced_for_the_first_time_side_by_side():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(24, 3, 32, batch_first=True)
    modules = [torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval() for _ in range(40)]
    inputs = {"src": torch.randn(1, 6, 24)}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda module: regard.load(module).trace_inputs(inputs)[0], modules))
    assert {len(trace.sites) for trace in found} == {2}
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_model_survives_pickling(pair):
    model = pair[0]
    expected = maps(model, TEXTS[0])
    assert same(maps(pickle.loads(pickle.dumps(model)), TEXTS[0]), expected)


def test_a_hook_that_cannot_be_pickled_is_named(wordpiece):
    model = tiny_bert(wordpiece)
    handle = model.module.encoder.register_forward_hook(lambda module, args, output: None)
    with pytest.raises(UserError, match=r"cannot be pickled while encoder has a hook .*lambda.*; remove it"):
        pickle.dumps(model)
    assert copy.deepcopy(model).module.encoder._forward_hooks  # copies take any hook
    handle.remove()
    pickle.dumps(model)


FORKING = """
import os, signal, sys, threading
import numpy as np, torch
from transformers import BertConfig, BertModel
import regard

torch.set_num_threads(2)
torch.manual_seed(0)
sizes = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32)
model = regard.load(BertModel(BertConfig(vocab_size=40, **sizes)).train())
inputs = {"input_ids": torch.arange(200)[None] % 40}
expected = model.trace_inputs(inputs)[0].attention(1)
stop = threading.Event()

def work():
    while not stop.is_set():
        model.trace_inputs(inputs)

thread = threading.Thread(target=work)
thread.start()
codes = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs is ended
        right = np.allclose(model.trace_inputs(inputs)[0].attention(1), expected, rtol=0, atol=1e-5)
        os._exit(0 if right and model.module.training else 1)
    codes.append(os.waitpid(child, 0)[1])
    if codes[-1]:
        break
stop.set()
thread.join()
sys.exit(str(codes) if any(codes) else 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_a_process_forked_during_a_trace_can_trace_with_training_flags_as_they_were():
    run = subprocess.run([*warm_python(), "-W", "ignore", "-c", FORKING], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
