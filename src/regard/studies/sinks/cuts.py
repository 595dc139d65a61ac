"""What sinks are worth: the loss of a causal model when no row of a layer may look at its resting places.

Enters: a model and a batch. Leaves: per input and layer, the loss after each cut.

"all rows" masks every edge to a resting place in every head of a layer: the other weights of a row grow until they sum
to 1 again. Where the sink holds more than half of a row, nothing else weighs as much, so the fair comparison is over
rows whose sink holds at most half: there, "light rows" masks the sink, and "random" other keys of the same row, drawn
one by one until they hold as much. The last one drawn may be too heavy, and is taken where that is nearer to the same
weight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.capture.operation import operation_of
from regard.capture.outputs import Behind, Place
from regard.capture.prefix import Shared
from regard.capture.rebuild import attention_of, repeat_heads, visible_keys
from regard.corpus.sums import Array
from regard.measures.awake import resting_keys

if TYPE_CHECKING:
    from regard.capture import Book
    from regard.models.model import Model

WAYS = ("all rows", "light rows", "random")
LIGHT = 0.5  # most weight of the sink in a light row
Cutting = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # maps and rests (B, H, Q, K) to what is cut


class SinkCut:
    """An edit that masks keys of one layer; `weight` and `count` are what was cut, summed over rows and heads (B,)."""

    def __init__(self, cut: Cutting, special: torch.Tensor, family: str) -> None:
        self.cut, self.special, self.family = cut, special, family

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor:
        """The output (B, Q, H, e) without what is cut; a row that loses everything has output 0."""
        operation = None if call is None else operation_of(call, self.family)
        assert operation is not None and operation.v is not None
        maps = attention_of(operation)
        seen = visible_keys(operation).expand(maps.shape)
        rests = resting_keys(seen, self.special[:, None].to(maps.device), causal=True)
        cut = self.cut(maps, rests)
        self.weight = (maps * cut).sum((1, 2, 3))
        self.count = cut.any(-1).sum((1, 2))
        left = maps.masked_fill(cut, 0)
        whole = left.sum(-1, keepdim=True)
        values = repeat_heads(operation.v, operation.heads).float()
        changed = (left / torch.where(whole > 0, whole, 1)) @ values  # (B, H, Q, e)
        rows = cut.any(-1)[..., None]
        return torch.where(rows.transpose(1, 2), changed.transpose(1, 2).to(out.dtype), out)


def all_rows(maps: torch.Tensor, rests: torch.Tensor) -> torch.Tensor:
    """Every edge to a resting place, but in rows that have no other key."""
    return rests & ((maps * ~rests).sum(-1, keepdim=True) > 0)


def light_rows(maps: torch.Tensor, rests: torch.Tensor) -> torch.Tensor:
    """The same in rows whose resting places hold at most half."""
    return all_rows(maps, rests) & ((maps * rests).sum(-1, keepdim=True) <= LIGHT)


def random_rows(seed: int) -> Cutting:
    """Other keys of the light rows, drawn until they hold as much."""

    def cut(maps: torch.Tensor, rests: torch.Tensor) -> torch.Tensor:
        light = light_rows(maps, rests).any(-1, keepdim=True)
        held = (maps * rests).sum(-1, keepdim=True)
        free = maps * ~rests
        draw = torch.Generator().manual_seed(seed)
        order = torch.rand(maps.shape, generator=draw).to(maps.device).argsort(-1)
        drawn = free.gather(-1, order)
        total = drawn.cumsum(-1)
        taken = (total - drawn < held) & ((total <= held) | (total - held < held - (total - drawn)))
        found = torch.zeros_like(rests).scatter(-1, order, taken & (drawn > 0))
        return found & light & ~rests

    return cut


class SinkCuts:
    """The cuts of every layer of a model; what lies below a layer is computed once."""

    def __init__(self, model: Model, seed: int) -> None:
        engine = model._engine
        self.shared = Shared(engine.module, engine.plan(), engine.places(), engine.run)
        self.family, self.seed = str(engine.facts["model_type"]), seed
        self.layers = sorted(model.layout())

    def losses(self, inputs: dict[str, Any], book: Book) -> tuple[Array, Array, Array]:
        """(B,) losses of the whole model; (B, layers, ways) with each cut, and the weight cut per row."""
        special = _special(book, inputs["input_ids"].shape[1])
        runs = self.shared.batch(inputs)
        plain = _loss(runs.plain, inputs)
        shape = (*plain.shape, len(self.layers), len(WAYS))
        found, weights = np.zeros(shape), np.zeros(shape)
        for number, place in enumerate(self.layers):
            ways = (all_rows, light_rows, random_rows(self.seed + number))
            for way, cut in enumerate(ways):
                edit = SinkCut(cut, special, self.family)
                found[:, number, way] = _loss(runs.run_edited(edit, {place}), inputs)
                weights[:, number, way] = (edit.weight / edit.count.clamp(min=1)).cpu().numpy()
        return plain, found, weights


def _special(book: Book, width: int) -> torch.Tensor:
    (side,) = book.keep
    special = torch.zeros(len(book.sides), width, dtype=torch.bool)
    for row, sides in enumerate(book.sides):
        for position, token in enumerate(sides[side].tokens):
            special[row, position] = token.border
    return special


def _loss(output: Any, inputs: dict[str, Any]) -> Array:
    """(B,) mean loss over the tokens of each text, from its second on."""
    ids, mask = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:].float()
    logits = output.logits[:, :-1].float()
    ids, mask = ids.to(logits.device), mask.to(logits.device)
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids, reduction="none")  # (B, T - 1)
    return np.asarray(((loss * mask).sum(-1) / mask.sum(-1).clamp(min=1)).cpu().numpy(), np.float64)
