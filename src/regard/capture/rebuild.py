"""Attention of a whole batch, rebuilt on the model's device while it runs.

Enters: an operation. Leaves: its maps, and the length of what a value adds to the output through each head.
"""

from __future__ import annotations

import torch

from regard.capture.operation import HIDDEN, Operation


def attention_of(operation: Operation) -> torch.Tensor:
    """(B, H, Q, K) maps in float32; hidden and padded keys get 0, rows sum to 1 (less where there is a sink)."""
    if operation.maps is not None:
        return operation.maps.float()
    assert operation.q is not None and operation.k is not None
    keys = repeat_heads(operation.k, operation.heads).float()
    scores = (operation.q.float() * operation.scale) @ keys.transpose(-1, -2)  # (B, H, Q, d) @ (B, H, d, K)
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


def hidden_of(operation: Operation, like: torch.Tensor) -> torch.Tensor | None:
    """What is added to scores so that hidden keys vanish, (B, 1, Q, K) or broadcast to it; None if none are hidden."""
    mask = operation.mask
    if mask is not None:
        if mask.dtype != torch.bool:
            return mask
        return None if bool(mask.all()) else torch.where(mask, 0.0, torch.finfo(like.dtype).min)
    if not operation.causal:
        return None
    queries, keys = like.shape[-2:]
    distance = torch.arange(keys, device=like.device) - torch.arange(queries, device=like.device)[:, None]
    hidden = distance > 0
    if operation.window:
        hidden |= distance <= -operation.window
    return torch.where(hidden, float("-inf"), 0.0)


def visible_keys(operation: Operation) -> torch.Tensor:
    """Booleans, (B, H, Q, K) or broadcast to it: the keys that the mask lets each query see."""
    mask = operation.mask
    if mask is not None:
        return mask if mask.dtype == torch.bool else mask > HIDDEN
    assert operation.q is not None
    like = operation.q.new_empty(operation.queries, operation.keys)
    hidden = hidden_of(operation, like)
    return torch.ones_like(like, dtype=torch.bool) if hidden is None else hidden == 0


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
    squares = torch.einsum("bhke,bhke->bhk", values @ gram, values)
    return squares.clamp(min=0).sqrt()


def output_weight(projection: torch.nn.Module) -> torch.Tensor:
    """(inputs, outputs) weight of an output projection, a Linear or GPT-2's transposed one."""
    weight: torch.Tensor = projection.weight.detach().float()  # type: ignore[operator]
    return weight if type(projection).__name__ == "Conv1D" else weight.T
