"""Cut lines: the numbers of the model's own eager attention with an edited mask."""

import numpy as np
import pytest
import torch

from regard.capture.tiers import attention_set
from regard.models.cutting import cutting
from tests.ablation.cut_by_hand import SEVEN, ByHand, random_edges, result
from tests.tiny import tiny_mpnet


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


def test_models_whose_vectors_are_hidden_are_refused_in_one_sentence(wordpiece):
    model = tiny_mpnet(wordpiece)
    for ask in (lambda: model.cut("the cat", edges="0.1:1→2"), lambda: model.trace("the cat", "a dog", worth=True)):
        with pytest.raises(ValueError, match="cannot be cut: its query, key and value vectors are hidden"):
            ask()


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
