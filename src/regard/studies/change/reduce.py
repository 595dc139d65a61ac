"""What training changed: the maps of two models of the same shape, input by input (Kovaleva et al. 2019, section 4.3).

Enters: batches that two models run. Leaves: cosine and Jensen-Shannon distance per head and input, and
the sums of the atlas for both.

The first model's layers are kept, as q, k and v, until the second has run, so a batch is processed in parts of few
tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.measures.divergence import SMOOTH, js_rows
from regard.measures.entropy import mix_uniform
from regard.studies.atlas.reduce import AtlasTaker
from regard.studies.base import Batch

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.studies.tables import Tables

SIDES = ("before", "after")
MEASURES = ("cosine", "js")
_TOKENS = 512  # padded tokens of which two models' layers are compared at once


def portions(items: list[Item]) -> Iterator[list[Item]]:
    """A batch in parts of few padded tokens; items are sorted by length."""
    part: list[Item] = []
    for item in items:
        if part and (len(part) + 1) * len(item.encoded.ids) > _TOKENS:
            yield part
            part = []
        part.append(item)
    yield part


class LayerKeeper(AtlasTaker):
    """The atlas of the first model, and its layers for the second."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self.layers: dict[tuple[str, int], Layer] = {}

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        super().take(layer, attention, tables)
        self.layers[layer.kind, layer.layer] = layer


class LayerComparer(AtlasTaker):
    """The atlas of the second model, and each layer's distance from the first's."""

    def __init__(self, batch: Batch, layers: dict[tuple[str, int], Layer]) -> None:
        super().__init__(batch)
        self.layers = layers

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        super().take(layer, attention, tables)
        first = self.layers.pop((layer.kind, layer.layer), None)
        before = None if first is None else first.attention().to(attention.device)
        if before is None or before.shape != attention.shape:
            shape = "none" if before is None else f"{before.shape[1]} heads"
            raise UserError(
                f"the models differ in shape: {layer.kind} layer {layer.layer} has {layer.heads} heads in the second, "
                f"{shape} in the first; compare models of one shape"
            )
        rows = (tables.visible.any(-1)).to(attention.dtype)  # (B, Q) rows that are not padding
        self.add(
            layer, "change", torch.stack([_cosine(before, attention, rows), _js(before, attention, tables, rows)], -1)
        )
        self.add(layer, "inputs", torch.ones(len(attention), len(MEASURES)))


def _cosine(one: torch.Tensor, other: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """(B, H) cosine of the flattened maps."""
    weights = rows[:, None, :, None]

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b * weights).sum((-2, -1))

    return product(one, other) / (product(one, one) * product(other, other)).sqrt().clamp(min=1e-30)


def _js(one: torch.Tensor, other: torch.Tensor, tables: Tables, rows: torch.Tensor) -> torch.Tensor:
    """(B, H) Jensen-Shannon distance, the mean over rows."""
    visible = tables.visible[:, None]
    distances = js_rows(*(mix_uniform(maps, visible=visible, smooth=SMOOTH) for maps in (one, other)))  # (B, H, Q)
    return torch.einsum("bhq,bq->bh", distances, rows) / rows.sum(-1, keepdim=True)
