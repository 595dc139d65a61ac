"""Attention, values and outputs that are not finite: found while a model runs, located, and refused.

Enters: operations of a batch and its `Book`; a model's outputs. Leaves: nothing, or `NotFiniteError`.

Rows that see no key at all are 0, which is not an error. The check costs a pass over q, k and v: the maps themselves
are made and counted only where the largest products might overflow, or where something is NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from regard.base.errors import UserError
from regard.capture.naming import NamedOperation
from regard.capture.operation import Operation
from regard.capture.rebuild import attention_of, visible_keys

if TYPE_CHECKING:
    from regard.capture.record import Book

_SAFE = 1e38  # scores below it are finite in float32, in which maps are made


class NotFiniteError(UserError):
    """What a head or a model computes contains NaN or has overflowed; `example` is its place in the batch."""

    def __init__(self, found: str, example: int, broken: int, way_out: str) -> None:
        super().__init__(f"{found}; {way_out}")
        self.found, self.example, self.broken, self.way_out = found, example, broken, way_out

    def among(self, numbers: list[int]) -> NotFiniteError:
        """The same error with the example's number in its corpus, and how many inputs of the batch are affected."""
        many = f", as are {self.broken} of the {len(numbers)} inputs in its batch" if self.broken > 1 else ""
        found = f"example {numbers[self.example]} (counted from 0): {self.found}{many}"
        return NotFiniteError(found, self.example, self.broken, self.way_out)


def require_finite(named: NamedOperation, book: Book) -> None:
    """Refuse an operation whose attention, in rows of real tokens, or whose values, at real keys, are not finite."""
    operation = named.operation
    if not _bounded(operation):
        rows = _real(named, book, "encoder" if named.kind == "encoder" else "decoder", operation.queries)
        _refuse(named, book, _broken_rows(operation), rows, "rows are")
    if operation.v is not None and not _finite_sum(operation.v):
        keys = _real(named, book, "decoder" if named.kind == "decoder" else "encoder", operation.v.shape[2])
        _refuse(named, book, ~torch.isfinite(operation.v).all(-1), keys, "value vectors are")


def _refuse(named: NamedOperation, book: Book, broken: torch.Tensor, real: torch.Tensor | None, what: str) -> None:
    """Name the first head of (B, heads, positions) that is broken at a real position, if there is one."""
    if real is not None:
        broken &= real[:, None].to(broken.device)
    if not bool(broken.any()):
        return
    row, head = (int(n) for n in broken.any(-1).nonzero()[0])
    count = broken.shape[-1] if real is None else int(real[row].sum())
    called = "head" if broken.shape[1] == named.operation.heads else "key-value head"
    found = (
        f"{named.kind} layer {named.layer} {called} {head}: {int(broken[row, head].sum())} of {count} {what} not finite"
    )
    windows = max(1, named.operation.batch // book.batch)
    first = named.operation.q if named.operation.q is not None else named.operation.maps
    assert first is not None
    raise NotFiniteError(found, row // windows, int(broken.any(-1).any(-1).sum()), _way_out(first.dtype))


def require_finite_output(values: torch.Tensor, what: str = "the model's output") -> None:
    """Refuse model outputs (B, ...) that are NaN or have overflowed.

    A logit of -inf is not an error: models use it for tokens that must never be predicted.
    """
    if _finite_sum(values):
        return
    broken = (values.isnan() | (values == torch.inf)).reshape(len(values), -1).any(-1)  # (B,)
    if bool(broken.any()):
        found = f"{what} is not finite"
        raise NotFiniteError(found, int(broken.nonzero()[0]), int(broken.sum()), _way_out(values.dtype))


def require_finite_heads(kind: str, layer: int, sums: torch.Tensor, dtype: torch.dtype) -> None:
    """Refuse sums (H, ...) of head outputs over some texts that are not finite."""
    broken = (~torch.isfinite(sums)).reshape(len(sums), -1).any(-1)
    if bool(broken.any()):
        found = f"{kind} layer {layer} head {int(broken.nonzero()[0])}: its output is not finite"
        raise NotFiniteError(found, 0, 1, _way_out(dtype))


def _finite_sum(values: torch.Tensor) -> bool:
    """Whether all numbers are finite, judged by their sum; False if the sum overflows."""
    return bool(torch.isfinite(values.detach().sum(dtype=torch.float32)))


def _way_out(dtype: torch.dtype) -> str:
    if dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        return f"the model overflows in {name}: try float32, regard.load(..., dtype='float32')"
    return "the model's weights or activations contain NaN or overflow; check the checkpoint"


def _bounded(operation: Operation) -> bool:
    """Whether every score must be finite, judged by the largest entries of q and k; NaN is never bounded."""
    if operation.maps is not None:
        return _finite_sum(operation.maps)
    assert operation.q is not None and operation.k is not None
    most = _largest(operation.q) * _largest(operation.k) * operation.q.shape[-1] * max(abs(operation.scale), 1.0)
    return most < _SAFE and (operation.bias is None or not bool(torch.isnan(operation.bias).any()))


def _largest(values: torch.Tensor) -> float:
    swapped = values.transpose(1, 2)  # as projections leave them, heads inside tokens: read in the order of memory
    low, high = torch.aminmax(swapped if swapped.is_contiguous() else values)
    return max(abs(float(low)), abs(float(high)))


def _broken_rows(operation: Operation) -> torch.Tensor:
    """(B, H, Q) booleans: rows that see something and are not finite."""
    broken = ~torch.isfinite(attention_of(operation).sum(-1))
    if operation.maps is not None:
        return broken
    return broken & visible_keys(operation).any(-1).to(broken.device)


def _real(named: NamedOperation, book: Book, wanted: str, length: int) -> torch.Tensor | None:
    """(B, length) booleans: positions of real tokens; None if they are not the positions of a side."""
    two_sides = {"encoder", "decoder"} <= set(book.keep)
    for side, real in book.keep.items():
        if real.shape == (named.operation.batch, length) and (not two_sides or side == wanted):
            return torch.from_numpy(real)
    return None
