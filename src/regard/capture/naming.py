"""The place of an operation in a model: encoder, decoder or cross attention, and which layer.

Enters: operations in the order they ran. Leaves: each with its kind, layer and part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.capture.families import CROSS
from regard.capture.operation import HIDDEN, Operation

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class NamedOperation:
    """An operation with its place in the model."""

    operation: Operation
    kind: str
    layer: int
    part: int


class Namer:
    """Names the operations of one forward pass, one by one; `sides` are the names of the token lists."""

    def __init__(self, sides: set[str]) -> None:
        self.sides = sides
        self._counts: dict[str, int] = {}
        self._previous: Operation | None = None

    def name(self, operation: Operation) -> NamedOperation | None:
        """The operation with its place; None if it repeats the previous one on other values."""
        if self._previous is not None and operation.part and _same_vectors(operation, self._previous):
            return None  # one map used for two halves of the values (differential attention)
        self._previous = operation
        kind = self._kind(operation)
        if operation.part == 0 or kind not in self._counts:
            self._counts[kind] = self._counts.get(kind, -1) + 1
        return NamedOperation(operation, kind, self._counts[kind], operation.part)

    def _kind(self, operation: Operation) -> str:
        if operation.kind is not None:
            return operation.kind
        tail = ".".join(operation.path.split(".")[-3:])
        if CROSS.search(tail):
            return "cross"
        if {"encoder", "decoder"} <= self.sides:
            return "decoder" if "decoder" in operation.path.lower() else "encoder"
        if "decoder" in operation.path.split("."):  # decoders that are not causal: of objects in an image, say
            return "decoder"
        if operation.maps is not None:
            upper = torch.triu(operation.maps[0], 1)
            return "decoder" if operation.queries == operation.keys > 1 and not upper.any() else "encoder"
        if operation.causal:
            return "decoder"
        if operation.mask is None:
            return "encoder"
        first, _ = split_mask(as_numpy(operation.mask[0]))
        if operation.queries != operation.keys:
            return "encoder"
        if not np.triu(first, 1).any():
            return "decoder"
        # Images inside a text may be seen whole: then what the module says counts, if any later key is hidden.
        table = np.broadcast_to(first, (first.shape[0], operation.queries, operation.keys))[0]
        later = np.triu(~table & np.diagonal(table), 1)
        return "decoder" if operation.left_to_right and later.any() else "encoder"


def _same_vectors(one: Operation, other: Operation) -> bool:
    if one.q is None or other.q is None or one.k is None or other.k is None or one.path != other.path:
        return False
    return one.q.data_ptr() == other.q.data_ptr() and one.k.data_ptr() == other.k.data_ptr()


def split_mask(values: Array) -> tuple[Array, Array | None]:
    """What a mask hides, as booleans, and what it adds where it does not hide (ALiBi in the mask)."""
    if values.dtype == bool:
        return values, None
    allowed = values > HIDDEN
    extra = np.where(allowed, values, 0).astype(np.float32)
    return allowed, extra if extra.any() else None


def as_numpy(tensor: torch.Tensor) -> Array:
    """A numpy view of a tensor on the CPU (a float32 copy for types that numpy lacks)."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    array: Array = tensor.cpu().numpy()
    return array
