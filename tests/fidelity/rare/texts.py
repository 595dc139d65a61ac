"""Tiny configs and inputs of families that read texts, series of numbers and episodes.

Enters: nothing. Leaves: overrides of sizes, and makers of inputs, by model type.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.fidelity.rare.inputs import Maker, around, ids

_SERIES = {
    "prediction_length": 6,
    "context_length": 12,
    "lags_sequence": [1, 2],
    "num_time_features": 2,
    "label_length": 4,
    "moving_average": 3,
}
_MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}

SIZES: dict[str, dict[str, Any]] = {
    "autoformer": _SERIES,
    "informer": {name: value for name, value in _SERIES.items() if name not in ("label_length", "moving_average")},
    "time_series_transformer": {n: v for n, v in _SERIES.items() if n not in ("label_length", "moving_average")},
    "patchtst": {"num_input_channels": 2, "patch_length": 4, "patch_stride": 4},
    "patchtsmixer": {
        "num_input_channels": 2,
        "patch_length": 4,
        "patch_stride": 4,
        "self_attn": True,
        "self_attn_heads": 2,
    },
    "timesfm": {"patch_length": 4, "context_length": 48, "horizon_length": 8},
    "timesfm2_5": {"patch_length": 4, "context_length": 48, "horizon_length": 8, "output_quantile_len": 8},
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "falcon_h1": {"mamba_d_ssm": 64},
    "zamba": {
        "num_hidden_layers": 3,
        "layers_block_type": ["hybrid", "mamba", "hybrid"],
        "num_key_value_heads": 4,
        "attention_head_dim": 16,
    },
    "zamba2": {"layers_block_type": ["mamba", "hybrid"], "num_key_value_heads": 4, "n_mamba_heads": 4},
    "reformer": {
        "axial_pos_embds_dim": (16, 16),
        "axial_pos_shape": (4, 16),
        "attention_head_size": 8,
        "feed_forward_size": 48,
        "attn_layers": ("local", "lsh"),
        "hash_seed": 0,
    },
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": _MROPE, "sliding_attention": _MROPE},
    },
    "glm5_next_text": {
        "index_kpool": 2,
        "qk_rope_head_dim": 0,
        "head_dim": 0,
        "layer_types": ["linear_attention", "full_attention"],
        "linear_head_dim": 8,
        "linear_num_heads": 4,
    },
    "qwen4_exp_text": {
        "layer_types": ["linear_attention", "indexed_attention"],
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
        "indexer_budget": 4,
        "indexer_compress_ratio": 2,
        "hc_lowrank": 8,
    },
    "t5gemma2_text": {"dropout_rate": 0.0},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "hunyuan_vl_text": {"rope_parameters": _MROPE},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 16},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1},
    "mllama_text_model": {"cross_attention_layers": [1], "num_hidden_layers": 3},
    "llama4_text": {"intermediate_size_mlp": 48},
    "perceiver": {
        "num_latents": 6,
        "d_latents": 32,
        "d_model": 24,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
    },
    "blt": {"encoder_hash_byte_group_vocab": 64, "encoder_hash_byte_group_size": [2, 3]},
    **{key: {"hidden_size_global": 64} for key in ["blt_local_encoder", "blt_local_decoder"]},
    "blt_global_transformer": {"hidden_size": 64},
    **{key: {"rope_parameters": _MROPE} for key in ["qwen2_5_omni_text", "qwen3_omni_moe_text"]},
    "ernie4_5_vl_moe_text": {
        "moe_intermediate_size": [16, 16],
        "rope_parameters": {**_MROPE, "mrope_section": [1, 1, 2]},
    },
    "neomme": {"patch_size": 4, "head_dim": 16, "embedding_rank": 16},
    "paddleocr_vl_text": {"rope_parameters": _MROPE},
}


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


INPUTS: dict[str, Maker] = {
    **dict.fromkeys(["autoformer", "informer", "time_series_transformer"], _series),
    **dict.fromkeys(["patchtst", "patchtsmixer"], lambda _model: {"past_values": torch.randn(2, 32, 2)}),
    "timesfm": lambda _model: {
        "past_values": torch.randn(2, 48),
        "past_values_padding": torch.zeros(2, 48, dtype=torch.long),
        "freq": torch.tensor([[0], [1]]),
    },
    "timesfm2_5": lambda _model: {"past_values": torch.randn(2, 48)},
    "decision_transformer": _episodes,
    "t5gemma2": lambda _model: {
        **around(98, 4),
        "pixel_values": torch.randn(1, 3, 16, 16),
        "decoder_input_ids": ids(1, 7),
    },
    "perceiver": lambda _model: {"inputs": torch.randn(2, 12, 24)},
    "neomme": lambda _model: {**around(98, 4), "pixel_values": torch.randn(4, 48)},
}
