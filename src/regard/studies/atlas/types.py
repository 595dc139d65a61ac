"""Kovaleva's types of the maps of a corpus' first inputs.

Enters: layers of a batch. Leaves: shares of the five types per head and input, and whether it has a type at all.

A layer leaves only what the types need of its maps: sums over columns, and the diagonals. When the batch has run,
inputs alike in length and parts are typed together, all layers at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.offset import offset_rows
from regard.measures.shape import (
    OFFSETS,
    Shape,
    ShapeSums,
    key_tables,
    plain,
    plainness,
    shape_of,
    shape_sums,
    uniform_attention,
    weigh_keys,
)
from regard.measures.types import FEWEST, TYPES, type_probabilities
from regard.studies.base import Batch, key
from regard.studies.taking import sides_of
from regard.trace.places import parts_of

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.studies.tables import Tables

TYPED = 1000  # inputs whose maps are typed, as in Kovaleva et al. (2019)


@dataclass(eq=False)
class _Held:
    """What is kept of one layer: sums of maps (B, H, Q, K), and evenness (B, H)."""

    layer: Layer
    sums: ShapeSums
    evenness: torch.Tensor


class Typing:
    """One batch; layers of one side and mask go together."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._alike: dict[str, dict[tuple[int, ...], list[int]]] = {}
        self._members: dict[str, torch.Tensor] = {}
        self._weights: dict[str, torch.Tensor] = {}
        self._some: dict[str, list[int]] = {}  # which of these weights are not all 0
        self._held: dict[tuple[str, int], list[_Held]] = {}
        self._tables: dict[int, Tables] = {}

    def take(
        self, layer: Layer, attention: torch.Tensor, peak: torch.Tensor, tables: Tables, entropy: torch.Tensor
    ) -> None:
        """Keep what a layer's types need.

        `peak` (B, H, Q) is the strongest attention of each row, `entropy` (B, H) sums the rows that have a choice.
        """
        side = sides_of(layer, self.batch)[0]
        if not self._groups(side):
            return
        uniform = torch.from_numpy(tables.levels["entropy"].chance).to(entropy)[:, None]
        evenness = entropy / torch.where(uniform > 0, uniform, torch.nan)
        self._tables[id(tables)] = tables
        self._held.setdefault((side, id(tables)), []).append(
            _Held(layer, self._sums(side, attention, peak, tables), evenness)
        )

    def finish(self) -> None:
        """Note the shares of the types of every layer that was taken."""
        for (side, place), layers in self._held.items():
            visible = self._tables[place].visible.cpu().numpy()
            heads = [held.layer.heads for held in layers]
            sums = _layers_joined([held.sums for held in layers])
            evenness = torch.cat([held.evenness for held in layers], dim=1).cpu().numpy()
            shares = np.zeros((len(self.batch.items), sum(heads), len(TYPES)))
            counts = np.zeros((len(self.batch.items), sum(heads)))
            for parts, numbers in self._groups(side).items():
                shape = _shape(_inputs_of(sums, numbers), evenness[numbers], visible[numbers[0]], parts)
                found = type_probabilities(shape)  # (n, H, 5)
                shares[numbers] = np.nan_to_num(found)
                counts[numbers] = ~np.isnan(found).any(axis=-1)
            edges = np.cumsum(heads)[:-1]
            for held, part, typed in zip(layers, *(np.split(a, edges, axis=1) for a in (shares, counts)), strict=True):
                self.batch.add(key(held.layer, "types"), part)
                self.batch.add(key(held.layer, "typed"), typed)

    def _groups(self, side: str) -> dict[tuple[int, ...], list[int]]:
        """Numbers of the inputs to type, by the part that each token is in (-1 between parts)."""
        if side not in self._alike:
            self._alike[side] = {}
            for number, item in enumerate(self.batch.items):
                tokens = self.batch.book.sides[number][side].tokens
                if item.number < TYPED and len(tokens) >= FEWEST:
                    labels = tuple(parts_of(tokens).tolist())
                    self._alike[side].setdefault(labels, []).append(number)
        return self._alike[side]

    def _sums(self, side: str, attention: torch.Tensor, peak: torch.Tensor, tables: Tables) -> ShapeSums:
        """The sums of a layer's maps."""
        scale = plainness(peak, tables.visible[:, None])
        diagonals = _diagonals(attention)
        return ShapeSums(
            self._member(side, attention) @ attention,
            self._weighed(side, attention),
            plain(attention, scale[..., None]).sum(dim=-2),
            diagonals,
            plain(diagonals, scale),
        )

    def _weighed(self, side: str, attention: torch.Tensor) -> torch.Tensor:
        """(3, B, H, K) attention to each key, weighed; what is weighed with nothing is not looked at."""
        weights = self._weight(side, attention)
        found = attention.new_zeros(len(weights), *attention.shape[:2], attention.shape[-1])
        some = self._some[side]
        found[some] = weigh_keys(attention, weights[some])
        return found

    def _weight(self, side: str, like: torch.Tensor) -> torch.Tensor:
        """(3, B, 1, Q, K): what attention is weighed with; 0 in padding."""
        if side not in self._weights:
            weights = np.zeros((3, like.shape[0], 1, *like.shape[-2:]), np.float32)
            for labels, numbers in self._groups(side).items():
                length = len(labels)
                made = key_tables(np.array(labels), np.array(labels))
                weights[:, numbers, 0, :length, :length] = made[:, None]
            self._some[side] = np.flatnonzero(weights.any(axis=(1, 2, 3, 4))).tolist()
            self._weights[side] = torch.from_numpy(weights).to(like)
        return self._weights[side]

    def _member(self, side: str, like: torch.Tensor) -> torch.Tensor:
        """(B, 1, S, Q): 1 where a query is in a part; what separates parts first."""
        if side not in self._members:
            groups = self._groups(side)
            names = np.arange(-1, 1 + max(max(labels) for labels in groups))
            member = np.zeros((like.shape[0], 1, len(names), like.shape[-2]), np.float32)
            for labels, numbers in groups.items():
                member[numbers, 0, :, : len(labels)] = names[:, None] == np.array(labels)
            self._members[side] = torch.from_numpy(member).to(like)
        return self._members[side]


