"""What a trace keeps of a run: q, k, v and log-sum-exp, copied to memory of their own while the model goes on.

Enters: operations while the model runs. Leaves: the same operations when it has ended.

A model makes q, k and v anew in every layer, between larger tensors that it frees. Whatever is kept on the heap there,
be it a tensor's few hundred bytes of description, cuts a hole that the next layer's tensors no longer fit into, and the
heap grows by several times what is kept. So copies lie in memory straight from the system, and tensors are made of them
only when the run has ended; all goes back to the system with the trace.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from regard.capture.operation import Operation

_LARGE = 1 << 20  # bytes of an operation below which it is kept as it is
_COPIED = ("q", "k", "v", "lse")


class _Copy(NamedTuple):
    """A tensor's numbers, and what makes them a tensor again."""

    memory: mmap.mmap
    dtype: torch.dtype
    shape: tuple[int, ...]

    def tensor(self) -> torch.Tensor:
        return torch.frombuffer(self.memory, dtype=self.dtype).view(self.shape)


class Keeper:
    """Operations in the order they ran in."""

    def __init__(self) -> None:
        self._kept: list[tuple[Operation, dict[str, _Copy]]] = []

    def add(self, operation: Operation) -> None:
        given = {name: getattr(operation, name) for name in _COPIED}
        given = {name: tensor for name, tensor in given.items() if tensor is not None and tensor.numel()}
        copies: dict[str, _Copy] = {}
        # the memory of other devices has allocators of its own
        if sum(t.nbytes for t in given.values()) >= _LARGE and all(t.device.type == "cpu" for t in given.values()):
            copies = {name: _copied(tensor) for name, tensor in given.items()}
            without: dict[str, Any] = dict.fromkeys(copies)
            operation = replace(operation, **without)
        self._kept.append((operation, copies))

    def __len__(self) -> int:
        return len(self._kept)

    def operations(self) -> list[Operation]:
        """What was kept; to be asked for when the run has ended."""
        return [_with(operation, copies) if copies else operation for operation, copies in self._kept]


def _with(operation: Operation, copies: dict[str, _Copy]) -> Operation:
    tensors: dict[str, Any] = {name: copy.tensor() for name, copy in copies.items()}
    return replace(operation, **tensors)


def _copied(tensor: torch.Tensor) -> _Copy:
    """A copy in the order of its axes; of a type that numpy lacks, as float32."""
    dtype = torch.float32 if tensor.dtype == torch.bfloat16 else tensor.dtype
    copy = _Copy(mmap.mmap(-1, tensor.numel() * dtype.itemsize, access=mmap.ACCESS_COPY), dtype, tuple(tensor.shape))
    copy.tensor().copy_(tensor.detach())
    return copy
