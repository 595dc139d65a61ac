"""Half the memory: q, k and v of a trace in 16 bits, and how far that puts its scores off.

Enters: operations while the model runs. Leaves: the same with float16 vectors, and the largest error of
scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import torch

from regard.capture.operation import Operation

_SAMPLE = 64  # queries and keys, spread evenly, whose scores are compared

_OPEN: ContextVar[Halves | None] = ContextVar("regard_halves", default=None)


class Halves:
    """What is put into 16 bits: `error` is the root mean square of the error of scores, of the worst head so far."""

    error = 0.0

    def of(self, operation: Operation) -> Operation:
        """The operation with float16 vectors; those that do not fit stay as they are."""
        if operation.q is None or operation.k is None or operation.v is None:
            return operation  # maps alone
        found = replace(operation, q=_half(operation.q), k=_half(operation.k), v=_half(operation.v))
        self.error = max(self.error, float(_score_error(operation, found)))
        return found


@contextmanager
def halved() -> Iterator[Halves]:
    """While this is open, traces keep q, k and v in 16 bits."""
    halves = Halves()
    token = _OPEN.set(halves)
    try:
        yield halves
    finally:
        _OPEN.reset(token)


def open_halves() -> Halves | None:
    """The halves that are open here."""
    return _OPEN.get()


def _half(tensor: torch.Tensor) -> torch.Tensor:
    found = tensor.detach().to(torch.float16)
    return found if bool(torch.isfinite(found).all()) else tensor


def _score_error(exact: Operation, halved: Operation) -> torch.Tensor:
    """The root mean square of the difference of scores, of the head where it is largest."""
    difference = _scores(exact) - _scores(halved)
    return difference.square().mean((0, 2, 3)).sqrt().max()


def _scores(operation: Operation) -> torch.Tensor:
    """(B, H, some queries, some keys) products of a sample of vectors."""
    assert operation.q is not None and operation.k is not None
    q, k = (one.detach()[:, :, _spread(one.shape[2])].float() for one in (operation.q, operation.k))
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    return q @ k.transpose(2, 3) * operation.scale


def _spread(count: int) -> torch.Tensor:
    return torch.linspace(0, count - 1, min(count, _SAMPLE)).long()
