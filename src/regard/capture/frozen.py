"""A run in which a model is a sum: norms are fixed linear maps, and all that is added to the stream is a leaf.

Enters: a model and its inputs. Leaves: what was added (embeddings, the output of every head, MLPs, biases), and the q
and k of an attention, or the model's output, joined to it by a graph of linear maps alone.

The statistics of every norm are those of this run and do not change with its input, the input of an MLP's last map and
the outputs of heads are constants. So q, k and logits are linear in the leaves, and a leaf's share is its gradient
times itself. Families are not named: whoever uses a run checks that the shares add up to what the model computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch

from regard.base.errors import UserError
from regard.capture.norming import frozen_norm
from regard.capture.operation import Operation, from_call
from regard.capture.outputs import Behind, Place, Places, outputs
from regard.capture.tap import Call
from regard.capture.tiers import Plan, model_type, undisturbed
from regard.trace.sentences import refusal

HEADS, MLP, BIASES = "heads", "mlp", "biases"
_POSITION = re.compile(r"pos|wpe", re.IGNORECASE)
_SEGMENT = re.compile(r"type|segment", re.IGNORECASE)


@dataclass(eq=False)
class Leaf:
    """Something that was added to the stream: values (1, T, d), or (1, T, H, e) for the heads of an attention.

    `kind` is "heads", "mlp", "biases", or the embedding's part; `place` the attention that ran last before it.
    """

    kind: str
    place: Place | None
    value: torch.Tensor


class TakenOut(NamedTuple):
    """What is taken out of one run: leaves by their number, one of their heads where they are heads, at a position."""

    leaves: tuple[int, ...]
    head: int | None
    position: int


@dataclass(eq=False)
class FrozenRun:
    """What a frozen run left: the leaves, each attention by (kind, layer), the target's q and k, the output."""

    leaves: list[Leaf] = field(default_factory=list)
    operations: dict[tuple[str, int], Operation] = field(default_factory=dict)
    target: Operation | None = None
    last: torch.Tensor | None = None  # what the map to words reads
    unembedded: torch.Tensor | None = None
    output: Any = None


class _Reached(Exception):  # noqa: N818 (not an error: the target ran, nothing later is needed)
    """The target's q and k are there."""


def frozen_run(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    plan: Plan,
    places: Places,
    until: tuple[str, int] | None = None,
) -> FrozenRun:
    """Run a model on one example with everything frozen, up to the attention (kind, layer), or to the end."""
    require_tap(model, plan)
    run = FrozenRun()
    freezer = _Freezer(model, plan, places, run, until)
    seen = outputs(model, plan, places, freezer.attention)
    with undisturbed(model), torch.enable_grad(), freezer.hooks(), seen, suppress(_Reached):
        run.output = model(**inputs)
    return run


def plain_run(
    model: torch.nn.Module, inputs: Mapping[str, Any], plan: Plan, places: Places, until: tuple[str, int]
) -> Operation:
    """The attention (kind, layer) as the model itself computes it; what comes later does not run."""
    require_tap(model, plan)
    found: list[Operation] = []

    def note(place: Place, _out: torch.Tensor, call: Behind) -> None:
        assert isinstance(call, Call)  # only models of the attention interface are split
        if place[:2] != until:  # a module that serves several layers
            return
        found.append(from_call(call, "", model_type(model)))
        raise _Reached

    with undisturbed(model), outputs(model, plan, places, note, [until]), suppress(_Reached):
        model(**inputs)
    return found[0]


def removed_run(
    model: torch.nn.Module,
    inputs: Mapping[str, Any],
    plan: Plan,
    places: Places,
    until: tuple[str, int],
    removals: Sequence[TakenOut],
) -> Operation:
    """The attention (kind, layer) of a batch in which each row lacks a part; nothing is frozen."""
    run = FrozenRun()
    remover = _Remover(model, plan, places, run, until, removals)
    with undisturbed(model), remover.hooks(), outputs(model, plan, places, remover.attention), suppress(_Reached):
        model(**inputs)
    assert run.target is not None
    return run.target


def require_tap(model: torch.nn.Module, plan: Plan) -> None:
    """Refuse models whose attention is outside the attention interface."""
    if plan.tier not in ("tap", "registered"):
        raise UserError(refusal("split_outside", model=type(model).__name__))


