"""Many runs of one batch that differ only from some layer on: what lies below is computed once.

Enters: a module, its inputs, and edits of attention outputs. Leaves: the module's output under each edit, exactly
the numbers of a full run.

The blocks of the model (the list of modules that own one attention each) are found by the paths of its attention. One
plain run keeps the output of each block. A run that is edited from block n on takes the blocks below from there; inside
block n, modules that run before its attention (norms, projections to q, k and v) and the embeddings are taken from
the first such run. Models without such a list, and those for which a check on two inputs shows different numbers, run
in full.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from regard.capture.alone import alone
from regard.capture.outputs import Behind, Edit, Place, Places, outputs
from regard.capture.tiers import Plan

CHECKS = 2  # runs that are compared at every block: the one that keeps outputs, and the first that reuses them
_FEW = 2  # rows of the first batch that they are compared on: a model built differently shows in any row
Run = Callable[[Mapping[str, Any]], Any]
Layers = Collection[tuple[str, int]]  # (kind, layer)


def blocks_of(model: torch.nn.Module, places: Places) -> list[torch.nn.Module]:
    """The modules that own one layer of attention each, in order; empty if the model is built differently."""
    kinds = {place.kind for some in places.values() for place in some}
    if len(kinds) != 1 or any(len(some) != 1 for some in places.values()):
        return []  # several kinds of attention, or modules that serve several layers
    paths = {some[0].layer: path for path, some in places.items()}
    if sorted(paths) != list(range(len(places))):
        return []
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == len(paths):
            start = f"{name}." if name else ""
            if all(path.startswith(f"{start}{layer}.") for layer, path in paths.items()):
                return list(module)
    return []


class Shared:
    """How runs of a model share their lower blocks; one object for all batches of a model.

    Parameters
    ----------
    model, plan, places
        The module, how it is captured, and where its attention runs.
    run
        Runs it on some inputs, without gradients.
    share
        False makes every run a full one.
    """

    def __init__(self, model: torch.nn.Module, plan: Plan, places: Places, run: Run, *, share: bool = True) -> None:
        self.model, self.plan, self.places, self.run = model, plan, places, run
        self.blocks = blocks_of(model, places) if share else []
        self._checked: set[int] = set()  # blocks whose runs were compared with full runs

    @property
    def sharing(self) -> bool:
        return bool(self.blocks)

    def batch(self, inputs: Mapping[str, Any]) -> Runs:
        """Runs of one batch."""
        return Runs(self, inputs)

    def shares_from(self, level: int, inputs: Mapping[str, Any]) -> bool:
        """Whether runs from a block on give exactly the numbers of full ones; checked once."""
        if self.sharing and level not in self._checked:
            self._checked.add(level)
            if not self._agrees(level, self.batch({name: value[:_FEW] for name, value in inputs.items()})):
                self.blocks = []
        return self.sharing

    def _agrees(self, level: int, runs: Runs) -> bool:
        """Whether a run from a block on equals a full run, with an edit of its attention."""
        kind = next(iter(self.places.values()))[0].kind
        with alone(self.model), outputs(self.model, self.plan, self.places, _half, [(kind, level)]):
            whole = self.run(runs.inputs)
            return all(_same(runs.run_from(level), whole) for _ in range(CHECKS))


class Runs:
    """Runs of one batch. `plain` is the model's output without any edit."""

    def __init__(self, shared: Shared, inputs: Mapping[str, Any]) -> None:
        self.shared, self.inputs = shared, inputs
        self._given: list[Any] = [None] * len(shared.blocks)  # the output of each block
        self._level: int | None = None  # the block whose first modules are kept
        self._first: dict[torch.nn.Module, Any] = {}
        with alone(shared.model), ExitStack() as stack:
            for number, block in enumerate(shared.blocks):
                stack.callback(block.register_forward_hook(self._keeper(number)).remove)
            self.plain = self._whole()

    def run_edited(self, edit: Edit, layers: Layers) -> Any:
        """The model's output with an edit of the attention outputs of some layers."""
        shared, level = self.shared, min(layer for _, layer in layers)
        sharing = shared.shares_from(level, self.inputs)
        with alone(shared.model), outputs(shared.model, shared.plan, shared.places, edit, layers):
            return self.run_from(level) if sharing else self._whole()

    def _whole(self) -> Any:
        return self.shared.run(self.inputs)

    def run_from(self, level: int) -> Any:
        """The output of a run from a block on; the first such run keeps what the next ones reuse."""
        below = dict(zip(self.shared.blocks[:level], self._given, strict=False))
        if self._level == level:
            with _answering({**below, **self._first}):
                return self._whole()
        watch = _Early(self.shared.model, self.shared.blocks, level)
        kind = next(iter(self.shared.places.values()))[0].kind
        opened = outputs(self.shared.model, self.shared.plan, self.shared.places, watch.reached, [(kind, level)])
        with _answering(below), opened, watch.hooks():
            output = self._whole()
        self._first, self._level = watch.found(), level
        return output

    def _keeper(self, number: int) -> Any:
        def keep(_module: torch.nn.Module, _args: Any, output: Any) -> None:
            self._given[number] = output

        return keep


def _half(_place: Place, out: torch.Tensor, _call: Behind) -> torch.Tensor:
    """An edit that keeps every difference in the attention visible."""
    return out / 2


class _Early:
    """Records the outputs of leaf modules that run once, before the attention of a block."""

    def __init__(self, model: torch.nn.Module, blocks: Sequence[torch.nn.Module], level: int) -> None:
        others = {id(part) for number, block in enumerate(blocks) if number != level for part in block.modules()}
        self.leaves = [m for m in model.modules() if id(m) not in others and not list(m.children())]
        self.calls: dict[torch.nn.Module, list[Any]] = {}
        self.before: set[torch.nn.Module] = set()

    @contextmanager
    def hooks(self) -> Iterator[None]:
        with ExitStack() as stack:
            for leaf in self.leaves:
                stack.callback(leaf.register_forward_hook(self._note).remove)
            yield

    def _note(self, module: torch.nn.Module, _args: Any, output: Any) -> None:
        self.calls.setdefault(module, []).append(output)

    def reached(self, _place: Place, _out: torch.Tensor, _call: Behind) -> None:
        """Called when the attention of the block is about to return its output."""
        self.before = self.before or set(self.calls)

    def found(self) -> dict[torch.nn.Module, Any]:
        return {module: given[0] for module, given in self.calls.items() if len(given) == 1 and module in self.before}


@contextmanager
def _answering(answers: Mapping[torch.nn.Module, Any]) -> Iterator[None]:
    """Let modules return recorded outputs; their own forward is restored when the block ends."""
    with ExitStack() as stack:
        for module, answer in answers.items():
            before = vars(module).get("forward")
            stack.callback(_restore, module, before)
            module.forward = _constant(answer)
        yield


def _constant(answer: Any) -> Any:
    def forward(*_args: Any, **_options: Any) -> Any:
        return answer

    return forward


def _restore(module: torch.nn.Module, forward: Any) -> None:
    if forward is None:
        vars(module).pop("forward", None)
    else:
        module.forward = forward


def _same(one: Any, other: Any) -> bool:
    """Whether two outputs hold exactly the same tensors."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, Mapping):
        return all(_same(one[name], other[name]) for name in one)
    if isinstance(one, (tuple, list)):
        return all(_same(a, b) for a, b in zip(one, other, strict=True))
    return True
