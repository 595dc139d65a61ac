"""What the sweep is known to find: families that pass in part, fail, have no attention, or are not tried; and why."""

from __future__ import annotations

_UNTRIED = {
    "its vision tower comes from timm, which is not installed": (
        "edgetam edgetam_vision_model fast_vlm gemma3n gemma3n_vision omdet-turbo pe_audio_video "
        "pe_audio_video_encoder pe_video pe_video_encoder perception_lm timm_backbone timm_wrapper"
    ),
    "needs detectron2, which is not installed": "layoutlmv2",
    "needs natten, which is not installed": "dinat",
    "needs torchaudio, which is not installed": "higgs_audio_v2_tokenizer",
    "its base class has no forward: its parts run only when it writes": "bark glm_image_vqmodel",
    "reads images through a codebook and a map of its vocabulary, which only checkpoints have": "chameleon emu3",
    "writes speech from codes of 32 codebooks beside the text": "csm",
    "two vision towers, widths fixed in its code; the language model is of a family that is checked": (
        "deepseek_ocr2 unlimited_ocr"
    ),
    "cuts images into pyramids of fixed sizes; its encoders are DINOv2, which is checked": "depth_pro",
    "reads pairs of images, with queries and keys that are pooled": "efficientloftr",
    "reads pairs of images, at points that another model finds": "lightglue",
    "runs on a video session, not on one input": "edgetam_video sam2_video sam3_tracker_video sam3_video",
    "its text half is checked as embedding_gemma2_text; by default it has no other": "embedding_gemma2",
    "fastspeech2_conformer, which is checked, and a vocoder of convolutions": "fastspeech2_conformer_with_hifigan",
    "its parts are checked: gemma4_text, gemma4_vision; gemma4_audio attends within blocks": "gemma4 gemma4_unified",
    "its parts are checked: glm_image_text, glm_image_vision": "glm_image",
    "its Q-Former and its text model have to fit each other layer by layer; both are of families that are checked": (
        "granite4_vision"
    ),
    "reads video in patches of five dimensions": "inkling_mm_model",
    "its windows fix the sizes of images; its decoder is that of rf_detr, which is checked": "lw_detr",
    "pools patches by tables of places that only its processor makes": "molmo2",
    "drafts for muse_glimmer, which is checked, from the states of several of its layers": "muse_glimmer_assistant",
    "its base class reads the config of its decoder, which the auto class does not pass": "musicgen musicgen_melody",
    "its parts are checked: nemotron3_5_transcribe_asr_audio, nemotron3_diarization_audio": (
        "nemo_speechlm nemotron3_5_transcribe_audio"
    ),
    "its encoder is nemotron_asr_streaming_encoder, see there": "nemotron3_5_asr nemotron_asr_streaming",
    "a codec around a speech encoder (HuBERT, wav2vec2-bert) of a family that is checked": "neucodec xcodec xcodec2",
    "needs actions and states of a robot; its language model is PaliGemma's, which is checked": "pi0",
    "its Hiera backbone pools queries within blocks, as hiera does, and fixes the sizes of features": (
        "sam2 sam2_hiera_det_model sam2_vision_model"
    ),
    "six configs, each with widths that fit the others; its text model is checked": "sam3 sam3_lite_text",
    "the masks of sam3 for points; widths of three configs fit each other": "sam3_tracker",
    "frames of 448 pixels behind a learned frame of pixels": "tvp",
    "convolutions, no attention, and no small size": (
        "pp_ocrv6_medium_det pp_ocrv6_small_det univnet uvdoc vibevoice_acoustic_tokenizer "
        "vibevoice_acoustic_tokenizer_decoder vibevoice_acoustic_tokenizer_encoder"
    ),
    "a codec of convolutions that has no small size, around Qwen2, which is checked": "vibevoice vibevoice_asr",
    "adds sound to the embeddings of text; its halves are voxtral_realtime_encoder, checked, and a Mistral decoder": (
        "voxtral_realtime"
    ),
    "transformers lists it, but has no class of its name": "voxtral_realtime_text",
}
UNTRIED = {name: reason for reason, names in _UNTRIED.items() for name in names.split()}

