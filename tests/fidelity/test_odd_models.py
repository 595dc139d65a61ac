"""Models whose attention is not one square map a layer: what a trace says of them."""

import pytest
import torch

import regard
from tests.fidelity.build import inputs_of, model_of

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own, for odd tiny sizes


def traced(model_type, **more):
    model = model_of(model_type)
    return regard.load(model).trace_inputs({**inputs_of(model_type, model), **more})


def test_attention_that_is_no_map_is_named_in_the_facts():
    trace = traced("longt5")[0]
    assert trace.kinds == ("decoder", "cross")
    assert trace.facts["missed"] == [f"encoder.block.{layer}.layer.0.LocalSelfAttention" for layer in (0, 1)]


def test_a_model_with_blocks_alone_is_refused_by_name():
    with pytest.raises(ValueError, match="HieraModel attends within blocks"):
        traced("hiera")


@pytest.mark.parametrize("model_type", ["rt_detr", "d_fine"])  # the second reports what looks like maps
def test_attention_to_points_that_queries_choose_is_no_map(model_type):
    trace = traced(model_type)[0]
    assert "cross" not in trace.kinds
    assert trace.facts["missed"] == [f"decoder.layers.{layer}.encoder_attn" for layer in (0, 1)]


def test_queries_that_are_given_once_are_traced_for_every_window():
    sites = [site for site in traced("granite_speech")[0].sites if site.kind == "cross"]
    assert [site.part for site in sites] == [0, 1, 2, 3]  # sixteen frames in windows of four
    assert len({site.attention(0).tobytes() for site in sites}) == 4


def test_longformer_bands_are_put_where_their_keys_are():
    attention = traced("longformer")[0].attention(0, 0)
    assert attention.shape == (12, 12)
    assert not attention[0, 3:].any()  # a window of four sees two keys to each side
    assert attention[0].sum() == pytest.approx(1, abs=1e-5)


def test_longformer_with_global_tokens_is_refused():
    chosen = torch.zeros(2, 12, dtype=torch.long)
    chosen[:, :2] = 1
    with pytest.raises(ValueError, match="without global_attention_mask"):
        traced("longformer", global_attention_mask=chosen)


def test_images_packed_into_one_sequence_give_one_trace():
    assert len(traced("pixtral")) == 1


def test_a_part_outside_the_interface_is_traced_with_the_rest():
    trace = traced("siglip_vision_model")[0]
    assert trace.facts["tier"] == "both"
    assert [site.path for site in trace.sites if site.kind == "cross"] == ["head.attention"]  # the pooling head
    assert len(trace.layers("encoder")) == 2


def test_text_around_an_image_is_decoder_attention():
    trace = traced("gemma3")[0]
    assert [site.path.split(".")[0] for site in trace.sites if site.kind == "decoder"] == ["language_model"] * 2


def test_recording_maps_leaves_no_hook_of_transformers_behind():
    model = model_of("xglm")
    regard.load(model).trace_inputs(inputs_of("xglm", model))
    assert not any(module._forward_hooks for module in model.modules())
