"""Tiny configs and inputs of families that read images alone.

Enters: nothing. Leaves: overrides of sizes, and makers of inputs, by model type.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.fidelity.rare.inputs import Maker, ids
from tests.fidelity.sizes import ON_RESNET, UNSET

_CONVNET = {"image_size": 32, "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1]}
_DEFORMABLE = ON_RESNET | {"num_queries": 6, "num_feature_levels": 2, "disable_custom_kernels": True}
_STAGES = {"hidden_sizes": (8, 16, 16), "depths": (1, 1, 1), "embedding_size": 8, "out_features": ["stage2", "stage3"]}
_REAL_TIME = {
    "backbone_config": {"model_type": "resnet", **_STAGES},
    "encoder_hidden_dim": 16,
    "d_model": 16,
    "encoder_in_channels": [16, 16],
    "feat_strides": [8, 16],
    "encode_proj_layers": [1],
    "decoder_in_channels": [16, 16],
    "num_feature_levels": 2,
    "decoder_n_points": 2,
    "num_queries": 6,
    "image_size": 64,
}
_SWIN_STAGES = {"model_type": "swin", "embed_dim": 16, "depths": (2, 2), "num_heads": (2, 4), "window_size": 2}
_SWIN_STAGES |= {"out_features": ["stage1", "stage2"]}
_SWIN_FOUR = {"model_type": "swin", "embed_dim": 8, "depths": (1, 1, 1, 1), "num_heads": (2, 2, 2, 2), "window_size": 2}
_SWIN_FOUR |= {"image_size": 64, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
_THIN = {"image_size": 64, "width_coefficient": 0.25, "depth_coefficient": 0.1, "hidden_dim": 320}

SIZES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(["convnext", "convnextv2", "dinov3_convnext"], _CONVNET),
    "efficientnet": _THIN,
    "align_vision_model": _THIN,
    "align": {"projection_dim": 80},
    "mobilevitv2": {"image_size": 128},
    "levit": {
        "image_size": 64,
        "patch_size": 16,
        "hidden_sizes": [16, 24, 32],
        "num_attention_heads": [2, 3, 4],
        "depths": [1, 1, 1],
        "key_dim": [8, 8, 8],
        "num_hidden_layers": UNSET,
    },
    "dab-detr": ON_RESNET | {"num_queries": 6},
    "deformable_detr": _DEFORMABLE,
    "rt_detr": _REAL_TIME,
    "rt_detr_v2": _REAL_TIME | {"decoder_n_levels": 2},
    "deimv2": _REAL_TIME | {"lqe_hidden_dim": 16, "decoder_n_points": [2, 2]},
    "pp_doclayout_v3": _REAL_TIME
    | {
        "mask_feature_channels": [8, 8],
        "x4_feat_dim": 8,
        "num_prototypes": 4,
        "global_pointer_head_size": 8,
        "backbone_config": {"model_type": "resnet", **_STAGES, "out_features": ["stage1", "stage2", "stage3"]},
    },
    "pp_doclayout_v4": _REAL_TIME,
    "d_fine": _REAL_TIME | {"lqe_hidden_dim": 16, "decoder_n_points": [2, 2]},
    "grounding-dino": {
        "num_queries": 6,
        "num_feature_levels": 2,
        "disable_custom_kernels": True,
        "backbone_config": _SWIN_STAGES,
    },
    "mm-grounding-dino": {
        "num_queries": 6,
        "num_feature_levels": 2,
        "disable_custom_kernels": True,
        "backbone_config": _SWIN_STAGES,
    },
    "maskformer": {
        "fpn_feature_size": 32,
        "mask_feature_size": 32,
        "backbone_config": _SWIN_FOUR,
        "decoder_config": {"model_type": "detr", **ON_RESNET, "num_queries": 6},
    },
    "mask2former": {
        "feature_size": 32,
        "mask_feature_size": 32,
        "hidden_dim": 32,
        "encoder_feedforward_dim": 48,
        "dim_feedforward": 48,
        "num_queries": 6,
        "decoder_layers": 3,
        "backbone_config": _SWIN_FOUR,
    },
    "oneformer": {
        "hidden_dim": 32,
        "conv_dim": 32,
        "mask_dim": 32,
        "encoder_feedforward_dim": 48,
        "dim_feedforward": 48,
        "num_queries": 6,
        "decoder_layers": 3,
        "task_seq_len": 8,
        "text_encoder_width": 32,
        "text_encoder_context_length": 8,
        "text_encoder_num_layers": 2,
        "text_encoder_vocab_size": 99,
        "backbone_config": _SWIN_FOUR,
    },
    **{
        key: {"output_channels": 32, "window_size": 2, "global_attn_indexes": [1], "num_pos_feats": 16}
        for key in ["sam_vision_model", "sam_hq_vision_model"]
    },
    **{
        key: {"mlp_dim": 48, "iou_head_hidden_dim": 16, "vit_dim": 32}
        for key in ["sam_mask_decoder", "sam_hq_mask_decoder"]
    },
    "seggpt": {
        "image_size": (32, 16),
        "pretrain_image_size": 16,
        "merge_index": 0,
        "intermediate_hidden_state_indices": [1],
        "decoder_hidden_size": 8,
    },
    "swin2sr": {
        "patch_size": 1,
        "embed_dim": 16,
        "depths": (2, 2),
        "num_heads": (2, 2),
        "window_size": 4,
        "image_size": 8,
    },
    "xclip": {"prompt_num_attention_heads": 4},
    "xclip_vision_model": {
        "num_frames": 2,
        "mit_hidden_size": 16,
        "mit_intermediate_size": 32,
        "mit_num_attention_heads": 4,
    },
    "videoprism_vision_model": {
        "num_frames": 2,
        "tubelet_size": (1, 4, 4),
        "num_spatial_layers": 2,
        "num_temporal_layers": 2,
    },
    "rf_detr": {
        "num_queries": 4,
        "group_detr": 1,
        "decoder_self_attention_heads": 4,
        "decoder_cross_attention_heads": 4,
        "decoder_n_points": 2,
        "c2f_num_blocks": 1,
    },
}


def _pointed(model: torch.nn.Module) -> dict[str, Any]:
    return {
        "pixel_values": torch.randn(2, 3, 16, 16),
        "input_points": torch.rand(2, 1, 3, 2) * 16,
        "input_labels": torch.ones(2, 1, 3, dtype=torch.long),
    }


INPUTS: dict[str, Maker] = {
    "seggpt": lambda _model: {
        name: torch.randn(2, 3, 16, 16) for name in ("pixel_values", "prompt_pixel_values", "prompt_masks")
    },
    **dict.fromkeys(["sam", "sam_hq"], _pointed),
    "xclip": lambda _model: {"input_ids": ids(), "pixel_values": torch.randn(2, 2, 3, 16, 16)},
    "videoprism_vision_model": lambda _model: {"pixel_values_videos": torch.randn(2, 2, 3, 16, 16)},
    "videoprism": lambda _model: {"pixel_values_videos": torch.randn(2, 2, 3, 16, 16), "input_ids": ids()},
    **dict.fromkeys(["maskformer", "mask2former"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}),
    "oneformer": lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64), "task_inputs": ids(2, 8)},
    **dict.fromkeys(["rt_detr", "rt_detr_v2", "d_fine"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}),
    **dict.fromkeys(
        ["deimv2", "pp_doclayout_v3", "pp_doclayout_v4"], lambda _model: {"pixel_values": torch.randn(2, 3, 64, 64)}
    ),
    **dict.fromkeys(
        ["pp_ocrv5_mobile_rec", "pp_ocrv5_server_rec", "pp_ocrv6_small_rec", "pp_ocrv6_tiny_rec"],
        lambda _model: {"pixel_values": torch.randn(1, 3, 96, 192)},
    ),
}
