"""Inputs that only a few families need.

Enters: a tiny model. Leaves: what its forward takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def count_tokens(found: Any, config: Any) -> int:
    """How many tokens of the text model's width an image or a sound became."""
    pooled = getattr(found, "pooler_output", None)
    found = getattr(found, "last_hidden_state", found) if pooled is None else pooled
    width = config.get_text_config().hidden_size
    parts = found if isinstance(found, (tuple, list)) else [found]
    return sum(part.numel() for part in parts) // width


def _boxes(model: torch.nn.Module) -> dict[str, Any]:
    ids = torch.randint(10, 90, (2, 12))
    corners = torch.randint(0, 20, (2, 12, 2))
    boxes = torch.cat([corners, corners + torch.randint(1, 20, (2, 12, 2))], dim=-1)
    return {"input_ids": ids, "bbox": boxes, "attention_mask": torch.ones_like(ids)}


def _frames(frames: int) -> Callable[[torch.nn.Module], dict[str, Any]]:
    return lambda _model: {"pixel_values": torch.randn(2, frames, 3, 16, 16)}


def _spectrogram(model: torch.nn.Module) -> dict[str, Any]:
    """(batch, time, mel bins), where most families have time last."""
    return {model.main_input_name: torch.randn(2, 128 if "Streaming" in type(model).__name__ else 32, 8)}


def _spectrogram_to_text(model: torch.nn.Module) -> dict[str, Any]:
    return {**_spectrogram(model), "decoder_input_ids": torch.randint(10, 90, (2, 7))}


def _stacked_images(model: torch.nn.Module) -> dict[str, Any]:
    """One text with one image given as (batch, images, channels, height, width)."""
    image = torch.randn(1, 1, 3, 16, 16)
    with torch.no_grad():
        count = count_tokens(model.get_image_features(pixel_values=image), model.config)
    words = torch.randint(10, 80, (1, 10))
    ids = torch.cat([words[:, :4], torch.full((1, count), model.config.image_token_id), words[:, 4:]], dim=1)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": image}


def _flat_patches(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "pixel_values": torch.randn(2, 16, 48),
        "pixel_attention_mask": torch.ones(2, 16, dtype=torch.long),
        "spatial_shapes": torch.tensor([[4, 4], [4, 4]]),
    }


INPUTS: dict[str, Callable[[torch.nn.Module], dict[str, Any]]] = {
    **dict.fromkeys(["bros", "lilt", "layoutlm", "layoutlmv3"], _boxes),
    **dict.fromkeys(
        ["audio-spectrogram-transformer", "wav2vec2-bert", "parakeet_encoder", "parakeet_ctc", "lasr_encoder"],
        _spectrogram,
    ),
    **dict.fromkeys(["lasr_ctc", "nemotron3_5_transcribe_asr_audio", "nemotron3_diarization_audio"], _spectrogram),
    **dict.fromkeys(["nemotron_asr_streaming_encoder"], _spectrogram),
    **dict.fromkeys(["speech_to_text", "canary", "cohere_asr"], _spectrogram_to_text),
    **dict.fromkeys(["idefics2", "idefics3", "smolvlm", "modernvbert", "ultravbert"], _stacked_images),
    **dict.fromkeys(["vivit", "videomae"], _frames(4)),
    "timesformer": _frames(2),
    "vjepa2": lambda _model: {"pixel_values_videos": torch.randn(2, 4, 3, 16, 16)},
    "siglip2_vision_model": _flat_patches,
    "siglip2": lambda model: {"input_ids": torch.randint(10, 90, (2, 12)), **_flat_patches(model)},
    "blip_2_qformer": lambda _model: {
        "query_embeds": torch.randn(2, 6, 32),
        "encoder_hidden_states": torch.randn(2, 9, 1408),
    },
    "lxmert": lambda _model: {
        "input_ids": torch.randint(10, 90, (2, 12)),
        "visual_feats": torch.randn(2, 6, 2048),
        "visual_pos": torch.rand(2, 6, 4),
    },
    "vit_mae": lambda _model: {"pixel_values": torch.randn(2, 3, 16, 16), "noise": torch.rand(2, 16)},
}
