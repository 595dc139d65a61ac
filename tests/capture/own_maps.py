"""The model's own eager maps, by a path that shares nothing with regard's capture."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

FIELDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}


def own_maps(module: Any, **inputs: Any) -> dict[str, list[np.ndarray]]:
    """(batch, heads, queries, keys) maps by field name, from `output_attentions` under eager attention."""
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            outputs = module.eval()(**inputs, output_attentions=True)
    finally:
        module.set_attn_implementation(before)
    names = ("attentions", *FIELDS.values())
    return {name: [m.numpy() for m in outputs[name]] for name in names if outputs.get(name)}
