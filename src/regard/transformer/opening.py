"""What opening a layer of other people's models takes, whichever kind they are: decoders.py, t5.py.

Enters: weights and states of a model. Leaves: its maps and norms as formulas, the words it is likely to say, refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.errors import UserError
from regard.transformer.model import ACTIVATION_OF
from regard.transformer.walk import Walk

MOST = 128  # tokens: a page has the logits of every word at each of them
_LIKELY = 8  # words of each position whose columns of the vocabulary's matrix are kept
_CLOSE = 1e-4  # of the largest number: float32
_COARSE = 0.05  # the same where the model runs in 16 bits and rounds between steps


def require_short(ids: Sequence[int]) -> None:
    """Refuse a text that a page has no room for."""
    if len(ids) > MOST:
        raise UserError(f"the text has {len(ids)} tokens, and the walk goes through at most {MOST}; shorten it")


def linear(x: Tensor, given: dict[str, Tensor], name: str) -> Tensor:
    """x @ W, plus b where the map has one; the name has a place for the letter."""
    bias = given.get(name.format("b"))
    made = x @ given[name.format("W")]
    return made if bias is None else made + bias


def normed(x: Tensor, name: str, given: dict[str, Tensor], walk: Walk) -> Tensor:
    """LayerNorm, or RMSNorm, which takes off no mean and adds no shift."""
    if walk.normed == "layer":
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.square().mean(-1, keepdim=True) + walk.epsilon).sqrt()
        return centred / spread * given[f"{name}.scale"] + given[f"{name}.shift"]
    return x / (x.square().mean(-1, keepdim=True) + walk.epsilon).sqrt() * given[f"{name}.scale"]


def fed_forward(x: Tensor, part: str, given: dict[str, Tensor], walk: Walk) -> dict[str, Tensor]:
    """The feed-forward network of a stack, which reads a normalised copy and is added to what came in."""
    inner = normed(x, f"{part}.feed", given, walk)
    bend, wide = ACTIVATION_OF[walk.activation], linear(inner, given, f"{part}.{{}}_1")
    gate = linear(inner, given, f"{part}.{{}}_G") if f"{part}.W_G" in given else None
    hidden = bend(wide) if gate is None else bend(gate) * wide  # (T, hidden)
    fed = linear(hidden, given, f"{part}.{{}}_2")
    return {"inner": inner, "hidden": hidden, "fed": fed, "result": x + fed}


def require_same(made: Tensor, true: Tensor, module: nn.Module) -> None:
    """Refuse a model whose layer the formulas do not give."""
    exact = true.dtype == torch.float32
    true = true.float().cpu()
    error = float((made - true).abs().max() / true.abs().max())
    if not error <= (_CLOSE if exact else _COARSE):
        raise UserError(
            f"this {type(module).__name__} computes its layers differently from others of its type, so they cannot be "
            "opened step by step; pass another model"
        )


def norm_of(name: str, norm: Any) -> dict[str, Tensor]:
    """What a norm learned: its scale, and its shift if it has one."""
    shift = getattr(norm, "bias", None)
    return {f"{name}.scale": norm.weight} | ({} if shift is None else {f"{name}.shift": shift})


def candidates_of(logits: Tensor, ids: Sequence[int]) -> tuple[int, ...]:
    """The likeliest words at every position, and those of the text."""
    best = logits.topk(min(_LIKELY, logits.shape[-1]), -1).indices
    return tuple(sorted({*best.flatten().tolist(), *ids}))


def words_of(tokenizer: Any, logits: Tensor | None) -> tuple[str, ...]:
    """Every word of the vocabulary, where there are predictions."""
    if tokenizer is None or logits is None:
        return ()
    return tuple(tokenizer.batch_decode([[i] for i in range(logits.shape[-1])]))
