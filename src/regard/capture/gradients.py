"""How a model's output depends on what each head adds at each position: gradients at head outputs, before W_O.

Enters: a model, its inputs and a number of its output. Leaves: the attention operations of the run, and for each layer
g = dm / do (B, Q, H, e) and g . o (B, Q, H). One forward and one backward pass; parameters get no gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.capture.operation import Operation
from regard.capture.outputs import Behind, Place, Places, outputs
from regard.capture.tiers import Plan, capture_by, undisturbed


@dataclass(frozen=True, eq=False)
class Gradient:
    """g (B, Q, H, e) of one layer, and go = g . o (B, Q, H)."""

    g: torch.Tensor
    go: torch.Tensor


Gradients = dict[tuple[str, int], Gradient]  # (kind, layer) -> gradients


def output_gradients(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    plan: Plan,
    places: Places,
    measure: Callable[[Any], torch.Tensor],
) -> tuple[list[Operation], Gradients]:
    """Run a model forward and, from a number of its output, backward to the outputs of its heads.

    Parameters
    ----------
    measure
        From the model's own output to the number.
    """
    heads = _Heads()
    with undisturbed(model), torch.enable_grad(), _frozen(model), outputs(model, plan, places, heads):
        with _caught(model) as found:
            operations = capture_by(model, inputs, plan.tier)
        value = measure(found[-1])
        gradients = torch.autograd.grad(value, list(heads.outputs.values()), allow_unused=True)
    kept: Gradients = {}
    for (place, out), gradient in zip(heads.outputs.items(), gradients, strict=True):
        if place not in heads.several:
            g = torch.zeros_like(out) if gradient is None else gradient
            kept[place] = Gradient(g, (g * out.detach()).sum(-1))
    return [_detached(operation) for operation in operations], kept


def _detached(operation: Operation) -> Operation:
    """An operation without the graph that its tensors were computed by."""
    held: dict[str, Any] = {
        name: value.detach() for name, value in vars(operation).items() if isinstance(value, torch.Tensor)
    }
    return replace(operation, **held)


class _Heads:
    """An edit that keeps every head output as a place to which gradients flow."""

    def __init__(self) -> None:
        self.outputs: dict[tuple[str, int], torch.Tensor] = {}
        self.several: set[tuple[str, int]] = set()  # layers whose maps are used for several groups of values

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor:
        own = (place.kind, place.layer)
        if own in self.outputs:
            self.several.add(own)
            return out
        if not out.requires_grad:  # nothing before the first attention is asked for
            out = out.detach().requires_grad_()
        self.outputs[own] = out
        return out


@contextmanager
def _caught(model: torch.nn.Module) -> Iterator[list[Any]]:
    """The outputs of a model's runs."""
    found: list[Any] = []
    handle = model.register_forward_hook(lambda _module, _args, output: found.append(output))
    try:
        yield found
    finally:
        handle.remove()


@contextmanager
def _frozen(model: torch.nn.Module) -> Iterator[None]:
    """Parameters that want no gradients, so that nothing is kept for them; restored afterwards."""
    wanting = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in wanting:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in wanting:
            parameter.requires_grad_(True)
