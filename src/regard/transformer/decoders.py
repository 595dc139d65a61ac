"""One layer of a decoder alone, opened for the walk: GPT-2, and the Llama kind (Llama, Mistral, Qwen2, SmolLM2).

Enters: a transformers model and the ids of one text. Leaves: a Walk. States are what the model itself hands from layer
to layer, weights are its own; `computed` makes the layer from them as the page does, and a model whose layer comes out
differently is refused.

Names, besides those of walk.py: `decoder.cos`, `decoder.sin` (T, d) turn q and k by their positions, `decoder.rates`
(d/2,) are angles per position; `decoder.W_G` gates the feed-forward network; `final.*` is the last norm, `W_U` has the
columns of the vocabulary's matrix that belong to `candidates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.errors import UserError
from regard.transformer.masks import causal_mask
from regard.transformer.opening import (
    candidates_of,
    fed_forward,
    linear,
    norm_of,
    normed,
    require_same,
    require_short,
    words_of,
)
from regard.transformer.walk import Walk, as_numpy, require_layer
from regard.transformer.weights import ROTARY, known_activation


@dataclass
class _Run:
    """What a run left: what enters each layer and leaves the last one, and how q and k are turned."""

    states: list[Tensor]
    turns: tuple[Tensor, Tensor] | None
    final: Tensor | None
    logits: Tensor | None


@torch.no_grad()
def walk_decoder(module: Any, ids: Sequence[int], *, layer: int = 0, tokenizer: Any = None) -> Walk:
    """Open one layer of a decoder on one text.

    Parameters
    ----------
    module
        A transformers model of a type in `regard.transformer.weights.DECODERS`, with or without its map to words.
    ids
        The text.
    layer
        The layer to open.
    tokenizer
        Names the words of the vocabulary.
    """
    config, base = module.config, module.base_model
    require_short(ids)
    _require_plain(config)
    rotary = config.model_type in ROTARY
    blocks = base.layers if rotary else base.h
    require_layer(layer, len(blocks))
    norm = base.norm if rotary else base.ln_f
    run = _ran(module, blocks, norm, ids)
    arrays = _embedded(base, run.states[0], ids, rotary)
    arrays |= {"decoder.states": torch.stack(run.states), "decoder.in": run.states[layer]}
    arrays |= _llama(blocks[layer]) if rotary else _gpt2(blocks[layer])
    arrays |= _turns(run.turns, base) | norm_of("final", norm)
    candidates: tuple[int, ...] = ()
    if run.logits is not None and run.final is not None:
        candidates = candidates_of(run.logits, ids)
        weight = module.get_output_embeddings().weight
        arrays |= {"decoder.final": run.final, "logits": run.logits, "W_U": weight[list(candidates)].T}
    heads = config.num_attention_heads
    walk = Walk(
        layer,
        heads,
        "pre",
        known_activation(config.hidden_act if rotary else config.activation_function),
        config.rms_norm_eps if rotary else config.layer_norm_epsilon,
        (),
        {name: as_numpy(value) for name, value in arrays.items()},
        tuple(ids),
        tuple(ids[1:]) if run.logits is not None else (),
        words_of(tokenizer, run.logits),
        groups=config.num_key_value_heads if rotary and config.num_key_value_heads < heads else 0,
        normed="rms" if rotary else "layer",
        window=_window(config, layer),
        candidates=candidates,
    )
    require_same(computed(walk)["result"], run.states[layer + 1], module)
    return walk


def computed(walk: Walk) -> dict[str, Tensor]:
    """Every matrix of the opened layer, made from its weights as the page does: the formulas, written out."""
    given = {name: torch.from_numpy(array) for name, array in walk.arrays.items()}
    x = given["decoder.in"]  # (T, D)
    norm = normed(x, "decoder", given, walk)
    q, k, v = (linear(norm, given, f"decoder.{{}}_{letter}") for letter in "QKV")  # (T, H d), (T, G d)
    q = q.view(len(x), walk.heads, -1).transpose(0, 1)  # (T, H, d) -> (H, T, d)
    groups = walk.groups or walk.heads
    k, v = (part.view(len(x), groups, -1).transpose(0, 1) for part in (k, v))  # (G, T, d)
    turned_q, turned_k = (_turned(part, given) for part in (q, k))
    keys, values = (part.repeat_interleave(walk.heads // groups, 0) for part in (turned_k, v))  # (H, T, d)
    scores = turned_q @ keys.transpose(1, 2) / q.shape[-1] ** 0.5  # (H, T, T)
    masked = scores.masked_fill(~_visible(len(x), walk.window), -torch.inf)
    weights = masked.softmax(-1)
    joined = (weights @ values).transpose(0, 1).flatten(1)  # (H, T, d) -> (T, H d)
    output = linear(joined, given, "decoder.{}_O")
    added = x + output
    return {
        "norm": norm,
        "q": q,
        "k": k,
        "v": v,
        "turned q": turned_q,
        "turned k": turned_k,
        "scores": scores,
        "weights": weights,
        "joined": joined,
        "output": output,
        "added": added,
        **fed_forward(added, "decoder", given, walk),
    }


def _turned(x: Tensor, given: dict[str, Tensor]) -> Tensor:
    """Number i and number i + d/2 of each vector are the two ends of an arrow that turns with the position."""
    if "decoder.cos" not in given:
        return x
    first, second = x.chunk(2, -1)
    return x * given["decoder.cos"] + torch.cat([-second, first], -1) * given["decoder.sin"]  # (H, T, d)


def _visible(length: int, window: int | None) -> Tensor:
    seen = causal_mask(length, length)
    return seen if window is None else seen & ~causal_mask(length, length).tril(-window)


def _require_plain(config: Any) -> None:
    """Refuse what the formulas leave out."""
    unusual = [
        name for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention") if getattr(config, name, False)
    ]
    if unusual:
        raise UserError(f"this {config.model_type} model has {unusual[0]} set; pass one without it")


def _ran(module: Any, blocks: nn.ModuleList, norm: nn.Module, ids: Sequence[int]) -> _Run:
    """Run the model once, and keep what its layers are given."""
    run = _Run([], None, None, None)

    def entering(_block: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        run.states.append(args[0] if args else given["hidden_states"])
        run.turns = given.get("position_embeddings")

    def leaving(_norm: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
        run.states.append(args[0])
        run.final = output[0]

    with _hooked(blocks, norm, entering, leaving):
        output = module(input_ids=torch.tensor([list(ids)], device=module.device), use_cache=False)
    run.states = [state[0] for state in run.states]
    logits = getattr(output, "logits", None)
    run.logits = None if logits is None or module.get_output_embeddings() is None else logits[0]
    return run


@contextmanager
def _hooked(blocks: nn.ModuleList, norm: nn.Module, entering: Any, leaving: Any) -> Iterator[None]:
    hooks = [block.register_forward_pre_hook(entering, with_kwargs=True) for block in blocks]
    hooks.append(norm.register_forward_hook(leaving))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _embedded(base: Any, x: Tensor, ids: Sequence[int], rotary: bool) -> dict[str, Tensor]:
    """What enters the first layer, and the parts it is the sum of."""
    table = base.embed_tokens if rotary else base.wte
    found = {"source.word": table(torch.tensor(list(ids), device=x.device)), "source.x": x}
    return found if rotary else found | {"source.position": base.wpe.weight[: len(ids)]}


def _llama(block: Any) -> dict[str, Tensor]:
    attention, feed = block.self_attn, block.mlp
    parts = {
        "Q": attention.q_proj,
        "K": attention.k_proj,
        "V": attention.v_proj,
        "O": attention.o_proj,
        "G": feed.gate_proj,
        "1": feed.up_proj,
        "2": feed.down_proj,
    }
    found = norm_of("decoder", block.input_layernorm) | norm_of("decoder.feed", block.post_attention_layernorm)
    for letter, own in parts.items():
        found[f"decoder.W_{letter}"] = own.weight.T
        if own.bias is not None:
            found[f"decoder.b_{letter}"] = own.bias
    return found


def _gpt2(block: Any) -> dict[str, Tensor]:
    """GPT-2's maps are x @ W already, and those of q, k and v are one."""
    whole, found = block.attn.c_attn, norm_of("decoder", block.ln_1) | norm_of("decoder.feed", block.ln_2)
    for letter, weight, bias in zip("QKV", whole.weight.chunk(3, -1), whole.bias.chunk(3), strict=True):
        found |= {f"decoder.W_{letter}": weight, f"decoder.b_{letter}": bias}
    for letter, own in (("O", block.attn.c_proj), ("1", block.mlp.c_fc), ("2", block.mlp.c_proj)):
        found |= {f"decoder.W_{letter}": own.weight, f"decoder.b_{letter}": own.bias}
    return found


def _turns(turns: tuple[Tensor, Tensor] | None, base: Any) -> dict[str, Tensor]:
    if turns is None:
        return {}
    cos, sin = (part[0] for part in turns)
    return {"decoder.cos": cos, "decoder.sin": sin, "decoder.rates": base.rotary_emb.inv_freq}


def _window(config: Any, layer: int) -> int | None:
    """How many tokens back a layer sees, itself included, if not all."""
    kinds = getattr(config, "layer_types", None)
    window: int | None = getattr(config, "sliding_window", None)
    return window if kinds is None or kinds[layer] == "sliding_attention" else None
