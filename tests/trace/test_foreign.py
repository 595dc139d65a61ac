"""Attention from other tools: caches of TransformerLens, saves of nnsight, outputs of transformers, trees of HeadVis.

TransformerLens asks for packages of other versions and is not installed beside the tests: caches here have the names
and shapes that its versions 2.18 and 4.3 gave, with which the reader was tried by hand.
"""

import json

import numpy as np
import pytest
import torch

from regard.base.errors import UserError
from regard.trace.maps import as_array
from regard.trace.trace import Trace

TEXT = "the cat sat"


def cached(trace, *, rotary=False, vectors=True):
    """A trace as TransformerLens would keep it: (1, heads, Q, K) maps, (1, positions, heads, d) vectors."""
    cache = {}
    for layer in trace.layers():
        stem, site = f"blocks.{layer}.attn.", trace.site(layer)
        cache[f"{stem}hook_pattern"] = torch.tensor(trace.attention(layer))[None]
        for name, array in (("q", site.q), ("k", site.k), ("v", site.v)) if vectors else ():
            scaled = array * (site.scale * array.shape[-1] ** 0.5 if name == "q" else 1)
            turned = f"rot_{name}" if rotary and name != "v" else name
            cache[f"{stem}hook_{turned}"] = torch.tensor(scaled.transpose(1, 0, 2))[None]
            if rotary and name != "v":
                cache[f"{stem}hook_{name}"] = torch.zeros_like(cache[f"{stem}hook_{turned}"])
    return cache


@pytest.mark.parametrize(("name", "rotary"), [("gpt2", False), ("llama", True)])
def test_a_cache_of_transformer_lens_keeps_q_k_and_v(name, rotary, request):
    own = request.getfixturevalue(name).trace(TEXT)
    trace = Trace.from_transformer_lens(cached(own, rotary=rotary), own.side().texts)
    assert trace.kinds == ("decoder",)
    for layer in own.layers():
        np.testing.assert_allclose(trace.attention(layer), own.attention(layer), atol=1e-5)
        np.testing.assert_allclose(trace.scores(layer), own.scores(layer), atol=1e-4)
        np.testing.assert_allclose(trace.v(layer, 1), own.v(layer, 1))
    with pytest.raises(UserError, match="norms of layer 0 are not available"):
        trace.norms(0)


def test_a_cache_of_an_encoder_is_an_encoders(bert):
    own = bert.trace(TEXT)
    trace = Trace.from_transformer_lens(cached(own), own.side().texts)
    assert trace.kinds == ("encoder",)
    assert trace.site(0).q is not None


def test_vectors_that_do_not_give_the_maps_are_not_believed(gpt2):
    own = gpt2.trace(TEXT)
    cache = cached(own)
    cache["blocks.1.attn.hook_q"] = cache["blocks.1.attn.hook_q"] * 3 + 1  # as if scores had another term
    trace = Trace.from_transformer_lens(cache, own.side().texts)
    assert trace.site(0).q is not None and trace.site(1).q is None
    np.testing.assert_allclose(trace.attention(1), own.attention(1), atol=1e-6)


def test_some_layers_of_a_cache_keep_their_numbers_and_a_batch_has_examples(gpt2):
    own = gpt2.trace(TEXT)
    maps = torch.tensor(own.attention(1))
    cache = {"blocks.1.attn.hook_pattern": torch.stack([torch.zeros_like(maps), maps])}
    trace = Trace.from_transformer_lens(cache, own.side().texts, example=1)
    assert trace.layers() == (1,)
    np.testing.assert_array_equal(trace.attention(1), own.attention(1))
    with pytest.raises(UserError, match="there is no example 2"):
        Trace.from_transformer_lens(cache, own.side().texts, example=2)


def test_a_cache_without_its_batch_dimension_is_read(gpt2):
    own = gpt2.trace(TEXT)
    cache = {name: value[0] for name, value in cached(own).items()}
    np.testing.assert_allclose(
        Trace.from_transformer_lens(cache, own.side().texts).attention(1), own.attention(1), atol=1e-5
    )


def test_a_cache_of_an_encoder_decoder_has_three_kinds(t5):
    own = t5.trace(TEXT, target="a dog")
    names = {"encoder": "encoder.{}.attn", "decoder": "decoder.{}.attn", "cross": "decoder.{}.cross_attn"}
    cache = {
        f"{names[kind].format(layer)}.hook_pattern": torch.tensor(own.attention(layer, kind=kind))[None]
        for kind in own.kinds
        for layer in own.layers(kind)
    }
    tokens = {name: side.texts for name, side in own.sides.items()}
    trace = Trace.from_transformer_lens(cache, tokens)
    assert trace.kinds == own.kinds
    np.testing.assert_array_equal(trace.attention(0, kind="cross"), own.attention(0, kind="cross"))


def test_a_cache_without_maps_says_what_to_keep():
    with pytest.raises(UserError, match="names_filter leaves them out"):
        Trace.from_transformer_lens({"blocks.0.hook_resid_pre": np.zeros((1, 2, 3))}, ["a", "b"])


