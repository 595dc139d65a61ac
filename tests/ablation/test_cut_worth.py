"""Worth: gradients of the model's own eager attention by its weights, and how far that agrees with exact cuts."""

import numpy as np
import pytest
import torch
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
)

from regard.capture.tiers import attention_set
from regard.measures.ranks import spearman
from regard.models.outcome import about_of, outcome_of, position_of, side_of
from regard.models.worth import estimates, said, sample
from regard.patterns.cautions import warnings_for
from regard.trace.pool import pool_of
from regard.trace.reach import reaching
from regard.trace.trace import Trace
from regard.views import decode, encode
from tests.ablation.cut_by_hand import SEVEN, ByHand, result
from tests.tiny import tiny_bert


def eager_gradient(model, inputs, trace, kind, layer, outcome):
    """(H, Q, K) dm / dA of the eager model, by autograd at its own softmax."""
    site = trace.site(layer, kind=kind)
    module = dict(model.module.named_modules())[site.path]
    original, kept = torch.nn.functional.softmax, []

    def softmax(scores, *args, **options):
        weights = original(scores, *args, **options).detach().requires_grad_()
        kept.append(weights)
        return weights

    def opened(*_):
        torch.nn.functional.softmax = softmax

    def closed(*_):
        torch.nn.functional.softmax = original

    hooks = [module.register_forward_pre_hook(opened), module.register_forward_hook(closed)]
    try:
        with attention_set(model.module, "eager"), torch.enable_grad():
            found = model.module(**inputs)
            value = outcome.of(getattr(found, "logits", None) if hasattr(found, "logits") else found.last_hidden_state)
            (gradient,) = torch.autograd.grad(value[0], kept[:1])
    finally:
        closed()
        for hook in hooks:
            hook.remove()
    return gradient[0, :, :, : site.keys].numpy()  # without the learned sink


@pytest.mark.parametrize("name", SEVEN)
def test_g_times_v_is_the_gradient_by_the_weights_of_the_eager_model(family, name):
    model, _, _, kind = family(name)
    asked = {"check": 0}
    text, more = ("the cat sat" if name in ("bert", "t5") else "the cats"), {}
    if name == "t5":
        more["target"] = "a dog sat"
    if name == "bert":
        more["pair"] = "a dog"
    trace = model.trace(text, worth=asked, **more)
    assert all(parameter.requires_grad for parameter in model.module.parameters())
    engine = model._engine
    inputs, book = engine.collate([engine.encode(text, more.get("pair"))], [more.get("target")])
    ready = engine.ready(inputs)
    about, side = about_of(engine)[0], side_of(engine, book)
    place = position_of(engine, about, side, None)
    outcome = outcome_of(engine, about, side, place, result(model, ready)[0])
    assert trace.facts["worth"]["value"] == pytest.approx(float(outcome.of(result(model, ready))[0]), abs=1e-5)
    for layer in trace.layers(kind):
        site = trace.site(layer, kind=kind)
        expected = eager_gradient(model, ready, trace, kind, layer, outcome)
        for head in range(site.heads):
            found = site.g[head] @ site.v[site.group(head)].T
            seen = site.visible(head)
            scale = np.abs(expected).max()
            assert np.abs(found - expected[head])[seen].max() <= 1e-4 * scale
            whole = site.attention(head) @ site.v[site.group(head)]
            np.testing.assert_allclose(site.go[head], (site.g[head] * whole).sum(-1), atol=1e-4 * scale)


def test_worth_is_what_small_cuts_change(family):
    """Lines of small weight change little, so that the first order is nearly all of it."""
    model, text = family("gpt2")[0], "the cat sat on the mat and the dog ran to it"
    trace = model.trace(text, worth={"check": 0})
    before, last = trace.facts["worth"]["value"], len(trace.tokens) - 1
    light = [(layer, head, last, key) for layer in (0, 1) for head in range(3) for key in range(1, last, 11)]
    light = [edge for edge in light if 1e-4 < trace.attention(*edge[:2])[edge[2], edge[3]] < 0.03]
    assert len(light) > 5
    for edge in light:
        for how in ("mask", "zero"):
            exact = before - np.log(model.cut(text, edges=edge, how=how, controls=0).change.after)
            assert trace.worth(*edge[:2], how=how)[edge[2:]] == pytest.approx(exact, rel=0.1, abs=1e-5)


def test_weights_near_one_have_no_estimate_by_mask(family):
    model, _, _, _ = family("gpt2")
    trace = model.trace("the cats", worth={"check": 0})
    heavy = np.concatenate([trace.attention(layer).ravel() > 0.95 for layer in (0, 1)])
    by_mask = np.concatenate([trace.worth(layer).ravel() for layer in (0, 1)])
    by_zero = np.concatenate([trace.worth(layer, how="zero").ravel() for layer in (0, 1)])
    assert heavy.any() and np.array_equal(np.isnan(by_mask), heavy) and not np.isnan(by_zero).any()


