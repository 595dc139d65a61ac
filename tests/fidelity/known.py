"""What the sweep is known to find: families that fail, have no attention, or are not tried, each with the reason."""

from __future__ import annotations

_UNTRIED = {
    "makes sound, images or actions, or codes for them; no encoder of text, images or sound": (
        "bark clvp csm dac dia encodec fastspeech2_conformer_with_hifigan glm_image_vqmodel "
        "gradium_phonon_tts kyutai_speech_to_text mimi mimi_decoder mimi_encoder musicgen musicgen_melody "
        "neucodec pi0 pocket_tts pocket_tts_audio_tokenizer pocket_tts_audio_tokenizer_decoder "
        "pocket_tts_audio_tokenizer_encoder seamless_m4t seamless_m4t_v2 speecht5 univnet vibevoice "
        "vibevoice_acoustic_tokenizer vibevoice_acoustic_tokenizer_decoder "
        "vibevoice_acoustic_tokenizer_encoder vits xcodec xcodec2"
    ),
    "needs the library detectron2, which is not installed": ("layoutlmv2"),
    "needs the library natten, which is not installed": ("dinat"),
    "needs the library scipy, which is not installed": ("inkling_mm_model"),
    "needs the library timm, which is not installed": (
        "dab-detr deformable_detr edgetam edgetam_vision_model fast_vlm gemma3n gemma3n_vision omdet-turbo "
        "pe_audio_video pe_audio_video_encoder pe_video pe_video_encoder perception_lm timm_backbone "
        "timm_wrapper"
    ),
    "needs the library torchaudio, which is not installed": ("higgs_audio_v2_tokenizer"),
    "no inputs found: it reads more than ids, one image or one sound, or sizes that the sweep does not know": (
        "aria audioflamingo3_encoder clap deepseek_vl_hybrid deimv2 depth_pro diffusion_gemma "
        "embedding_gemma2 fun_asr_nano_encoder fuyu gemma3n_audio gemma4_audio gemma4_unified gemma4_vision "
        "glm_image glmasr granite_speech granite_speech_plus grounding-dino hunyuan_vl hunyuan_vl_text "
        "hunyuan_vl_vision idefics instructblip instructblipvideo kimi_k25 kimi_k25_vision kosmos-2 levit "
        "lfm2_vl lightglue llama4 llava_next llava_next_video llava_onevision mask2former minicpm_ocr "
        "minicpm_ocr_vision minicpmv4_6 minicpmv4_7 minicpmv4_7_vision mllama mm-grounding-dino "
        "moss_transcribe_diarize muse_glimmer muse_glimmer_assistant muse_glimmer_vision muse_spark_vision "
        "musicflamingo nemotron3_5_asr nemotron_asr_streaming oneformer paddleocr_vl parakeet_rnnt "
        "parakeet_tdt pe_audio pe_audio_encoder pp_doclayout_v3 pp_doclayout_v4 pp_ocrv5_mobile_rec "
        "pp_ocrv5_server_rec pp_ocrv6_small_rec pp_ocrv6_tiny_rec qwen2_5_omni_thinker qwen2_audio qwen3_asr "
        "qwen3_asr_encoder qwen3_omni_moe_thinker rf_detr rt_detr rt_detr_v2 sam sam2 sam2_hiera_det_model "
        "sam2_vision_model sam3 sam3_lite_text sam3_tracker sam_hq seggpt swin2sr t5gemma2 tvp udop "
        "unlimited_ocr video_llama_3 video_llama_3_vision voxtral voxtral_realtime xclip"
    ),
    "no small config found: its fields have to fit each other in ways the sweep does not know": (
        "bridgetower chameleon cohere_compass cohere_compass_text d_fine dbrx deepseek_ocr2 efficientloftr "
        "ernie4_5_vl_moe falcon_h1 fun_asr_nano glm5_next glm5_next_text granite4_vision granite_speech5_ctc "
        "granite_speech5_encoder lw_detr maskformer molmo2 moonshine_streaming muse_spark muse_spark_audio "
        "nemo_speechlm nemotron3_5_transcribe_audio nemotron3_5_transcribe_word_timestamp "
        "nemotron3_diarization neomme qwen4_exp reformer t5gemma2_encoder videoprism videoprism_vision_model "
        "voxtral_realtime_text zamba zamba2 qwen4_exp_text"
    ),
    "no small size found: its sizes do not follow from the fields of its config": (
        "blt emu3 gemma4 perceiver vibevoice_asr"
    ),
    "no small size found; convolutions or a state-space model without softmax attention": (
        "align convnext convnextv2 dinov3_convnext efficientnet mamba2 mobilevitv2 pp_ocrv6_medium_det "
        "pp_ocrv6_small_det uvdoc"
    ),
    "reads a video session, not one input": ("edgetam_video sam2_video sam3_tracker_video sam3_video"),
    "reads time series or episodes, not text, images or sound": (
        "autoformer decision_transformer informer patchtsmixer patchtst time_series_transformer timesfm timesfm2_5"
    ),
}
UNTRIED = {name: reason for reason, names in _UNTRIED.items() for name in names.split()}

# Softmax attention is not what these mix positions by.
NO_ATTENTION = set(
    "bit falcon_mamba fnet focalnet hgnet_v2 mamba mobilenet_v1 mobilenet_v2 mra poolformer regnet resnet rwkv "
    "swiftformer textnet xlstm yoso".split()
)

# Model type: what the sweep's reason begins with, and what lies behind it.
FAILURES: dict[str, tuple[str, str]] = {
    "evolla": ("the inputs do not reach", "the sweep makes no protein for it; its text half agrees"),
    "hiera": (
        "UserError: HieraModel attends within blocks",
        "attends within units of patches, with pooled queries",
    ),
    "janus": ("the inputs do not reach", "its image generator does not run on images that it reads; the rest agrees"),
    "kosmos-2.5": ("the inputs do not reach", "the sweep makes no flattened patches for it; its text half agrees"),
    "lilt": ("not traced", "its layout stream has maps of its own, which the model does not report; the text's agree"),
    "longt5": ("not traced", "its encoder attends within blocks; decoder and cross attention agree"),
    "nemotron_asr_streaming_encoder": (
        "differs by",
        "its eager mode takes its additive mask for a boolean one (transformers 5.22): its own eager and sdpa outputs "
        "differ by 1.2; a trace in eager mode agrees with its eager maps, sdpa reports none",
    ),
    "pegasus_x": ("not traced", "its encoder attends within blocks; decoder and cross attention agree"),
    "phi4_multimodal": ("the inputs do not reach", "the sweep makes no image and sound for it; its text half agrees"),
    "prophetnet": ("not traced", "its decoder predicts several streams at once; encoder and cross attention agree"),
    "video_llava": ("the inputs do not reach", "the sweep makes no video for it; its image and text halves agree"),
}

REQUIRED = (
    "bert roberta distilbert albert electra deberta-v2 mpnet xlnet modernbert gpt2 gpt_neox gptj bloom opt falcon "
    "llama mistral mixtral qwen2 qwen3 gemma2 gemma3 phi3 gpt_oss t5 bart marian mbart pegasus whisper vit clip dinov2"
).split()

# What must be seen in the softmax of these beside q and k.
TERMS = {
    "mistral": {"window"},
    "gemma2": {"soft cap", "window"},
    "gemma3_text": {"window"},
    "gpt_oss": {"sinks", "window"},
    "llama": {"grouped queries"},
    "modernbert": {"window"},
    "swin": {"parts", "position bias"},
    "t5": {"position bias"},
}

# Passing families, with transformers 5.22; a few fewer would be a regression.
FLOOR = 355
