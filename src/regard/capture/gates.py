"""How a loss depends on each head: a factor on every head's output, and the gradient by it (Michel et al. 2019).

Enters: a model and a loss per row of a batch. Leaves: (rows, H) gradients by layer. The factors are 1, so nothing
changes; each row of the batch has its own factors, so that one backward pass gives every example's own gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from regard.capture.outputs import Behind, Place, Places, outputs
from regard.capture.tiers import Plan, undisturbed


def gate_gradients(
    model: torch.nn.Module, plan: Plan, places: Places, losses: Callable[[], torch.Tensor]
) -> dict[tuple[str, int], torch.Tensor]:
    """(kind, layer) -> (rows, H) derivatives of each row's loss by the factors on its heads' outputs."""
    gates = _Gates()
    with undisturbed(model), torch.enable_grad(), outputs(model, plan, places, gates):
        total = losses().sum()
        found = torch.autograd.grad(total, list(gates.factors.values()), allow_unused=True)
    return {
        place: torch.zeros_like(factor) if gradient is None else gradient
        for (place, factor), gradient in zip(gates.factors.items(), found, strict=True)
    }


class _Gates:
    """An edit that multiplies every head's output by a factor of 1 that has a gradient."""

    def __init__(self) -> None:
        self.factors: dict[tuple[str, int], torch.Tensor] = {}

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor:
        factor = torch.ones(out.shape[0], place.heads, dtype=out.dtype, device=out.device, requires_grad=True)
        self.factors[place.kind, place.layer] = factor
        return out * factor[:, None, :, None]