class _Freezer:
    """The hooks of one frozen run."""

    def __init__(
        self, model: torch.nn.Module, plan: Plan, places: Places, run: FrozenRun, until: tuple[str, int] | None
    ) -> None:
        self.model, self.run, self.until = model, run, until
        self.family = model_type(model)
        self.latest: Place | None = None
        modules = dict(model.named_modules())
        inside = {id(part) for path in places for part in modules[path].modules()}
        readers = {id(module) for module in plan.projections.values() if isinstance(module, torch.nn.Module)}
        self.unembedding = _unembedding(model)
        self.kept = inside | readers | {id(self.unembedding)}

    @contextmanager
    def hooks(self) -> Iterator[None]:
        with ExitStack() as stack:
            for path, module in self.model.named_modules():
                for register, hook in self._hooks(path, module):
                    stack.callback(register(hook).remove)
            yield

    def _hooks(self, path: str, module: torch.nn.Module) -> Iterator[tuple[Callable[..., Any], Callable[..., Any]]]:
        """What is hooked to a module: chosen by what it computes, not by its family."""
        if isinstance(module, torch.nn.Embedding):
            yield module.register_forward_hook, self._embedding(path)
        elif any(one.ndim == 3 and one.is_floating_point() for one in module.parameters(recurse=False)):
            yield module.register_forward_hook, self._experts
        elif not list(module.children()):
            if "norm" in type(module).__name__.lower():
                yield module.register_forward_hook, self._norm
            elif _is_linear(module):
                if module is self.unembedding:
                    yield module.register_forward_pre_hook, self._before_unembedding
                elif id(module) not in self.kept:
                    yield module.register_forward_pre_hook, self._before_linear
                yield module.register_forward_hook, self._after_linear

    def attention(self, place: Place, out: torch.Tensor, call: Behind) -> torch.Tensor:
        """Each attention: its operation is noted, its output becomes a leaf; the target ends the run."""
        assert isinstance(call, Call)  # only models of the attention interface are split
        operation = from_call(call, "", self.family)
        if place[:2] == self.until:
            self.run.target = operation
            raise _Reached
        if place.kind != "cross" or self.latest is None:
            self.latest = place
        self.run.operations[place[:2]] = _still(operation)
        return self._leaf(HEADS, out, place)

    def _leaf(self, kind: str, value: torch.Tensor, place: Place | None = None) -> torch.Tensor:
        leaf = value.detach().clone().requires_grad_()
        batched = leaf if leaf.ndim > 2 else leaf[None]  # a table of positions has no batch
        self.run.leaves.append(Leaf(kind, place or self.latest, batched))
        return (batched if leaf.ndim > 2 else batched[0]).clone()  # models may write into what they get

    def _embedding(self, path: str) -> Callable[..., torch.Tensor]:
        name = path.rpartition(".")[2]
        kind = "position" if _POSITION.search(name) else "segment" if _SEGMENT.search(name) else "word"
        return lambda _module, _args, output: self._leaf(kind, output)

    def _experts(self, _module: torch.nn.Module, _args: Any, output: Any) -> Any:
        return self._leaf(MLP, output) if isinstance(output, torch.Tensor) else None

    def _norm(self, module: torch.nn.Module, args: tuple[torch.Tensor, ...], output: torch.Tensor) -> torch.Tensor:
        linear, bias = frozen_norm(module, args[0], output)
        return linear if bias is None else linear + self._leaf(BIASES, bias.expand_as(output))

    def _before_linear(self, _module: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The input of a map outside attention is a constant: MLPs are not split. Embeddings are projected whole."""
        return None if self.latest is None else (self._leaf(MLP, args[0]), *args[1:])

    def _before_unembedding(self, _module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.run.last = args[0]

    def _after_linear(self, module: torch.nn.Module, _args: Any, output: Any) -> torch.Tensor | None:
        if module is self.unembedding:
            self.run.unembedded = output
        bias = getattr(module, "bias", None)
        if bias is None or not isinstance(output, torch.Tensor):  # routers return choices
            return None
        leaf = self._leaf(BIASES, bias.to(output.dtype).expand_as(output))
        joined = output + (leaf - leaf.detach())
        if module is self.unembedding:
            self.run.unembedded = joined
        return joined


class _Remover(_Freezer):
    """The same hooks in a run that is not frozen: what would be a leaf lacks what is removed from it."""

    def __init__(
        self,
        model: torch.nn.Module,
        plan: Plan,
        places: Places,
        run: FrozenRun,
        until: tuple[str, int],
        removals: Sequence[TakenOut],
    ) -> None:
        super().__init__(model, plan, places, run, until)
        self.removals, self.count = removals, 0

    def _leaf(self, kind: str, value: torch.Tensor, place: Place | None = None) -> torch.Tensor:
        number, self.count = self.count, self.count + 1
        rows = [(row, one) for row, one in enumerate(self.removals) if number in one.leaves]
        if not rows:
            return value
        count = len(self.removals)
        flat = value.ndim == 2 and kind == MLP  # rows of the batch one after another
        batched = value.reshape(count, -1, value.shape[-1]) if flat else value if value.ndim > 2 else value[None]
        left = batched.expand(count, *batched.shape[1:]).clone()
        for row, one in rows:
            left[row, one.position, slice(None) if one.head is None else one.head] = 0
        return left.reshape(value.shape) if flat else left

    def _norm(self, module: torch.nn.Module, _args: Any, _output: torch.Tensor) -> None:  # type: ignore[override]
        self.count += getattr(module, "bias", None) is not None

    def _after_linear(self, module: torch.nn.Module, _args: Any, output: Any) -> None:
        self.count += getattr(module, "bias", None) is not None and isinstance(output, torch.Tensor)


def _still(operation: Operation) -> Operation:
    """An operation outside the graph."""
    fixed = replace(operation, module=None)
    for name in ("q", "k", "v", "mask", "bias", "sink"):
        value = getattr(fixed, name)
        setattr(fixed, name, None if value is None else value.detach())
    return fixed


def _is_linear(module: torch.nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return isinstance(weight, torch.Tensor) and weight.ndim == 2 and weight.is_floating_point()


def _unembedding(model: Any) -> torch.nn.Module | None:
    """The linear map from the last hidden state to the vocabulary, if a model has one."""
    try:
        found = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    return found if isinstance(found, torch.nn.Module) and _is_linear(found) else None
