"""Operations: attention of a whole batch, in one form however it was captured.

Enters: a tapped call, a watched kernel, or a recorded map. Leaves: an `Operation` with the terms of the score named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.capture.families import SAMPLED, SINK_ON_OUTPUT
from regard.capture.tap import Call
from regard.capture.watch import Seen

# Additive masks use the type's minimum or -10000 (older families) for "may not be seen".
HIDDEN = -9000.0


@dataclass(eq=False)
class Operation:
    """q (B, H, Q, d), k (B, G, K, d), v (B, G, K, e), or maps (B, H, Q, K) alone."""

    path: str
    module: torch.nn.Module | None
    part: int = 0
    q: torch.Tensor | None = None
    k: torch.Tensor | None = None
    v: torch.Tensor | None = None
    mask: torch.Tensor | None = None
    causal: bool = False  # no mask tensor, but the kernel was called as causal
    window: int | None = None
    scale: float = 1.0
    softcap: float | None = None
    bias: torch.Tensor | None = None
    sink: torch.Tensor | None = None
    lse: torch.Tensor | None = None
    maps: torch.Tensor | None = None
    kind: str | None = None  # where capture knows it
    left_to_right: bool = False  # its module says that it is causal, whatever individual masks allow
    order: int = 0
    parts: tuple[Any, ...] | None = None  # (names, q parts, k parts), see attribution.py

    @property
    def batch(self) -> int:
        return int(self._first.shape[0])

    @property
    def heads(self) -> int:
        return int(self._first.shape[1])

    @property
    def queries(self) -> int:
        return int(self._first.shape[2])

    @property
    def keys(self) -> int:
        return int(self.k.shape[2] if self.k is not None else self._first.shape[3])

    @property
    def _first(self) -> torch.Tensor:
        first = self.q if self.q is not None else self.maps
        assert first is not None
        return first


def from_call(call: Call, path: str, model_type: str) -> Operation:
    """The operation behind a call of the attention interface."""
    extras = call.extras
    scaling = extras.get("scaling")
    causal = extras.get("is_causal")
    causal = bool(getattr(call.module, "is_causal", True) if causal is None else causal)
    queries = call.q.shape[2]
    implied = call.mask is None and not call.eager and causal and queries > 1
    keys = queries if implied and call.k.shape[2] > queries else call.k.shape[2]  # an empty static cache
    sink = extras.get("s_aux")
    rows = max(call.q.shape[0], call.k.shape[0])  # learned queries may be given once for all
    operation = Operation(
        path=path,
        module=call.module,
        part=call.part,
        q=_for_all(call.q, rows),
        k=_for_all(call.k[:, :, :keys], rows),
        v=_for_all(call.v[:, :, :keys], rows),
        mask=call.mask,
        causal=implied,
        window=extras.get("sliding_window") if implied else None,
        scale=float(call.q.shape[-1] ** -0.5 if scaling is None else scaling),
        softcap=extras.get("softcap"),
        bias=extras.get("position_bias"),
        sink=None if sink is None or model_type in SINK_ON_OUTPUT else sink.reshape(-1),
        lse=call.lse,
        kind="decoder" if causal and queries == 1 else None,
        left_to_right=getattr(call.module, "is_causal", False) is True,
        order=call.order,
    )
    operation = operation if call.uniform is None else _flatten(operation, *call.uniform)
    return _without(operation, call.cut) if call.cut else operation


def _for_all(vectors: torch.Tensor, rows: int) -> torch.Tensor:
    return vectors if vectors.shape[0] == rows else vectors.expand(rows, -1, -1, -1)


def operation_of(source: Call | Seen, model_type: str) -> Operation | None:
    """The operation behind whatever an edit is shown; None where only its softmax is seen."""
    if isinstance(source, Call):
        return from_call(source, "", model_type)
    return None if source.v is None else _from_seen(source)


def _without(operation: Operation, cut: list[tuple[int, int, torch.Tensor, torch.Tensor]]) -> Operation:
    """The operation with edges hidden by its mask, as they were cut."""
    shape = (operation.batch, operation.heads, operation.queries, operation.keys)
    if operation.mask is not None:
        mask = operation.mask.expand(shape).clone()
    else:
        mask = implied_mask(operation).expand(shape).clone()
    for row, head, queries, keys in cut:
        hidden = torch.where(keys, False if mask.dtype == torch.bool else float("-inf"), mask[row, head, queries])
        mask[row, head, queries] = hidden.to(mask.dtype)
    return replace(operation, mask=mask, causal=False, window=None, lse=None)


def implied_mask(operation: Operation) -> torch.Tensor:
    """(Q, K) booleans: the keys that each query sees where the model passed no mask."""
    assert operation.q is not None
    queries, keys = (torch.arange(n, device=operation.q.device) for n in (operation.queries, operation.keys))
    distance = keys - queries[:, None]
    seen = distance <= 0 if operation.causal else torch.ones_like(distance, dtype=torch.bool)
    return seen & (distance > -operation.window) if operation.window else seen


def _flatten(operation: Operation, rows: torch.Tensor, heads: torch.Tensor) -> Operation:
    """The operation with equal scores for some heads (in some rows of the batch), as an ablation made them."""
    assert operation.q is not None and operation.k is not None
    shape = (operation.batch, operation.heads, operation.queries, operation.keys)
    q = operation.q.clone()
    q[rows, heads] = 0
    bias, mask, sink = operation.bias, operation.mask, operation.sink
    if bias is not None:
        bias = bias.expand(shape).clone()
        bias[rows, heads] = 0
    if mask is not None and mask.dtype != torch.bool and bool(((mask > HIDDEN) & (mask != 0)).any()):  # ALiBi in it
        mask = mask.expand(shape).clone()
        mask[rows, heads] = torch.where(mask[rows, heads] > HIDDEN, 0, mask[rows, heads])
    if sink is not None:
        sink = sink.index_fill(0, heads, float("-inf"))
    return replace(operation, q=q, bias=bias, mask=mask, sink=sink, lse=None)


def from_watch(seen: Iterable[Seen]) -> tuple[list[Operation], tuple[str, ...]]:
    """The operations behind watched kernels and softmaxes, and the paths of those that are not maps of positions."""
    parts: Counter[int] = Counter()
    found, missed = [], set()
    for one in seen:
        operation = _from_seen(one)
        if operation is None:
            missed.add(one.path)
            continue
        operation.part = parts[one.run]
        parts[one.run] += 1
        if _reads_another(operation, one.lengths):
            operation.kind = "cross"
        found.append(operation)
    return found, tuple(sorted(missed))


def _reads_another(operation: Operation, lengths: frozenset[int]) -> bool:
    """Whether queries and keys come from two inputs of the module, or the one query is a learned probe."""
    queries, keys = operation.queries, operation.keys
    return queries != keys and ({queries, keys} <= lengths or queries == 1)


def _from_seen(seen: Seen) -> Operation | None:
    if seen.q is not None and seen.k is not None:
        scale = seen.q.shape[-1] ** -0.5 if seen.scale is None else seen.scale
        operation = Operation(
            path=seen.path,
            module=seen.module,
            q=seen.q,
            k=seen.k,
            v=seen.v,
            mask=None if seen.mask is None else seen.mask[(None,) * (4 - seen.mask.ndim)],  # (B, H, Q, K)
            causal=seen.causal,
            scale=float(scale),
            lse=seen.lse,
            order=seen.order,
        )
        return _without(operation, seen.cut) if seen.cut else operation
    maps = seen.maps
    assert maps is not None
    if maps.ndim > 4 or maps.shape[-2] not in seen.lengths:  # over blocks or channels: its rows are not positions
        return None
    if hasattr(seen.module, SAMPLED):  # its keys are points between positions
        return None
    if maps.ndim == 3:
        heads = _head_count(seen.module)
        if heads is None or maps.shape[0] % heads:
            return None
        maps = maps.reshape(-1, heads, *maps.shape[1:])
    return Operation(path=seen.path, module=seen.module, maps=maps, order=seen.order)


def _head_count(module: torch.nn.Module) -> int | None:
    """The number of heads that a module says it has, under the names that families use."""
    names = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads", "nhead")
    found: list[Any] = [getattr(module, name) for name in names if isinstance(getattr(module, name, None), int)]
    return found[0] if found else None
