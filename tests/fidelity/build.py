"""Tiny random-weight models of transformers' families, and inputs for them.

Enters: a model type. Leaves: a model of a few thousand parameters with lively weights, and a padded batch of two.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import zlib
from copy import deepcopy
from functools import lru_cache
from typing import Any

import torch
from transformers import CONFIG_MAPPING, MODEL_MAPPING, AutoConfig, PreTrainedConfig
from transformers.initialization import no_init_weights

from tests.fidelity.inputs import INPUTS, count_tokens
from tests.fidelity.rare import RARE_INPUTS, RARE_SIZES
from tests.fidelity.sizes import FAMILIES, SIZES, UNSET

QUERIES, TARGETS, WINDOW = 12, 7, SIZES["sliding_window"]
OVERRIDES, MAKERS = FAMILIES | RARE_SIZES, INPUTS | RARE_INPUTS
assert WINDOW < QUERIES  # sliding windows must bite


@lru_cache(maxsize=1)
def config_of(model_type: str) -> PreTrainedConfig:
    """A family's config in small sizes; made once for its two models, which get copies."""
    return tiny(CONFIG_MAPPING[model_type], OVERRIDES.get(model_type, {}))


def tiny(config_class: type[PreTrainedConfig], overrides: dict[str, Any]) -> PreTrainedConfig:
    """A config whose fields have small values where the size table knows their names; sub-configs likewise."""
    fields = {field.name: field for field in dataclasses.fields(config_class)}
    sizes = {name: size for name, size in SIZES.items() if name in fields and _fits(fields[name], size)}
    if "kv_lora_rank" in fields:  # latent attention unpacks its keys for every head
        sizes["num_key_value_heads"] = sizes["num_attention_heads"]
    for name, part in config_class.sub_configs.items():
        given = overrides.get(name) or {}
        part_class = _part_class(config_class, name, part, given)
        if part_class is not None:
            base = OVERRIDES.get(part_class.model_type, {})
            sizes[name] = tiny(part_class, {**base, **given}).to_dict()
    sizes |= {name: value for name, value in overrides.items() if name not in config_class.sub_configs}
    return config_class(**{name: size for name, size in sizes.items() if size is not UNSET})


def _fits(field: Any, size: Any) -> bool:
    """Whether a size is of the kind a field holds: some families have a number per stage where others have one."""
    default = field.default
    return not isinstance(default, (list, tuple)) or isinstance(size, (list, tuple))


def _part_class(config_class: Any, name: str, part: Any, given: dict[str, Any]) -> type[PreTrainedConfig] | None:
    """The class of a sub-config: as given, as declared, or what the family uses when left alone."""
    if "model_type" in given:
        return CONFIG_MAPPING[given["model_type"]]
    if part is not AutoConfig:
        return part
    default = getattr(config_class(), name, None)
    return type(default) if isinstance(default, PreTrainedConfig) else None


def model_of(model_type: str) -> torch.nn.Module:
    """The family's base model with its default attention function; the same weights each time."""
    torch.default_generator.manual_seed(zlib.crc32(model_type.encode()))
    model = _built(model_type)
    enliven(model)
    return model


def eager_of(model_type: str, model: torch.nn.Module) -> torch.nn.Module:
    """A second model of the family with eager attention and a model's weights, so none are drawn for it."""
    with no_init_weights():
        eager = _built(model_type, attn_implementation="eager")
    eager.load_state_dict(model.state_dict())
    return eager


def _built(model_type: str, **options: Any) -> torch.nn.Module:
    config = deepcopy(config_of(model_type))
    model_class = MODEL_MAPPING[type(config)]
    if isinstance(model_class, tuple):
        model_class = model_class[0]
    return model_class._from_config(config, dtype=torch.float32, **options).eval()


def enliven(model: torch.nn.Module) -> None:
    """Weights large enough that maps are far from uniform; the default start makes every map look alike."""
    tables = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding)}
    for _, parameter in sorted(model.named_parameters(), key=lambda item: item[0]):
        noise = torch.randn(parameter.shape)
        if id(parameter) in tables:
            parameter.data = 0.8 * noise
        elif parameter.ndim >= 2:
            fan_in = parameter[0].numel() if parameter.ndim != 3 else parameter.shape[-1]
            parameter.data = 0.8 / math.sqrt(fan_in) * noise
        else:
            parameter.data = parameter.data + 0.1 * noise


