"""What a trace keeps of a run: q, k, v and log-sum-exp, copied to separate memory while the model runs.

Enters: operations while the model runs. Leaves: the same operations when it has ended.

A model makes new q, k and v in every layer, between larger tensors that it frees. Anything kept on the heap there, even
a tensor's few hundred bytes of metadata, leaves a hole too small for the next layer's tensors, and the
heap grows by several times what is kept. So copies go to memory taken directly from the system, and become tensors
only after the run; all of it is returned to the system with the trace.
"""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from regard.capture.halves import open_halves
from regard.capture.operation import Operation

_LARGE = 1 << 20  # bytes; a smaller operation is kept as it is
_COPIED = ("q", "k", "v", "lse")


class _Copy(NamedTuple):
    """A tensor's numbers, and what is needed to make it a tensor again."""

    memory: mmap.mmap
    dtype: torch.dtype
    shape: tuple[int, ...]

    def tensor(self) -> torch.Tensor:
        return torch.frombuffer(self.memory, dtype=self.dtype).view(self.shape)


class Keeper:
    """Operations in the order they ran."""

    def __init__(self) -> None:
        self._entries: list[tuple[Operation, dict[str, _Copy]]] = []

    def add(self, operation: Operation) -> None:
        halves = open_halves()
        operation = operation if halves is None else halves.of(operation)
        given = {name: getattr(operation, name) for name in _COPIED}
        given = {name: tensor for name, tensor in given.items() if tensor is not None and tensor.numel()}
        copies: dict[str, _Copy] = {}
        # other devices have their own allocators
        if sum(t.nbytes for t in given.values()) >= _LARGE and all(t.device.type == "cpu" for t in given.values()):
            copies = {name: _copy_of(tensor) for name, tensor in given.items()}
            without: dict[str, Any] = dict.fromkeys(copies)
            operation = replace(operation, **without)
        self._entries.append((operation, copies))

    def __len__(self) -> int:
        return len(self._entries)

    def operations(self) -> list[Operation]:
        """The operations kept; call it only after the run."""
        return [_with(operation, copies) if copies else operation for operation, copies in self._entries]


def _with(operation: Operation, copies: dict[str, _Copy]) -> Operation:
    tensors: dict[str, Any] = {name: copy.tensor() for name, copy in copies.items()}
    return replace(operation, **tensors)


def _copy_of(tensor: torch.Tensor) -> _Copy:
    """A contiguous copy; float32 for types that numpy lacks."""
    dtype = torch.float32 if tensor.dtype == torch.bfloat16 else tensor.dtype
    copy = _Copy(mmap.mmap(-1, tensor.numel() * dtype.itemsize, access=mmap.ACCESS_COPY), dtype, tuple(tensor.shape))
    copy.tensor().copy_(tensor.detach())
    return copy
