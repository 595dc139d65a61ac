"""Cut lines: the numbers of the model's own eager attention with an edited mask, and of gradients by its weights."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest
import torch
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    Gemma2Config,
    Gemma2ForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)
from typer.testing import CliRunner

import regard
from regard.ablation.controls import like
from regard.capture.tiers import attention_set
from regard.cli import app
from regard.measures.ranks import spearman
from regard.models.cutting import cutting
from regard.models.outcome import about_of, outcome_of, position_of, side_of
from regard.models.worth import said
from regard.patterns.cautions import warnings_for
from regard.patterns.resting import rests_of
from regard.trace.edges import EdgeBlock, parse_edges
from regard.trace.heads import Head
from regard.trace.pool import pool_of
from regard.trace.trace import Trace
from regard.views import decode, encode
from tests.tiny import enlarged, made, saved, tiny_bert, tiny_mpnet

EDGES = 10
SHAPE = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 64, "head_dim": 8,
}  # fmt: skip


def mistral(tokenizer):
    config = MistralConfig(vocab_size=len(tokenizer), sliding_window=4, **SHAPE)
    return enlarged(made(MistralForCausalLM, config, tokenizer), 4)


def gemma2(tokenizer):
    config = Gemma2Config(vocab_size=len(tokenizer), sliding_window=5, attn_logit_softcapping=2.0, **SHAPE)
    return enlarged(made(Gemma2ForCausalLM, config, tokenizer), 2)


def gpt_oss(tokenizer):
    more = {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 5}
    config = GptOssConfig(vocab_size=len(tokenizer), **SHAPE, **more)
    return enlarged(made(GptOssForCausalLM, config, tokenizer), 4)


MADE = {"mistral": mistral, "gemma2": gemma2, "gpt_oss": gpt_oss}
KINDS = {"bert": "encoder", "t5": "cross"}
SEVEN = ("bert", "gpt2", "llama", "t5", *MADE)


def sharpened(model, name):
    """A copy with larger weights: attention far from uniform."""
    return enlarged(regard.load((deepcopy(model.module), model.tokenizer)), 2 if name == "t5" else 6)


@pytest.fixture(scope="module")
def family(request, bytelevel):
    """A function from a name to one of the seven models, its inputs, a trace of them, and the kind of attention."""
    made = {}

    def of(name):
        if name not in made:
            model = MADE[name](bytelevel) if name in MADE else sharpened(request.getfixturevalue(name), name)
            text, target = (
                "the cat sat" if name in ("bert", "t5") else "the cats",
                "a dog sat" if name == "t5" else None,
            )
            engine = model._engine
            inputs, book = engine.collate([engine.encode(text)], [target])
            (trace,) = engine.record(inputs, book, [{}])
            made[name] = model, engine.ready(inputs), trace, KINDS.get(name, "decoder")
        return made[name]

    return of


def random_edges(trace: Trace, kind: str, count=EDGES, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        site = trace.site(int(rng.choice(trace.layers(kind))), kind=kind)
        head, query, key = (int(rng.integers(n)) for n in (site.heads, site.queries, site.keys))
        if site.visible(head, [query], [key]).all():
            found.append(EdgeBlock((Head(kind, site.layer, head),), (query,), (key,)))
    return found


def result(model, inputs):
    with torch.no_grad():
        found = model.module(**inputs)
    return getattr(found, "logits", None) if getattr(found, "logits", None) is not None else found.last_hidden_state


class EagerEdit:
    """Eager attention whose scores or weights are edited at one place: softmax itself is replaced while it runs."""

    def __init__(self, model, trace, block, how):
        (self.head,), (self.query,), (self.key,) = block.heads, block.queries, block.keys
        self.how, self.sites = how, trace
        self.model, self.calls, self.original = model, 0, torch.nn.functional.softmax

    def __enter__(self):
        site = self.sites.site(self.head.layer, kind=self.head.kind)
        self.module = dict(self.model.module.named_modules())[site.path]
        self.hooks = [self.module.register_forward_pre_hook(self.open), self.module.register_forward_hook(self.close)]
        self.setting = attention_set(self.model.module, "eager")
        self.setting.__enter__()

    def open(self, *_):
        torch.nn.functional.softmax = self.softmax

    def close(self, *_):
        torch.nn.functional.softmax = self.original

    def softmax(self, scores, *args, **options):
        place = (slice(None), self.head.head, self.query, self.key)
        if self.how == "mask":
            scores = scores.clone()
            scores[place] = float("-inf")
        weights = self.original(scores, *args, **options)
        if self.how == "zero":
            weights = weights.clone()
            weights[place] = 0
        empty = (scores < -1e30).all(-1, keepdim=True)  # hidden keys have the least number of the type
        return torch.where(empty, 0, weights)

    def __exit__(self, *_):
        self.close()
        for hook in self.hooks:
            hook.remove()
        self.setting.__exit__(None, None, None)


@pytest.mark.parametrize("how", ["mask", "zero"])
@pytest.mark.parametrize("name", SEVEN)
def test_a_cut_is_the_eager_model_with_an_edited_mask(family, name, how):
    model, inputs, trace, kind = family(name)
    plain = result(model, inputs)
    changes = []
    for block in random_edges(trace, kind):
        with cutting(model._engine, [[block]], how):
            found = result(model, inputs)
        with EagerEdit(model, trace, block, how):
            expected = result(model, inputs)
        scale = float(plain.abs().max())
        assert float((found - expected).abs().max()) <= 1e-5 * max(1, scale), block
        changes.append(float((found - plain).abs().max()))
    assert max(changes) > 1e-3  # it did change something
    torch.testing.assert_close(result(model, inputs), plain, rtol=0, atol=0)  # the model is as before


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
    check = model.trace("the cats", worth={"check": 64}).facts["worth"]["check"]
    assert check["edges"] == 64
    assert -1 <= check["spearman"] <= 1
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


def test_rows_of_a_batch_are_cut_one_by_one(family):
    model, inputs, trace, kind = family("llama")
    blocks = random_edges(trace, kind, 3, seed=5)
    together = {name: value.repeat(4, 1) if torch.is_tensor(value) else value for name, value in inputs.items()}
    with cutting(model._engine, [[], *([block] for block in blocks)]):
        rows = result(model, together)
    for row, block in zip(rows[1:], blocks, strict=True):
        with cutting(model._engine, [[block]]):
            torch.testing.assert_close(row, result(model, inputs)[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(rows[0], result(model, inputs)[0], atol=1e-5, rtol=1e-5)


def test_traces_inside_a_cut_show_the_cut_map(family):
    model, _, trace, _ = family("llama")
    before = trace.attention(0, 1)
    with model.cutting("0.1:5→2", trace):
        cut = model.trace("the cats")
    after = cut.attention(0, 1)
    expected = before[5].copy()
    expected[2] = 0
    np.testing.assert_allclose(after[5], expected / expected.sum(), atol=1e-6)
    np.testing.assert_allclose(np.delete(after, 5, 0), np.delete(before, 5, 0), atol=1e-6)
    assert cut.facts["cut"] == [{"edges": ["0.1: a → e"], "how": "mask"}]
    assert "cut" not in model.trace("the cats").facts


def test_a_head_that_is_off_stays_off_when_its_lines_are_cut(family):
    model, inputs, trace, _ = family("llama")
    for mode in ("zero", "uniform"):
        with model.ablate("0.1", mode=mode):
            off = result(model, inputs)
            with model.cutting("0.1:5→2", trace):
                both = result(model, inputs)
        same = bool((off == both).all())
        assert same == (mode == "zero")  # uniform attention has lines
    with model.cutting("0.1:5→2", trace), model.ablate("0.1"):
        inside = result(model, inputs)
    with model.ablate("0.1"):
        torch.testing.assert_close(inside, result(model, inputs))


def test_a_cut_says_what_it_changes_in_words_and_beside_random_lines(family):
    model, inputs, *_ = family("gpt2")
    made = model.cut("the cats", edges="1.1:s→*", position=6, token="s", controls=8)
    before = result(model, inputs)[0, 6].log_softmax(-1)
    index = model.tokenizer("s", add_special_tokens=False)["input_ids"][0]
    assert made.change.before == pytest.approx(float(before[index].exp()), rel=1e-4)
    assert (made.lines, made.position, made.actual) == (8, 6, "s")
    assert made.change.after == made.change.before  # a causal model: position 6 does not see position 7
    assert made.sentence.startswith('Cutting s → * in head 1.1 leaves P("s") at')
    assert "as many random lines of the same weights change it by" in made.sentence
    assert f"n = 8; {made.control.larger} of them change it as much or more" in made.sentence
    assert made.control.count == 8 and made.control.mean > 0 and made.control.larger == 8
    assert made.as_record()["said"][0] == {"code": "cut_head", "values": {"lines": "s → *", "heads": "1.1"}}


def test_random_lines_have_the_weight_of_the_cut_and_are_elsewhere(family):
    trace = family("gpt2")[2]
    blocks = parse_edges("1.1:5→3", trace)
    pool = pool_of(trace, 6, rests_of)
    weight = trace.attention(1, 1)[5, 3]
    sets = like(blocks, trace, pool, 16)
    assert len(sets) == 16
    for (one,) in sets:
        (head,), (query,), (key,) = one.heads, one.queries, one.keys
        assert (head.layer, head.head, query) != (1, 1, 5)
        assert key != 0 and key <= query <= 6
    weights = [trace.attention(one.heads[0].layer, one.heads[0].head)[one.queries[0], one.keys[0]] for (one,) in sets]
    spread = np.sort(np.abs(pool.weight - weight))
    assert np.abs(np.array(weights) - weight).max() <= spread[80]  # 64 nearest, besides those of the same row


def test_hiding_the_first_token_of_a_causal_model_comes_with_a_caution(family):
    model = family("gpt2")[0]
    assert [one.code for one in model.cut("the cats", edges="0.1:*→0", controls=0).notes] == ["first_cut"]
    assert not model.cut("the cats", edges="0.1:*→0", how="zero", controls=0).notes


def test_two_sentences_are_judged_by_their_similarity_and_one_by_how_far_it_turns(family):
    bert = family("bert")[0]
    two = bert.cut("the cat sat", "a dog", edges="0.1:cat→dog", controls=4)
    assert two.change.unit == "similarity" and "similarity of the two sentences" in two.sentence
    one = bert.cut("the cat sat", edges="0.1:cat→sat", controls=0)
    assert one.change.unit == "turn" and one.change.before == pytest.approx(1, abs=1e-5)
    assert one.change.after == pytest.approx(one.rows[-1].after["mask"], abs=1e-5)
    with pytest.raises(ValueError, match="one sentence has nothing to be similar to; give it a second"):
        bert.trace("the cat sat", worth=True)


def test_a_masked_word_is_judged_where_it_is_hidden(wordpiece):
    model = tiny_bert(wordpiece, BertForMaskedLM)
    trace = model.trace("the cat sat", worth={"position": 2, "check": 0})
    assert trace.tokens[2].text == "[MASK]"
    assert (trace.facts["worth"]["about"], trace.facts["worth"]["name"]) == ("masked token", "cat")
    labels = tiny_bert(wordpiece, BertForSequenceClassification, num_labels=3, id2label={0: "a", 1: "b", 2: "c"})
    assert labels.trace("the cat sat", worth={"token": "b", "check": 0}).facts["worth"]["name"] == "b"
    with pytest.raises(ValueError, match="there is no label 'x'; choose from a, b, c"):
        labels.trace("the cat sat", worth="x")


def test_models_whose_vectors_are_hidden_are_refused_in_one_sentence(wordpiece):
    model = tiny_mpnet(wordpiece)
    for ask in (lambda: model.cut("the cat", edges="0.1:1→2"), lambda: model.trace("the cat", "a dog", worth=True)):
        with pytest.raises(ValueError, match="cannot be cut: its query, key and value vectors are hidden"):
            ask()


class ByHand:
    """The built-in translator with one line cut in plain torch, or its weights kept for autograd."""

    def __init__(self, attention, head=0, query=0, key=0, how=None):
        self.attention, self.place, self.how = attention, (0, head, query, key), how

    def __enter__(self):
        self.before, self.attention.attend = self.attention.attend, self.attend
        return self

    def __exit__(self, *_):
        self.attention.attend = self.before

    def attend(self, q, k, v, mask=None):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        if self.how == "mask":
            scores = scores.index_put(tuple(map(torch.tensor, self.place)), torch.tensor(-torch.inf))
        weights = scores.softmax(-1).nan_to_num()
        if self.how == "zero":
            weights = weights.index_put(tuple(map(torch.tensor, self.place)), torch.tensor(0.0))
        self.weights = weights.detach().requires_grad_() if self.how is None else weights
        return self.weights @ v


@pytest.fixture(scope="module")
def translator():
    model = regard.load("translator")
    return model, model.trace("The cat sat on the mat.", target="el gato se sentó")


@pytest.mark.parametrize("how", ["mask", "zero"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_lines_of_a_plain_torch_model_are_cut_by_watching_it(translator, kind, how):
    model, trace = translator
    engine = model._engine
    inputs, _ = engine.collate([engine.encode("The cat sat on the mat.")], ["el gato se sentó"])
    plain, changes = engine.run(inputs), []
    modules = dict(model.module.named_modules())
    for block in random_edges(trace, kind):
        (head,), (query,), (key,) = block.heads, block.queries, block.keys
        with cutting(engine, [[block]], how):
            found = engine.run(inputs)
        with ByHand(modules[trace.site(head.layer, kind=kind).path], head.head, query, key, how):
            expected = engine.run(inputs)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        changes.append(float((found - plain).abs().max()))
    assert max(changes) > 1e-3
    torch.testing.assert_close(engine.run(inputs), plain, rtol=0, atol=0)
    assert not any(module._forward_pre_hooks for module in model.module.modules())


def test_a_trace_of_a_plain_torch_model_shows_its_maps_without_a_masked_line(translator):
    model, trace = translator
    query, key = 2, int(trace.attention(1, 2, kind="cross")[2].argmax())
    given = {"target": "el gato se sentó"}
    with model.cutting(("cross", 1, 2, query, key), trace):
        cut = model.trace("The cat sat on the mat.", **given)
    expected = trace.attention(1, 2, kind="cross")[query].copy()
    expected[key] = 0
    np.testing.assert_allclose(cut.attention(1, 2, kind="cross")[query], expected / expected.sum(), atol=1e-5)
    assert cut.facts["cut"]
    with model.ablate("cross:1.2"), model.cutting(("cross", 1, 2, query, key), trace):
        both = _logits_of(model)
    with model.ablate("cross:1.2"):
        torch.testing.assert_close(both, _logits_of(model))  # a head that is off has no line to cut


def _logits_of(model):
    engine = model._engine
    return engine.run(engine.collate([engine.encode("The cat sat on the mat.")], ["el gato se sentó"])[0])


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


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("0.1", "'0.1' names no edge; write"),
        ("0.1:zebra→c", "the text has no token 'zebra'"),
        ("0.1:t→c", "the text has 't' 2 times; say which: t@0, t@6"),
        ("0.1:t@1→c", "the token at position 1 is 'h', not 't'"),
        ("0.1:70→c", "there is no position 70"),
        ("0.9:5→2", "has no head 9"),
        ("0.1:2→5", "the model hides this key from this query"),
        ([], "no edges were named"),
        ((0, 1, "x" * 3, 2), "the text has no token 'xxx'"),
    ],
)
def test_what_names_no_line_is_refused_with_the_way_out(family, edges, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_edges(edges, family("gpt2")[2])


def test_lines_are_named_by_tokens_words_positions_and_blocks():
    tokens = ["[CLS]", "straw", "##berries", "it", "is", "it", "5", "[SEP]"]
    trace = Trace.from_maps(np.full((2, 3, 8, 8), 1 / 8), tokens)
    block = parse_edges(["1.2:strawberries→is"], trace)[0]
    assert (block.queries, block.keys, block.label) == ((1, 2), (4,), "strawberries → is")
    assert parse_edges("1.*:it@5->*", trace)[0].heads == tuple(Head("encoder", 1, head) for head in range(3))
    assert parse_edges("0.0:5→3-5", trace)[0][1:] == ((5,), (3, 4, 5), "it@5 → 3-5")
    assert parse_edges("0.0:5@6→is", trace)[0].queries == (6,)
    assert parse_edges(("encoder", 0, None, [1, -1], None), trace)[0].queries == (1, 7)
    assert [one.single for one in parse_edges([(0, 1, 2, 3), "0.1:is→*"], trace)] == [True, False]


def test_the_command_prints_the_sentence_and_the_same_record_as_json(family, tmp_path):
    model = family("gpt2")[0]
    folder = str(saved(model, tmp_path / "gpt2"))
    runner = CliRunner()
    made = runner.invoke(app, ["cut", "the cats", "-m", folder, "--edge", "1.1:s→c", "--json", "--controls", "2"])
    assert made.exit_code == 0, made.output
    record = json.loads(made.stdout)
    assert record["edges"] == ["1.1: s → c"]
    assert record["change"]["after"] == pytest.approx(model.cut("the cats", edges="1.1:s→c").change.after, abs=1e-6)
    shown = runner.invoke(app, ["cut", "the cats", "-m", folder, "-e", "1.1:s->c", "--how", "zero"])
    assert "Cutting s → c in head 1.1" in shown.stdout