def inputs_of(model_type: str, model: torch.nn.Module) -> dict[str, Any]:
    """A batch of two for a model, the second example padded where the family takes a mask.

    Models that read images or sound as tokens of a text get one example with one image or sound.
    """
    torch.default_generator.manual_seed(zlib.crc32(model_type.encode()) + 1)
    if model_type in MAKERS:
        return MAKERS[model_type](model)
    takes = inspect.signature(model.forward).parameters
    config = model.config
    inputs: dict[str, Any] = {}
    if "input_ids" in takes and "pixel_values" in takes and hasattr(config, "image_token_id"):
        inputs |= _seen_as_tokens(model, takes)
    elif "input_ids" in takes and "input_features" in takes and hasattr(config, "audio_token_id"):
        inputs |= _heard_as_tokens(model)
    elif "hidden_states" in takes and "grid_thw" in takes:
        inputs |= packed(config)
    elif "input_ids" not in takes and "pixel_values" in takes:
        inputs["pixel_values"] = pixels(config)
        if "grid_thw" in takes:
            inputs |= dict(zip(("pixel_values", "grid_thw"), packed(config).values(), strict=True))
    elif model.main_input_name == "input_features":
        inputs["input_features"] = features(config)
    elif model.main_input_name == "input_values":
        inputs["input_values"] = waves(config)
    else:
        inputs |= text(takes)
        if "pixel_values" in takes:
            inputs["pixel_values"] = pixels(config)
        if "input_features" in takes:
            inputs["input_features"] = features(config)
    if "decoder_input_ids" in takes:
        alone = inputs.get("input_ids", torch.empty(2)).shape[0] == 1
        inputs |= {name: value[:1] if alone else value for name, value in text(takes, "decoder_", TARGETS).items()}
    return inputs


def _seen_as_tokens(model: torch.nn.Module, takes: Any) -> dict[str, Any]:
    """One text with one image in it, as many image tokens as the model makes of the image."""
    if "image_grid_thw" in takes:
        hidden, grid = packed(model.config.vision_config, images=1).values()
        image = {"pixel_values": hidden, "image_grid_thw": grid}
    else:
        image = {"pixel_values": pixels(model.config, images=1)}
    if "image_sizes" in takes and not hasattr(model.config, "vision_feature_select_strategy"):
        image["image_sizes"] = torch.tensor([image["pixel_values"].shape[-2:]])
    with torch.no_grad():
        tokens = count_tokens(model.get_image_features(**image), model.config)
    return {**_around(model.config.image_token_id, tokens, takes), **image}


def _heard_as_tokens(model: torch.nn.Module) -> dict[str, Any]:
    takes = inspect.signature(model.forward).parameters
    sound = {"input_features": features(model.config)[:1]}
    if "input_features_mask" in takes:
        sound["input_features_mask"] = torch.ones(1, sound["input_features"].shape[-1], dtype=torch.long)
    with torch.no_grad():
        tokens = count_tokens(model.get_audio_features(**sound), model.config)
    return {**_around(model.config.audio_token_id, tokens, takes), **sound}


def _around(token: int, count: int, takes: Any) -> dict[str, torch.Tensor]:
    """Ids of a text around `count` placeholders."""
    words = torch.randint(10, 80, (1, 10))
    ids = torch.cat([words[:, :4], torch.full((1, count), token), words[:, 4:]], dim=1)
    kinds = (ids == token).long()
    found = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    found |= {name: kinds for name in ("token_type_ids", "mm_token_type_ids") if name in takes}
    return found


def packed(config: Any, images: int = 2) -> dict[str, torch.Tensor]:
    """Images as lists of patches, one after the other, with their sizes in patches."""
    patch = config.patch_size
    values = getattr(config, "in_channels", getattr(config, "in_chans", 3)) * patch * patch
    values *= getattr(config, "temporal_patch_size", 1)
    return {"hidden_states": torch.randn(images * 16, values), "grid_thw": torch.tensor([[1, 4, 4]] * images)}


def text(takes: Any, prefix: str = "", length: int = QUERIES) -> dict[str, torch.Tensor]:
    """Ids of two texts, the second three tokens shorter and padded on the right."""
    ids = torch.randint(10, SIZES["vocab_size"], (2, length))
    found = {prefix + "input_ids": ids}
    if prefix + "attention_mask" in takes:
        mask = torch.ones(2, length, dtype=torch.long)
        mask[1, -3:] = 0
        ids[1, -3:] = SIZES["pad_token_id"]
        found[prefix + "attention_mask"] = mask
    return found


def pixels(config: Any, images: int = 2) -> torch.Tensor:
    vision = getattr(config, "vision_config", None) or config
    size = getattr(vision, "image_size", None) or SIZES["image_size"]
    height, width = (size, size) if isinstance(size, int) else size
    return torch.randn(images, getattr(vision, "num_channels", 3), height, width)


def features(config: Any) -> torch.Tensor:
    audio = getattr(config, "audio_config", None) or config
    length = 2 * getattr(audio, "max_source_positions", 16)
    return torch.randn(2, getattr(audio, "num_mel_bins", 8), length)


def waves(config: Any) -> torch.Tensor:
    return torch.randn(2, 1600)
