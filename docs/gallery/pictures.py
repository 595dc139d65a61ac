"""A photograph in models with random weights, for the gallery. Enters: nothing. Leaves: traces.

No vision model with trained weights comes in a package with a clear licence: what these heads look at means nothing.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
)

import regard
from regard.trace.trace import Trace

_WIDE = {"hidden_size": 96, "num_hidden_layers": 6, "num_attention_heads": 6, "intermediate_size": 192}
_ANSWER = 6  # tokens; of random weights, they mean nothing either
_SHARP = 0.16  # spread of the weights: with transformers' own 0.02, every head looks everywhere alike


def photograph() -> Path:
    """china.jpg of the package scikit-learn (CC BY 2.0, danielbuechele)."""
    (folder,) = find_spec("sklearn.datasets").submodule_search_locations
    return Path(folder) / "images" / "china.jpg"


def looked_at() -> Trace:
    """The photograph in a ViT: 14 x 14 patches and [CLS]."""
    torch.manual_seed(2)
    config = ViTConfig(**_WIDE, initializer_range=_SHARP, name_or_path="ViT with random weights")
    model = ViTModel(config, add_pooling_layer=False).eval()
    return regard.load((model, ViTImageProcessorPil())).trace(image=photograph())


def asked_about(question: str, tokenizer: Any) -> Trace:
    """The photograph and a question in a LLaVA: 8 x 8 tokens of the picture among the words, and what it answers."""
    torch.manual_seed(0)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    tokenizer.image_token = "<image>"
    sizes = {"size": {"shortest_edge": 112}, "crop_size": {"height": 112, "width": 112}}
    processor = LlavaProcessor(
        CLIPImageProcessorPil(**sizes),
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    text = LlamaConfig(**_WIDE, vocab_size=len(tokenizer), num_key_value_heads=6, initializer_range=_SHARP)
    vision = CLIPVisionConfig(**_WIDE, image_size=112, patch_size=14)
    number = tokenizer.convert_tokens_to_ids("<image>")
    named = {"name_or_path": "LLaVA with random weights"}
    config = LlavaConfig(vision_config=vision, text_config=text, image_token_index=number, **named)
    model = LlavaForConditionalGeneration(config).eval()
    return regard.load((model, processor)).trace(f"<image> {question}", image=photograph(), generate=_ANSWER)
