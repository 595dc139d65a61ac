"""Inputs of families that read neither a text, an image nor a sound in the usual way.

Enters: a tiny model. Leaves: what its forward takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from tests.fidelity.sizes import count_tokens

Maker = Callable[[torch.nn.Module], dict[str, Any]]


def ids(rows: int = 2, length: int = 12) -> torch.Tensor:
    return torch.randint(10, 90, (rows, length))


def around(token: int, count: int) -> dict[str, torch.Tensor]:
    """Ids of one text around `count` placeholders."""
    words = torch.randint(10, 80, (1, 10))
    found = torch.cat([words[:, :4], torch.full((1, count), token), words[:, 4:]], dim=1)
    return {"input_ids": found, "attention_mask": torch.ones_like(found)}


def seen(**image: torch.Tensor) -> Maker:
    """A text with an image, given in the parts that the model's `get_image_features` asks for."""

    def make(model: torch.nn.Module) -> dict[str, Any]:
        with torch.no_grad():
            count = count_tokens(model.get_image_features(**image), model.config)
        token = getattr(model.config, "image_token_id", None)
        found = {**around(model.config.image_token_index if token is None else token, count), **image}
        if "mm_token_type_ids" in inspect.signature(model.forward).parameters:
            found["mm_token_type_ids"] = (found["input_ids"] == token).long()
        return found

    return make


def heard(**sound: torch.Tensor) -> Maker:
    """A text with a sound, given in the parts that the model's `get_audio_features` asks for."""

    def make(model: torch.nn.Module) -> dict[str, Any]:
        with torch.no_grad():
            count = count_tokens(model.get_audio_features(**sound), model.config)
        return {**around(model.config.audio_token_id, count), **sound}

    return make


def _series(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "past_values": torch.randn(2, 14),
        "past_time_features": torch.randn(2, 14, 2),
        "past_observed_mask": torch.ones(2, 14),
        "future_values": torch.randn(2, 6),
        "future_time_features": torch.randn(2, 6, 2),
    }


def _episodes(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "states": torch.randn(2, 6, 17),
        "actions": torch.randn(2, 6, 4),
        "rewards": torch.randn(2, 6, 1),
        "returns_to_go": torch.randn(2, 6, 1),
        "timesteps": torch.arange(6).repeat(2, 1),
        "attention_mask": torch.ones(2, 6, dtype=torch.long),
    }


def _masked_sound(model: torch.nn.Module) -> dict[str, Any]:
    bins = model.config.num_mel_bins
    return {"input_features": torch.randn(2, bins, 32), "input_features_mask": torch.ones(2, 32, dtype=torch.long)}


def _transducer(model: torch.nn.Module) -> dict[str, Any]:
    return {"input_features": torch.randn(2, 32, 8), "decoder_input_ids": ids(2, 5)}


def _qwen2_audio(model: torch.nn.Module) -> dict[str, Any]:
    sound = {"input_features": torch.randn(1, 8, 32), "feature_attention_mask": torch.ones(1, 32, dtype=torch.long)}
    return {**around(96, 8), **sound}


def _kosmos(model: torch.nn.Module) -> dict[str, Any]:
    where = torch.zeros(2, 12, dtype=torch.long)
    where[:, 2:6] = 1
    return {"input_ids": ids(), "pixel_values": torch.randn(2, 3, 16, 16), "image_embeds_position_mask": where}


def _instructed(shape: tuple[int, ...], token: int, count: int) -> Maker:
    return lambda _model: {**around(token, count), "pixel_values": torch.randn(shape), "qformer_input_ids": ids(1, 6)}


def _mllama(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "input_ids": ids(),
        "pixel_values": torch.randn(2, 1, 2, 3, 16, 16),
        "aspect_ratio_ids": torch.tensor([[1], [2]]),
        "aspect_ratio_mask": torch.tensor([[[1, 0]], [[1, 1]]]),
        "cross_attention_mask": torch.ones(2, 12, 1, 2, dtype=torch.long),
    }


def _boxed(model: torch.nn.Module) -> dict[str, Any]:
    corners = torch.rand(2, 12, 2) / 2
    boxes = torch.cat([corners, corners + 0.3], dim=-1)
    return {"input_ids": ids(), "bbox": boxes, "pixel_values": torch.randn(2, 3, 16, 16), "decoder_input_ids": ids(2, 7)}


def _pointed(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "pixel_values": torch.randn(2, 3, 16, 16),
        "input_points": torch.rand(2, 1, 3, 2) * 16,
        "input_labels": torch.ones(2, 1, 3, dtype=torch.long),
    }


