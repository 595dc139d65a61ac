"""Head outputs on their way to the output projection W_O, where they are read or replaced.

Enters: a model and where its attention runs. Leaves: each attention's output (B, Q, H, e) with its kind and layer,
passed to an `Edit` while the model runs; what it returns replaces the output. Nothing stays on the model.

Kind and layer are looked up by module, as a trace has named them, and not counted: this also works for a model whose
first layers are skipped, or whose encoder runs alone. Only calls of a module that serves several layers (ALBERT)
are told apart by their number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch

from regard.base.errors import UserError
from regard.capture.alone import alone
from regard.capture.tap import REGISTERED, Call, tap
from regard.capture.tiers import Plan, attention_set
from regard.capture.watch import Seen, latest_seen, watching
from regard.trace.site import Site


class Place(NamedTuple):
    """One attention operation of a model, as traces name it."""

    kind: str
    layer: int
    heads: int


Places = Mapping[str, tuple[Place, ...]]  # path of the module -> its calls in one pass, in order
Behind = Call | Seen | None  # what ran behind an output: a call of the attention interface, or what torch showed of it
# (place, output (B, Q, H, e), its source) -> the output to continue with, or None
Edit = Callable[[Place, torch.Tensor, Behind], torch.Tensor | None]


def places_of(sites: Iterable[Site]) -> dict[str, tuple[Place, ...]]:
    """Where each attention of a traced model runs."""
    found: dict[str, tuple[Place, ...]] = {}
    for site in sites:
        if site.part == 0:
            found[site.path] = (*found.get(site.path, ()), Place(site.kind, site.layer, site.heads))
    return found


def layout_of(places: Places) -> dict[tuple[str, int], int]:
    """How many heads each (kind, layer) has."""
    return {(place.kind, place.layer): place.heads for some in places.values() for place in some}


@contextmanager
def outputs(
    model: torch.nn.Module,
    plan: Plan,
    places: Places,
    edit: Edit,
    layers: Collection[tuple[str, int]] | None = None,
    *,
    vectors: bool = False,
) -> Iterator[None]:
    """Pass every attention output of this thread's runs of a model to `edit` until the block ends.

    Parameters
    ----------
    plan, places
        How the model is captured, and where its attention runs.
    edit
        Called with (place, output, call); a tensor that it returns replaces the output.
    layers
        (kind, layer) of the outputs to pass on, all unless given; the rest of the model runs as usual.
    vectors
        Whether the edit needs q, k and v: models outside the attention interface are watched for them.
    """
    modules = dict(model.named_modules())
    wanted = {
        path: some
        for path, some in places.items()
        if layers is None or any((place.kind, place.layer) in layers for place in some)
    }
    with ExitStack() as stack:
        if plan.tier in ("tap", "registered"):
            calls = _Calls({id(modules[path]): some for path, some in wanted.items()}, edit)
            if plan.tier == "registered":
                stack.enter_context(alone(model))  # its attention setting is shared by all threads
            stack.enter_context(tap(calls, registered=plan.tier == "registered"))
            if plan.tier == "registered":
                stack.enter_context(attention_set(model, REGISTERED))
        else:
            projections = {path: _projection(model, plan, path) for path in wanted}
            if vectors and plan.tier == "watch":
                stack.enter_context(watching(model, keep=False))
            paths = {id(projection): path for path, projection in projections.items()}
            calls = _Calls(
                {id(projections[path]): some for path, some in wanted.items()},
                edit,
                lambda projection: latest_seen(model, paths[id(projection)]),
            )
            for projection in projections.values():
                stack.callback(projection.register_forward_pre_hook(calls.before_projection).remove)
        if calls.shared:
            stack.callback(model.register_forward_pre_hook(calls.restart).remove)
        yield


class _Calls:
    """Names each call of the modules it knows and passes on its output; a consumer of the tap."""

    def __init__(
        self,
        places: Mapping[int, tuple[Place, ...]],
        edit: Edit,
        seen: Callable[[torch.nn.Module], Seen | None] = lambda _: None,
    ) -> None:
        self.places, self.edit, self.seen = places, edit, seen
        self.shared = any(len(some) > 1 for some in places.values())
        self._thread = threading.get_ident()
        self._counts: dict[int, int] = {}

    def wants(self, module: torch.nn.Module) -> bool:
        return id(module) in self.places

    def after(self, call: Call) -> torch.Tensor | None:
        place = self._place(call.module, call.part)
        if call.out.ndim != 4 or call.out.shape[2] != place.heads:
            raise UserError(
                f"{type(call.module).__name__} returns its attention output as {tuple(call.out.shape)}, not by head; "
                "its heads cannot be told apart"
            )
        return self.edit(place, call.out, call)

    def before_projection(self, module: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The same for an output projection about to read (..., H * e); other threads are not affected."""
        if threading.get_ident() != self._thread:
            return None
        place, given = self._place(module, 0), args[0]
        batched = given if given.ndim == 3 else given[None]  # (B, Q, H * e)
        edited = self.edit(place, batched.reshape(*batched.shape[:2], place.heads, -1), self.seen(module))
        return None if edited is None else (edited.reshape(given.shape), *args[1:])

    def restart(self, _module: torch.nn.Module, _args: Any) -> None:
        """A new pass begins: calls of modules that serve several layers are counted from 0 again."""
        if threading.get_ident() == self._thread:
            self._counts.clear()

    def _place(self, module: torch.nn.Module, part: int) -> Place:
        places = self.places[id(module)]
        if len(places) == 1:
            return places[0]
        count = self._counts.get(id(module), -1) + (part == 0)
        self._counts[id(module)] = count
        return places[count % len(places)]


def _projection(model: torch.nn.Module, plan: Plan, path: str) -> torch.nn.Module:
    found = plan.projections.get(path)
    if not isinstance(found, torch.nn.Module):
        raise UserError(
            f"heads of {type(model).__name__} cannot be reached: its attention is outside transformers' attention "
            "interface, and no output projection that reads it is known"
        )
    return found
