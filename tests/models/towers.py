"""Vision models and their own processors: what each is made of in a tiny size."""

from __future__ import annotations

from typing import Any

_SQUARE = {"size": {"height": 32, "width": 32}}
_CROP = {"crop_size": {"height": 32, "width": 32}}
_SHORT = {"size": {"shortest_edge": 32}, **_CROP}

# Model type: image processor and its options, what the config has beside.
TOWERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "aimv2_vision_model": ("CLIP", _SHORT, {}),
    "beit": ("Beit", {**_SQUARE, **_CROP}, {}),
    "chinese_clip_vision_model": ("ChineseCLIP", _SHORT, {}),
    "clip_vision_model": ("CLIP", _SHORT, {}),
    "deit": ("DeiT", {**_SQUARE, **_CROP}, {}),
    "dinov2": ("Bit", _SHORT, {}),
    "dinov2_with_registers": ("Bit", _SHORT, {}),
    "dinov3_vit": ("ViT", _SQUARE, {}),
    "dpt": ("DPT", _SQUARE, {}),
    "ijepa": ("ViT", _SQUARE, {}),
    "internvl_vision": ("GotOcr2", _SQUARE, {"image_size": [32, 32], "patch_size": [8, 8]}),
    "mlcd_vision_model": ("CLIP", _SHORT, {}),
    "pixtral": ("Pixtral", {"size": {"longest_edge": 48}, "patch_size": {"height": 8, "width": 8}}, {}),
    "siglip2_vision_model": ("Siglip2", {"patch_size": 8, "max_num_patches": 24}, {}),
    "siglip_vision_model": ("Siglip", _SQUARE, {}),
    "tipsv2_vision_model": ("ViT", _SQUARE, {}),
    "vit": ("ViT", _SQUARE, {}),
    "vit_msn": ("ViT", _SQUARE, {}),
    "yolos": (
        "Yolos", {"size": {"shortest_edge": 32, "longest_edge": 48}},
        {"image_size": [32, 48], "num_detection_tokens": 5},
    ),
}  # fmt: skip