PLACES = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="xy"), dim=-1).reshape(1, 16, 2)
FULL = torch.tensor([[16, 16]])
RARE_INPUTS: dict[str, Maker] = {
    **dict.fromkeys(["autoformer", "informer", "time_series_transformer"], _series),
    **dict.fromkeys(["patchtst", "patchtsmixer"], lambda _model: {"past_values": torch.randn(2, 32, 2)}),
    "timesfm": lambda _model: {
        "past_values": torch.randn(2, 48),
        "past_values_padding": torch.zeros(2, 48, dtype=torch.long),
        "freq": torch.tensor([[0], [1]]),
    },
    "timesfm2_5": lambda _model: {"past_values": torch.randn(2, 48)},
    "decision_transformer": _episodes,
    "audioflamingo3_encoder": _masked_sound,
    **dict.fromkeys(["parakeet_rnnt", "parakeet_tdt"], _transducer),
    "qwen2_audio": _qwen2_audio,
    **dict.fromkeys(
        ["llava_next", "llava_next_video", "llava_onevision"],
        seen(pixel_values=torch.randn(1, 2, 3, 16, 16), image_sizes=FULL),
    ),
    "lfm2_vl": seen(
        pixel_values=torch.randn(1, 16, 48),
        spatial_shapes=torch.tensor([[4, 4]]),
        pixel_attention_mask=torch.ones(1, 16, dtype=torch.long),
    ),
    "idefics": lambda _model: {
        "input_ids": ids(),
        "pixel_values": torch.randn(2, 1, 3, 16, 16),
        "image_attention_mask": torch.ones(2, 12, 1, dtype=torch.long),
    },
    "kosmos-2": _kosmos,
    "instructblip": _instructed((1, 3, 16, 16), 98, 4),
    "instructblipvideo": _instructed((1, 2, 3, 16, 16), 97, 8),
    "mllama": _mllama,
    "udop": _boxed,
    "fuyu": seen(pixel_values=torch.randn(1, 16, 48)),
    "paddleocr_vl": seen(pixel_values=torch.randn(16, 3, 4, 4), image_grid_thw=torch.tensor([[1, 4, 4]])),
    "kimi_k25": seen(pixel_values=torch.randn(16, 3, 4, 4), image_grid_thw=torch.tensor([[1, 4, 4]])),
    "kimi_k25_vision": lambda _model: {"pixel_values": torch.randn(32, 3, 4, 4), "grid_thw": torch.tensor([[1, 4, 4]] * 2)},
    "fun_asr_nano_encoder": lambda _model: {
        "input_features": torch.randn(2, 16, 16),
        "input_features_mask": torch.ones(2, 16, dtype=torch.long),
    },
    "t5gemma2": lambda _model: {
        **around(98, 4),
        "pixel_values": torch.randn(1, 3, 16, 16),
        "decoder_input_ids": ids(1, 7),
    },
    "seggpt": lambda _model: {name: torch.randn(2, 3, 16, 16) for name in ("pixel_values", "prompt_pixel_values", "prompt_masks")},
    **dict.fromkeys(["sam", "sam_hq"], _pointed),
    "xclip": lambda _model: {"input_ids": ids(), "pixel_values": torch.randn(2, 2, 3, 16, 16)},
    "videoprism_vision_model": lambda _model: {"pixel_values_videos": torch.randn(2, 2, 3, 16, 16)},
    "videoprism": lambda _model: {"pixel_values_videos": torch.randn(2, 2, 3, 16, 16), "input_ids": ids()},
    **dict.fromkeys(["maskformer", "mask2former"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}),
    "oneformer": lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64), "task_inputs": ids(2, 8)},
    **dict.fromkeys(["rt_detr", "rt_detr_v2", "d_fine"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}),
    "dia": lambda _model: {"input_ids": ids(), "decoder_input_ids": torch.randint(10, 90, (2, 7, 2))},
    "speecht5": lambda _model: {"input_values": torch.randn(2, 12, 32), "decoder_input_values": torch.randn(2, 7, 32)},
    **dict.fromkeys(["seamless_m4t", "seamless_m4t_v2"], lambda _model: {"input_features": torch.randn(2, 32, 8), "decoder_input_ids": ids(2, 7)}),
    "clap": lambda _model: {"input_ids": ids(), "input_features": torch.randn(2, 1, 64, 16), "is_longer": torch.zeros(2, 1, dtype=torch.bool)},
    "clvp": lambda _model: {"input_ids": ids(), "input_features": torch.randn(2, 8, 32)},
    **dict.fromkeys(["mimi", "encodec"], lambda _model: {"input_values": torch.randn(2, 1, 320)}),
    "kyutai_speech_to_text": lambda _model: {"input_ids": torch.randint(10, 45, (2, 12, 3))},
    "moonshine_streaming": lambda _model: {"input_values": torch.randn(2, 1600), "decoder_input_ids": ids(2, 7)},
    "gemma3n_audio": lambda _model: {"audio_mel": torch.randn(2, 32, 16), "audio_mel_mask": torch.zeros(2, 32, dtype=torch.bool)},
    "perceiver": lambda _model: {"inputs": torch.randn(2, 12, 24)},
    **dict.fromkeys(["granite_speech5_encoder", "granite_speech5_ctc"], lambda _model: {"input_features": torch.randn(2, 32, 32)}),
    **dict.fromkeys(["granite_speech", "granite_speech_plus"], heard(input_features=torch.randn(1, 16, 8))),
    **dict.fromkeys(["deimv2", "pp_doclayout_v3", "pp_doclayout_v4"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}),
    "neomme": lambda _model: {**around(98, 4), "pixel_values": torch.randn(4, 48)},
    "musicflamingo": lambda _model: {**around(96, 8), "input_features": torch.randn(1, 8, 32), "input_features_mask": torch.ones(1, 32, dtype=torch.long)},
    "moss_transcribe_diarize": heard(input_features=torch.randn(1, 8, 32), input_features_mask=torch.ones(1, 32, dtype=torch.long), padding_mask=torch.ones(1, 32, dtype=torch.long)),
    "fun_asr_nano": heard(input_features=torch.randn(1, 16, 16), input_features_mask=torch.ones(1, 16, dtype=torch.long)),
    "gemma4_vision": lambda _model: {"pixel_values": torch.randn(2, 16, 48), "pixel_position_ids": PLACES.expand(2, -1, -1)},
    "gemma4_audio": lambda _model: {"input_features": torch.randn(2, 32, 8), "attention_mask": torch.ones(2, 32, dtype=torch.bool)},
    **dict.fromkeys(["video_llama_3_vision"], lambda _model: {"pixel_values": torch.randn(32, 48), "grid_thw": torch.tensor([[1, 4, 4]] * 2), "merge_sizes": torch.tensor([2, 2])}),
    "video_llama_3": seen(pixel_values=torch.randn(16, 48), image_grid_thw=torch.tensor([[1, 4, 4]]), image_merge_sizes=torch.tensor([2])),
    "deepseek_vl_hybrid": seen(pixel_values=torch.randn(1, 3, 16, 16), high_res_pixel_values=torch.randn(1, 3, 16, 16)),
    **dict.fromkeys(["pe_audio_encoder"], lambda _model: {"input_values": torch.randn(2, 1, 160)}),
    "pe_audio": lambda _model: {"input_ids": ids(), "input_values": torch.randn(2, 1, 160)},
    "dac": lambda _model: {"input_values": torch.randn(2, 1, 160)},
    "mimi_decoder": lambda _model: {"latents": torch.randn(2, 32, 10)},
    "qwen3_asr_encoder": lambda _model: {"input_features": torch.randn(2, 8, 200), "input_features_mask": torch.ones(2, 200, dtype=torch.long)},
    "qwen3_asr": heard(input_features=torch.randn(1, 8, 200), input_features_mask=torch.ones(1, 200, dtype=torch.long)),
    "nemotron3_diarization": lambda _model: {"input_features": torch.randn(2, 32, 8)},
    "nemotron3_5_transcribe_word_timestamp": lambda _model: {"inputs_embeds": torch.randn(2, 12, 32)},
    **dict.fromkeys(["pocket_tts", "gradium_phonon_tts"], lambda _model: {"input_ids": ids()}),
    **dict.fromkeys(["pocket_tts_audio_tokenizer", "pocket_tts_audio_tokenizer_encoder"], lambda _model: {"input_values": torch.randn(2, 1, 320)}),
    "pocket_tts_audio_tokenizer_decoder": lambda _model: {"latents": torch.randn(2, 32, 10)},
    **dict.fromkeys(["pp_ocrv5_mobile_rec", "pp_ocrv5_server_rec", "pp_ocrv6_small_rec", "pp_ocrv6_tiny_rec"], lambda _model: {"pixel_values": torch.randn(1, 3, 96, 192)}),
    "muse_spark_audio": lambda _model: {"input_values": torch.randn(2, 1920)},
    "mimi_encoder": lambda _model: {"input_values": torch.randn(2, 1, 320)},
    **dict.fromkeys(["minicpm_ocr_vision", "minicpmv4_7_vision"], lambda _model: {"pixel_values": torch.randn(1, 3, 4, 64), "target_sizes": torch.tensor([[4, 4]])}),
    **dict.fromkeys(["minicpmv4_6", "minicpm_ocr", "minicpmv4_7"], seen(pixel_values=torch.randn(1, 3, 4, 64), target_sizes=torch.tensor([[4, 4]]))),
}  # fmt: skip
