"""Processing layers one by one: what the studies of maps share.

Enters: layers of a batch as they run. Leaves: each layer's maps with what its mask allows, to a study's `take`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch

from regard.capture.visible import visible_of
from regard.corpus.sums import Array
from regard.studies.base import Batch, key
from regard.trace.places import Places, context_between

if TYPE_CHECKING:
    from regard.capture import Layer

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class LayerView:
    """What a layer's mask lets the queries of a batch see: (B, Q, K) booleans, padding left out."""

    query: str  # names of the sides
    key: str
    visible: Array
    causal: bool
    device: torch.device

    @property
    def same(self) -> bool:
        return self.query == self.key

    def tensor(self, array: Array) -> torch.Tensor:
        """An array on the model's device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class Taker(ABC, Generic[Made]):
    """One batch; what depends on tokens and mask is computed once for the layers that share them."""

    maps = True  # whether it asks every layer for the map that the model itself uses

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._made: dict[Any, Made] = {}

    def __call__(self, layer: Layer) -> None:
        prepared = self._for(layer)
        if prepared is not None:
            self.take(layer, layer.attention(), prepared)

    @abstractmethod
    def make(self, view: LayerView) -> Made:
        """What layers with this view need to know about the batch's tokens."""

    @abstractmethod
    def take(self, layer: Layer, attention: torch.Tensor, prepared: Made) -> None:
        """Reduce a layer's maps (B, H, Q, K) to numbers per input."""

    def finish(self) -> None:
        """Called when all layers of the batch have been taken."""

    def add(self, layer: Layer, name: str, values: torch.Tensor | Array) -> None:
        """Record a layer's numbers (B, ...) for the inputs."""
        self.batch.add(key(layer, name), values)

    def _for(self, layer: Layer) -> Made | None:
        """What was computed for this layer's mask; None if its positions are not tokens."""
        operation = layer.named.operation
        query, key_side = sides_of(layer, self.batch)
        keep = self.batch.book.keep
        lengths = keep[query].shape[1], keep[key_side].shape[1]
        if operation.part or (operation.queries, operation.keys) != lengths or operation.batch != len(self.batch.items):
            return None
        mask = operation.mask
        place = (layer.kind, operation.causal, operation.window, None if mask is None else mask.data_ptr())
        if place not in self._made:
            visible = visible_of(operation) & keep[query][:, :, None] & keep[key_side][:, None, :]
            device = (operation.q if operation.q is not None else operation.maps).device  # type: ignore[union-attr]
            self._made[place] = self.make(LayerView(query, key_side, visible, layer.causal, device))
        return self._made[place]


def sides_of(layer: Layer, batch: Batch) -> tuple[str, str]:
    """The sides of a layer's queries and keys."""
    keep = batch.book.keep
    if {"encoder", "decoder"} <= set(keep):
        query = "encoder" if layer.kind == "encoder" else "decoder"
        return query, "encoder" if layer.kind == "cross" else query
    only = next(iter(keep))
    return only, only


def places_in(batch: Batch, view: LayerView) -> list[tuple[Places, Places]]:
    """The places of each input's queries and keys."""
    found = []
    for sides in batch.book.sides:
        context = context_between(sides[view.query], sides[view.key], view.same, view.causal)
        found.append((context.queries, context.keys))
    return found


def uniform_of(view: LayerView) -> torch.Tensor:
    """(B, 1, Q, K) attention spread evenly over what each query sees: what chance would do."""
    seen = np.maximum(view.visible.sum(axis=-1, keepdims=True), 1)
    return view.tensor((view.visible / seen).astype(np.float32))[:, None]
