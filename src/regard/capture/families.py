"""What must be known about individual model families, as names; everything else is found while the model runs."""

from __future__ import annotations

import re

# Cross attention, by the names its module has across families.
CROSS = re.compile(r"cross|encoder_?attn|enc_?dec_?att|encoder_(?:decoder_)?attention|src_attn", re.IGNORECASE)
VISION = re.compile(r"vision|visual|image|vit\b", re.IGNORECASE)

# These scale the attention *output* by a sink term and report weights whose rows sum to 1.
SINK_ON_OUTPUT = ("granite_swa", "granitemoe_swa")

# What a module has that attends to points which each query chooses (deformable attention), not to positions.
SAMPLED = "sampling_offsets"

# These report, for each query, only the weights of the keys in a window around it: bands of a map.
BANDED = ("longformer", "led")

# Linear maps that make q, k and v in BERT-type attention, by name; GPT-2 has one for all three.
PROJECTIONS = (("query", "key", "value"), ("q_lin", "k_lin", "v_lin"))
FUSED_PROJECTION = "c_attn"
# Attributes in which attention modules keep their number of heads, and the total width of these.
HEAD_COUNTS = ("num_attention_heads", "n_heads", "num_heads")
HEAD_WIDTHS = ("all_head_size", "split_size")
