"""Tiny configs and inputs of families that read images in texts.

Enters: nothing. Leaves: overrides of sizes, and makers of inputs, by model type.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.fidelity.rare.inputs import Maker, around, ids, seen

_ANYRES = {"image_grid_pinpoints": [[16, 16]], "vision_feature_layer": -1}
PLACES = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="xy"), dim=-1).reshape(1, 16, 2)
FULL = torch.tensor([[16, 16]])
SIZES: dict[str, dict[str, Any]] = {
    "llava_next": _ANYRES,
    "llava_next_video": _ANYRES,
    "llava_onevision": _ANYRES,
    "idefics": {"vision_config": {"embed_dim": 32}},
    "mllama_vision_model": {
        "num_global_layers": 1,
        "vision_output_dim": 64,
        "intermediate_layers_indices": [1],
        "max_num_tiles": 2,
        "supported_aspect_ratios": [[1, 1], [1, 2]],
    },
    "kosmos-2": {"latent_query_num": 4, "text_config": {"layers": 2}},
    "instructblip": {"num_query_tokens": 4, "image_token_index": 98},
    "instructblipvideo": {"num_query_tokens": 4, "video_token_index": 97},
    **{key: {"encoder_hidden_size": 32} for key in ["instructblip_qformer", "instructblipvideo_qformer"]},
    "aria": {"projector_patch_to_query_dict": {16: 4}},
    "hunyuan_vl_vision": {"temporal_patch_size": 1, "text_hidden_size": 32},
    "kimi_k25": {"projection_hidden_size": 32},
    "kimi_k25_vision": {"pos_emb_height": 4, "pos_emb_width": 4},
    "llama4_vision_model": {
        "projector_input_dim": 32,
        "projector_output_dim": 32,
        "vision_output_dim": 32,
        "intermediate_size": 128,
    },
    "bridgetower": {"hidden_size": 64},
    "bridgetower_vision_model": {"hidden_size": 64},
    "bridgetower_text_model": {"hidden_size": 64},
    "qwen2_5_omni_vision_encoder": {"window_size": 16, "fullatt_block_indexes": (1,)},
    "qwen3_omni_moe_vision_encoder": {"deepstack_visual_indexes": (0,)},
    "qwen2_5_omni_thinker": {"vision_start_token_id": 95, "vision_end_token_id": 94},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 95, "vision_end_token_id": 94},
    **{key: {"insert_layer_id": 0} for key in ["minicpmv4_6_vision", "minicpm_ocr_vision", "minicpmv4_7_vision"]},
    **{
        key: {"insert_layer_id": 0, "image_token_id": 98, "video_token_id": 97, "image_size": 16}
        for key in ["minicpmv4_6", "minicpm_ocr", "minicpmv4_7"]
    },
    **{
        key: {"patch_temporal": 1, "pos_emb_height": 4, "pos_emb_width": 4}
        for key in ["muse_glimmer_vision", "muse_spark_vision"]
    },
    **{key: {"projector_hidden_size": 64, "out_hidden_size": 128} for key in ["muse_glimmer", "muse_spark"]},
    "gemma4_vision": {"pooling_kernel_size": 2, "position_embedding_size": 8, "num_key_value_heads": 4},
    "deepseek_vl_hybrid": {"high_res_vision_config": {"model_type": "sam_vision_model"}},
}


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
    return {
        "input_ids": ids(),
        "bbox": boxes,
        "pixel_values": torch.randn(2, 3, 16, 16),
        "decoder_input_ids": ids(2, 7),
    }


INPUTS: dict[str, Maker] = {
    **dict.fromkeys(
        ["llava_next", "llava_next_video", "llava_onevision"],
        seen(pixel_values=(1, 2, 3, 16, 16), image_sizes=FULL),
    ),
    "lfm2_vl": seen(
        pixel_values=(1, 16, 48),
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
    "fuyu": seen(pixel_values=(1, 16, 48)),
    "paddleocr_vl": seen(pixel_values=(16, 3, 4, 4), image_grid_thw=torch.tensor([[1, 4, 4]])),
    "kimi_k25": seen(pixel_values=(16, 3, 4, 4), image_grid_thw=torch.tensor([[1, 4, 4]])),
    "kimi_k25_vision": lambda _model: {
        "pixel_values": torch.randn(32, 3, 4, 4),
        "grid_thw": torch.tensor([[1, 4, 4]] * 2),
    },
    "gemma4_vision": lambda _model: {
        "pixel_values": torch.randn(2, 16, 48),
        "pixel_position_ids": PLACES.expand(2, -1, -1),
    },
    **dict.fromkeys(
        ["video_llama_3_vision"],
        lambda _model: {
            "pixel_values": torch.randn(32, 48),
            "grid_thw": torch.tensor([[1, 4, 4]] * 2),
            "merge_sizes": torch.tensor([2, 2]),
        },
    ),
    "video_llama_3": seen(
        pixel_values=(16, 48), image_grid_thw=torch.tensor([[1, 4, 4]]), image_merge_sizes=torch.tensor([2])
    ),
    "deepseek_vl_hybrid": seen(pixel_values=(1, 3, 16, 16), high_res_pixel_values=(1, 3, 16, 16)),
    **dict.fromkeys(
        ["minicpm_ocr_vision", "minicpmv4_7_vision"],
        lambda _model: {"pixel_values": torch.randn(1, 3, 4, 64), "target_sizes": torch.tensor([[4, 4]])},
    ),
    **dict.fromkeys(
        ["minicpmv4_6", "minicpm_ocr", "minicpmv4_7"],
        seen(pixel_values=(1, 3, 4, 64), target_sizes=torch.tensor([[4, 4]])),
    ),
}
