"""Attention passed on layer by layer while the model runs; nothing is kept.

Enters: a module, its inputs, and a function that takes each layer. Leaves: only what that function keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers.utils import output_capturing

from regard.capture.naming import NamedOperation, Namer
from regard.capture.once import map_and_output
from regard.capture.operation import Operation, from_call
from regard.capture.rebuild import attention_of, repeat_heads, value_norms
from regard.capture.tap import Call, tap
from regard.capture.tiers import Plan, capture_by, model_type, undisturbed
from regard.trace.sentences import reason


@dataclass(eq=False)
class Layer:
    """One attention operation of a batch, as it runs; `made` is its map, if it was made, and of which operation."""

    named: NamedOperation
    projection: torch.nn.Module | str
    made: tuple[Operation, torch.Tensor] | None = field(default=None, kw_only=True)

    @property
    def kind(self) -> str:
        return self.named.kind

    @property
    def layer(self) -> int:
        return self.named.layer

    @property
    def heads(self) -> int:
        return self.named.operation.heads

    def attention(self) -> torch.Tensor:
        """(B, H, Q, K) maps in float32."""
        operation, made = self.named.operation, self.made
        return made[1] if made is not None and made[0] is operation else attention_of(operation)

    def norms(self) -> torch.Tensor | None:
        """(B, H, K) lengths ||f(x_j)||; None if they cannot be computed for this family."""
        if isinstance(self.projection, str) or self.named.operation.v is None:
            return None
        return value_norms(self.named.operation, self.projection)

    def values(self) -> torch.Tensor:
        """(B, H, K, e) value vectors, repeated for heads that share them."""
        values = self.named.operation.v
        assert values is not None
        return repeat_heads(values, self.heads).float()

    @property
    def causal(self) -> bool:
        return self.kind == "decoder"


Taker = Callable[[Layer], None]


class _AllSeen(BaseException):
    """Raised inside a model when its last attention has run, to leave out what comes after."""


class _Passer:
    """A consumer that names each call of one model and passes it on; `stops` after the last one.

    `maps` says that the map of every call will be asked for.
    """

    def __init__(
        self, model: torch.nn.Module, plan: Plan, namer: Namer, take: Taker, *, stops: bool, maps: bool
    ) -> None:
        self.paths = {id(module): path for path, module in model.named_modules()}
        self.family = model_type(model)
        self.plan, self.namer, self.take, self.maps = plan, namer, take, maps
        self.awaited = plan.calls if stops else ()  # the calls to come; none if they are not known, or not as they were
        self.made: tuple[Operation, torch.Tensor] | None = None

    def wants(self, module: torch.nn.Module) -> bool:
        return id(module) in self.paths

    def instead(self, call: Call, function: Callable[..., Any], run: Callable[[], Any]) -> torch.Tensor | None:
        """The output of a call that its map gives; nothing for the last one, after which the model stops."""
        path = self.paths[id(call.module)]
        if self.awaited == (path,):
            return call.out
        if not self.maps:
            return None
        operation = from_call(call, path, self.family)
        found = map_and_output(call, operation, function, run, self.plan.own)
        if found is None:
            return None
        self.made = operation, found[0]
        return found[1]

    def after(self, call: Call) -> None:
        path = self.paths[id(call.module)]
        made, self.made = self.made, None
        named = self.namer.name(from_call(call, path, self.family) if made is None else made[0])
        if named is not None:
            self.take(Layer(named, projection_of(self.plan, named.operation.path), made=made))
        awaited = self.awaited[:1] == (path,)
        self.awaited = self.awaited[1:] if awaited else ()
        if awaited and not self.awaited:
            raise _AllSeen


def stream(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    plan: Plan,
    sides: set[str],
    take: Taker,
    *,
    output: bool,
    maps: bool = False,
) -> Any:
    """Run a model, passing each layer's attention to `take` as it is computed; returns the model's output if asked.

    Otherwise the model stops after its last attention, where that is known: what follows has an eighth of the
    multiplications of a BERT with six layers, and more where words are predicted. `maps` says that every map will be
    asked for: where it can be, it is made once, for `take` and for the model.
    """
    namer = Namer(sides)
    with undisturbed(model):
        if plan.tier == "tap":
            stops = not output and not _hooked(model)
            with tap(_Passer(model, plan, namer, take, stops=stops, maps=maps)), suppress(_AllSeen):
                return model(**inputs)
            return None
        for operation in capture_by(model, inputs, plan.tier):
            named = namer.name(operation)
            if named is not None:
                take(Layer(named, projection_of(plan, operation.path)))
        return None


def _hooked(model: torch.nn.Module) -> bool:
    """Whether something else waits for modules to end: hooks, or weights that are loaded for one call."""
    return any(_waits(module) or hasattr(module, "_hf_hook") for module in model.modules())


def _waits(module: torch.nn.Module) -> bool:
    """Whether a module has hooks but those that transformers leaves on a model once asked for all its layers."""
    hooks = module._forward_hooks.values()
    return any(getattr(hook, "__module__", None) != output_capturing.__name__ for hook in hooks)


def projection_of(plan: Plan, path: str) -> torch.nn.Module | str:
    """The output projection that reads this attention, or why none is known."""
    return plan.projections.get(path, reason("no_projection"))
