"""A family's trace against the maps that its own eager attention reports.

Enters: a model type. Leaves: a `Record` of what was captured, how, and how far it is from the model's own maps.

The reference never touches regard: a second model with the same weights, built with eager attention, runs with
`output_attentions=True`. Forward hooks say which module made which map. What attention modules put through softmax
is kept as well: it says which maps there must be, and stands in for those that a family computes but never reports.
"""

from __future__ import annotations

import inspect
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

import regard
from regard.trace.site import Site
from regard.trace.trace import Trace
from tests.fidelity.build import eager_of, inputs_of, model_of
from tests.fidelity.records import Record, describe
from tests.fidelity.shapes import MismatchError, cut_padding, declared_maps, is_map, part_of, spread_bands, tensors_in
from tests.fidelity.softmaxes import Softmaxes, attends

BOUND = 1e-5
# Softmax in attention modules that is no attention over positions, or the same map once more.
NOT_ATTENTION = {
    "diffllama": "each map is computed twice, for two halves of the values",
    "convbert": "the other softmax makes the kernels of its span convolution",
    "maskformer-swin": "asked for attentions, its first stage runs twice",
    "patchtsmixer": "the other softmax gates features",
}
# Attention that a family's base model has but runs only when it is part of another model.
NOT_RUN = {
    "blip": "the text model's cross attention runs only when it is given image states",
    "minicpm_ocr": "its merger runs only when the vision model is used alone",
    "seamless_m4t": "of its two encoders, for text and for speech, one runs",
    "seamless_m4t_v2": "of its two encoders, for text and for speech, one runs",
    "udop": "its position biases are computed outside the attention they lie in",
}


def record(model_type: str) -> Record:
    """Build, trace and compare one family."""
    found = Record(model_type)
    try:
        model = model_of(model_type)
        inputs = inputs_of(model_type, model)
        found.model_class = type(model).__name__
        before = _run(model, inputs)
    except Exception as problem:
        return _ended(found, "unbuilt", _line(problem))
    try:
        reference = Reference(model_type, model, inputs)
        traces = _traced_undisturbed(model, inputs, before)
        describe(found, traces)
        reference.check(found, traces, inputs)
    except MismatchError as problem:
        return _ended(found, "fail", str(problem))
    except ValueError as problem:
        if "ran no softmax attention" in str(problem):
            return _ended(found, "fail" if reference.has_maps else "none", str(problem))
        return _ended(found, "fail", _line(problem))
    except Exception as problem:
        return _ended(found, "fail", _line(problem))
    return _ended(found, "part" if found.reason else "pass", found.reason)


def _ended(found: Record, state: str, reason: str) -> Record:
    found.state, found.reason = state, reason
    return found


def _line(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())[:160]}"


def _run(model: torch.nn.Module, inputs: Mapping[str, Any], **options: Any) -> Any:
    torch.default_generator.manual_seed(
        zlib.crc32(b"run")
    )  # families that drop patches at random do so alike each time
    if "use_cache" in inspect.signature(model.forward).parameters:
        options["use_cache"] = False  # some families skip masks when they fill a cache
    with torch.no_grad():
        return model(**inputs, **options)


# -- tracing leaves the model as it was --------------------------------------------------------------------


def _traced_undisturbed(model: torch.nn.Module, inputs: Mapping[str, Any], before: Any) -> list[Trace]:
    state = _condition(model)
    ready = regard.load(model)
    torch.default_generator.manual_seed(zlib.crc32(b"run"))
    traces = ready.trace_inputs(inputs)
    torch.default_generator.manual_seed(zlib.crc32(b"run"))
    again = ready.trace_inputs(inputs)  # the first trace finds out how; later ones only do it
    if [len(trace.sites) for trace in again] != [len(trace.sites) for trace in traces]:
        raise MismatchError("a second trace has other sites than the first")
    if _condition(model) != state:
        raise MismatchError("tracing left a hook, a flag or a config changed")
    after = _run(model, inputs)
    for one, other in zip(tensors_in(before), tensors_in(after), strict=True):
        if not torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)):
            raise MismatchError("the model's output is not what it was before tracing")
    return again


def _condition(model: torch.nn.Module) -> tuple[Any, ...]:
    hooks = [
        (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks), m.training, set(vars(m)))
        for m in model.modules()
    ]
    kernels = [getattr(getattr(m, "config", None), "_attn_implementation", None) for m in model.modules()]
    return hooks, kernels, str(model.config.to_dict())


# -- the model's own maps ----------------------------------------------------------------------------------


