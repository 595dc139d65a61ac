"""Other people's weights: the BERT family, Marian and BART from Hugging Face in model.py.

Enters: a transformers model. Leaves: a Bert or Translator that computes the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.base.errors import UserError
from regard.transformer.config import ACTIVATIONS, Config
from regard.transformer.model import Bert, Translator

# Renaming rules from their names to ours; applied in this order.
_BERT = (
    (r"^(bert|roberta|electra|albert|distilbert)\.", ""),
    (r"^embeddings\.word_embeddings", "embedding.word"),
    (r"^embeddings\.position_embeddings\.weight", "embedding.position"),
    (r"^embeddings\.token_type_embeddings", "embedding.segment"),
    (r"^embeddings\.LayerNorm", "embedding.norm"),
    (r"^(embeddings_project|encoder\.embedding_hidden_mapping_in)", "embedding.widen"),
    # ALBERT: layers in groups that are repeated
    (r"^encoder\.albert_layer_groups\.(\d+)\.albert_layers\.0\.", r"encoder.layers.\1."),
    (r"attention\.dense", "self_attention.output"),
    (r"attention\.LayerNorm", "self_norm.norm"),
    (r"\.ffn\.(weight|bias)", r".feed_forward.widen.\1"),
    (r"\.ffn_output", ".feed_forward.narrow"),
    (r"full_layer_layer_norm", "feed_norm.norm"),
    # DistilBERT
    (r"^transformer\.layer\.", "encoder.layers."),
    (r"attention\.q_lin", "self_attention.query"),
    (r"attention\.k_lin", "self_attention.key"),
    (r"attention\.v_lin", "self_attention.value"),
    (r"attention\.out_lin", "self_attention.output"),
    (r"sa_layer_norm", "self_norm.norm"),
    (r"\.ffn\.lin1", ".feed_forward.widen"),
    (r"\.ffn\.lin2", ".feed_forward.narrow"),
    (r"\.output_layer_norm", ".feed_norm.norm"),
    # BERT, RoBERTa, ELECTRA
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"\.attention\.(self\.)?(query|key|value)", r".self_attention.\2"),
    (r"attention\.output\.dense", "self_attention.output"),
    (r"attention\.output\.LayerNorm", "self_norm.norm"),
    (r"intermediate\.dense", "feed_forward.widen"),
    (r"(\d)\.output\.dense", r"\1.feed_forward.narrow"),
    (r"(\d)\.output\.LayerNorm", r"\1.feed_norm.norm"),
    # the heads
    (r"^pooler(\.dense)?\.", "pool."),
    (r"^cls\.seq_relationship|^sop_classifier\.classifier", "follows"),
    (r"^(cls\.predictions\.transform|predictions|lm_head|generator_predictions)\.dense|^vocab_transform", "transform"),
    (
        r"^(cls\.predictions\.transform|predictions|generator_predictions)\.LayerNorm|^lm_head\.layer_norm"
        "|^vocab_layer_norm",
        "transform_norm",
    ),
    (r"^(cls\.predictions|predictions|lm_head)\.(decoder\.)?|^(vocab_projector|generator_lm_head)\.", "output."),
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


ENCODERS = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "albert")
TRANSLATORS = ("marian", "bart")
ROTARY = ("llama", "mistral", "qwen2")
DECODERS = ("gpt2", *ROTARY)  # opened as they are, in decoders.py
RELATIVE = ("t5", "mt5")  # opened as they are, in t5.py


def from_hugging_face(model: Any) -> Bert | Translator:
    """The model of model.py with the weights of a transformers model of the BERT family, Marian or BART."""
    kind = getattr(getattr(model, "config", None), "model_type", "") or type(model).__name__
    if kind in ENCODERS:
        own: Bert | Translator = Bert(_bert_config(model.config))
        weights = _renamed(model.state_dict(), _BERT)
        weights["embedding.position"] = weights["embedding.position"][-own.config.length :]
        if own.config.distinct is not None:
            weights = _repeated(weights, own.config.distinct, own.config.layers)
    elif kind in TRANSLATORS:
        own = Translator(_marian_config(model.config))
        weights = _renamed(model.state_dict(), _MARIAN)
        if kind == "bart":  # its position table begins with two rows that no position uses
            weights |= {f"{side}.position": weights[f"{side}.position"][2:] for side in ("source", "target")}
    else:
        known = ", ".join(ENCODERS + TRANSLATORS + RELATIVE + DECODERS)
        raise UserError(
            f"a {kind} model cannot be opened step by step; these types can: {known}, and models from regard train"
        )
    _copy(own, weights)
    return own.eval()


def _bert_config(config: Any) -> Config:
    kind = config.model_type
    if getattr(config, "is_decoder", False):
        raise UserError(f"this {kind} model is set up as a decoder (is_decoder); load it as an encoder")
    if getattr(config, "inner_group_num", 1) != 1:
        raise UserError("this albert model has several blocks per layer (inner_group_num); pass a model with one")
    width, table = config.hidden_size, getattr(config, "embedding_size", config.hidden_size)
    # RoBERTa's position table begins with rows up to the padding id that no position uses
    unused = config.pad_token_id + 1 if kind in ("roberta", "xlm-roberta", "camembert") else 0
    return Config(
        vocabulary=config.vocab_size,
        width=width,
        heads=config.num_attention_heads,
        layers=config.num_hidden_layers,
        distinct=config.num_hidden_groups if kind == "albert" else None,
        decoder_layers=0,
        hidden=config.hidden_dim if kind == "distilbert" else config.intermediate_size,
        length=config.max_position_embeddings - unused,
        segments=0 if kind == "distilbert" else config.type_vocab_size,
        position="learned",
        norm="post",
        activation=known_activation(config.activation if kind == "distilbert" else config.hidden_act),
        table=table if table != width or kind == "albert" else None,
        embedding_norm=True,
        embedding_scale=False,
        epsilon=1e-12 if kind == "distilbert" else config.layer_norm_eps,
        dropout=config.dropout if kind == "distilbert" else config.hidden_dropout_prob,
        pad=config.pad_token_id or 0,
        name=str(getattr(config, "_name_or_path", "") or kind),
    )


def _repeated(weights: Mapping[str, Tensor], distinct: int, layers: int) -> dict[str, Tensor]:
    """Weights of a few layers under the numbers of all layers that repeat them."""
    found = {name: value for name, value in weights.items() if not name.startswith("encoder.layers.")}
    for layer in range(layers):
        prefix = f"encoder.layers.{layer * distinct // layers}."
        for name, value in weights.items():
            if name.startswith(prefix):
                found[f"encoder.layers.{layer}.{name.removeprefix(prefix)}"] = value
    return found


def _marian_config(config: Any) -> Config:
    if config.encoder_attention_heads != config.decoder_attention_heads or (
        config.encoder_ffn_dim != config.decoder_ffn_dim
    ):
        raise UserError("encoder and decoder have different sizes; pass a model in which they are the same")
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
        activation=known_activation(config.activation_function),
        embedding_norm=config.model_type == "bart",
        embedding_scale=bool(config.scale_embedding),
        dropout=config.dropout,
        pad=config.pad_token_id,
        start=config.decoder_start_token_id,
        end=config.eos_token_id,
        name=str(getattr(config, "_name_or_path", "") or config.model_type),
    )


def known_activation(name: str) -> str:
    """Our name of an activation of transformers."""
    same = {"swish": "silu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh"}
    known = same.get(name, name)
    if known not in ACTIVATIONS:
        raise UserError(f"the activation {name} is not among {', '.join(ACTIVATIONS)}; pass another model")
    return known


def _renamed(weights: Mapping[str, Tensor], table: tuple[tuple[str, str], ...]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, value in weights.items():
        for pattern, replacement in table:
            name = re.sub(pattern, replacement, name)
        found[name] = value
    return found


def _copy(model: torch.nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy what has a counterpart; heads that the other model lacks keep their random weights."""
    optional = re.compile(r"^(pool|follows|transform|transform_norm|output)\.")
    with torch.no_grad():
        for name, own in model.state_dict().items():
            given = weights.get(name)
            if given is None:
                if optional.match(name):
                    continue
                raise UserError(f"the model has no weights for {name}; pass one with the plain layout of its family")
            own.copy_(given.reshape(own.shape))
