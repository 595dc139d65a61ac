"""Small sizes for the fields of configs, by name, and what single families need beyond them.

Long on purpose: two tables, in which a family is looked up, and the inputs that only a few of them need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

UNSET = object()  # leave a field at the family's own value
SIZES: dict[str, Any] = {
    "vocab_size": 99,
    "src_vocab_size": 99,
    "tgt_vocab_size": 99,
    "org_vocab_size": 99,
    "entity_vocab_size": 99,
    "vocab_size_per_layer_input": 99,
    "type_vocab_size": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "mask_token_id": 3,
    "cls_token_id": 4,
    "sep_token_id": 5,
    "image_token_id": 98,
    "image_token_index": 98,
    "video_token_id": 97,
    "video_token_index": 97,
    "audio_token_id": 96,
    "audio_token_index": 96,
    "vision_start_token_id": 95,
    "vision_end_token_id": 94,
    "image_start_token_id": 93,
    "image_end_token_id": 92,
    "video_start_token_id": 91,
    "video_end_token_id": 90,
    "mm_tokens_per_image": 4,
    # width
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "embed_dim": 32,
    "emb_dim": 32,
    "dim": 32,
    "embedding_size": 32,
    "word_embed_proj_dim": 32,
    "projection_dim": 16,
    "head_dim": 8,
    "global_head_dim": 8,
    "attention_head_dim": 8,
    "d_kv": 8,
    "d_head": 8,
    "v_head_dim": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "o_lora_rank": 16,
    # depth and heads
    "num_hidden_layers": 2,
    "num_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "depth": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_layers": 2,
    "encoder_num_hidden_layers": 2,
    "decoder_num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "attention_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4,
    "encoder_num_attention_heads": 4,
    "decoder_num_attention_heads": 4,
    "num_key_value_heads": 2,
    "encoder_num_key_value_heads": 2,
    "decoder_num_key_value_heads": 2,
    "num_global_key_value_heads": 2,
    # feed-forward
    "intermediate_size": 48,
    "ffn_dim": 48,
    "d_ff": 48,
    "d_inner": 48,
    "n_inner": 48,
    "dff": 48,
    "hidden_dim": 48,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "shared_intermediate_size": 16,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_k": 2,
    "n_group": 1,
    "topk_group": 1,
    "num_expert_group": 1,
    "index_head_dim": 16,
    "index_n_heads": 2,
    "index_topk": 4,
    # positions
    "max_position_embeddings": 64,
    "original_max_position_embeddings": 64,
    "n_positions": 64,
    "n_ctx": 64,
    "max_source_positions": 16,
    "max_target_positions": 64,
    "max_seq_len": 64,
    "max_sequence_length": 64,
    "sliding_window": 4,
    "window_size": 4,
    "local_attention": 4,
    "attention_window": 4,
    "attention_chunk_size": 4,
    # images
    "image_size": 16,
    "patch_size": 4,
    "temporal_patch_size": 2,
    "out_hidden_size": 32,
    "num_position_embeddings": 16,
    # sound
    "num_mel_bins": 8,
    "n_mels": 8,
    "num_conv_pos_embeddings": 5,
    "num_conv_pos_embedding_groups": 2,
    # state-space parts of hybrids
    "mamba_d_state": 8,
    "mamba_d_conv": 4,
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
    "mamba_n_groups": 1,
    "state_size": 8,
}
_MROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}}
_HYBRID = {"layer_types": ["linear_attention", "full_attention"]}
_ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"]}
_CONVOLUTIONS = {
    "conv_dim": (16, 16),
    "conv_kernel": (8, 4),
    "conv_stride": (4, 4),
    "num_feat_extract_layers": 2,
}
_SWIN = {
    "embed_dim": 16,
    "depths": (2, 2),  # every second layer shifts its windows
    "num_heads": (2, 4),
    "window_size": 2,
    "image_size": 32,
    "hidden_size": UNSET,
}
_PYRAMID = {"image_size": 64, "hidden_size": UNSET}
_MULTI_HEAD = {"num_key_value_heads": 4}
_CAPPED = {"attn_logit_softcapping": 1.0, "query_pre_attn_scalar": 8}  # a cap that scores reach
_ALL_TO_ALL = {"attention_type": "original_full"}  # what these fall back to for short texts anyway
_PARTLY_ROTARY = {"rotary_dim": 4}
_WINDOWED_PIXELS = {"window_size": 16, "fullatt_block_indexes": (1,)}
ON_RESNET = {
    "use_timm_backbone": False,
    "backbone": None,
    "backbone_config": {
        "model_type": "resnet",
        "hidden_sizes": (16, 16),
        "depths": (1, 1),
        "embedding_size": 16,
        "out_features": ["stage2"],
    },
}
FAMILIES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(["qwen2_vl_text", "qwen2_5_vl_text", "glm4v_text", "glm_ocr_text", "glm_image_text"], _MROPE),
    **dict.fromkeys(["cosmos3_edge_text"], _MROPE),
    **dict.fromkeys(["qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp_text"], _HYBRID),
    **dict.fromkeys(["granitemoehybrid", "kimi_linear", "bailing_hybrid"], _HYBRID),
    **dict.fromkeys(["gemma2", "vaultgemma"], _CAPPED),
    **dict.fromkeys(["gemma3_text", "gemma4_text", "olmo3", "cohere2"], _ALTERNATING),
    **dict.fromkeys(["wav2vec2", "hubert", "wavlm", "unispeech", "unispeech-sat", "data2vec-audio"], _CONVOLUTIONS),
    **dict.fromkeys(["big_bird", "bigbird_pegasus"], _ALL_TO_ALL),
    **dict.fromkeys(["swin", "donut-swin", "maskformer-swin", "swinv2", "swin2sr"], _SWIN),
    **dict.fromkeys(["pvt", "pvt_v2", "segformer", "glpn"], _PYRAMID),
    **dict.fromkeys(["gptj", "codegen"], _PARTLY_ROTARY),
    **dict.fromkeys(["esmc", "nemotron3_5_transcribe_asr_audio", "nemotron3_diarization_audio"], _MULTI_HEAD),
    **dict.fromkeys(["qwen2_5_vl_vision", "exaone4_5_vision"], _WINDOWED_PIXELS),
    "bamba": {"attn_layer_indices": [1]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "mobilevit": {"image_size": 64},
    "bros": {"hidden_size": 64},
    "dots1": _MULTI_HEAD | {"n_shared_experts": 1},
    "glm4v_moe_text": {"rope_parameters": _MROPE["rope_parameters"] | {"partial_rotary_factor": 1.0}},
    "audio-spectrogram-transformer": {"max_length": 32},
    "gemma3n_text": {**_ALTERNATING, "num_kv_shared_layers": 0},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "lilt": {"hidden_size": 24, "num_attention_heads": 3, "channel_shrink_ratio": 2},
    "moonshine": {"encoder_num_key_value_heads": 4, "decoder_num_key_value_heads": 4},
    "recurrent_gemma": {"block_types": ("recurrent", "attention"), "attention_window_size": 4, "lru_width": 32},
    "sam3_lite_text_text_model": {"num_hidden_layers": 4},
    "speech_to_text": {"input_feat_per_channel": 8, "conv_channels": 16},
    "timesformer": {"num_frames": 2},
    "videomae": {"num_frames": 4},
    "vivit": {"num_frames": 4, "tubelet_size": (2, 4, 4)},
    "vjepa2": {
        "crop_size": 16,
        "frames_per_clip": 4,
        "pred_hidden_size": 32,
        "pred_num_hidden_layers": 2,
        "pred_num_attention_heads": 4,
    },
    "wav2vec2-bert": {"feature_projection_input_dim": 8},
    "xmod": {"default_language": "en_XX", "languages": ("en_XX",)},
    "yolos": {"image_size": (16, 16), "num_detection_tokens": 4},
    "zaya": {"num_experts_per_tok": 1},
    **dict.fromkeys(["detr", "conditional_detr", "table-transformer"], ON_RESNET),
    "llava": {"vision_feature_layer": -1},
    "vipllava": {"vision_feature_layers": [-1, -2]},
}


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
