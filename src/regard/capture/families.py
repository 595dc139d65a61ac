"""What must be known about single model families, as names; everything else is found while the model runs."""

from __future__ import annotations

import re

# Cross attention, by the names its module has across families.
CROSS = re.compile(r"cross|encoder_?attn|enc_?dec_?att|encoder_attention|src_attn", re.IGNORECASE)
VISION = re.compile(r"vision|visual|image|vit\b", re.IGNORECASE)

# These scale the attention *output* by a sink term and report weights whose rows sum to 1.
SINK_ON_OUTPUT = ("granite_swa", "granitemoe_swa")

# These report, for each query, the weights of the keys in a window around it: bands of a map.
BANDED = ("longformer", "led")
