"""Attention computed once: a map that a study reduces also gives what its layer passes on.

Enters: a call of torch's fused attention, and its map. Leaves: the output, the map times the values.

The fused kernel computes the same map and forgets it; where the map is needed anyway, running the kernel too takes
longer than this product. It is used for float32 on a CPU, and only where it gave what the kernel gave: both are
compared once for each module and kind of mask of a model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from regard.capture.operation import Operation
from regard.capture.rebuild import attention_of, repeat_heads, visible_keys
from regard.capture.tap import Call

_CLOSE = 1e-5  # of the largest entry: how far both may be apart

Known = dict[tuple[Any, ...], bool]  # for each module and kind of mask, whether both gave the same


def map_and_output(
    call: Call, operation: Operation, function: Callable[..., Any], run: Callable[[], Any], known: Known
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The map of a call (B, H, Q, K) and its output (B, Q, H, e) made of it; None where the kernel must run."""
    if function is not sdpa_attention_forward or not _plain(call, operation):
        return None
    mask = operation.mask
    kind = (operation.path, operation.causal, mask is None or mask.dtype)
    if not known.get(kind, True):
        return None
    maps = attention_of(operation)
    assert operation.v is not None
    out = (maps @ repeat_heads(operation.v, operation.heads)).transpose(1, 2).contiguous()
    if kind not in known:
        known[kind] = _same(out, run()[0], operation)
    return (maps, out) if known[kind] else None


def _plain(call: Call, operation: Operation) -> bool:
    """Whether a call has nothing but q, k, v and a mask, in float32 on the CPU."""
    others = (operation.softcap, operation.bias, operation.sink, operation.window, call.extras.get("cache"))
    if any(one is not None for one in others) or call.extras.get("dropout"):
        return False
    vectors = (call.q, call.k, call.v)
    return all(one.dtype == torch.float32 and one.device.type == "cpu" and not one.requires_grad for one in vectors)


def _same(out: torch.Tensor, kernel: torch.Tensor, operation: Operation) -> bool:
    """Whether two outputs (B, Q, H, e) are the same in the rows that see a key."""
    if out.shape != kernel.shape or out.dtype != kernel.dtype:
        return False
    shape = (operation.batch, operation.heads, operation.queries, operation.keys)
    some = visible_keys(operation).expand(shape).any(-1).transpose(1, 2)[..., None]
    most = float(torch.where(some, kernel, 0).abs().max())
    return bool((torch.where(some, out - kernel, 0).abs() <= _CLOSE * most).all())
