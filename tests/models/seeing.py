"""Tiny random models that read a picture in a text, with their own processors, and what moves their image tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import MODEL_MAPPING, PreTrainedTokenizerFast

import regard
from tests.fidelity.build import enliven, tiny
from tests.fidelity.sizes import FAMILIES

_MARKS = (
    "<image> <video> <fake_token_around_image> <global-img> <end_of_utterance> <|vision_start|> <|vision_end|> "
    "<|image_pad|> <|video_pad|> <start_of_image> <end_of_image> <image_soft_token> <IMG_CONTEXT> <img> </img> "
    "<|START_OF_IMG|> <|END_OF_IMG|> <|IMG_PATCH|> <|IMG_LINE_BREAK|>"
).split() + [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
_NAMED = {
    "image_token": "<image>",
    "video_token": "<video>",
    "boi_token": "<start_of_image>",
    "eoi_token": "<end_of_image>",
    "start_image_token": "<img>",
    "end_image_token": "</img>",
    "context_image_token": "<IMG_CONTEXT>",
    "fake_image_token": "<fake_token_around_image>",
    "global_image_token": "<global-img>",
    "end_of_utterance_token": "<end_of_utterance>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
}
_OWN = {  # what single types call the tokens of a picture
    "aya_vision": {"image_token": "<|IMG_PATCH|>"},
    "gemma3": {"image_token": "<image_soft_token>"},
    "internvl": {"image_token": "<IMG_CONTEXT>", "context_image_token": "<IMG_CONTEXT>"},
    "qwen2_vl": {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"},
    "qwen2_5_vl": {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"},
    "qwen3_vl": {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"},
}
_SQUARE = {"size": {"height": 32, "width": 32}}
_SHORT = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
_QWEN = {"patch_size": 4, "merge_size": 2, "temporal_patch_size": 2, "min_pixels": 64, "max_pixels": 48 * 32}
_TILED = {"size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 32}}
_NEXT = [[32, 64], [64, 32], [64, 64]]
_FEATURES = {"patch_size": 4, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}

# Model type: processor, image processor and its options, the processor's options, what the config has beside.
TYPES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "llava": ("Llava", "CLIP", _SHORT, _FEATURES, {}),
    "llava_next": (
        "LlavaNext", "LlavaNext", {**_SHORT, "image_grid_pinpoints": _NEXT}, _FEATURES, {"image_grid_pinpoints": _NEXT},
    ),
    "paligemma": ("PaliGemma", "Siglip", {**_SQUARE, "image_seq_length": 64}, {}, {"projection_dim": 32}),
    "gemma3": ("Gemma3", "Gemma3", {**_SQUARE, "image_seq_length": 4}, {"image_seq_length": 4}, {}),
    "idefics3": ("Idefics3", "Idefics3", _TILED, {"image_seq_len": 16}, {}),
    "smolvlm": ("SmolVLM", "SmolVLM", _TILED, {"image_seq_len": 16}, {}),
    "internvl": (
        "InternVL", "GotOcr2", {**_SQUARE, "crop_to_patches": True, "min_patches": 1, "max_patches": 6},
        {"image_seq_length": 16}, {},
    ),
    "qwen2_vl": ("Qwen2VL", "Qwen2VL", _QWEN, {}, {}),
    "qwen2_5_vl": ("Qwen2_5_VL", "Qwen2VL", _QWEN, {}, {}),
    "qwen3_vl": ("Qwen3VL", "Qwen2VL", _QWEN, {}, {}),
    "vipllava": ("Llava", "CLIP", _SHORT, _FEATURES, {"vision_feature_layers": [-1, -2]}),
    "aya_vision": (
        "AyaVision", "GotOcr2", {**_SQUARE, "crop_to_patches": True, "min_patches": 1, "max_patches": 6},
        {"patch_size": 4, "img_size": 32, "downsample_factor": 2}, {"downsample_factor": 2},
    ),
}  # fmt: skip


def tokenizer_of(model_type: str) -> PreTrainedTokenizerFast:
    words = ["<unk>", "<s>", "</s>", "<pad>", *"what is here ? a cat".split()]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = {**_NAMED, **_OWN.get(model_type, {})}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        extra_special_tokens=named,
    )
    tokenizer.add_special_tokens({"additional_special_tokens": _MARKS})
    return tokenizer


def seeing(model_type: str, kinds: Any = MODEL_MAPPING) -> regard.Model:
    """A tiny model of this type with its own processor; one without videos, for which torchvision would be needed."""
    processor_name, pictures, options, own, beside = TYPES[model_type]
    tokenizer = tokenizer_of(model_type)
    kind = getattr(transformers, f"{processor_name}Processor")
    pictured = getattr(transformers, f"{pictures}ImageProcessorPil")(**options)
    if kind.__init__.__kwdefaults__ is None and "video_processor" in kind.get_attributes():
        kind = type(kind.__name__, (kind,), {"check_argument_for_proper_class": lambda *_: None})
    parts = {"image_processor": pictured, "tokenizer": tokenizer}
    if "video_processor" in kind.get_attributes():
        parts["video_processor"] = None
    processor = kind(**parts, **own)
    torch.manual_seed(0)
    given = FAMILIES.get(model_type, {})
    vision = {**given.get("vision_config", {}), "image_size": 32}
    if model_type == "internvl":
        vision |= {"image_size": [32, 32], "patch_size": [4, 4]}
    if "qwen" in model_type:
        vision.pop("image_size")
    config_class = transformers.CONFIG_MAPPING[model_type]
    config = tiny(config_class, {**given, **beside, "vision_config": vision})
    config.image_token_id = int(tokenizer.convert_tokens_to_ids(tokenizer.image_token))
    module = kinds[type(config)]._from_config(config, dtype=torch.float32).eval()
    enliven(module)
    return regard.load((module, processor))


def bluest(spans: np.ndarray, key: int) -> tuple[float, float]:
    """Where the picture is drawn bluest for a look at one key alone: shares of its width and height."""
    from regard.views.drawing.overlay import lit

    look = np.zeros(len(spans), np.float32)
    look[key] = 1
    drawn = lit(np.full((128, 192, 3), 0.5, np.float32), spans, look)
    bluer = drawn[..., 2] - drawn[..., 0]
    rows, columns = np.nonzero(bluer > 0.95 * bluer.max())
    return float(columns.mean() + 0.5) / 192, float(rows.mean() + 0.5) / 128


def silence(module: torch.nn.Module) -> None:
    """Make the blocks of the vision tower add nothing, so that a position is its own patch alone."""
    last = ("out_proj", "o_proj", "fc2", "proj", "down_proj", "linear_fc2", "projection_layer")
    for path, part in module.named_modules():
        words = path.split(".")
        tower = any("vision" in word or "visual" in word for word in words)
        block = any(word in ("layers", "blocks", "layer") for word in words)
        if tower and block and words[-1] in last:
            for parameter in part.parameters():
                parameter.data.zero_()


def entering(model: regard.Model, picture: Image.Image) -> np.ndarray:
    """(image tokens, width) what enters the language model at the tokens of a picture."""
    from regard.models.sight import picture_inputs

    inputs, _, _ = picture_inputs(model._engine, picture, "what is here ?")
    seen: list[torch.Tensor] = []

    def note(_: Any, __: Any, given: dict[str, Any]) -> None:
        seen.append(given["inputs_embeds"])

    language = getattr(model.module, "language_model", None) or model.module.text_model
    handle = language.register_forward_pre_hook(note, with_kwargs=True)
    try:
        model._engine.run(inputs)
    finally:
        handle.remove()
    here = inputs["input_ids"][0] == model.config.image_token_id
    return seen[0][0, here].numpy()
