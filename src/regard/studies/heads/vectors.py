"""q and k of every head on a sample of the corpus, with where each row looks.

Enters: a model, inputs. Leaves: arrays by layer, in which the positions of all inputs follow one another.

Vectors are those before rotary positions turn them, where the family's turning is known (`regard.capture.rotary`):
nearness of vectors is then not nearness of places. They are kept as float16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from regard.capture.rotary import Turns, turns_of
from regard.corpus.batches import Item
from regard.corpus.sums import Array
from regard.studies.base import Batch
from regard.studies.heads.sample import Name
from regard.studies.tables import tables_of
from regard.studies.taking import LayerView, Taker, sides_of
from regard.trace.lettering import readable

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model

KEYS = 5  # that are kept of a row: the strongest outside the resting places, then the strongest of all
LARGEST = 1 << 30  # bytes of all arrays; the sample is cut to what fits

Sides = tuple[str, str]  # that a layer looks from and at


class Input(NamedTuple):
    """An input of a sample: its example and part, and its tokens by side."""

    name: Name
    sides: Mapping[str, Sequence[str]]


@dataclass(eq=False)
class LayerVectors:
    """One layer over N queries and M keys: q (H, N, d) and k (G, M, d) of G key-value heads.

    `keys` and `weights` (H, N, KEYS) say where rows look; keys count from the beginning of their input. `still` says
    whether no turn by position is left in q and k; `sides` are the names of the texts they are in.
    """

    q: Array
    k: Array
    keys: Array
    weights: Array
    scale: float
    still: bool
    sides: Sides

    def of(self, head: int) -> tuple[Array, Array]:
        """(N, d) q and (M, d) k of a head, as float32."""
        group = head * len(self.k) // len(self.q)
        return np.asarray(self.q[head], np.float32), np.asarray(self.k[group], np.float32)


@dataclass(eq=False)
class Vectors:
    """Inputs in order, and the vectors of each kind and layer over their positions."""

    inputs: list[Input]
    layers: dict[tuple[str, int], LayerVectors]

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for one in self.layers.values() for a in (one.q, one.k, one.keys, one.weights))

    def starts(self, side: str) -> list[int]:
        """Where each input begins among the positions of a side; the end of the last one is at the end."""
        return starts_of(self.inputs, side)


def starts_of(inputs: Sequence[Input], side: str) -> list[int]:
    """Where each input begins among the positions of a side; the end of the last one is at the end."""
    return [0, *accumulate(len(one.sides[side]) for one in inputs)]


def places_in(inputs: Sequence[Input], side: str) -> Array:
    """(N,) the place of each position of a side in its input."""
    return np.concatenate([np.arange(len(one.sides[side])) for one in inputs])


def vectors_of(model: Model, names: Sequence[Name], batches: Sequence[list[Item]]) -> Vectors:
    """The vectors of named inputs, in the order of their names; no layers for models that give no access to q and k."""
    ready = [Batch(model, items) for items in batches]
    texts = {name: sides for batch in ready for name, sides in _texts(batch)}
    inputs = [Input(name, texts[name]) for name in names if name in texts]
    if not inputs:
        return Vectors([], {})
    with model._engine.steady(), turns_of(model.module) as turns:
        inputs = _fitting(model, inputs, ready, turns)
        found = Vectors(inputs, {})
        places = {one.name: place for place, one in enumerate(inputs)}
        for batch in ready:
            if any(_name(item) in places for item in batch.items):
                model._engine.stream(batch.inputs, batch.book, _VectorTaker(batch, found, places, turns))
    return found


def _texts(batch: Batch) -> Iterator[tuple[Name, dict[str, list[str]]]]:
    for item, sides in zip(batch.items, batch.book.sides, strict=True):
        yield _name(item), {name: [readable(text) for text in side.texts] for name, side in sides.items()}


def _name(item: Item) -> Name:
    return item.number, item.example.part


def _fitting(model: Model, inputs: list[Input], batches: Sequence[Batch], turns: Turns) -> list[Input]:
    """The first inputs whose vectors fit into `LARGEST` bytes: one input is run to see what a position takes."""
    first = Batch(model, batches[0].items[:1])
    probe = Vectors([Input(*one) for one in _texts(first)], {})
    model._engine.stream(first.inputs, first.book, _VectorTaker(first, probe, {probe.inputs[0].name: 0}, turns))
    each = probe.bytes / max(len(side) for side in probe.inputs[0].sides.values())
    ends = accumulate(max(len(side) for side in one.sides.values()) for one in inputs)
    return [one for one, end in zip(inputs, ends, strict=True) if end * each <= LARGEST]


class _VectorTaker(Taker[torch.Tensor]):
    """Copies the rows of one batch to their places; what is made of a view is where keys are outside the rests."""

    def __init__(self, batch: Batch, found: Vectors, places: Mapping[Name, int], turns: Turns) -> None:
        super().__init__(batch)
        self.found, self.places, self.turns = found, places, turns

    def make(self, view: LayerView) -> torch.Tensor:
        level = tables_of(self.batch, view).levels["awake"]
        assert level.weights is not None  # of the level "awake" they always are
        outside = level.weights if level.weights.ndim == 3 else level.weights[:, None]
        free = outside * view.tensor(view.visible)
        rests = free.sum(dim=-1, keepdim=True) == 0  # rows that see nothing else
        return free + rests * view.tensor(view.visible)

    def take(self, layer: Layer, attention: torch.Tensor, prepared: torch.Tensor) -> None:
        operation = layer.named.operation
        if operation.q is None or operation.k is None:
            return
        q, k, still = self.turns.undone(operation)
        keys, weights = _looks(attention, prepared)
        names = sides_of(layer, self.batch)
        store = self.found.layers.get((layer.kind, layer.layer))
        if store is None:
            store = self._empty(q, k, names, operation.scale, still)
            self.found.layers[layer.kind, layer.layer] = store
        mine, theirs = (self.found.starts(side) for side in names)
        for number, item in enumerate(self.batch.items):
            place = self.places.get(_name(item))
            if place is None:
                continue
            rows, columns = (self.batch.book.keep[side][number] for side in names)
            at, to = slice(mine[place], mine[place + 1]), slice(theirs[place], theirs[place + 1])
            store.q[:, at] = _half(q[number][:, _real(rows, q)])
            store.k[:, to] = _half(k[number][:, _real(columns, k)])
            shift = int(np.flatnonzero(columns)[0])
            store.weights[:, at] = weights[number][:, rows]
            store.keys[:, at] = np.where(store.weights[:, at] > 0, keys[number][:, rows] - shift, 0)

    def _empty(self, q: torch.Tensor, k: torch.Tensor, names: Sides, scale: float, still: bool) -> LayerVectors:
        """Arrays for all inputs of the sample."""
        count, other = (self.found.starts(side)[-1] for side in names)
        return LayerVectors(
            q=np.zeros((q.shape[1], count, q.shape[3]), np.float16),
            k=np.zeros((k.shape[1], other, k.shape[3]), np.float16),
            keys=np.zeros((q.shape[1], count, KEYS), np.uint16),
            weights=np.zeros((q.shape[1], count, KEYS), np.float16),
            scale=scale,
            still=still,
            sides=names,
        )


def _real(keep: Array, like: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.flatnonzero(keep)).to(like.device)


def _half(vectors: torch.Tensor) -> Array:
    found: Array = vectors.clamp(-65504, 65504).half().cpu().numpy()
    return found


def _looks(attention: torch.Tensor, free: torch.Tensor) -> tuple[Array, Array]:
    """(B, H, Q, KEYS) keys of rows and their weights: the strongest outside the rests, then the strongest of all."""
    best = (attention * free[:, None]).max(dim=-1, keepdim=True)
    count = min(KEYS - 1, attention.shape[-1])
    all_of = attention.topk(count, dim=-1)
    keys = torch.cat([best.indices, all_of.indices], dim=-1).cpu().numpy()
    weights = torch.cat([best.values, all_of.values], dim=-1).cpu().numpy()
    room = ((0, 0), (0, 0), (0, 0), (0, KEYS - 1 - count))
    return np.pad(keys, room), np.pad(weights, room)