# Tried when the page is written; of these, the tests repeat a few, each of another kind.
RARE = (
    "align aria audioflamingo3_encoder autoformer blt bridgetower clap clvp cohere_compass cohere_compass_text "
    "convnext convnextv2 d_fine dab-detr dac dbrx decision_transformer deepseek_vl_hybrid deformable_detr deimv2 "
    "dia diffusion_gemma dinov3_convnext efficientnet encodec ernie4_5_vl_moe falcon_h1 fun_asr_nano "
    "fun_asr_nano_encoder fuyu gemma3n_audio gemma4_audio gemma4_vision glm5_next glm5_next_text glmasr "
    "gradium_phonon_tts granite_speech granite_speech5_ctc granite_speech5_encoder granite_speech_plus "
    "grounding-dino hunyuan_vl hunyuan_vl_text hunyuan_vl_vision idefics informer instructblip instructblipvideo "
    "kimi_k25 kimi_k25_vision kosmos-2 kyutai_speech_to_text levit lfm2_vl llama4 llava_next llava_next_video "
    "llava_onevision mamba2 mask2former maskformer mimi mimi_decoder mimi_encoder minicpm_ocr minicpm_ocr_vision "
    "minicpmv4_6 minicpmv4_7 minicpmv4_7_vision mllama mm-grounding-dino mobilevitv2 moonshine_streaming "
    "moss_transcribe_diarize muse_glimmer muse_glimmer_vision muse_spark muse_spark_audio muse_spark_vision "
    "musicflamingo nemotron3_5_transcribe_word_timestamp nemotron3_diarization neomme oneformer paddleocr_vl "
    "parakeet_rnnt parakeet_tdt patchtsmixer patchtst pe_audio pe_audio_encoder perceiver pocket_tts "
    "pocket_tts_audio_tokenizer pocket_tts_audio_tokenizer_decoder pocket_tts_audio_tokenizer_encoder "
    "pp_doclayout_v3 pp_doclayout_v4 pp_ocrv5_mobile_rec pp_ocrv5_server_rec pp_ocrv6_small_rec pp_ocrv6_tiny_rec "
    "qwen2_5_omni_thinker qwen2_audio qwen3_asr qwen3_asr_encoder qwen3_omni_moe_thinker qwen4_exp qwen4_exp_text "
    "reformer rf_detr rt_detr rt_detr_v2 sam sam_hq seamless_m4t seamless_m4t_v2 seggpt speecht5 swin2sr t5gemma2 "
    "t5gemma2_encoder time_series_transformer timesfm timesfm2_5 udop video_llama_3 video_llama_3_vision videoprism "
    "videoprism_vision_model vits voxtral xclip zamba zamba2"
).split()
REPEATED = "deimv2 granite_speech idefics mllama perceiver sam t5gemma2 timesfm zamba2".split()

# Softmax attention is not what these mix positions by; the text readers of PaddleOCR have it in their heads alone.
NO_ATTENTION = set(
    "autoformer bit convnext convnextv2 dac dinov3_convnext efficientnet encodec falcon_mamba fnet focalnet hgnet_v2 "
    "mamba mamba2 mobilenet_v1 mobilenet_v2 mra muse_spark_audio poolformer pp_ocrv5_mobile_rec pp_ocrv5_server_rec "
    "pp_ocrv6_small_rec pp_ocrv6_tiny_rec regnet resnet rwkv swiftformer textnet xlstm yoso".split()
)

# What is traced agrees; the rest is no map of positions, and the trace names it.
_PARTS = {
    "its decoder weighs points of the image that each query chooses": (
        "d_fine deimv2 pp_doclayout_v3 pp_doclayout_v4 rf_detr rt_detr rt_detr_v2"
    ),
    "encoder and decoder weigh points of the image that each query chooses": "deformable_detr",
    "its pixel decoder weighs points of the image that each position chooses": "mask2former oneformer",
    "its speech encoder attends within blocks": "granite_speech granite_speech_plus",
    "its encoder attends within blocks": "longt5 pegasus_x",
    "layers between its stages attend with fewer queries": "levit",
    "softmax over features gates its mixers": "patchtsmixer",
    "its decoder predicts several streams at once": "prophetnet",
}
PARTS = {name: reason for reason, names in _PARTS.items() for name in names.split()}

# Model type: what the sweep's reason begins with, and what lies behind it.
FAILURES: dict[str, tuple[str, str]] = {
    "blt": (
        "differs by",
        "a patch without bytes, which sees nothing, looks at all alike in the model and at nothing in the trace; all "
        "other rows agree",
    ),
    "diffusion_gemma": ("the inputs do not reach", "the sweep makes no image for it; its text half agrees"),
    "evolla": ("the inputs do not reach", "the sweep makes no protein for it; its text half agrees"),
    "gemma3n_audio": ("UserError: Gemma3nAudioEncoder attends within", "attends within blocks of frames"),
    "gemma4_audio": ("UserError: Gemma4AudioModel attends within", "attends within blocks of frames"),
    "grounding-dino": (
        "differs by",
        "its eager mode adds a boolean mask (transformers 5.22), its outputs differ by 1.4; the trace says what ran",
    ),
    "hiera": (
        "UserError: HieraModel attends within blocks",
        "attends within units of patches, with pooled queries",
    ),
    "janus": ("the inputs do not reach", "its image generator does not run on images that it reads; the rest agrees"),
    "kosmos-2.5": ("the inputs do not reach", "the sweep makes no flattened patches for it; its text half agrees"),
    "lilt": ("not traced", "its layout stream has maps of its own, which the model does not report; the text's agree"),
    "kosmos-2": (
        "image_to_text_projection",
        "sdpa takes the look of its image queries for causal, eager does not (transformers 5.22), its outputs differ "
        "by 0.7; the trace says what ran",
    ),
    "mm-grounding-dino": (
        "differs by",
        "its eager mode adds a boolean mask (transformers 5.22), as that of grounding-dino; the trace says what ran",
    ),
    "mobilevitv2": ("UserError: MobileViTV2Model attends", "one score for each position, not one for each pair"),
    "nemotron_asr_streaming_encoder": (
        "differs by",
        "its eager mode takes its additive mask for a boolean one (transformers 5.22): its own eager and sdpa outputs "
        "differ by 1.2; a trace in eager mode agrees with its eager maps, sdpa reports none",
    ),
    "phi4_multimodal": ("the inputs do not reach", "the sweep makes no image and sound for it; its text half agrees"),
    "qwen2_5_omni_thinker": ("the inputs do not reach", "the sweep makes no sound for it; image and text halves agree"),
    "qwen3_omni_moe_thinker": (
        "the inputs do not reach",
        "the sweep makes no sound for it; image and text halves agree",
    ),
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
