"""The names that people would guess do what the functions behind them do."""

import numpy as np
import pytest
import torch
from transformers import ViTConfig, ViTForImageClassification, ViTModel

from regard import load
from regard.ablation.effects import effect
from regard.base.errors import UserError
from regard.patterns.norms import class_norms
from regard.views.walk import walk

TEXT = "the cat sat on the mat ."


def test_a_model_without_a_name_is_called_by_its_family():
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    small = ViTConfig(image_size=16, patch_size=8, **sizes)
    assert load(ViTModel(small)).name == "ViT without a name"
    assert load(ViTForImageClassification(small)).name == "ViT without a name"
    assert load(ViTModel(ViTConfig(image_size=16, patch_size=8, name_or_path="mine", **sizes))).name == "mine"
    assert load(Plain()).name == "Plain"


class Plain(torch.nn.Module):
    """A module of somebody's own: its class is its name."""

    def forward(self, x):
        return x


@pytest.mark.parametrize("what", ["attention", "scores", "contributions", "norms"])
def test_without_a_head_all_of_the_layer_are_given(bert, what):
    read = getattr(bert.trace(TEXT), what)
    every = read(1)
    assert every.shape[0] == bert.layout()["encoder", 1]
    for head, one in enumerate(every):
        np.testing.assert_array_equal(one, read(1, head))


def test_a_tile_of_contributions_is_part_of_the_whole(bert):
    trace = bert.trace(TEXT)
    np.testing.assert_allclose(
        trace.contributions(0, queries=[1, 2], keys=[0, 3]), trace.contributions(0)[:, [1, 2]][:, :, [0, 3]], atol=1e-6
    )


def test_a_model_measures_prunes_and_walks(bert):
    assert bert.effect(TEXT, heads="0.1", modes="zero").rows == effect(bert, TEXT, heads="0.1", modes="zero").rows
    assert bert.prune("0.1").layout()["encoder", 0] == bert.layout()["encoder", 0] - 1
    assert bert.prune("0.1").name == bert.name
    one, other = bert.walk(TEXT, layer=1), walk(TEXT, bert, layer=1)
    assert one.walk.layer == other.walk.layer == 1 and one.trace.sides["text"].texts == other.trace.sides["text"].texts


def test_a_trace_compares_weights_with_contributions(bert):
    trace = bert.trace(TEXT)
    assert trace.class_norms().rows == class_norms(trace).rows


def test_worth_is_that_of_the_cut_the_trace_was_checked_for(gpt2):
    by_zero = gpt2.trace("the cat sat on the mat", worth={"how": "zero"})
    np.testing.assert_array_equal(by_zero.worth(0, 1), by_zero.worth(0, 1, how="zero"))
    by_mask = gpt2.trace("the cat sat on the mat", worth=True)
    np.testing.assert_array_equal(by_mask.worth(0, 1), by_mask.worth(0, 1, how="mask"))
    assert not np.array_equal(by_zero.worth(0, 1), by_mask.worth(0, 1), equal_nan=True)


def test_a_text_that_is_no_utf8_is_said_to_be_none(bert):
    with pytest.raises(UserError, match="not valid UTF-8"):
        bert.trace("bad \udcff here")
