"""Which words predict which: gains compared with one plain run of transformers per pair."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import regard
from regard.base.errors import UserError
from regard.models import predicting
from regard.transformer.config import Config
from regard.transformer.model import Bert
from tests.tiny import enlarged, saved, tiny_bert, tiny_llama

TEXT, PAIR = "the cat sat on the mat .", "a dog went to the store ."


@pytest.fixture(scope="module")
def masked(wordpiece):
    return enlarged(tiny_bert(wordpiece, BertForMaskedLM), 16)


@pytest.fixture(scope="module")
def causal(bytelevel):
    return enlarged(tiny_llama(bytelevel), 3)


@torch.no_grad()
def log_p(model, token, place, **inputs):
    logits = model.module(**{name: torch.tensor([value]) for name, value in inputs.items()}).logits[0, place]
    return float(torch.log_softmax(logits, -1)[token])


def test_gains_of_a_masked_model_are_those_of_one_run_per_pair(masked, monkeypatch):
    monkeypatch.setattr(predicting, "_TOKENS", 100)  # several batches, the last one smaller
    trace = masked.trace(TEXT, PAIR, predictive=True)
    given = masked.tokenizer(TEXT, PAIR)
    ids, rest = given["input_ids"], {name: given[name] for name in ("token_type_ids", "attention_mask")}
    words = [i for i, token in enumerate(trace.tokens) if not token.special]

    def likely(token, *hidden):
        hide = [masked.tokenizer.mask_token_id if i in hidden else one for i, one in enumerate(ids)]
        return log_p(masked, ids[token], token, input_ids=hide, **rest)

    expected = np.full((len(ids), len(ids)), np.nan)
    for i in words:
        for j in words:
            if i != j:
                expected[i, j] = likely(i, i) - likely(i, i, j)
    np.testing.assert_allclose(trace.gains(), expected, atol=1e-5)
    assert np.nanmax(np.abs(expected)) > 0.1


def test_gains_of_a_trained_bert_come_from_its_own_head(wordpiece):
    torch.manual_seed(0)
    sizes = {"width": 16, "heads": 2, "layers": 1, "hidden": 16, "decoder_layers": 0, "segments": 2}
    module = Bert(Config(vocabulary=len(wordpiece), **sizes)).eval()
    trace = regard.load((module, wordpiece)).trace("the cat sat", predictive=True)
    ids = [token.id for token in trace.tokens]

    def likely(token, *hidden):
        hide = torch.tensor([[wordpiece.mask_token_id if i in hidden else one for i, one in enumerate(ids)]])
        return torch.log_softmax(module.masked_words(module(hide))[0, token], -1)[ids[token]]

    with torch.no_grad():
        expected = float(likely(1, 1) - likely(1, 1, 2))
    np.testing.assert_allclose(trace.gains()[1, 2], expected, atol=1e-5)
    assert abs(expected) > 1e-3


def test_gains_of_a_causal_model_are_those_of_one_run_per_key(causal, monkeypatch):
    monkeypatch.setattr(predicting, "_TOKENS", 100)
    trace = causal.trace("The cat sat on it.", predictive=True)
    ids = [token.id for token in trace.tokens]
    expected = np.full((len(ids), len(ids)), np.nan)
    for i in range(1, len(ids) - 1):
        for j in range(i):
            whole, cut = [1] * len(ids), [int(key != j) for key in range(len(ids))]
            expected[i, j] = log_p(causal, ids[i + 1], i, input_ids=ids, attention_mask=whole) - log_p(
                causal, ids[i + 1], i, input_ids=ids, attention_mask=cut
            )
    np.testing.assert_allclose(trace.gains(), expected, atol=1e-5)
    assert np.nanmax(np.abs(expected)) > 0.1


def test_gains_are_saved_with_a_trace(causal, tmp_path):
    trace = causal.trace("The cat", predictive=True)
    np.testing.assert_array_equal(regard.Trace.load(trace.save(tmp_path / "a.safetensors")).gains(), trace.gains())


@pytest.mark.parametrize(("name", "why"), [("bert", "no language-model head"), ("t5", "encoder-decoder")])
def test_models_that_predict_no_words_say_so(request, tmp_path, name, why):
    model = request.getfixturevalue(name)
    trace = model.trace("the cat sat", predictive=True, **({"target": "a dog"} if model.is_encoder_decoder else {}))
    for one in (trace, regard.Trace.load(trace.save(tmp_path / "a.safetensors"))):
        with pytest.raises(UserError, match=why):
            one.gains()
        assert why in one.patterns().measured[0].missing["predictive word"]


def test_nothing_is_asked_unless_requested_and_words_have_no_gains(causal):
    trace = causal.trace("The cat")
    with pytest.raises(UserError, match="predictive=True"):
        trace.gains()
    assert "predictive word" not in trace.patterns().worth_saying
    with pytest.raises(UserError, match="token-level"):
        causal.trace("The cat", predictive=True).words().gains()


def test_a_text_that_would_take_too_long_is_refused_with_its_cost(masked, monkeypatch):
    monkeypatch.setitem(predicting.MOST, predicting.MASKED, 5)
    with pytest.raises(UserError, match=r"the text has 9 tokens, and .* 45 runs of the model; use at most 5 tokens"):
        masked.trace(TEXT, predictive=True)


def test_the_command_prints_which_words_predict_which(causal, command, tmp_path):
    folder, text = saved(causal, tmp_path / "model"), "The cat sat on it."
    told = command("patterns", text, "-m", folder, "--predictive", width=120).stdout
    gains = causal.trace(text, predictive=True).gains()
    query, key = np.unravel_index(np.nanargmax(gains[:, 1:]), gains[:, 1:].shape)
    best = told.split("less likely\n")[1].splitlines()[0].split()
    assert best[1] == f"({key + 1})" and best[-2:] == [f"({query + 1})", f"{np.nanmax(gains[:, 1:]):.2f}"]
    assert f"{abs(np.nanmean(gains[:, 0])):.2f} nats" in told.split("without the first token")[1]
    record = json.loads(command("patterns", text, "-m", folder, "--predictive", "--json").stdout)
    found = np.array([[np.nan if x is None else x for x in row] for row in record["gains"]])
    np.testing.assert_allclose(found, gains, atol=1e-4)
