"""Small configs of families whose fields have to fit each other in ways that names do not tell.

Enters: nothing. Leaves: a table of overrides, by model type, beside that of `sizes`.
"""

from __future__ import annotations

from typing import Any

from tests.fidelity.sizes import ON_RESNET, UNSET

_SERIES = {
    "prediction_length": 6,
    "context_length": 12,
    "lags_sequence": [1, 2],
    "num_time_features": 2,
    "label_length": 4,
    "moving_average": 3,
}
_MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}
_CONVNET = {"image_size": 32, "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1]}
_TALL = {"intermediate_size": 64}  # four frames beside each other
_ANYRES = {"image_grid_pinpoints": [[16, 16]], "vision_feature_layer": -1}
_HEARD = {"subsampling_conv_channels": 16}
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
    "num_queries": 4,
    "image_size": 64,
}
_SWIN_STAGES = {"model_type": "swin", "embed_dim": 16, "depths": (2, 2), "num_heads": (2, 4), "window_size": 2}
_SWIN_STAGES |= {"out_features": ["stage1", "stage2"]}
_SWIN_FOUR = {"model_type": "swin", "embed_dim": 8, "depths": (1, 1, 1, 1), "num_heads": (2, 2, 2, 2), "window_size": 2}
_SWIN_FOUR |= {"image_size": 64, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
_SEAMLESS = {
    "t2u_vocab_size": 50,
    "speech_encoder_layers": 2,
    "speech_encoder_attention_heads": 4,
    "speech_encoder_intermediate_size": 48,
    "feature_projection_input_dim": 8,
    "conv_depthwise_kernel_size": 3,
    "t2u_encoder_layers": 1,
    "t2u_decoder_layers": 1,
    "t2u_encoder_ffn_dim": 48,
    "t2u_decoder_ffn_dim": 48,
    "t2u_encoder_attention_heads": 4,
    "t2u_decoder_attention_heads": 4,
    "adaptor_kernel_size": 2,
    "adaptor_stride": 2,
    "upsample_initial_channel": 16,
    "upsample_rates": (2, 2),
    "upsample_kernel_sizes": (4, 4),
    "resblock_kernel_sizes": (3,),
    "resblock_dilation_sizes": ((1,),),
    "unit_embed_dim": 16,
    "unit_hifi_gan_vocab_size": 50,
    "lang_embed_dim": 8,
    "spkr_embed_dim": 8,
}
_CODEC = {
    "num_filters": 4,
    "upsample_groups": 32,
    "codebook_size": 16,
    "codebook_dim": 16,
    "vector_quantization_hidden_dimension": 16,
    "num_quantizers": 3,
    "upsampling_ratios": [4, 2],
    "num_key_value_heads": 4,
}
RARE: dict[str, dict[str, Any]] = {
    # series of numbers, and episodes
    "autoformer": _SERIES,
    "informer": {name: value for name, value in _SERIES.items() if name not in ("label_length", "moving_average")},
    "time_series_transformer": {n: v for n, v in _SERIES.items() if n not in ("label_length", "moving_average")},
    "patchtst": {"num_input_channels": 2, "patch_length": 4, "patch_stride": 4},
    "patchtsmixer": {"num_input_channels": 2, "patch_length": 4, "patch_stride": 4, "self_attn": True, "self_attn_heads": 2},
    "timesfm": {"patch_length": 4, "context_length": 48, "horizon_length": 8},
    "timesfm2_5": {"patch_length": 4, "context_length": 48, "horizon_length": 8, "output_quantile_len": 8},
    # text
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "falcon_h1": {"mamba_d_ssm": 64},
    "zamba": {"num_hidden_layers": 3, "layers_block_type": ["hybrid", "mamba", "hybrid"], "num_key_value_heads": 4, "attention_head_dim": 16},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"], "num_key_value_heads": 4, "n_mamba_heads": 4},
    "reformer": {
        "axial_pos_embds_dim": (16, 16),
        "axial_pos_shape": (4, 16),
        "attention_head_size": 8,
        "feed_forward_size": 48,
        "attn_layers": ("local", "lsh"),
        "hash_seed": 0,
    },
    "cohere_compass_text": {"layer_types": ["sliding_attention", "full_attention"], "rope_parameters": {"full_attention": _MROPE, "sliding_attention": _MROPE}},
    "glm5_next_text": {"index_kpool": 2, "qk_rope_head_dim": 0, "head_dim": 0, "layer_types": ["linear_attention", "full_attention"], "linear_head_dim": 8, "linear_num_heads": 4},
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
    # convolutions
    **dict.fromkeys(["convnext", "convnextv2", "dinov3_convnext"], _CONVNET),
    "efficientnet": {"image_size": 64, "hidden_dim": 2560},
    "align_vision_model": {"image_size": 64, "hidden_dim": 2560},
    "mobilevitv2": {"image_size": 128},
    "levit": {"image_size": 64, "patch_size": 16, "hidden_sizes": [16, 24, 32], "num_attention_heads": [2, 3, 4], "depths": [1, 1, 1], "key_dim": [8, 8, 8], "num_hidden_layers": UNSET},
    # sound
    "glmasr": {"audio_config": _TALL},
    "voxtral": {"audio_config": {"intermediate_size": 128}, "audio_token_id": 96},
    "qwen3_asr_encoder": {"n_window": 4, "n_window_infer": 16, "downsample_hidden_size": 8, "output_dim": 32},
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": 8}},
    "fun_asr_nano_encoder": {"num_timestamp_prediction_layers": 1, "num_stacked_frames": 2, "fsmn_kernel_size": 3},
    "parakeet_rnnt": {"blank_token_id": 98, "decoder_hidden_size": 16},
    "parakeet_tdt": {"blank_token_id": 98, "decoder_hidden_size": 16},
    # images in texts
    "llava_next": _ANYRES,
    "llava_next_video": _ANYRES,
    "llava_onevision": _ANYRES,
    "idefics": {"vision_config": {"embed_dim": 32}},
    "mllama_text_model": {"cross_attention_layers": [1], "num_hidden_layers": 3},
    "mllama_vision_model": {"num_global_layers": 1, "vision_output_dim": 64, "intermediate_layers_indices": [1], "max_num_tiles": 2, "supported_aspect_ratios": [[1, 1], [1, 2]]},
    "kosmos-2": {"latent_query_num": 4, "text_config": {"layers": 2}},
    "instructblip": {"num_query_tokens": 4, "image_token_index": 98},
    "instructblipvideo": {"num_query_tokens": 4, "video_token_index": 97},
    **dict.fromkeys(["instructblip_qformer", "instructblipvideo_qformer"], {"encoder_hidden_size": 32}),
    "aria": {"projector_patch_to_query_dict": {16: 4}},
    "hunyuan_vl_vision": {"temporal_patch_size": 1, "text_hidden_size": 32},
    "kimi_k25": {"projection_hidden_size": 32},
    "kimi_k25_vision": {"pos_emb_height": 4, "pos_emb_width": 4},
    "llama4_vision_model": {"projector_input_dim": 32, "projector_output_dim": 32, "vision_output_dim": 32, "intermediate_size": 128},
    "llama4_text": {"intermediate_size_mlp": 48},
    "bridgetower": {"hidden_size": 64},
    "bridgetower_vision_model": {"hidden_size": 64},
    "bridgetower_text_model": {"hidden_size": 64},
    # objects and masks in images
    "dab-detr": ON_RESNET | {"num_queries": 6},
    "deformable_detr": _DEFORMABLE,
    **dict.fromkeys(["rt_detr", "rt_detr_v2"], _REAL_TIME),
    "d_fine": _REAL_TIME | {"decoder_in_channels": [16, 16], "lqe_hidden_dim": 16, "decoder_n_points": [2, 2]},
    "grounding-dino": {"num_queries": 4, "num_feature_levels": 2, "disable_custom_kernels": True, "backbone_config": _SWIN_STAGES},
    "mm-grounding-dino": {"num_queries": 4, "num_feature_levels": 2, "disable_custom_kernels": True, "backbone_config": _SWIN_STAGES},
    "maskformer": {"fpn_feature_size": 32, "mask_feature_size": 32, "backbone_config": _SWIN_FOUR, "decoder_config": {"model_type": "detr", **ON_RESNET, "num_queries": 6}},
    "mask2former": {"feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "encoder_feedforward_dim": 48, "dim_feedforward": 48, "num_queries": 6, "decoder_layers": 3, "backbone_config": _SWIN_FOUR},
    "oneformer": {"hidden_dim": 32, "conv_dim": 32, "mask_dim": 32, "encoder_feedforward_dim": 48, "dim_feedforward": 48, "num_queries": 6, "decoder_layers": 3, "task_seq_len": 8, "text_encoder_width": 32, "text_encoder_context_length": 8, "text_encoder_num_layers": 2, "text_encoder_vocab_size": 99, "backbone_config": _SWIN_FOUR},
    **dict.fromkeys(["sam_vision_model", "sam_hq_vision_model"], {"output_channels": 32, "window_size": 2, "global_attn_indexes": [1], "num_pos_feats": 16}),
    **dict.fromkeys(["sam_mask_decoder", "sam_hq_mask_decoder"], {"mlp_dim": 48, "iou_head_hidden_dim": 16, "vit_dim": 32}),
    "seggpt": {"image_size": (32, 16), "pretrain_image_size": 16, "merge_index": 0, "intermediate_hidden_state_indices": [1], "decoder_hidden_size": 8},
    "swin2sr": {"patch_size": 1, "embed_dim": 16, "depths": (2, 2), "num_heads": (2, 2), "window_size": 4, "image_size": 8},
    "xclip": {"prompt_num_attention_heads": 4},
    "xclip_vision_model": {"num_frames": 2, "mit_hidden_size": 16, "mit_intermediate_size": 32, "mit_num_attention_heads": 4},
    "videoprism_vision_model": {"num_frames": 2, "tubelet_size": (1, 4, 4), "num_spatial_layers": 2, "num_temporal_layers": 2},
    "efficientloftr": {"hidden_size": 32, "stage_num_blocks": [1, 1, 1, 1], "out_features": [8, 8, 16, 32], "stage_stride": [2, 1, 2, 2], "num_attention_layers": 1},
    # writes sound
    **dict.fromkeys(["musicgen", "musicgen_melody"], {"dropout": 0.0}),
    **dict.fromkeys(["musicgen_decoder", "musicgen_melody_decoder"], {"num_codebooks": 2, "pad_token_id": 99}),
    "dia": {},
    "dia_decoder": {"num_channels": 2, "cross_num_attention_heads": 4, "cross_num_key_value_heads": 4, "cross_head_dim": 8, "cross_hidden_size": 32},
    "speecht5": {"encoder_max_relative_position": 4, "max_speech_positions": 64, "speech_decoder_prenet_units": 16},
    **dict.fromkeys(["seamless_m4t", "seamless_m4t_v2"], _SEAMLESS),
    "clap_audio_model": {"hidden_size": 32, "spec_size": 64, "num_mel_bins": 16, "patch_embeds_hidden_size": 16, "depths": [2, 2], "num_attention_heads": [2, 2], "num_hidden_layers": 2, "window_size": 4},
    "clvp_decoder": {"feature_size": 8, "max_text_tokens": 40, "num_mel_attn_blocks": 1, "bos_token_id": 1, "eos_token_id": 2},
    "mimi": _CODEC,
    "encodec": {"num_filters": 4, "hidden_size": 16, "codebook_size": 16},
    "kyutai_speech_to_text": {"num_codebooks": 2, "codebook_vocab_size": 50, "audio_pad_token_id": 98, "audio_bos_token_id": 49, "codec_config": {"model_type": "mimi", **_CODEC}},
    "moonshine_streaming": {"encoder_config": {"sliding_windows": [[4, 1], [4, 1]]}, "num_key_value_heads": 4},
    "granite_speech_encoder": {"input_dim": 8, "hidden_dim": 32, "num_heads": 4, "dim_head": 8, "context_size": 8, "max_pos_emb": 16, "conv_kernel_size": 3},
    "gemma3n_audio": {"input_feat_size": 16, "conf_attention_chunk_size": 4, "conf_attention_context_left": 5, "conf_num_attention_heads": 4, "conf_num_hidden_layers": 2, "sscp_conv_channel_size": (8, 4), "conf_reduction_factor": 2},
    "perceiver": {"num_latents": 6, "d_latents": 32, "d_model": 24, "num_self_attends_per_block": 2, "num_self_attention_heads": 4, "num_cross_attention_heads": 4},
    "blt": {"encoder_hash_byte_group_vocab": 64, "encoder_hash_byte_group_size": [2, 3]},
    **dict.fromkeys(["blt_local_encoder", "blt_local_decoder"], {"hidden_size_global": 64}),
    "blt_global_transformer": {"hidden_size": 64},
    **dict.fromkeys(["qwen2_5_omni_text", "qwen3_omni_moe_text"], {"rope_parameters": _MROPE}),
    "qwen2_5_omni_vision_encoder": {"window_size": 16, "fullatt_block_indexes": (1,)},
    "qwen2_5_omni_audio_encoder": {"n_window": 8, "output_dim": 32},
    "qwen3_omni_moe_vision_encoder": {"deepstack_visual_indexes": (0,)},
    "qwen3_omni_moe_audio_encoder": {"n_window": 4, "n_window_infer": 16, "downsample_hidden_size": 8, "output_dim": 32},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 95, "vision_end_token_id": 94},
    **dict.fromkeys(["minicpmv4_6_vision", "minicpm_ocr_vision", "minicpmv4_7_vision"], {"insert_layer_id": 0}),
    **dict.fromkeys(["minicpmv4_6", "minicpm_ocr", "minicpmv4_7"], {"insert_layer_id": 0, "image_token_id": 98, "video_token_id": 97, "image_size": 16}),
    **dict.fromkeys(["muse_glimmer_vision", "muse_spark_vision"], {"patch_temporal": 1, "pos_emb_height": 4, "pos_emb_width": 4}),
    "ernie4_5_vl_moe_text": {"moe_intermediate_size": [16, 16], "rope_parameters": _MROPE},
    "neomme": {"patch_size": 4, "rope_parameters": None, "head_dim": 16, "embedding_rank": 16},
    "granite_speech5_encoder": {"context_size": 8},
}  # fmt: skip
