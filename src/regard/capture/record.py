"""From operations of a batch to the sites of each example: padding removed, masks and biases in their shortest form.

Enters: operations, and a `Book` of the examples' tokens. Leaves: Traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture.families import VISION
from regard.capture.finite import require_finite
from regard.capture.gradients import Gradient, Gradients
from regard.capture.naming import NamedOperation, Namer, as_numpy, split_mask
from regard.capture.offloaded import held
from regard.capture.operation import Operation
from regard.trace.mask import Mask
from regard.trace.medium import SOUND, Medium
from regard.trace.sentences import reason
from regard.trace.site import Array, Site
from regard.trace.tiles import Sighting, picture_side
from regard.trace.tokens import Side, Token
from regard.trace.trace import Trace


@dataclass(eq=False)
class Book:
    """The tokens of each example of a batch, and which padded positions are real.

    `keep[side]` is (examples, padded length). `seen` is what a vision tower sees of each example's picture, tile by
    tile, and `media` are these pictures, if they are to be shown. `sound` makes the side of so many frames, where the
    encoder hears.
    """

    sides: list[dict[str, Side]]
    keep: dict[str, Array]
    seen: list[list[Sighting]] = field(default_factory=list)
    media: list[Medium] = field(default_factory=list)
    sound: Callable[[int], Side] | None = None

    @property
    def batch(self) -> int:
        return len(self.sides)


class Recorder:
    """Turns the operations of one forward pass into traces."""

    def __init__(
        self, book: Book, projections: Mapping[str, torch.nn.Module | str], gradients: Gradients | None = None
    ) -> None:
        self.book = book
        self.gradients = gradients or {}
        self.projections = projections
        self._masks: dict[tuple[Any, ...], tuple[Mask, Array | None]] = {}
        self._biases: dict[tuple[Any, ...], Array | None] = {}
        self._grams: dict[str, Array] = {}

    def traces(self, operations: Sequence[Operation], facts: Mapping[str, Any]) -> list[Trace]:
        """One trace per example."""
        uneven = next((operation for operation in operations if operation.batch % self.book.batch), None)
        if uneven is not None and self.book.keep:
            raise UserError(
                f"{uneven.path or 'the model'} reads the {self.book.batch} examples of the batch as one sequence; "
                "trace them one at a time"
            )
        if uneven is not None:  # images packed into one sequence, or features without a batch axis
            self.book = Book([{}], {})
        named = self._name(operations)
        for item in named:
            require_finite(item, self.book)
        return [self._trace(named, example, facts) for example in range(self.book.batch)]

    def _trace(self, named: list[NamedOperation], example: int, facts: Mapping[str, Any]) -> Trace:
        sides = dict(self.book.sides[example])
        sites: list[Site] = []
        for item in named:
            windows = max(1, item.operation.batch // self.book.batch)
            for window in range(windows):
                row = example * windows + window
                sites.append(self._site(item, row, example, item.part * windows + window, sides))
        used = {name for site in sites for name in (site.query_side, site.key_side)}
        first = [SOUND] if SOUND in used else []  # what was heard comes before what was written
        order = [*first, *(name for name in sides if name in used and name not in first)]
        return Trace({name: sides[name] for name in order}, tuple(sites), dict(facts))

    def _name(self, operations: Sequence[Operation]) -> list[NamedOperation]:
        """The operations with their places, encoder first."""
        namer = Namer(set(self.book.keep))
        named = [item for operation in operations if (item := namer.name(operation)) is not None]
        order = {"encoder": 0, "decoder": 1, "cross": 2}
        return sorted(named, key=lambda item: order[item.kind])

    # -- sites ---------------------------------------------------------------------------------------------

    def _site(self, item: NamedOperation, row: int, example: int, part: int, sides: dict[str, Side]) -> Site:
        operation = item.operation
        query = self._side(item, example, operation.queries, "query", part, sides)
        key = self._side(item, example, operation.keys, "key", part, sides)
        rows, columns = self._real_positions(query, example), self._real_positions(key, example)
        common: dict[str, Any] = {
            "kind": item.kind,
            "layer": item.layer,
            "part": part,
            "path": operation.path,
            "query_side": query,
            "key_side": key,
            "head_ids": tuple(range(operation.heads)),
        }
        if operation.maps is not None:
            maps = _cut(as_numpy(operation.maps[row]), rows, columns)
            never_ahead = item.kind == "decoder" and query == key and not np.triu(maps, 1).any()
            mask = Mask(None, 0) if never_ahead else Mask()
            return Site(**common, maps=maps, mask=mask, no_norms=reason("no_values"))
        assert operation.q is not None and operation.k is not None and operation.v is not None
        mask, extra = self._mask(operation, row, query, key, rows, columns)
        bias = self._bias(operation, row, query, key, rows, columns, extra)
        gram, why = self._gram(operation)
        return Site(
            **common,
            scale=operation.scale,
            mask=mask,
            softcap=operation.softcap,
            q=_cut(as_numpy(operation.q[row]), rows),
            k=_cut(as_numpy(operation.k[row]), columns),
            v=_cut(as_numpy(operation.v[row]), columns),
            bias=bias,
            sink=None if operation.sink is None else as_numpy(operation.sink).astype(np.float32),
            gram=gram,
            known_lse=_lse(operation, row, rows),
            no_norms=why,
            **_parts(operation, row, rows, columns),
            **_gradient(self.gradients.get((item.kind, item.layer)), row, rows),
        )

    def _side(
        self, item: NamedOperation, example: int, length: int, role: str, part: int, sides: dict[str, Side]
    ) -> str:
        """The side whose positions these are; positions of no side get a new one."""
        keep = self.book.keep
        if self.book.sound is not None and (item.kind == "encoder" or (item.kind == "cross" and role == "key")):
            if SOUND not in sides:
                sides[SOUND] = self.book.sound(length)
            if len(sides[SOUND]) == length:
                return SOUND
        if {"encoder", "decoder"} <= set(keep):
            wanted = "encoder" if item.kind == "encoder" or (item.kind == "cross" and role == "key") else "decoder"
            if keep[wanted].shape[1] == length:
                return wanted
        alone = item.kind == "encoder" and not {"text", "encoder"} & set(keep)
        tower = VISION.search(item.operation.path) or alone or (item.kind == "cross" and role == "key")
        windows = max(1, item.operation.batch // self.book.batch)
        if tower and (found := self._picture(example, length, part, windows, sides)):
            return found
        for name, mask in keep.items():
            if mask.shape[1] == length and not (name in ("encoder", "decoder") and len(keep) > 1):
                return name
        name = f"{length} positions"
        sides.setdefault(name, Side(name, tuple(Token(str(i)) for i in range(length))))
        return name

    def _picture(self, example: int, length: int, part: int, windows: int, sides: dict[str, Side]) -> str | None:
        """The name of the side of so many patches of the example's picture, which is made if it is new.

        Several windows are the picture's tiles, or else lie where only the model knows.
        """
        if not self.book.seen or windows not in (1, len(self.book.seen[example])):
            return None
        side = picture_side(self.book.seen[example], self._medium(example), length, part)
        if side is None:
            return None
        if len(sides.get(side.name, side)) != length:  # another stage of a tower that merges patches
            side = replace(side, name=f"{side.name} of {length}")
        sides.setdefault(side.name, side)
        return side.name

    def _medium(self, example: int) -> Medium | None:
        return self.book.media[example] if self.book.media else None

    def _real_positions(self, side: str, example: int) -> Array | None:
        """Indices of real positions, or None where all are."""
        keep = self.book.keep.get(side)
        if keep is None or keep[example].all():
            return None
        return np.flatnonzero(keep[example])

    def _mask(
        self, operation: Operation, row: int, query: str, key: str, rows: Array | None, columns: Array | None
    ) -> tuple[Mask, Array | None]:
        """The mask of one example, and what it adds to scores besides hiding keys."""
        if operation.mask is None:
            left = operation.window - 1 if operation.window else None
            return (Mask(left, 0) if operation.causal else Mask()), None
        place = (*_place(operation.mask), row, query, key)
        if place not in self._masks:
            mask = operation.mask
            whole = as_numpy(mask[row if mask.shape[0] > 1 else 0])
            whole = np.broadcast_to(whole, (whole.shape[0], operation.queries, operation.keys))
            allowed, extra = split_mask(_cut(whole, rows, columns))
            self._masks[place] = (Mask.from_table(allowed), extra)
        return self._masks[place]

    def _bias(
        self,
        operation: Operation,
        row: int,
        query: str,
        key: str,
        rows: Array | None,
        columns: Array | None,
        extra: Array | None,
    ) -> Array | None:
        """Position bias of one example, shared between layers that share it in the model."""
        source = operation.bias if operation.bias is not None else operation.mask
        if source is None or (operation.bias is None and extra is None):
            return None
        place = (*_place(source), row, query, key)
        if place not in self._biases:
            total = 0.0 if extra is None else extra
            if operation.bias is not None:
                given = as_numpy(operation.bias[row if operation.bias.shape[0] > 1 else 0])
                total = total + _cut(given, rows, columns)
            bias = np.asarray(total, dtype=np.float32)
            self._biases[place] = _relative(bias) if bias.any() else None  # T5's cross attention passes zeros
        return self._biases[place]

    def _gram(self, operation: Operation) -> tuple[Array | None, str]:
        """(H, e, e) products W_O^h W_O^hᵀ of the output projection, or why they are not available."""
        projection = self.projections.get(operation.path, reason("no_projection"))
        if isinstance(projection, str):
            return None, projection
        if operation.path not in self._grams:
            assert operation.v is not None
            weight = held(projection)
            width = operation.v.shape[-1]
            inputs = operation.heads * width
            if weight.shape[0] == inputs and type(projection).__name__ == "Conv1D":
                weight = weight.T
            if weight.shape[1] != inputs or not weight.is_floating_point():
                return None, reason("odd_projection")
            per_head = weight.float().T.reshape(operation.heads, width, -1)  # (H, e, d_model)
            self._grams[operation.path] = as_numpy(per_head @ per_head.transpose(1, 2))
        return self._grams[operation.path], ""


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What identifies a tensor that several layers share."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def _relative(bias: Array) -> Array:
    """(H, Q, K) bias as (H, Q + K - 1) where it depends on key - query alone, else unchanged."""
    _, queries, keys = bias.shape
    by_distance = np.concatenate([bias[:, :0:-1, 0], bias[:, 0, :]], axis=1)  # distances -(Q-1) .. K-1
    index = np.arange(keys)[None, :] - np.arange(queries)[:, None] + queries - 1
    same = all(np.array_equal(head, line[index]) for head, line in zip(bias, by_distance, strict=True))
    return by_distance if same else bias


def _parts(operation: Operation, row: int, rows: Array | None, columns: Array | None) -> dict[str, Any]:
    """Names and vectors of the parts that q and k are sums of, if known."""
    if operation.parts is None:
        return {}
    names, q, k = operation.parts
    cut_q = np.stack([_cut(part, rows) for part in as_numpy(q[:, row])])  # (P, H, Q, d)
    cut_k = np.stack([_cut(part, columns) for part in as_numpy(k[:, row])])
    return {"parts": names, "qparts": cut_q, "kparts": cut_k}


def _gradient(found: Gradient | None, row: int, rows: Array | None) -> dict[str, Any]:
    """g (H, Q, e) and go (H, Q) of one example, if known."""
    if found is None:
        return {}
    g, go = (np.moveaxis(as_numpy(array[row]), 0, 1) for array in (found.g, found.go))
    return {"g": np.ascontiguousarray(_cut(g, rows)), "go": np.ascontiguousarray(_cut(go, rows), dtype=np.float32)}


def _lse(operation: Operation, row: int, rows: Array | None) -> Array | None:
    """(H, Q) log-sum-exps, if the kernel returned them in this layout."""
    lse = operation.lse
    if lse is None or tuple(lse.shape) != (operation.batch, operation.heads, operation.queries):
        return None
    values = as_numpy(lse[row]).astype(np.float32)
    return values if rows is None else np.ascontiguousarray(values[:, rows])


def _cut(array: Array, rows: Array | None, columns: Array | None = None) -> Array:
    """Keep real positions of (H, rows, ...) and, if given, (H, rows, columns)."""
    if rows is not None:
        array = array[:, rows]
    return array if columns is None else array[:, :, columns]
