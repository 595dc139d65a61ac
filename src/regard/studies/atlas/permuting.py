"""Permuted queries: the control that keeps everything of a trained model but who asks.

Enters: layers of a batch. Leaves: the same layers in which, within each input, every ordinary token asks with the q of
another one. Keys, values, mask and position bias stay, and the model itself runs as it is. What a head does whatever
the query is, it does here too; what it does for a query, it does no longer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.studies.base import Batch
from regard.studies.taking import sides_of

if TYPE_CHECKING:
    from regard.capture import Layer


class Permuting:
    """One batch; all layers and heads of an input have the same permutation, whatever batch it is in."""

    def __init__(self, batch: Batch, seed: int) -> None:
        self.batch, self.seed = batch, seed
        self._orders: dict[str, torch.Tensor] = {}

    def __call__(self, layer: Layer) -> Layer | None:
        """The layer with permuted queries; None where only its maps are known, not its q."""
        operation = layer.named.operation
        side = sides_of(layer, self.batch)[0]
        if operation.q is None or operation.part or operation.queries != self.batch.book.keep[side].shape[1]:
            return None
        order = self._order(side).to(operation.q.device)[:, None, :, None]  # (B, 1, Q, 1)
        q = operation.q.gather(2, order.expand(operation.q.shape))
        return replace(layer, named=replace(layer.named, operation=replace(operation, q=q, lse=None)))

    def _order(self, side: str) -> torch.Tensor:
        """(B, Q) whose q each query has; its own in padding and at special tokens."""
        if side not in self._orders:
            keep = self.batch.book.keep[side]
            orders = np.tile(np.arange(keep.shape[1]), (len(keep), 1))
            for number, item in enumerate(self.batch.items):
                places = np.flatnonzero(keep[number])
                ordinary = [not token.special for token in self.batch.book.sides[number][side].tokens]
                orders[number, places] = places[permutation(np.array(ordinary), [self.seed, item.number])]
            self._orders[side] = torch.from_numpy(orders)
        return self._orders[side]


def permutation(ordinary: Array, seed: list[int]) -> Array:
    """(n,) places: those where `ordinary` (n,) is true in one random cycle, so that none stays; the others stay."""
    order = np.arange(len(ordinary))
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(ordinary))
    order[drawn] = np.roll(drawn, 1)
    return order
