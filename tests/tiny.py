"""Tiny models with random weights, and what tests do with them: the same seed gives the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM, MPNetConfig, MPNetModel

import regard

# Of BERT and its relatives: two layers of three heads, eight wide.
SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 32}


def made(kind: Any, config: Any, tokenizer: Any, *, seed: int = 0) -> regard.Model:
    """A model of this class, with new weights."""
    torch.manual_seed(seed)
    return regard.load((kind(config).eval(), tokenizer))


def tiny_bert(tokenizer: Any, kind: Any = BertModel, *, seed: int = 0, **more: Any) -> regard.Model:
    sizes = {**SIZES, "max_position_embeddings": 64, **more}
    return made(kind, BertConfig(vocab_size=len(tokenizer), **sizes), tokenizer, seed=seed)


def tiny_mpnet(tokenizer: Any) -> regard.Model:
    """A model outside transformers' attention interface."""
    return made(MPNetModel, MPNetConfig(vocab_size=40, **SIZES), tokenizer)


def tiny_llama(tokenizer: Any, *, seed: int = 0, **more: Any) -> regard.Model:
    """A decoder whose heads share keys, two by two."""
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        **more,
    }
    config = LlamaConfig(vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=0, **sizes)
    return made(LlamaForCausalLM, config, tokenizer, seed=seed)


@torch.no_grad()
def enlarged(model: regard.Model, factor: float = 8) -> regard.Model:
    """The model itself, its weights made larger: attention far from uniform."""
    for parameter in model.module.parameters():
        if parameter.ndim == 2:
            parameter *= factor
    return model


def saved(model: regard.Model, folder: Path) -> Path:
    """A folder that opens as this model."""
    model.module.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder
