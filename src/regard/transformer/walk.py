"""Every matrix from words to attention to words, for a walk through one layer with real numbers.

Enters: a model of model.py and the ids of one input. Leaves: a Walk, arrays by name, from which the page recomputes
each step (so that it can also show what would happen if a step were different).

Names: `source.*` and `target.*` are embeddings (`narrow`, `W_E` and `b_E` where their tables are narrower than D);
`encoder.*`, `decoder.*` and `cross.*` are one layer's weights, as x @ W + b; `*.in` is what enters a layer and
`*.states` (layers + 1, positions, D) the states between layers. Decoders that are alone: decoders.py; T5: t5.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.base.errors import UserError
from regard.trace.site import Array
from regard.transformer.masks import causal_mask
from regard.transformer.model import Bert, Embedding, EncoderLayer, Translator

_ATTENTION = (("Q", "query"), ("K", "key"), ("V", "value"), ("O", "output"))


@dataclass(frozen=True, eq=False)
class Walk:
    """One layer of a model, opened: arrays by name, and the choices that say how they fit together."""

    layer: int
    heads: int
    norm: str
    activation: str
    epsilon: float
    order: tuple[int, ...]  # the other order of words, for the step that permutes them
    arrays: dict[str, Array]
    ids: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()  # the ids that follow each target position
    vocabulary: tuple[str, ...] = ()
    groups: int = 0  # heads of keys and values, where several heads of queries share one; 0: each has its own
    normed: str = "layer"  # or "rms"
    window: int | None = None  # tokens that a decoder sees, itself included, if not all before it
    divided: bool = True  # whether scores are divided by the root of the head's width
    candidates: tuple[int, ...] = ()  # ids of the words whose columns of the vocabulary's matrix are there


@torch.no_grad()
def walk_through(
    model: Translator | Bert, ids: Sequence[int], target: Sequence[int] = (), *, layer: int = 0, tokenizer: Any = None
) -> Walk:
    """Open one layer of a model on one input.

    Parameters
    ----------
    model
        A model of `regard.transformer.model`, or one made by `from_hugging_face`.
    ids
        The source (or the text of an encoder).
    target
        What the decoder reads, start token first; its last prediction should be the end of the sentence.
    layer
        Which layer of encoder and decoder to open.
    tokenizer
        Names the words of the vocabulary, for the decoder's predictions.
    """
    model.eval()
    config = model.config
    require_layer(layer, min(config.layers, config.decoder_layers or config.layers))
    source = torch.tensor([list(ids)])
    embedding = model.source if isinstance(model, Translator) else model.embedding
    order = _other_order(len(ids))
    arrays = _embedded("source", embedding, source)
    states = _states(model.encoder, embedding(source), (None,))
    arrays |= {"encoder.states": states, "encoder.in": states[layer], "memory": _final(model.encoder, states)}
    arrays |= _layer("encoder", model.encoder.layers[layer])
    arrays |= _permuted(model, embedding, source, order, layer)
    vocabulary: tuple[str, ...] = ()
    if isinstance(model, Translator) and target:
        arrays |= _decoded(model, torch.tensor([list(target)]), arrays["memory"], layer)
        vocabulary = tuple(tokenizer.decode([i]) or str(i) for i in range(config.vocabulary)) if tokenizer else ()
    return Walk(
        layer,
        config.heads,
        config.norm,
        config.activation,
        config.epsilon,
        order,
        {name: as_numpy(value) for name, value in arrays.items()},
        tuple(ids),
        (*target[1:], config.end) if target else (),
        vocabulary,
    )


def require_layer(layer: int, layers: int) -> None:
    """Refuse a layer that a model of so many layers does not have."""
    if not 0 <= layer < layers:
        raise UserError(f"the model has layers 0 to {layers - 1}, not {layer}")


def _embedded(name: str, embedding: Embedding, ids: Tensor) -> dict[str, Tensor]:
    """The parts that an embedding adds up, and what comes out."""
    found = {
        f"{name}.word": embedding.word(ids)[0] * embedding.scale,
        f"{name}.position": embedding.position[: ids.shape[1]],
    }
    if embedding.segment is not None:
        found[f"{name}.segment"] = embedding.segment(torch.zeros_like(ids))[0]
    total = torch.stack(list(found.values())).sum(0)
    if isinstance(embedding.norm, nn.LayerNorm):
        found |= {f"{name}.scale": embedding.norm.weight, f"{name}.shift": embedding.norm.bias}
    if isinstance(embedding.widen, nn.Linear):
        found |= {
            f"{name}.narrow": embedding.norm(total),
            f"{name}.W_E": embedding.widen.weight.T,
            f"{name}.b_E": embedding.widen.bias,
        }
    return found | {f"{name}.x": embedding(ids)[0]}  # (T, D) each


def _states(stack: nn.Module, x: Tensor, given: tuple[Any, ...]) -> Tensor:
    """(layers + 1, T, D) what enters each layer, and what leaves the last."""
    states = [x[0]]
    layers: Any = stack.layers
    for layer in layers:
        x = layer(x, *given)
        states.append(x[0])
    return torch.stack(states)


def _final(stack: nn.Module, states: Tensor) -> Tensor:
    norm: Any = stack.norm
    final: Tensor = norm(states[-1])
    return final  # (T, D)


def _layer(name: str, layer: Any) -> dict[str, Tensor]:
    """Weights of a layer's attention, norms and feed-forward network."""
    found = _attention(name, layer.self_attention, layer.self_norm.norm)
    if not isinstance(layer, EncoderLayer):
        found |= _attention("cross", layer.cross_attention, layer.cross_norm.norm)
    for number, linear in enumerate((layer.feed_forward.widen, layer.feed_forward.narrow), 1):
        found |= {f"{name}.W_{number}": linear.weight.T, f"{name}.b_{number}": linear.bias}
    norm = layer.feed_norm.norm
    return found | {f"{name}.feed.scale": norm.weight, f"{name}.feed.shift": norm.bias}


def _attention(name: str, attention: Any, norm: nn.LayerNorm) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {f"{name}.scale": norm.weight, f"{name}.shift": norm.bias}
    for letter, part in _ATTENTION:
        linear = getattr(attention, part)
        found |= {f"{name}.W_{letter}": linear.weight.T, f"{name}.b_{letter}": linear.bias}  # x @ W + b
    return found


def _other_order(length: int) -> tuple[int, ...]:
    """The first and last positions stay, those between are reversed."""
    inner = range(1, length - 1)
    return (0, *reversed(inner), length - 1) if length > 2 else tuple(reversed(range(length)))


def _permuted(
    model: Translator | Bert, embedding: Embedding, ids: Tensor, order: Sequence[int], layer: int
) -> dict[str, Tensor]:
    """What enters the layer when words are permuted, when positions are left out, and with both."""
    found = {}
    for name, places, positions in (
        ("permuted", list(order), True),
        ("placeless", list(range(ids.shape[1])), False),
        ("permuted.placeless", list(order), False),
    ):
        x = embedding.word(ids[:, places]) * embedding.scale
        if positions:
            x = x + embedding.position[: ids.shape[1]]
        if embedding.segment is not None:
            x = x + embedding.segment(torch.zeros_like(ids))
        found[f"encoder.in.{name}"] = _states(model.encoder, embedding.widen(embedding.norm(x)), (None,))[layer]
    return found


def _decoded(model: Translator, target: Tensor, memory: Tensor, layer: int) -> dict[str, Tensor]:
    mask = causal_mask(target.shape[1], target.shape[1])
    states = _states(model.decoder, model.target(target), (memory[None], mask, None))
    final = _final(model.decoder, states)
    return {
        **_embedded("target", model.target, target),
        **_layer("decoder", model.decoder.layers[layer]),
        "decoder.states": states,
        "decoder.in": states[layer],
        "decoder.final": final,
        "logits": model.output(final),  # (T, V)
    }


def as_numpy(value: Tensor) -> Array:
    """A tensor as an array of float32, whatever its type and device."""
    return np.ascontiguousarray(value.detach().float().cpu().numpy())
