"""A model that accelerate has spread over memory and disk is traced as the whole model is."""

import copy

import numpy as np
import pytest
import torch
from accelerate import cpu_offload, dispatch_model
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

import regard
from tests.fidelity.build import enliven

SIZES = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 48, "max_position_embeddings": 64}


def llama():
    return LlamaForCausalLM(LlamaConfig(**SIZES, num_key_value_heads=2)), "model.layers"


def bert():
    return BertModel(BertConfig(**SIZES)), "encoder.layer"


def over_two_devices(model, layers, folder):
    """Layers in turn on two devices: memory, and a disk whose weights are read when they are needed."""
    leaves = [name for name, module in model.named_modules() if not list(module.children())]
    on_disk = (f"{layers}.1.", f"{layers}.2.", "embeddings.LayerNorm")
    places = {name: "disk" if name.startswith(on_disk) else "cpu" for name in leaves}
    return dispatch_model(model, places, main_device="cpu", offload_dir=folder)


def kept_elsewhere(model, layers, folder):
    """Every weight comes when its module runs and goes afterwards."""
    return cpu_offload(model, execution_device=torch.device("cpu"))


@pytest.mark.parametrize("spread", [over_two_devices, kept_elsewhere])
@pytest.mark.parametrize("make", [llama, bert])
def test_maps_and_contributions_are_those_of_the_whole_model(make, spread, tmp_path):
    torch.manual_seed(0)
    model, layers = make()
    enliven(model.eval())
    inputs = {"input_ids": torch.randint(3, 90, (2, 12)), "attention_mask": torch.ones(2, 12, dtype=torch.long)}
    whole = regard.load(copy.deepcopy(model)).trace_inputs(inputs)
    model = spread(model, layers, tmp_path)
    assert any(parameter.is_meta for parameter in model.parameters())  # not in memory
    for one, other in zip(whole, regard.load(model).trace_inputs(inputs), strict=True):
        assert [site.path for site in one.sites] == [site.path for site in other.sites]
        for site in one.sites:
            place = (site.layer, 1)
            np.testing.assert_allclose(other.attention(*place), one.attention(*place), atol=1e-6)
            np.testing.assert_allclose(other.contributions(*place), one.contributions(*place), atol=1e-6)
    assert any(parameter.is_meta for parameter in model.parameters())  # and none was left there
