"""Kovaleva's types of the maps of a corpus' first inputs.

Enters: layers of a batch. Leaves: shares of the five types per head and input, and whether it has a type at all.

A layer leaves only what the types need of its maps: sums over columns, and what is plain in the strongest column and in
the diagonals. When the batch has run, all inputs and layers are typed at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.offset import offset_cells, offset_rows
from regard.measures.shape import Marks, Outline, Parts, beside, outline_of, strongest
from regard.measures.shape_sums import (
    OFFSETS,
    ShapeSums,
    key_tables,
    plain,
    plainness,
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
    """What is kept of one layer's maps (B, H, Q, K)."""

    layer: Layer
    columns: torch.Tensor  # (B, H, S, K)
    weighed: torch.Tensor  # (B, H, T, K), by the tables that are not all 0
    order: torch.Tensor  # (B, H, 3) the strongest columns
    steady: torch.Tensor  # (B, H) in how many rows the first of these is plain
    drawn: torch.Tensor  # (B, H, 5) in how many the diagonals are, beside these columns
    evenness: torch.Tensor  # (B, H)


class Typing:
    """One batch; layers of one side and mask go together."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._known: dict[str, _Inputs | None] = {}
        self._held: dict[tuple[str, int], list[_Held]] = {}
        self._tables: dict[int, Tables] = {}

    def take(
        self,
        layer: Layer,
        attention: torch.Tensor,
        peak: torch.Tensor,
        tables: Tables,
        entropy: torch.Tensor,
        far: torch.Tensor | None,
    ) -> None:
        """Keep what a layer's types need.

        `peak` (B, H, Q) is the strongest attention of each row; `entropy` (B, H) sums the rows that have a choice, and
        `far` (B, H, K) their distances, weighed by attention, if these are known.
        """
        side = sides_of(layer, self.batch)[0]
        if side not in self._known:
            self._known[side] = _Inputs.of(self.batch, side, attention)
        inputs = self._known[side]
        if inputs is None:
            return
        uniform = torch.from_numpy(tables.levels["entropy"].chance).to(entropy)[:, None]
        evenness = entropy / torch.where(uniform > 0, uniform, torch.nan)
        self._tables[id(tables)] = tables
        scale = plainness(peak, tables.seen[:, None])  # infinite in padding, where no key is seen
        columns = inputs.member @ attention
        order = strongest(columns, inputs.lengths)
        tallest = attention.gather(3, order[:, :, None, :1].expand(-1, -1, attention.shape[2], 1))[..., 0]
        held = _Held(
            layer,
            columns,
            inputs.weigh(attention, far if tables.levels["distance"].all_count else None),
            order,
            plain(tallest, scale).sum(dim=-1),
            beside(plain(offset_rows(attention, inputs.cells), scale[:, :, None]), order),
            evenness,
        )
        self._held.setdefault((side, id(tables)), []).append(held)

    def finish(self) -> None:
        """Note the shares of the types of every layer that was taken."""
        for (side, place), layers in self._held.items():
            inputs = self._known[side]
            assert inputs is not None
            found = type_probabilities(inputs.outline(layers, self._tables[place].visible.cpu().numpy()))  # (n, H, 5)
            heads = sum(held.layer.heads for held in layers)
            shares = np.zeros((len(self.batch.items), heads, len(TYPES)))
            counts = np.zeros((len(self.batch.items), heads))
            shares[inputs.typed] = np.nan_to_num(found)
            counts[inputs.typed] = ~np.isnan(found).any(axis=-1)
            start = 0
            for held in layers:
                mine = slice(start, start + held.layer.heads)
                start = mine.stop
                self.batch.add(key(held.layer, "types"), shares[:, mine])
                self.batch.add(key(held.layer, "typed"), counts[:, mine])


@dataclass(eq=False)
class _Inputs:
    """What the types need to know of the tokens of one side of a batch.

    `typed` (n,) are the inputs whose maps are typed, `alike` which of these have the same parts (-1 between parts).
    """

    typed: Array
    alike: dict[tuple[int, ...], list[int]]
    parts: Parts  # of the typed ones
    lengths: torch.Tensor  # (B, 1), 1 for the others
    member: torch.Tensor  # (B, 1, S, Q): 1 where a query is in a part; what separates parts first
    weights: torch.Tensor  # (T, B, 1, Q, K): what attention is weighed with, 0 in padding; the distance last
    weighed: list[int]  # (T,) which of the tables these are; the others are all 0
    cells: tuple[torch.Tensor, torch.Tensor]

    @classmethod
    def of(cls, batch: Batch, side: str, like: torch.Tensor) -> _Inputs | None:
        """Of the inputs of a batch whose maps are `like` (B, H, Q, K); None if none of them is typed."""
        typed: list[int] = []
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, item in enumerate(batch.items):
            tokens = batch.book.sides[number][side].tokens
            if item.number < TYPED and len(tokens) >= FEWEST:
                alike.setdefault(tuple(parts_of(tokens).tolist()), []).append(len(typed))
                typed.append(number)
        if not typed:
            return None
        chosen, size = np.array(typed), like.shape[-1]
        labels, lengths = np.full((len(typed), 1, size), -1), np.ones((len(typed), 1), np.int64)
        weights = np.zeros((3, like.shape[0], 1, size, size), np.float32)
        numbers = np.arange(-1, 1 + max(max(parts) for parts in alike))
        member = np.zeros((like.shape[0], 1, len(numbers), size), np.float32)
        for parts, places in alike.items():
            own, length = np.array(parts), len(parts)
            labels[places, 0, :length], lengths[places] = own, length
            weights[:, chosen[places], 0, :length, :length] = key_tables(own, own)[:, None]
            member[chosen[places], 0, :, :length] = numbers[:, None] == own
        some = np.flatnonzero(weights.any(axis=(1, 2, 3, 4))).tolist()
        every = np.ones((like.shape[0], 1), np.int64)
        every[chosen] = lengths
        arrays = (every, member, weights[some])
        long, within, weighed = (torch.from_numpy(array).to(like.device) for array in arrays)
        of_typed, cells = Parts(labels, numbers, lengths), offset_cells(like, OFFSETS)
        return cls(chosen, alike, of_typed, long, within, weighed, some, cells)

    def weigh(self, attention: torch.Tensor, far: torch.Tensor | None) -> torch.Tensor:
        """(B, H, T, K) attention to each key, weighed; what it is by distance may be known, (B, H, K)."""
        if far is None:
            weighed: torch.Tensor = weigh_keys(attention, self.weights)
            return weighed.movedim(0, 2)
        others = weigh_keys(attention, self.weights[:-1]).unbind() if len(self.weights) > 1 else ()
        return torch.stack([*others, far], dim=2)

    def outline(self, layers: list[_Held], visible: Array) -> Outline:
        """(n, H of all layers) what types need of the maps of typed inputs; `visible` is (B, Q, K)."""

        def joined(name: str) -> Array:
            found: Array = torch.cat([getattr(held, name) for held in layers], dim=1).cpu().numpy()
            return found if len(found) == len(self.typed) else found[self.typed]

        columns = joined("columns")
        weighed = np.zeros((3, *columns.shape[:2], columns.shape[-1]), columns.dtype)
        weighed[self.weighed] = np.moveaxis(joined("weighed"), 2, 0)
        marks = Marks(joined("order"), joined("steady"), joined("drawn"))
        uniform = self._uniform(visible, columns.shape[-2])
        return outline_of(columns, weighed, marks, uniform, self.parts, joined("evenness"))

    def _uniform(self, visible: Array, parts: int) -> ShapeSums:
        """The sums of uniform attention over the keys that are visible (B, Q, K) to the typed inputs, padded."""
        count, keys = len(self.typed), visible.shape[-1]
        shapes = ((count, 1, parts), (3, count, 1), (count, 1), *(((count, 1, len(OFFSETS)),) * 2))
        sums = ShapeSums(*(np.zeros((*shape, keys), np.float32) for shape in shapes))
        for labels, places in self.alike.items():
            length = len(labels)
            seen = np.ascontiguousarray(visible[self.typed[places[0]], :length, :length])
            found = _uniform(labels, seen.tobytes())
            present = sorted({label + 1 for label in labels})
            sums.columns[np.ix_(places, [0], present, range(length))] = found.columns
            sums.weighed[:, places, 0, :length] = found.weighed[:, None]
            for table, own in zip(sums[2:], found[2:], strict=True):
                table[places, 0, ..., :length] = own
        return sums


@lru_cache(maxsize=512)
def _uniform(parts: tuple[int, ...], visible: bytes) -> ShapeSums:
    """The sums of uniform attention over the keys that are visible (n, n): inputs of one length mostly share them."""
    labels = np.array(parts)
    seen = np.frombuffer(visible, bool).reshape(len(parts), -1)
    return shape_sums(uniform_attention(seen.astype(np.float32)), labels, labels, seen)
