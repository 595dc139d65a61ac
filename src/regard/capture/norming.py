"""A norm with its realised statistics frozen: a linear map and a bias.

Enters: a norm module, its input and its output. Leaves: the linear map of the input, part of the graph, and the bias.
"""

from __future__ import annotations

from typing import Any

import torch

from regard.base.errors import UserError
from regard.trace.sentences import refusal

_EPS = ("eps", "variance_epsilon", "epsilon", "norm_eps")
_NEAR = {torch.float32: 1e-3, torch.float64: 1e-3}  # of the largest output; half precision rounds more
_HALF = 3e-2


def frozen_norm(
    module: torch.nn.Module, given: torch.Tensor, output: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """gain * (x - mean x) / sigma with sigma fixed (RMSNorm: without the mean), and the bias.

    Which of the two it is, and whether the gain is the weight or 1 + weight (Gemma), is told from what it computed.
    """
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    x = given.float()
    near = _NEAR.get(output.dtype, _HALF) * output.detach().abs().max().clamp(min=1e-12)
    centrings = (True, False) if isinstance(module, torch.nn.LayerNorm) else (False, True)
    for centred in centrings:
        shifted = x - x.mean(-1, keepdim=True) if centred else x
        scale = (shifted.detach().square().mean(-1, keepdim=True) + _epsilon(module)).rsqrt()
        for gain in _gains(weight):
            linear = shifted * (scale * gain)
            total = linear.detach() if bias is None else linear.detach() + bias.detach().float()
            if bool((total - output.detach().float()).abs().max() <= near):
                return linear.to(output.dtype), None if bias is None else bias.detach().to(output.dtype)
    raise UserError(refusal("split_norm", norm=type(module).__name__))


def _gains(weight: torch.Tensor | None) -> list[Any]:
    if weight is None:
        return [1.0]
    fixed = weight.detach().float()
    return [fixed, 1.0 + fixed]


def _epsilon(module: torch.nn.Module) -> float:
    found = [getattr(module, name) for name in _EPS if isinstance(getattr(module, name, None), float)]
    return float(found[0]) if found else 0.0