def test_outputs_of_transformers_are_read_as_they_are(bert, wordpiece):
    own = bert.trace(TEXT)
    inputs = wordpiece(TEXT, return_tensors="pt")
    kept = bert.module.config._attn_implementation
    bert.module.set_attn_implementation("eager")
    try:
        outputs = bert.module(**inputs, output_attentions=True)
    finally:
        bert.module.set_attn_implementation(kept)
    trace = Trace.from_maps(outputs, own.side().texts)
    assert "last_hidden_state" in outputs
    np.testing.assert_allclose(trace.attention(1), own.attention(1), atol=1e-5)


def test_tuples_by_bertvizs_names_are_read(t5):
    own = t5.trace(TEXT, target="a dog")
    maps = {
        f"{kind}_attention": tuple(own.attention(n, kind=kind)[None] for n in own.layers(kind)) for kind in own.kinds
    }
    trace = Trace.from_maps(maps, {name: side.texts for name, side in own.sides.items()})
    assert trace.kinds == ("encoder", "decoder", "cross")
    np.testing.assert_array_equal(trace.attention(1, kind="decoder"), own.attention(1, kind="decoder"))


def test_saved_module_outputs_of_nnsight_are_read(gpt2):
    own = gpt2.trace(TEXT)
    length = len(own.tokens)
    saves = [(torch.randn(1, length, 24), torch.tensor(own.attention(layer))[None]) for layer in own.layers()]
    trace = Trace.from_maps(saves, own.side().texts, kind="decoder")
    np.testing.assert_array_equal(trace.attention(1), own.attention(1))


class OnlyDlpack:
    """An array that can be handed over in no other way."""

    def __init__(self, array):
        self.array, self.shape, self.ndim = array, array.shape, array.ndim

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArray:
    def __array__(self, dtype=None, copy=None):
        return np.eye(2, dtype=dtype or np.float64)


def test_arrays_of_any_library_are_read():
    maps = np.full((2, 3, 3), 1 / 3, np.float32)
    np.testing.assert_array_equal(as_array(OnlyDlpack(maps)), maps)
    np.testing.assert_array_equal(as_array(OnlyArray()), np.eye(2, dtype=np.float32))
    assert as_array(torch.ones(2, dtype=torch.bfloat16, requires_grad=True)).dtype == np.float32
    assert Trace.from_maps([OnlyDlpack(maps)], list("abc")).attention(0, 1).shape == (3, 3)


EVEN = np.full((1, 1, 7, 7), 1 / 7)


@pytest.mark.parametrize(
    ("tokens", "border"),
    [
        (["[CLS]", "the", "cat", "[SEP]", "the", "sat", "[SEP]"], 4),
        (["<s>", "the", "</s>", "</s>", "the", "sat", "</s>"], 3),
        (["[CLS]", "the", "cat", "the", "sat", ".", "[SEP]"], None),
        (["[CLS]", "cat", "[SEP]", "sat", "[SEP]", "cat", "[SEP]"], None),
    ],
)
def test_two_sentences_are_told_apart_by_sep(tokens, border):
    trace = Trace.from_maps(EVEN, tokens)
    if border is None:
        assert len(trace.segments) == 1
        assert "same word in the other sentence" in trace.patterns().missing
    else:
        assert [(one.name, one.start, one.end) for one in trace.segments] == [("A", 0, border), ("B", border, 7)]
        assert [token.segment for token in trace.tokens] == [0] * border + [1] * (7 - border)
        assert "same word in the other sentence" not in trace.patterns().missing


def test_segments_of_a_tokenizers_pair_are_those_of_a_trace(bert):
    own = bert.trace("the cat", "a dog")
    trace = Trace.from_maps([own.attention(0)], own.side().texts)
    assert trace.segments == own.segments


@pytest.fixture
def tree(tmp_path):
    """A HeadVis tree: heads 0.1 and 2.0 have sequence 7, head 0.0 has only sequence 3."""

    def sequence(number, looks):
        places = [query * 3 + key for query, key, _ in looks]
        values = [weight for *_, weight in looks]
        row = {"sequence_id": number, "tokens": ["a", "b", "c"], "seq_len": 3}
        return {**row, "attention_indices": places, "attention_values": values, "interval": 10, "max_activation": 1}

    heads = {
        (0, 0): [sequence(3, [(1, 0, 1.0)])],
        (0, 1): [sequence(7, [(2, 1, 0.75), (2, 0, 0.25)])],
        (2, 0): [sequence(7, [(1, 0, 0.5)])],
    }
    (tmp_path / "heads").mkdir()
    (tmp_path / "config.json").write_text(json.dumps({"heads": [list(place) for place in heads]}))
    for (layer, head), sequences in heads.items():
        (tmp_path / "heads" / f"L{layer}H{head}.json").write_text(json.dumps({"sequences": sequences}))
    return tmp_path


def test_a_sequence_of_a_headvis_tree_is_a_trace_of_the_heads_that_have_it(tree):
    trace = Trace.from_headvis(tree)
    assert trace.layers() == (0, 2)
    assert trace.site(0).head_ids == (1,)
    np.testing.assert_array_equal(trace.attention(0, 1), [[0, 0, 0], [0, 0, 0], [0.25, 0.75, 0]])
    assert Trace.from_headvis(tree, 3).layers() == (0,)
    with pytest.raises(ValueError, match="has sequence 5; there are 3, 7"):
        Trace.from_headvis(tree, 5)


def test_what_is_no_headvis_tree_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is no HeadVis tree: config\.json is missing"):
        Trace.from_headvis(tmp_path)