def _diagonals(attention: torch.Tensor) -> torch.Tensor:
    """(5, B, H, Q): A[i, i + offset], 0 where there is no such key."""
    return torch.stack([offset_rows(attention, offset) for offset in OFFSETS])


def _layers_joined(layers: list[ShapeSums]) -> ShapeSums:
    """The sums of all layers, (B, H of all layers, ...), as arrays."""
    heads = ShapeSums(columns=1, weighed=2, plain=1, diagonals=2, lines=2)  # where the axis of heads is
    return ShapeSums(
        *(
            torch.cat(parts, dim=axis).cpu().numpy()
            for parts, axis in zip(zip(*layers, strict=True), heads, strict=True)
        )
    )


def _inputs_of(sums: ShapeSums, numbers: list[int]) -> ShapeSums:
    """The sums of some inputs."""
    return ShapeSums(
        sums.columns[numbers],
        sums.weighed[:, numbers],
        sums.plain[numbers],
        sums.diagonals[:, numbers],
        sums.lines[:, numbers],
    )


def _shape(sums: ShapeSums, evenness: Array, visible: Array, parts: tuple[int, ...]) -> Shape:
    """Shape features (n, H of all layers) of inputs that are alike."""
    length, labels = len(parts), np.array(parts)
    uniform = _uniform(parts, np.ascontiguousarray(visible[:length, :length]).tobytes())
    own = ShapeSums(*(part[..., :length] for part in sums))
    present = sorted({label + 1 for label in parts})
    return shape_of(own._replace(columns=own.columns[:, :, present]), uniform, labels, evenness.reshape(-1))


@lru_cache(maxsize=512)
def _uniform(parts: tuple[int, ...], visible: bytes) -> ShapeSums:
    """The sums of uniform attention over the keys that are visible (n, n): inputs of one length mostly share them."""
    labels = np.array(parts)
    seen = np.frombuffer(visible, bool).reshape(len(parts), -1)
    return shape_sums(uniform_attention(seen.astype(np.float32)), labels, labels, seen)
