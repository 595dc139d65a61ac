"""Attention of a whole batch, rebuilt on the model's device while it runs.

Enters: an operation. Leaves: its maps, and the length of what a value adds to the output through each head.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from regard.capture.offloaded import held
from regard.capture.operation import HIDDEN, Operation, implied_mask


def attention_of(operation: Operation) -> torch.Tensor:
    """(B, H, Q, K) maps in float32; hidden and padded keys get 0, rows sum to 1 (less where there is a sink)."""
    if operation.maps is not None:
        return operation.maps.float()
    assert operation.q is not None and operation.k is not None
    queries, keys = operation.q.float().flatten(0, 1), repeat_heads(operation.k, operation.heads).float().flatten(0, 1)
    none = queries.new_empty(())  # is not added
    scores = torch.baddbmm(none, queries, keys.transpose(1, 2), beta=0, alpha=operation.scale)  # (B H, Q, K)
    scores = scores.view(operation.batch, operation.heads, *scores.shape[1:])
    if operation.softcap is not None:
        scores = scores.div_(operation.softcap).tanh_().mul_(operation.softcap)
    if operation.bias is not None:
        scores = scores.add_(operation.bias)
    hidden = hidden_of(operation, scores)
    if hidden is not None:
        scores = scores.add_(hidden)
    if operation.sink is None:
        return torch.softmax(scores, dim=-1, out=scores)
    sink = operation.sink.float().reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
    return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[..., :-1]


def last_row(operation: Operation) -> torch.Tensor:
    """(B, H, K) attention of the last query, as `attention_of` gives it, without computing the others."""
    assert operation.q is not None and operation.k is not None

    def last(table: torch.Tensor | None) -> torch.Tensor | None:
        return table if table is None or table.shape[-2] == 1 else table[..., -1:, :]

    mask = last(operation.mask)
    if mask is None and operation.causal and operation.window:
        keys = torch.arange(operation.keys, device=operation.q.device)
        mask = (keys >= operation.keys - operation.window)[None, None, None]
    alone = replace(operation, q=operation.q[:, :, -1:], mask=mask, bias=last(operation.bias), causal=False, lse=None)
    return attention_of(alone)[..., 0, :]


def hidden_of(operation: Operation, like: torch.Tensor) -> torch.Tensor | None:
    """What is added to scores so that hidden keys vanish, (B, 1, Q, K) or broadcast to it; None if none are hidden."""
    mask = operation.mask
    if mask is not None:
        if mask.dtype != torch.bool:
            return mask
        return None if bool(mask.all()) else torch.where(mask, 0.0, torch.finfo(like.dtype).min)
    if not operation.causal:
        return None
    return torch.where(implied_mask(operation), 0.0, float("-inf"))


def visible_keys(operation: Operation) -> torch.Tensor:
    """Booleans, (B, H, Q, K) or broadcast to it: the keys that the mask lets each query see."""
    mask = operation.mask
    if mask is not None:
        return mask if mask.dtype == torch.bool else mask > HIDDEN
    return implied_mask(operation)


def row_scores(operation: Operation, row: int, head: int, queries: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, K) scores in float32 of some queries of one head, and (n, K) booleans: the keys that they see."""
    assert operation.q is not None and operation.k is not None
    group = head * operation.k.shape[1] // operation.heads
    scores = (operation.q[row, head, queries].float() * operation.scale) @ operation.k[row, group].float().T

    def pick(table: torch.Tensor) -> torch.Tensor:
        """(n, K), or broadcast to it, of a table (B or 1, H or 1, Q or 1, K)."""
        own = table[row if table.shape[0] > 1 else 0, head if table.shape[1] > 1 else 0]
        return own[queries] if own.shape[0] > 1 else own

    if operation.softcap is not None:
        scores = torch.tanh(scores / operation.softcap) * operation.softcap
    if operation.bias is not None:
        scores = scores + pick(operation.bias)
    if operation.mask is not None:
        table = pick(operation.mask)
        seen = (table if table.dtype == torch.bool else table > HIDDEN).expand_as(scores)
        scores = scores if table.dtype == torch.bool else scores + table
    else:
        seen = visible_keys(operation)[queries]
    return scores.masked_fill(~seen, float("-inf")), seen


def repeat_heads(vectors: torch.Tensor, heads: int) -> torch.Tensor:
    """(B, H, K, d) vectors, repeated for the heads that share them."""
    groups = vectors.shape[1]
    return vectors if groups == heads else vectors.repeat_interleave(heads // groups, dim=1)


def value_norms(operation: Operation, projection: torch.nn.Module) -> torch.Tensor:
    """(B, H, K) lengths ||f(x_j)|| of what each key's value adds to the output through a head."""
    assert operation.v is not None
    width = operation.v.shape[-1]
    weight = output_weight(projection).reshape(operation.heads, width, -1)  # (H, e, d_model)
    gram = weight @ weight.transpose(1, 2)  # (H, e, e)
    values = repeat_heads(operation.v, operation.heads).float()
    batch, heads, keys, _ = values.shape
    values = values.transpose(0, 1).reshape(heads, batch * keys, width)  # one product per head, not per input and head
    squares = (values @ gram).mul_(values).sum(dim=-1)
    return squares.clamp(min=0).sqrt().view(heads, batch, keys).transpose(0, 1)


def output_weight(projection: torch.nn.Module) -> torch.Tensor:
    """(inputs, outputs) weight of an output projection, a Linear or GPT-2's transposed one."""
    weight = held(projection).float()
    return weight if type(projection).__name__ == "Conv1D" else weight.T
