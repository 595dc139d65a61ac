"""Weights on sinks, and the lengths of their keys and values, of one batch.

Enters: layers of a batch. Leaves: per head and input, the mean weight by class of key, the class of the strongest
column, and mean lengths of keys and values on resting places and elsewhere.

Rows count from the ninth key on: a row that sees few keys gives each of them much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.rebuild import repeat_heads
from regard.studies.taking import LayerView, Taker, places_in, uniform_of

if TYPE_CHECKING:
    from regard.capture import Layer

CLASSES = ("first token", "special tokens", "punctuation", "other tokens")
LENGTHS = ("resting places", "other tokens")
FROM = 9  # keys that a row must see to count


@dataclass(eq=False)
class SinkRows:
    """`classes` (B, K, 4) and `rests` (B, K, 2) mark keys, `rows` (B, Q) are weights that make sums over rows means.

    `there` (B,) says which inputs have a row that counts, `chance` (B, 4) what even attention would give.
    """

    classes: torch.Tensor
    rests: torch.Tensor
    rows: torch.Tensor
    there: torch.Tensor
    chance: torch.Tensor


class SinksTaker(Taker["SinkRows"]):
    """One batch."""

    def make(self, view: LayerView) -> SinkRows:
        batch, _, keys = view.visible.shape
        classes = np.zeros((batch, keys, 4), np.float32)
        for number, (_, columns) in enumerate(places_in(self.batch, view)):
            first = np.arange(len(columns.content)) == 0
            special, marks = ~columns.content & ~first, columns.punctuation & ~first
            classes[number, : len(first)] = np.stack([first, special, marks, ~(first | special | marks)], axis=-1)
        counted = view.visible.sum(axis=-1) >= FROM
        rows = counted / np.maximum(counted.sum(axis=-1, keepdims=True), 1)
        rests = np.stack([classes[..., :2].sum(-1), classes[..., 2:].sum(-1)], axis=-1)
        given = (classes, rests, rows, counted.any(axis=-1))
        of_keys, resting, of_rows, there = (view.tensor(one.astype(np.float32)) for one in given)
        chance = _weights(uniform_of(view), of_keys, of_rows)[:, 0]
        return SinkRows(of_keys, resting, of_rows, there, chance)

    def take(self, layer: Layer, attention: torch.Tensor, tables: SinkRows) -> None:
        there = tables.there[:, None, None]
        self.add(layer, "weight", _weights(attention, tables.classes, tables.rows) * there)
        columns = torch.einsum("bhqk,bq->bhk", attention, tables.rows)
        strongest = torch.take_along_dim(tables.classes, columns.argmax(-1)[..., None], dim=1)  # (B, H, 4)
        self.add(layer, "strongest", strongest * there)
        self.add(layer, "inputs", tables.there[:, None].expand(-1, len(CLASSES)))
        self.add(layer, "chance", tables.chance * tables.there[:, None])
        operation = layer.named.operation
        lengths = {"value": layer.norms()}
        if operation.k is not None:
            lengths["key"] = repeat_heads(operation.k, operation.heads).float().norm(dim=-1)
        counts = tables.rests.sum(1)  # (B, 2)
        some = (counts > 0).float() * tables.there[:, None]
        self.add(layer, "lengths", some)
        for name, values in lengths.items():
            if values is not None:  # (B, H, K) @ (B, K, 2)
                self.add(layer, name, values @ tables.rests / counts.clamp(min=1)[:, None] * some[:, None])


def _weights(attention: torch.Tensor, classes: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """(B, H, 4) mean weight on each class of keys."""
    return torch.einsum("bhqc,bq->bhc", attention @ classes[:, None], rows)
