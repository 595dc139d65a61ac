"""One layer of T5 and mT5, opened for the walk: encoder, decoder and the attention between them.

Enters: a transformers model and the ids of both texts. Leaves: a Walk. States are what the model itself hands from
layer to layer, weights are its own; `computed` makes the layer from them as the page does, and a model whose layers
come out differently is refused.

Names, besides those of walk.py and decoders.py: `encoder.bias` and `decoder.bias` (H, T, T) are added to the scores by
distance; every layer has the same. `W_U` has the scale that the model gives its last state, if it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from regard.transformer.weights import known_activation

_MAPS = (("Q", "q"), ("K", "k"), ("V", "v"), ("O", "o"))


@dataclass
class _Stack:
    """What a run left of one stack: what enters each layer and leaves the last one, and that normalised."""

    states: list[Tensor] = field(default_factory=list)
    final: Tensor = field(default_factory=lambda: torch.empty(0))


@torch.no_grad()
def walk_t5(module: Any, ids: Sequence[int], target: Sequence[int], *, layer: int = 0, tokenizer: Any = None) -> Walk:
    """Open one layer of encoder and decoder on a text and an answer.

    Parameters
    ----------
    module
        A transformers model of a type in `regard.transformer.weights.RELATIVE`, with or without its map to words.
    ids
        What the encoder reads.
    target
        What the decoder reads, start token first.
    layer
        The layer to open, of both.
    tokenizer
        Names the words of the vocabulary.
    """
    config = module.config
    if not hasattr(module, "decoder"):
        raise UserError(f"{type(module).__name__} has no decoder; pass the whole model, encoder and decoder")
    require_short(ids)
    require_short(target)
    stacks: dict[str, Any] = {"encoder": module.encoder, "decoder": module.decoder}
    require_layer(layer, min(len(stack.block) for stack in stacks.values()))
    runs, logits = _ran(module, stacks, ids, target)
    arrays: dict[str, Tensor] = {"memory": runs["encoder"].final, **norm_of("final", module.decoder.final_layer_norm)}
    for side, (part, stack), run in zip(("source", "target"), stacks.items(), runs.values(), strict=True):
        arrays |= {f"{side}.word": run.states[0], f"{side}.x": run.states[0]}
        arrays |= {f"{part}.states": torch.stack(run.states), f"{part}.in": run.states[layer]}
        arrays |= _layer(part, stack, layer, len(run.states[0]))
    candidates: tuple[int, ...] = ()
    if logits is not None:
        candidates = candidates_of(logits, [*target[1:], config.eos_token_id])
        scale = config.d_model**-0.5 if getattr(config, "scale_decoder_outputs", False) else 1.0
        weight = module.get_output_embeddings().weight[list(candidates)].T * scale
        arrays |= {"decoder.final": runs["decoder"].final, "logits": logits, "W_U": weight}
    walk = Walk(
        layer,
        config.num_heads,
        "pre",
        known_activation(config.dense_act_fn),
        config.layer_norm_epsilon,
        (),
        {name: as_numpy(value) for name, value in arrays.items()},
        tuple(ids),
        (*target[1:], config.eos_token_id) if logits is not None else (),
        words_of(tokenizer, logits),
        normed="rms",
        divided=False,
        candidates=candidates,
    )
    made = computed(walk)
    for part, run in runs.items():
        require_same(made[part]["result"], run.states[layer + 1], module)
    return walk


def computed(walk: Walk) -> dict[str, dict[str, Tensor]]:
    """Every matrix of the opened layers, by stack, and of the attention between them: the formulas, written out."""
    given = {name: torch.from_numpy(array) for name, array in walk.arrays.items()}
    encoder, decoder = (_attended(given[f"{part}.in"], part, given, walk) for part in ("encoder", "decoder"))
    cross = _attended(decoder["added"], "cross", given, walk)
    return {
        "encoder": encoder | fed_forward(encoder["added"], "encoder", given, walk),
        "decoder": decoder | fed_forward(cross["added"], "decoder", given, walk),
        "cross": cross,
    }


def _attended(x: Tensor, part: str, given: dict[str, Tensor], walk: Walk) -> dict[str, Tensor]:
    """Attention of one kind: scores are not divided; those within a text have a bias added by distance."""
    norm = normed(x, part, given, walk)
    source = given["memory"] if part == "cross" else norm
    q, k, v = (
        linear(of, given, f"{part}.{{}}_{letter}").view(len(of), walk.heads, -1).transpose(0, 1)  # (H, T, d)
        for of, letter in ((norm, "Q"), (source, "K"), (source, "V"))
    )
    scores = q @ k.transpose(1, 2)  # (H, T, S)
    biased = scores if part == "cross" else scores + given[f"{part}.bias"]
    seen = causal_mask(len(x), len(x)) if part == "decoder" else torch.ones(len(x), len(source), dtype=torch.bool)
    weights = biased.masked_fill(~seen, -torch.inf).softmax(-1)
    joined = (weights @ v).transpose(0, 1).flatten(1)  # (H, T, d) -> (T, H d)
    output = linear(joined, given, f"{part}.{{}}_O")
    return {
        "norm": norm,
        "q": q,
        "k": k,
        "v": v,
        "scores": scores,
        "biased": biased,
        "weights": weights,
        "joined": joined,
        "output": output,
        "added": x + output,
    }


def _ran(
    module: Any, stacks: dict[str, Any], ids: Sequence[int], target: Sequence[int]
) -> tuple[dict[str, _Stack], Tensor | None]:
    """Run the model once, and keep what its layers are given."""
    runs = {part: _Stack() for part in stacks}
    with ExitStack() as hooks:
        for part, stack in stacks.items():
            for hook in _noting(stack, runs[part]):
                hooks.callback(hook.remove)
        given = {"input_ids": ids, "decoder_input_ids": target}
        tensors = {name: torch.tensor([list(some)], device=module.device) for name, some in given.items()}
        output = module(**tensors, use_cache=False)
    logits = getattr(output, "logits", None)
    return runs, None if logits is None else logits[0]


def _noting(stack: Any, run: _Stack) -> list[Any]:
    """Hooks that note what enters each layer of a stack, and what its last norm is given and gives."""

    def entering(_block: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        run.states.append((args[0] if args else given["hidden_states"])[0])

    def leaving(_norm: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
        run.states.append(args[0][0])
        run.final = output[0]

    hooks = [block.register_forward_pre_hook(entering, with_kwargs=True) for block in stack.block]
    return [*hooks, stack.final_layer_norm.register_forward_hook(leaving)]


def _layer(part: str, stack: Any, layer: int, length: int) -> dict[str, Tensor]:
    """Weights of a layer, and the bias by distance that the first layer makes for all of them."""
    self_attention, *between, feed = stack.block[layer].layer
    bias = stack.block[0].layer[0].SelfAttention.compute_bias(length, length)[0]  # (H, T, T)
    found = {f"{part}.bias": bias} | _attention(part, self_attention.SelfAttention, self_attention.layer_norm)
    for one in between:
        found |= _attention("cross", one.EncDecAttention, one.layer_norm)
    maps = feed.DenseReluDense
    gated = hasattr(maps, "wi_0")
    named = {"G": maps.wi_0, "1": maps.wi_1} if gated else {"1": maps.wi}
    found |= {f"{part}.W_{name}": own.weight.T for name, own in (named | {"2": maps.wo}).items()}
    return found | norm_of(f"{part}.feed", feed.layer_norm)


def _attention(name: str, attention: Any, norm: Any) -> dict[str, Tensor]:
    weights = {f"{name}.W_{letter}": getattr(attention, own).weight.T for letter, own in _MAPS}
    return weights | norm_of(name, norm)