class Reference:
    """The maps of an eager model with the same weights: as output fields, and by the module that made them."""

    def __init__(self, model_type: str, model: torch.nn.Module, inputs: Mapping[str, Any]) -> None:
        eager = eager_of(model_type, model)
        self.model_type = model_type
        self.reported: dict[str, list[torch.Tensor]] = defaultdict(list)
        self.entered: set[str] = set()
        counter = Softmaxes()
        for path, module in eager.named_modules():
            self._follow(counter, path, module)
        with counter:
            outputs = self._outputs(eager, inputs)
        self.softmaxes = counter.maps
        self.declared = dict(declared_maps(outputs))
        self.idle = _idle(eager, self.entered)

    def _outputs(self, eager: torch.nn.Module, inputs: Mapping[str, Any]) -> Any:
        try:
            return _run(eager, inputs, output_attentions=True, return_dict=True)
        except TypeError:  # a forward without these arguments
            return _run(eager, inputs)

    def _follow(self, counter: Softmaxes, path: str, module: torch.nn.Module) -> None:
        def enter(*_: Any) -> None:
            self.entered.add(path)
            counter.stack.append((path, module))

        def leave(_module: Any, _args: Any, output: Any) -> None:
            counter.stack.pop()
            weights = [item for item in output[1:] if is_map(item)] if isinstance(output, tuple) else []
            if weights and "Merged" in type(module).__name__:  # one softmax over both sides, reported in two halves
                self.reported[path].append(torch.cat(weights, dim=-1))
            elif weights:
                self.reported[path].append(weights[-1])

        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave)

    @property
    def has_maps(self) -> bool:
        return bool(self.softmaxes) or any(is_map(tensor) for tensor in self.declared.values())

    # -- checks --------------------------------------------------------------------------------------------

    def check(self, found: Record, traces: list[Trace], inputs: Mapping[str, Any]) -> None:
        """Every traced map equals the model's own, and every map of the model was traced."""
        found.difference = 0.0
        for example, trace in enumerate(traces):
            for site, expected in self._pairs(found, trace, example, len(traces)):
                _compare(found, site, cut_padding(expected, site, example, inputs))
        self._complete(found, traces)
        if not found.difference <= BOUND:
            raise MismatchError(f"differs by {found.difference:.1e} from the model's own maps")
        if found.spread < 1e-3:
            raise MismatchError("the maps are uniform: the comparison shows nothing")

    def _pairs(self, found: Record, trace: Trace, example: int, examples: int) -> Iterator[tuple[Site, np.ndarray]]:
        """Each site with the model's own maps of it."""
        runs: dict[str, list[tuple[str, int]]] = defaultdict(list)
        parts = Counter((site.kind, site.layer) for site in trace.sites)
        for site in trace.sites:
            place = (site.kind, site.layer)
            if place not in runs[site.path]:
                runs[site.path].append(place)
            maps, source = self._own(site, runs[site.path].index(place), parts[place])
            found.maps[source] += site.heads
            yield site, part_of(maps, site, example, examples, parts[place])

    def _own(self, site: Site, run: int, parts: int) -> tuple[torch.Tensor, str]:
        """The model's maps of one run of a module, and whether it reports them."""
        if site.path in self.declared:
            maps = self.declared[site.path]
            banded = self.model_type in ("longformer", "led") and site.kind == "encoder"
            return spread_bands(maps) if banded else maps, "reported"
        reported, made = self.reported.get(site.path, []), self.softmaxes.get(site.path, [])
        if run < len(reported) and (parts == 1 or reported[run].shape[0] * reported[run].shape[1] > site.heads):
            return reported[run], "reported"
        if parts > 1 and (run + 1) * parts <= len(made):  # one call a part: the module reports its last one at most
            calls = made[run * parts : (run + 1) * parts]
            if len({call.shape for call in calls}) > 1:  # each side of the module looks at the other
                return calls[site.part].reshape(-1, site.heads, *calls[site.part].shape[-2:]), "softmax"
            return torch.cat(calls), "softmax"
        if run < len(made):
            maps = made[run]
            return maps.reshape(-1, site.heads, *maps.shape[1:]) if maps.ndim == 3 else maps, "softmax"
        raise MismatchError(f"the model makes no map at {site.path}")

    def _complete(self, found: Record, traces: list[Trace]) -> None:
        """None of the model's attention is missing from the traces."""
        trace = traces[0]
        paths = {site.path for site in trace.sites}
        if found.tier == "maps":
            ours, theirs = len(paths), sum(map(len, self.softmaxes.values()))
            missed = [f"{theirs - ours} of {theirs} softmax calls"] if theirs > ours else []
        else:
            missed = [path for path, made in self.softmaxes.items() if _calls(traces, path, made) < len(made)]
        declared = {id(tensor) for tensor in self.declared.values() if is_map(tensor)}
        layers = {(site.kind, site.layer, site.part) for site in trace.sites}
        named = set(trace.facts.get("missed", []))
        if len(declared) > len(layers) + len(named):
            missed.append(f"{len(declared)} reported maps but {len(layers)} layers traced")
        if missed and set(missed) <= named:
            found.reason = f"no map of positions: {_list(missed)}"
        elif missed and self.model_type not in NOT_ATTENTION:
            raise MismatchError(f"not traced: {_list(missed)}")
        if self.idle and self.model_type not in NOT_RUN:
            raise MismatchError(f"the inputs do not reach {self.idle[0]} ({len(self.idle)} attention modules)")


def _list(paths: list[str]) -> str:
    return f"{', '.join(paths[:3])}{' ...' if paths[3:] else ''}"


def _calls(traces: list[Trace], path: str, made: list[torch.Tensor]) -> int:
    """How many attention calls of a module the traces hold; windows of one call lie in its batch dimension."""
    sites = [site for site in traces[0].sites if site.path == path]
    if not sites or any(maps.ndim > 4 for maps in made):
        return 0
    rows = made[0].shape[0] // (sites[0].heads if made[0].ndim == 3 else 1)
    return len(sites) // max(1, rows // len(traces))


def _compare(found: Record, site: Site, expected: np.ndarray) -> None:
    actual = np.stack([site.attention(i) for i in range(site.heads)])
    if actual.shape != expected.shape:
        raise MismatchError(f"{site.path} has maps of shape {actual.shape}, the model {expected.shape}")
    if not np.isfinite(expected).all():
        raise MismatchError("the model's own maps hold NaN")
    found.difference = max(found.difference, float(np.abs(actual - expected).max()))
    found.spread = max(found.spread, float(expected.std(axis=-1).max()))


def _idle(model: torch.nn.Module, entered: set[str]) -> list[str]:
    """Attention modules that the inputs did not reach, outermost only."""
    idle = [path for path, module in model.named_modules() if path not in entered and attends(path, module)]
    inside = {path for path in idle if any(path.startswith(other + ".") for other in idle)}
    holders = {path for path in idle if any(other.startswith(path + ".") for other in entered)}
    return [path for path in idle if path not in inside | holders]
