"""Attention that is not a number: found while a model runs, named, and refused.

Enters: operations of a batch and its `Book`. Leaves: nothing, or `NotFiniteError`.

Rows that see no key at all are 0 and no fault. Looking costs a pass over q and k: only where their largest products
might overflow, or where something is NaN, are the maps themselves made and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from regard.capture.naming import NamedOperation
from regard.capture.operation import Operation
from regard.capture.rebuild import attention_of, visible_keys
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.capture.record import Book

_SAFE = 1e38  # scores below it are finite in float32, in which maps are made


class NotFiniteError(UserError):
    """Attention of a head that holds NaN or has overflowed; `example` is its place in the batch."""

    def __init__(self, found: str, example: int, broken: int, way_out: str) -> None:
        super().__init__(f"{found}; {way_out}")
        self.found, self.example, self.broken, self.way_out = found, example, broken, way_out

    def among(self, numbers: list[int]) -> NotFiniteError:
        """The same, with the number of the example in its corpus, and how many of a batch are so."""
        many = f", and {self.broken} of {len(numbers)} inputs of its batch are so" if self.broken > 1 else ""
        found = f"example {numbers[self.example]} (counted from 0): {self.found}{many}"
        return NotFiniteError(found, self.example, self.broken, self.way_out)


def require_finite(named: NamedOperation, book: Book) -> None:
    """Refuse an operation whose attention, in rows of real tokens, is not finite."""
    operation = named.operation
    if _bounded(operation):
        return
    broken = _broken_rows(operation)  # (B, H, Q)
    real = _real_rows(named, book)
    if real is not None:
        broken &= real[:, None].to(broken.device)
    if not bool(broken.any()):
        return
    row, head = (int(n) for n in broken.any(-1).nonzero()[0])
    count = operation.queries if real is None else int(real[row].sum())
    found = (
        f"{named.kind} layer {named.layer} head {head}: {int(broken[row, head].sum())} of {count} rows are not finite"
    )
    windows = max(1, operation.batch // book.batch)
    raise NotFiniteError(found, row // windows, int(broken.any(-1).any(-1).sum()), _way_out(operation))


def _way_out(operation: Operation) -> str:
    first = operation.q if operation.q is not None else operation.maps
    assert first is not None
    if first.dtype in (torch.float16, torch.bfloat16):
        kept = str(first.dtype).removeprefix("torch.")
        return f"the model overflows in {kept}: try float32, regard.load(..., dtype='float32')"
    return "the model's weights or activations hold NaN or overflow; check the checkpoint"


def _bounded(operation: Operation) -> bool:
    """Whether no score can be anything but finite, told by the largest parts of q and k; NaN is never bounded."""
    if operation.maps is not None:
        return bool(torch.isfinite(operation.maps.sum(dtype=torch.float32)))
    assert operation.q is not None and operation.k is not None
    most = _largest(operation.q) * _largest(operation.k) * operation.q.shape[-1] * max(abs(operation.scale), 1.0)
    return most < _SAFE and (operation.bias is None or not bool(torch.isnan(operation.bias).any()))


def _largest(values: torch.Tensor) -> float:
    low, high = torch.aminmax(values)
    return max(abs(float(low)), abs(float(high)))


def _broken_rows(operation: Operation) -> torch.Tensor:
    """(B, H, Q) booleans: rows that see something and are not finite."""
    broken = ~torch.isfinite(attention_of(operation).sum(-1))
    if operation.maps is not None:
        return broken
    return broken & visible_keys(operation).any(-1).to(broken.device)


def _real_rows(named: NamedOperation, book: Book) -> torch.Tensor | None:
    """(B, Q) booleans: rows of real tokens; None where the queries are no side's positions."""
    two_sides = {"encoder", "decoder"} <= set(book.keep)
    wanted = "encoder" if named.kind == "encoder" else "decoder"
    shape = (named.operation.batch, named.operation.queries)
    for side, kept in book.keep.items():
        if kept.shape == shape and (not two_sides or side == wanted):
            return torch.from_numpy(kept)
    return None
