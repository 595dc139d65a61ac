"""Weights of a model that accelerate has spread over devices, memory and disk.

Enters: a module. Leaves: its weight, wherever it is kept while the module does not run.
"""

from __future__ import annotations

from typing import Any

import torch


def held(module: torch.nn.Module, name: str = "weight") -> torch.Tensor:
    """A parameter's values; one that is loaded only while its module runs is read from where it is kept."""
    parameter: torch.Tensor = getattr(module, name).detach()
    if not parameter.is_meta:
        return parameter
    kept = [one.weights_map for one in _hooks(module) if getattr(one, "weights_map", None) is not None]
    values: torch.Tensor = kept[0][name]
    return values


def device_of(module: torch.nn.Module, parameter: torch.Tensor) -> torch.device:
    """Where a model runs whose first parameter is given: where that one is, or is brought to."""
    if not parameter.is_meta:
        return parameter.device
    devices = [getattr(hook, "execution_device", None) for part in module.modules() for hook in _hooks(part)]
    return torch.device(next((device for device in devices if device is not None), "cpu"))


def _hooks(module: torch.nn.Module) -> tuple[Any, ...]:
    """What accelerate has put around a module's forward pass."""
    hook: Any = getattr(module, "_hf_hook", None)
    return () if hook is None else tuple(getattr(hook, "hooks", (hook,)))
