"""What attention modules put through softmax, kept by module.

Enters: a running model. Leaves: its maps, also those that a fused kernel does not give.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_ATTENTION = re.compile(r"attn|attention|selfatt|mha", re.IGNORECASE)
_SOFTMAX = (torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax, torch.special.softmax)


class Softmaxes(TorchFunctionMode):
    """Keeps what softmax gives in attention modules, by module; fused calls are computed again in plain steps."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[tuple[str, torch.nn.Module]] = []
        self.maps: dict[str, list[torch.Tensor]] = defaultdict(list)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func in _SOFTMAX and result.ndim >= 3 and result.shape[-1] > 1:
            if kwargs.get("dim", args[1] if len(args) > 1 else None) in (-1, result.ndim - 1):
                self._keep(result)
        elif func is torch.nn.functional.scaled_dot_product_attention:
            self._keep(_plain(*args, **kwargs))
        elif func is torch.nn.functional.multi_head_attention_forward:
            again = func(*args, **{**kwargs, "need_weights": True, "average_attn_weights": False})
            self._keep(again[1])
        return result

    def _keep(self, maps: torch.Tensor) -> None:
        for path, module in reversed(self.stack):
            if attends(path, module):
                self.maps[path].append(maps)
                return


def attends(path: str, module: torch.nn.Module) -> bool:
    named = _ATTENTION.search(path.rpartition(".")[2]) or _ATTENTION.search(type(module).__name__)
    weights = (getattr(child, "weight", None) for child in module.modules())
    return bool(named) and any(isinstance(weight, torch.Tensor) and weight.ndim > 1 for weight in weights)


def _plain(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """The map inside torch's fused attention, as its documentation writes it down."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    return torch.nan_to_num(scores.softmax(-1))
