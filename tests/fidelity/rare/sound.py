"""Tiny configs and inputs of families that read sound: they hear, speak or code it.

Enters: nothing. Leaves: overrides of sizes, and makers of inputs, by model type.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.fidelity.rare.inputs import Maker, around, heard, ids

_TALL = {"intermediate_size": 64}
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
    "num_quantizers": 8,
    "upsampling_ratios": [4, 2],
    "num_key_value_heads": 4,
}
_MARKS = {
    "audio_prompt_token_id": 95,
    "audio_latent_token_id": 96,
    "audio_prompt_bos_token_id": 97,
    "audio_bos_token_id": 98,
}

SIZES: dict[str, dict[str, Any]] = {
    "glmasr": {"audio_config": _TALL},
    "voxtral": {"audio_config": {"intermediate_size": 128}, "audio_token_id": 96},
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": 8}},
    "fun_asr_nano_encoder": {"num_timestamp_prediction_layers": 1, "num_stacked_frames": 2, "fsmn_kernel_size": 3},
    "parakeet_rnnt": {"blank_token_id": 98, "decoder_hidden_size": 16},
    "parakeet_tdt": {"blank_token_id": 98, "decoder_hidden_size": 16},
    "dia": {"delay_pattern": [0, 1]},
    "dia_decoder": {
        "num_channels": 2,
        "cross_num_attention_heads": 4,
        "cross_num_key_value_heads": 4,
        "cross_head_dim": 8,
        "cross_hidden_size": 32,
    },
    "speecht5": {"encoder_max_relative_position": 4, "max_speech_positions": 64, "speech_decoder_prenet_units": 16},
    **dict.fromkeys(["seamless_m4t", "seamless_m4t_v2"], _SEAMLESS),
    "clap_audio_model": {
        "hidden_size": 32,
        "spec_size": 64,
        "num_mel_bins": 16,
        "patch_embeds_hidden_size": 16,
        "depths": [2, 2],
        "num_attention_heads": [2, 2],
        "num_hidden_layers": 2,
        "window_size": 4,
    },
    "clvp_encoder": {"hidden_size": 128, "projection_dim": 128, "bos_token_id": 1, "eos_token_id": 2},
    "clvp_decoder": {
        "decoder_fixing_codes": (3, 4, 4, 5),
        "feature_size": 8,
        "max_text_tokens": 40,
        "num_mel_attn_blocks": 1,
        "bos_token_id": 1,
        "eos_token_id": 2,
    },
    "mimi": _CODEC,
    "encodec": {"num_filters": 4, "hidden_size": 16, "codebook_size": 16},
    "kyutai_speech_to_text": {
        "num_codebooks": 2,
        "codebook_vocab_size": 50,
        "audio_pad_token_id": 98,
        "audio_bos_token_id": 49,
        "codec_config": {"model_type": "mimi", **_CODEC},
    },
    "moonshine_streaming": {"encoder_config": {"sliding_windows": [[4, 1], [4, 1]]}, "num_key_value_heads": 4},
    "granite_speech_plus_encoder": {
        "input_dim": 8,
        "hidden_dim": 32,
        "num_heads": 4,
        "dim_head": 8,
        "context_size": 8,
        "max_pos_emb": 16,
        "conv_kernel_size": 3,
    },
    "granite_speech_encoder": {
        "input_dim": 8,
        "hidden_dim": 32,
        "num_heads": 4,
        "dim_head": 8,
        "context_size": 8,
        "max_pos_emb": 16,
        "conv_kernel_size": 3,
    },
    "gemma3n_audio": {
        "input_feat_size": 16,
        "conf_attention_chunk_size": 4,
        "conf_attention_context_left": 5,
        "conf_num_attention_heads": 4,
        "conf_num_hidden_layers": 2,
        "sscp_conv_channel_size": (8, 4),
        "conf_reduction_factor": 2,
    },
    "qwen2_5_omni_audio_encoder": {"n_window": 8, "output_dim": 32},
    "qwen3_omni_moe_audio_encoder": {
        "n_window": 4,
        "n_window_infer": 16,
        "downsample_hidden_size": 8,
        "output_dim": 32,
    },
    "granite_speech5_encoder": {"context_size": 8, "num_mel_bins": 8, "num_key_value_heads": 4},
    "granite_speech": {
        "downsample_rate": 2,
        "window_size": 4,
        "has_lora_adapter": False,
        "audio_token_index": 96,
        "projector_config": {"model_type": "blip_2_qformer", "encoder_hidden_size": 32},
    },
    "granite_speech_plus": {
        "downsample_rate": 2,
        "window_size": 4,
        "has_lora_adapter": False,
        "audio_token_index": 96,
        "projector_config": {"model_type": "blip_2_qformer", "encoder_hidden_size": 32},
    },
    "qwen3_asr_encoder": {
        "n_window_infer": 100,
        "downsample_hidden_size": 8,
        "output_dim": 32,
        "max_position_embeddings": 13,
    },
    "nemotron3_diarization": {"head_config": {"audio_hidden_size": 32, "hidden_size": 16}},
    "nemotron3_5_transcribe_word_timestamp": {"blank_token_id": 98, "num_key_value_heads": 4},
    "pocket_tts": {
        "flow_head_config": {"condition_dim": 32, "hidden_size": 16, "latent_dim": 8},
        "latent_dim": 8,
        **_MARKS,
    },
    "gradium_phonon_tts": {
        "flow_head_config": {"condition_dim": 32, "hidden_size": 16, "latent_dim": 8},
        "latent_dim": 8,
        "audio_prompt_dim": 16,
    },
    **{
        key: {**_CODEC, "latent_dim": 8, "latent_stride": 2}
        for key in [
            "pocket_tts_audio_tokenizer",
            "pocket_tts_audio_tokenizer_encoder",
            "pocket_tts_audio_tokenizer_decoder",
        ]
    },
    "muse_spark_audio": {
        "patch_sizes": (16, 6),
        "hidden_sizes": (16, 16),
        "depths": (1, 1),
        "num_hidden_layers": 2,
        "out_hidden_size": 32,
    },
    "gemma4_audio": {
        "subsampling_conv_channels": (8, 4),
        "attention_chunk_size": 4,
        "attention_context_left": 5,
        "output_proj_dims": 32,
    },
    "dac": {
        "encoder_hidden_size": 4,
        "downsampling_ratios": [4, 2],
        "decoder_hidden_size": 8,
        "upsampling_ratios": [2, 4],
        "n_codebooks": 2,
        "codebook_size": 16,
        "codebook_dim": 4,
        "hidden_size": 16,
    },
    "mimi_encoder": _CODEC,
    "mimi_decoder": _CODEC,
    "vits": {
        "flow_size": 32,
        "spectrogram_bins": 9,
        "upsample_initial_channel": 16,
        "upsample_rates": (2, 2),
        "upsample_kernel_sizes": (4, 4),
        "resblock_kernel_sizes": (3,),
        "resblock_dilation_sizes": ((1,),),
        "duration_predictor_filter_channels": 16,
        "use_stochastic_duration_prediction": False,
        "posterior_encoder_num_wavenet_layers": 1,
        "prior_encoder_num_flows": 1,
        "prior_encoder_num_wavenet_layers": 1,
    },
}


def _masked_sound(model: torch.nn.Module) -> dict[str, Any]:
    bins = model.config.num_mel_bins
    return {"input_features": torch.randn(2, bins, 32), "input_features_mask": torch.ones(2, 32, dtype=torch.long)}


def _transducer(model: torch.nn.Module) -> dict[str, Any]:
    return {"input_features": torch.randn(2, 32, 8), "decoder_input_ids": ids(2, 5)}


def _qwen2_audio(model: torch.nn.Module) -> dict[str, Any]:
    sound = {"input_features": torch.randn(1, 8, 32), "feature_attention_mask": torch.ones(1, 32, dtype=torch.long)}
    return {**around(96, 8), **sound}


INPUTS: dict[str, Maker] = {
    "audioflamingo3_encoder": _masked_sound,
    **dict.fromkeys(["parakeet_rnnt", "parakeet_tdt"], _transducer),
    "qwen2_audio": _qwen2_audio,
    "fun_asr_nano_encoder": lambda _model: {
        "input_features": torch.randn(2, 16, 16),
        "input_features_mask": torch.ones(2, 16, dtype=torch.long),
    },
    "dia": lambda _model: {"input_ids": ids(), "decoder_input_ids": torch.randint(10, 90, (2, 7, 2))},
    "speecht5": lambda _model: {"input_values": torch.randn(2, 12, 32), "decoder_input_values": torch.randn(2, 7, 32)},
    **dict.fromkeys(
        ["seamless_m4t", "seamless_m4t_v2"],
        lambda _model: {"input_features": torch.randn(2, 32, 8), "decoder_input_ids": ids(2, 7)},
    ),
    "clap": lambda _model: {
        "input_ids": ids(),
        "input_features": torch.randn(2, 1, 64, 16),
        "is_longer": torch.zeros(2, 1, dtype=torch.bool),
    },
    "clvp": lambda _model: {"input_ids": ids(), "input_features": torch.randn(2, 8, 32)},
    **dict.fromkeys(["mimi", "encodec"], lambda _model: {"input_values": torch.randn(2, 1, 320)}),
    "kyutai_speech_to_text": lambda _model: {"input_ids": torch.randint(10, 45, (2, 12, 3))},
    "moonshine_streaming": lambda _model: {"input_values": torch.randn(2, 1600), "decoder_input_ids": ids(2, 7)},
    "gemma3n_audio": lambda _model: {
        "audio_mel": torch.randn(2, 32, 16),
        "audio_mel_mask": torch.zeros(2, 32, dtype=torch.bool),
    },
    **dict.fromkeys(
        ["granite_speech5_encoder", "granite_speech5_ctc"], lambda _model: {"input_features": torch.randn(2, 32, 32)}
    ),
    **dict.fromkeys(["granite_speech", "granite_speech_plus"], heard(input_features=(1, 16, 8))),
    "musicflamingo": lambda _model: {
        **around(96, 8),
        "input_features": torch.randn(1, 8, 32),
        "input_features_mask": torch.ones(1, 32, dtype=torch.long),
    },
    "moss_transcribe_diarize": heard(
        input_features=(1, 8, 32),
        input_features_mask=torch.ones(1, 32, dtype=torch.long),
        padding_mask=torch.ones(1, 32, dtype=torch.long),
    ),
    "fun_asr_nano": heard(input_features=(1, 16, 16), input_features_mask=torch.ones(1, 16, dtype=torch.long)),
    "gemma4_audio": lambda _model: {
        "input_features": torch.randn(2, 32, 8),
        "attention_mask": torch.ones(2, 32, dtype=torch.bool),
    },
    **dict.fromkeys(["pe_audio_encoder"], lambda _model: {"input_values": torch.randn(2, 1, 160)}),
    "pe_audio": lambda _model: {"input_ids": ids(), "input_values": torch.randn(2, 1, 160)},
    "dac": lambda _model: {"input_values": torch.randn(2, 1, 160)},
    "mimi_decoder": lambda _model: {"latents": torch.randn(2, 32, 10)},
    "qwen3_asr_encoder": lambda _model: {
        "input_features": torch.randn(2, 8, 200),
        "input_features_mask": torch.ones(2, 200, dtype=torch.long),
    },
    "qwen3_asr": heard(input_features=(1, 8, 200), input_features_mask=torch.ones(1, 200, dtype=torch.long)),
    "nemotron3_diarization": lambda _model: {"input_features": torch.randn(2, 32, 8)},
    "nemotron3_5_transcribe_word_timestamp": lambda _model: {"inputs_embeds": torch.randn(2, 12, 32)},
    **dict.fromkeys(["pocket_tts", "gradium_phonon_tts"], lambda _model: {"input_ids": ids()}),
    **dict.fromkeys(
        ["pocket_tts_audio_tokenizer", "pocket_tts_audio_tokenizer_encoder"],
        lambda _model: {"input_values": torch.randn(2, 1, 320)},
    ),
    "pocket_tts_audio_tokenizer_decoder": lambda _model: {"latents": torch.randn(2, 32, 10)},
    "muse_spark_audio": lambda _model: {"input_values": torch.randn(2, 1920)},
    "mimi_encoder": lambda _model: {"input_values": torch.randn(2, 1, 320)},
}
