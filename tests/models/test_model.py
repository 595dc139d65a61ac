"""Tracing tiny models: every kind of attention, exact against the model's own eager maps."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from transformers import ViTConfig, ViTModel

import regard
from tests.capture.own_maps import own_maps

TOLERANCE = 1e-5
TEXT = "the cat sat on a mat . i went to the store , unbelieved"
VOCABULARY = ("the", "cat", "sat", "on", "mat", "store", ".", ",", "strawberries")
SENTENCES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12)


def assert_same(trace, own, kind, field):
    assert trace.layers(kind) == tuple(range(len(own[field])))
    for layer, maps in enumerate(own[field]):
        np.testing.assert_allclose(trace.attention(layer, kind=kind), maps[0], atol=TOLERANCE)


def ids_of(model, text):
    return torch.tensor([model.tokenizer(text)["input_ids"]])


def test_an_encoder_is_traced_exactly(bert):
    trace = bert.trace(TEXT)
    assert trace.kinds == ("encoder",)
    assert trace.facts["tier"] == "tap"
    assert trace.facts["kernel"] == "sdpa"
    assert_same(trace, own_maps(bert.module, input_ids=ids_of(bert, TEXT)), "encoder", "attentions")


def test_a_pair_has_two_segments_and_its_segment_ids_reach_the_model(bert):
    trace = bert.trace("the cat sat .", "a dog went .")
    assert [(s.name, s.start, s.end) for s in trace.segments] == [("A", 0, 6), ("B", 6, 11)]
    encoded = bert.tokenizer("the cat sat .", "a dog went .", return_tensors="pt", return_token_type_ids=True)
    types = torch.tensor([[0] * 6 + [1] * 5])
    assert_same(
        trace, own_maps(bert.module, input_ids=encoded["input_ids"], token_type_ids=types), "encoder", "attentions"
    )
    zeros = bert.trace("the cat sat .", "a dog went .", segment_ids=False)
    assert zeros.facts["segment_ids"] == "all 0"
    assert np.abs(zeros.attention(0) - trace.attention(0)).max() > 1e-4


def test_tokens_know_their_place_in_the_text(bert):
    trace = bert.trace("fresh strawberries.")
    spans = [(t.text, t.start, t.end, t.word, t.special) for t in trace.tokens]
    assert spans == [
        ("[CLS]", None, None, None, True),
        ("fresh", 0, 5, 0, False),
        ("straw", 6, 11, 1, False),
        ("##berries", 11, 18, 1, False),
        (".", 18, 19, 2, False),
        ("[SEP]", None, None, None, True),
    ]


def test_a_causal_model_sees_no_later_key(gpt2):
    trace = gpt2.trace("the cat")
    assert trace.kinds == ("decoder",)
    assert trace.site(0).mask.rule == "causal"
    assert (np.triu(trace.attention(1, 2), 1) == 0).all()
    assert_same(trace, own_maps(gpt2.module, input_ids=ids_of(gpt2, "the cat")), "decoder", "attentions")


def test_grouped_heads_share_keys_and_are_exact(llama):
    trace = llama.trace("the cat sat")
    site = trace.site(1)
    assert (site.heads, site.kv_heads) == (4, 2)
    assert_same(trace, own_maps(llama.module, input_ids=ids_of(llama, "the cat sat")), "decoder", "attentions")
    np.testing.assert_array_equal(trace.k(0, 2), trace.k(0, 3))


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_an_encoder_decoder_gives_three_kinds_exactly(name, request):
    model = request.getfixturevalue(name)
    trace = model.trace("the cat sat .", target="a dog")
    assert trace.kinds == ("encoder", "decoder", "cross")
    decoder_ids = torch.tensor([[t.id for t in trace.side("decoder").tokens]])
    own = own_maps(model.module, input_ids=ids_of(model, "the cat sat ."), decoder_input_ids=decoder_ids)
    for kind in trace.kinds:
        assert_same(trace, own, kind, f"{kind}_attentions")
    cross = trace.site(0, kind="cross")
    assert (cross.query_side, cross.key_side) == ("decoder", "encoder")
    assert trace.site(0, kind="decoder").mask.rule == "causal"


def test_relative_position_bias_is_kept_by_distance(t5):
    site = t5.trace("the cat sat .", target="a dog").site(0)
    assert site.bias.shape == (3, site.queries + site.keys - 1)
    assert site.scale == 1.0


def test_without_a_target_the_decoder_reads_what_the_model_generates(bart):
    trace = bart.trace("the cat sat .")
    made = bart.module.generate(
        input_ids=ids_of(bart, "the cat sat ."), do_sample=False, num_beams=1, max_new_tokens=64
    )
    expected = made[0].tolist()
    expected = expected[:-1] if expected[-1] == 3 and len(expected) > 1 else expected
    assert [t.id for t in trace.side("decoder").tokens] == expected


def test_a_decoder_deeper_than_its_encoder_generates_what_it_does_without_a_cache(t5):
    module = deepcopy(t5.module)  # 2 encoder and 3 decoder layers: transformers' own cache has room for 2
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()  # so that it does not say one word over and over
    model = regard.load((module, t5.tokenizer))
    trace = model.trace("the cat sat .")
    made = module.generate(
        ids_of(model, "the cat sat ."), do_sample=False, num_beams=1, max_new_tokens=128, use_cache=False
    )
    ids = [token.id for token in trace.side("decoder").tokens]
    assert ids == made[0].tolist()[: len(ids)]
    assert len(set(ids)) > 3


def test_generated_text_becomes_the_answer_segment(gpt2):
    trace = gpt2.trace("the cat", generate=5)
    assert [(s.name, s.start) for s in trace.segments] == [("prompt", 0), ("answer", 7)]
    assert 1 <= trace.segments[1].end - trace.segments[1].start <= 5
    ids = torch.tensor([[t.id for t in trace.tokens]])
    assert_same(trace, own_maps(gpt2.module, input_ids=ids), "decoder", "attentions")


def test_bytes_of_one_character_show_the_character(gpt2):
    assert gpt2.trace("猫 a").side().texts == ["猫", "猫₂", "猫₃", " ", "a"]


def test_an_image_has_patches_as_tokens():
    torch.manual_seed(0)
    config = ViTConfig(
        image_size=32, patch_size=8, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32
    )
    model = regard.load(ViTModel(config))
    image = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8))
    trace = model.trace(image=image)
    side = trace.side("image")
    assert len(side) == 17
    assert (side.tokens[0].text, side.tokens[0].special) == ("[CLS]", True)
    assert (side.tokens[6].row, side.tokens[6].column) == (1, 1)
    assert side.medium.size == (50, 40)
    np.testing.assert_allclose(side.spans[6], [0.25, 0.25, 0.5, 0.5], atol=2e-3)
    pixels = torch.from_numpy(np.asarray(image.resize((32, 32)), np.float32) / 127.5 - 1).permute(2, 0, 1)[None]
    assert_same(trace, own_maps(model.module, pixel_values=pixels), "encoder", "attentions")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SENTENCES, min_size=1, max_size=4))
def test_padding_never_shows_and_a_batch_equals_single_texts(bert, sentences):
    texts = [" ".join(words) for words in sentences]
    for text, trace in zip(texts, bert.trace(texts), strict=True):
        alone = bert.trace(text)
        assert trace.side().texts == alone.side().texts
        assert all(site.mask.rule == "full" for site in trace.sites)
        for layer in trace.layers():
            np.testing.assert_allclose(trace.attention(layer), alone.attention(layer), atol=TOLERANCE)


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "bart"])
def test_batches_of_other_families_equal_single_texts(name, request):
    model = request.getfixturevalue(name)
    texts = ["the cat", "a dog went to the store ."]
    targets = ["a mat .", "it"] if model.is_encoder_decoder else None
    batch = model.trace(texts, target=targets)
    for i, trace in enumerate(batch):
        alone = model.trace(texts[i], target=targets[i] if targets else None)
        for one, other in zip(trace.sites, alone.sites, strict=True):
            assert one.mask.rule == other.mask.rule
            for head in range(one.heads):
                np.testing.assert_allclose(one.attention(head), other.attention(head), atol=TOLERANCE)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
def test_norms_equal_the_length_of_what_the_projection_makes_of_a_value(name, request):
    model = request.getfixturevalue(name)
    trace = model.trace("the cat", target="a dog" if model.is_encoder_decoder else None)
    modules = dict(model.module.named_modules())
    site = trace.sites[0]
    find = {"bert": "output.dense", "gpt2": "c_proj", "llama": "o_proj", "t5": "o"}[name]
    parent = site.path.removesuffix(".self") if name == "bert" else site.path
    weight = modules[f"{parent}.{find}"].weight.detach().numpy()
    weight = weight if name == "gpt2" else weight.T  # Conv1D keeps (in, out)
    width = site.v.shape[-1]
    for head in range(site.heads):
        expected = np.linalg.norm(site.v[site.group(head)] @ weight[head * width : (head + 1) * width], axis=-1)
        np.testing.assert_allclose(trace.norms(0, head), expected, rtol=1e-4)
    contributions = trace.contributions(0, 1)
    np.testing.assert_allclose(contributions, trace.attention(0, 1) * trace.norms(0, 1)[None], rtol=1e-6)


def test_given_inputs_are_traced_with_their_ids_as_tokens(bert):
    inputs = {"input_ids": torch.tensor([[2, 5, 3, 0]]), "attention_mask": torch.tensor([[1, 1, 1, 0]])}
    (trace,) = bert.trace_inputs(inputs)
    assert trace.side().texts == ["[CLS]", "the", "[SEP]"]
    assert trace.attention(0, 0).shape == (3, 3)
