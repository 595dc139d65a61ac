"""Inputs that several rare families share: texts with something in them that is no text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from tests.fidelity.inputs import count_tokens

Maker = Callable[[torch.nn.Module], dict[str, Any]]


def ids(rows: int = 2, length: int = 12) -> torch.Tensor:
    return torch.randint(10, 90, (rows, length))


def around(token: int, count: int) -> dict[str, torch.Tensor]:
    """Ids of one text around `count` placeholders."""
    words = torch.randint(10, 80, (1, 10))
    found = torch.cat([words[:, :4], torch.full((1, count), token), words[:, 4:]], dim=1)
    return {"input_ids": found, "attention_mask": torch.ones_like(found)}


def drawn(given: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Tensors as they are given, and random ones where only a shape is."""
    return {name: torch.randn(value) if isinstance(value, tuple) else value for name, value in given.items()}


def seen(**given: Any) -> Maker:
    """A text with an image, given in the parts that the model's `get_image_features` asks for."""

    def make(model: torch.nn.Module) -> dict[str, Any]:
        image = drawn(given)
        with torch.no_grad():
            count = count_tokens(model.get_image_features(**image), model.config)
        token = getattr(model.config, "image_token_id", None)
        found = {**around(model.config.image_token_index if token is None else token, count), **image}
        if "mm_token_type_ids" in inspect.signature(model.forward).parameters:
            found["mm_token_type_ids"] = (found["input_ids"] == token).long()
        return found

    return make


def heard(**given: Any) -> Maker:
    """A text with a sound, given in the parts that the model's `get_audio_features` asks for."""

    def make(model: torch.nn.Module) -> dict[str, Any]:
        sound = drawn(given)
        with torch.no_grad():
            count = count_tokens(model.get_audio_features(**sound), model.config)
        return {**around(model.config.audio_token_id, count), **sound}

    return make
