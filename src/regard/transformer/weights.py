"""The same machine, other people's weights: BERT, Marian and BART from Hugging Face into model.py.

Enters: a transformers model. Leaves: a Bert or Translator that computes the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.transformer.config import ACTIVATIONS, Config
from regard.transformer.model import Bert, Translator

# What a name there is here; applied in this order.
_BERT = (
    (r"^bert\.", ""),
    (r"^embeddings\.word_embeddings", "embedding.word"),
    (r"^embeddings\.position_embeddings\.weight", "embedding.position"),
    (r"^embeddings\.token_type_embeddings", "embedding.segment"),
    (r"^embeddings\.LayerNorm", "embedding.norm"),
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"attention\.self\.", "self_attention."),
    (r"attention\.output\.dense", "self_attention.output"),
    (r"attention\.output\.LayerNorm", "self_norm.norm"),
    (r"intermediate\.dense", "feed_forward.widen"),
    (r"(\d)\.output\.dense", r"\1.feed_forward.narrow"),
    (r"(\d)\.output\.LayerNorm", r"\1.feed_norm.norm"),
    (r"^pooler\.dense", "pool"),
    (r"^cls\.predictions\.transform\.dense", "transform"),
    (r"^cls\.predictions\.transform\.LayerNorm", "transform_norm"),
    (r"^cls\.predictions\.(decoder\.)?", "output."),
    (r"^cls\.seq_relationship", "follows"),
)
_MARIAN = (
    (r"^model\.", ""),
    (r"^shared", "source.word"),
    (r"^encoder\.embed_tokens", "source.word"),
    (r"^decoder\.embed_tokens", "target.word"),
    (r"^encoder\.embed_positions\.weight", "source.position"),
    (r"^decoder\.embed_positions\.weight", "target.position"),
    (r"^encoder\.layernorm_embedding", "source.norm"),
    (r"^decoder\.layernorm_embedding", "target.norm"),
    (r"self_attn_layer_norm", "self_norm.norm"),
    (r"encoder_attn_layer_norm", "cross_norm.norm"),
    (r"final_layer_norm", "feed_norm.norm"),
    (r"self_attn", "self_attention"),
    (r"encoder_attn", "cross_attention"),
    (r"\.q_proj", ".query"),
    (r"\.k_proj", ".key"),
    (r"\.v_proj", ".value"),
    (r"\.out_proj", ".output"),
    (r"\.fc1", ".feed_forward.widen"),
    (r"\.fc2", ".feed_forward.narrow"),
    (r"^final_logits_bias", "output.bias"),
    (r"^lm_head", "output"),
)


def from_hugging_face(model: Any) -> Bert | Translator:
    """The model of model.py with the weights of a transformers BERT, Marian or BART."""
    kind = getattr(model.config, "model_type", "")
    if kind == "bert":
        made: Bert | Translator = Bert(_bert_config(model.config))
        weights = _renamed(model.state_dict(), _BERT)
    elif kind in ("marian", "bart"):
        made = Translator(_marian_config(model.config))
        weights = _renamed(model.state_dict(), _MARIAN)
        if kind == "bart":  # its position table begins with two rows that no position uses
            weights |= {f"{side}.position": weights[f"{side}.position"][2:] for side in ("source", "target")}
    else:
        raise ValueError(f"weights of {kind or type(model).__name__} do not fit; pass a BERT, Marian or BART model")
    _copy(made, weights)
    return made.eval()


def _bert_config(config: Any) -> Config:
    return Config(
        vocabulary=config.vocab_size,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        layers=config.num_hidden_layers,
        decoder_layers=0,
        hidden=config.intermediate_size,
        length=config.max_position_embeddings,
        segments=config.type_vocab_size,
        position="learned",
        norm="post",
        activation=_activation(config.hidden_act),
        embedding_norm=True,
        embedding_scale=False,
        epsilon=config.layer_norm_eps,
        dropout=config.hidden_dropout_prob,
        pad=config.pad_token_id or 0,
        name=str(getattr(config, "_name_or_path", "") or "bert"),
    )


def _marian_config(config: Any) -> Config:
    if config.encoder_attention_heads != config.decoder_attention_heads or (
        config.encoder_ffn_dim != config.decoder_ffn_dim
    ):
        raise ValueError("encoder and decoder have different sizes; pass a model in which they are the same")
    return Config(
        vocabulary=config.vocab_size,
        width=config.d_model,
        heads=config.encoder_attention_heads,
        layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        hidden=config.encoder_ffn_dim,
        length=config.max_position_embeddings,
        position="sinusoidal" if config.model_type == "marian" else "learned",
        norm="post",
        activation=_activation(config.activation_function),
        embedding_norm=config.model_type == "bart",
        embedding_scale=bool(config.scale_embedding),
        dropout=config.dropout,
        pad=config.pad_token_id,
        start=config.decoder_start_token_id,
        end=config.eos_token_id,
        name=str(getattr(config, "_name_or_path", "") or config.model_type),
    )


def _activation(name: str) -> str:
    known = {"swish": "silu"}.get(name, name)
    if known not in ACTIVATIONS:
        raise ValueError(f"the activation {name} is not among {', '.join(ACTIVATIONS)}; pass another model")
    return known


def _renamed(weights: Mapping[str, Tensor], table: tuple[tuple[str, str], ...]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, value in weights.items():
        for pattern, replacement in table:
            name = re.sub(pattern, replacement, name)
        found[name] = value
    return found


def _copy(model: torch.nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Fill what has a counterpart; heads that the other model lacks keep their random weights."""
    optional = re.compile(r"^(pool|follows|transform|transform_norm|output)\.")
    with torch.no_grad():
        for name, own in model.state_dict().items():
            given = weights.get(name)
            if given is None:
                if optional.match(name):
                    continue
                raise ValueError(f"the model has no weights for {name}; pass one with the plain layout of its family")
            own.copy_(given.reshape(own.shape))