def test_tiles_of_worth_are_parts_of_the_whole_and_stay_in_files_and_payloads(family, tmp_path):
    model, _, _, _ = family("llama")
    trace = model.trace("the cats", worth={"check": 8})
    whole = trace.worth(1, 2)
    np.testing.assert_allclose(trace.worth(1, 2, queries=[5, 3], keys=slice(1, 4)), whole[[5, 3], 1:4], atol=1e-5)
    np.testing.assert_allclose(trace.select(heads=[2]).worth(1, 2), whole, atol=1e-6)
    opened = Trace.load(trace.save(tmp_path / "trace.safetensors"))
    np.testing.assert_array_equal(opened.worth(1, 2), whole)
    assert opened.facts["worth"] == trace.facts["worth"]
    sent = decode(encode(trace, report=False, packed=False))
    np.testing.assert_allclose(sent.worth(1, 2), whole, atol=1e-6)
    few = decode(encode(trace, report=False, packed=True))
    unit = np.sqrt(np.mean(np.square(trace.worth(1, 2, how="zero"))))
    assert np.abs(few.worth(1, 2, how="zero") - trace.worth(1, 2, how="zero")).max() < 0.05 * unit


def test_the_check_is_the_rank_correlation_with_exact_cuts(family):
    from scipy.stats import spearmanr

    model, _, _, _ = family("gpt2")
    trace = model.trace("the cats", worth={"check": 24})
    worth, check = trace.facts["worth"], trace.facts["worth"]["check"]
    picked = sample(pool_of(trace, worth["position"]), estimates(pool_of(trace, worth["position"]), "mask"), 24)
    edges = [pool_of(trace, worth["position"]).block(int(i)) for i in np.concatenate(picked)]
    assert check["edges"] == len(edges) == 24
    places = [(one.heads[0].layer, one.heads[0].head, one.queries[0], one.keys[0]) for one in edges]
    guessed = [trace.worth(*place[:2])[place[2:]] for place in places]
    exact = [worth["value"] - np.log(model.cut("the cats", edges=place, controls=0).change.after) for place in places]
    assert check["spearman"] == pytest.approx(spearmanr(guessed, exact).statistic, abs=0.02)
    assert check["strongest"] == pytest.approx(spearmanr(guessed[:12], exact[:12]).statistic, abs=0.02)
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 9, 40), rng.integers(0, 9, 40)
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert np.isnan(spearman(np.ones(5), np.arange(5)))


def test_an_unreliable_estimate_says_so():
    assert [one.code for one in said({"edges": 64, "spearman": 0.3})] == ["worth_unreliable"]
    assert [one.code for one in said({"edges": 64, "spearman": 0.7})] == ["worth_agrees"]
    assert [one.code for one in said(None)] == ["worth_unchecked"]
    told = warnings_for([], facts={"worth": {"coded": [said({"edges": 64, "spearman": 0.3})[0].record]}})
    assert told[-1].startswith("Estimate not reliable here")


def test_a_masked_word_is_judged_where_it_is_hidden(wordpiece):
    model = tiny_bert(wordpiece, BertForMaskedLM)
    trace = model.trace("the cat sat", worth={"position": 2, "check": 0})
    assert trace.tokens[2].text == "[MASK]"
    assert (trace.facts["worth"]["about"], trace.facts["worth"]["name"]) == ("masked token", "cat")
    labels = tiny_bert(wordpiece, BertForSequenceClassification, num_labels=3, id2label={0: "a", 1: "b", 2: "c"})
    assert labels.trace("the cat sat", worth={"token": "b", "check": 0}).facts["worth"]["name"] == "b"
    with pytest.raises(ValueError, match="there is no label 'x'; choose from a, b, c"):
        labels.trace("the cat sat", worth="x")


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_worth_of_a_plain_torch_model_is_autograds(translator, kind):
    model, _ = translator
    trace = model.trace("The cat sat on the mat.", target="el gato se sentó", worth={"check": 16, "how": "zero"})
    engine = model._engine
    inputs, book = engine.collate([engine.encode("The cat sat on the mat.")], ["el gato se sentó"])
    about, side = about_of(engine)[0], side_of(engine, book)
    place = position_of(engine, about, side, None)
    outcome = outcome_of(engine, about, side, place, engine.run(inputs)[0])
    modules = dict(model.module.named_modules())
    for layer in trace.layers(kind):
        site = trace.site(layer, kind=kind)
        with ByHand(modules[site.path]) as hand, torch.enable_grad():
            value = outcome.of(model.module(**engine.ready(inputs)))[0]
            (expected,) = torch.autograd.grad(value, hand.weights)
        scale = float(expected.abs().max())
        for head in range(site.heads):
            found = site.g[head] @ site.v[site.group(head)].T
            seen = site.visible(head)
            assert np.abs(found - expected[0, head].numpy())[seen].max() <= 1e-4 * scale
    assert trace.facts["worth"]["check"]["spearman"] > 0.5


def test_rows_that_reach_a_prediction_are_those_with_a_gradient(family):
    for name, more in (("gpt2", {}), ("mistral", {}), ("t5", {"target": "a dog sat"})):
        model = family(name)[0]
        text = "the cats" if name != "t5" else "the cat sat"
        judged = model.trace(text, worth={"position": 2, "check": 0}, **more)
        by_masks = reaching(model.trace(text, **more), 2)
        for site, rows, found in zip(judged.sites, reaching(judged, 2), by_masks, strict=True):
            np.testing.assert_array_equal(found, rows, err_msg=f"{name} {site.kind} {site.layer}")
        assert sum(rows.sum() for rows in by_masks) < sum(len(rows) for rows in by_masks)
