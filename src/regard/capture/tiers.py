"""How a model is captured, decided once per model by watching it run.

1. tap: the attention interface; q, k, v exact, the model's own kernel runs (1b, registered name: the same with the
   model's eager function, where the tap's entry point is not there).
2. maps: the model's own eager `output_attentions`, for families outside the interface.
3. watch: torch's own operations, for plain torch modules; together with the tap (both) for models of which a part
   is outside the interface.
4. none of these sees attention: an error that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, PreTrainedModel

from regard.base.errors import UserError
from regard.capture.alone import alone, configs_of
from regard.capture.families import BANDED, SAMPLED
from regard.capture.heap import large_blocks_apart
from regard.capture.keeping import Keeper
from regard.capture.operation import Operation, from_call, from_watch
from regard.capture.tap import REGISTERED, Call, tap
from regard.capture.watch import Watched, watching

TIERS = {
    "tap": "attention interface: q, k and v, the model's own kernel",
    "registered": "attention interface under a registered name: q, k and v, eager kernel",
    "maps": "the model's own eager attention maps",
    "watch": "torch operations: q, k and v of fused kernels, maps of plain softmax",
    "both": "attention interface, plus torch operations for the parts of the model outside it",
}
_MAP_FIELDS = {
    "attentions": None,
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
    "vision_attentions": "encoder",
}


@dataclass(eq=False)
class Plan:
    """How a model is captured, and the output projection that reads each attention (or why none is known).

    `missed` are the paths of attention that ran but is not a map of positions (blocks, windows in blocks, pooling);
    `vectors` says whether q, k and v of all attention are seen; `calls` are the paths of all calls in their order, if
    each module calls once and the tap sees all of it; `own` is where maps give what the kernel gives (see once.py).
    """

    tier: str
    projections: dict[str, torch.nn.Module | str] = field(default_factory=dict)
    missed: tuple[str, ...] = ()
    vectors: bool = True
    calls: tuple[str, ...] = ()
    own: dict[tuple[Any, ...], bool] = field(default_factory=dict)


class _Keeper:
    """A consumer that keeps the operation behind every call of one model."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.paths = {id(module): path for path, module in model.named_modules()}
        self.family = model_type(model)
        self.store = Keeper()

    def wants(self, module: torch.nn.Module) -> bool:
        return id(module) in self.paths

    def after(self, call: Call) -> None:
        self.store.add(from_call(call, self.paths[id(call.module)], self.family))


class _Surveyor(_Keeper):
    """A keeper that also holds the latest output, until the projection that reads it is found."""

    latest: tuple[str, torch.Tensor] | None = None

    def after(self, call: Call) -> None:
        super().after(call)
        self.latest = self.paths[id(call.module)], call.out


def capture(model: torch.nn.Module, inputs: Mapping[str, Any], plan: Plan | None) -> tuple[list[Operation], Plan]:
    """Run the model once and return its attention operations; without a plan, find out how first."""
    with undisturbed(model):
        if plan is None:
            return _survey(model, inputs)
        return capture_by(model, inputs, plan.tier), plan


def capture_by(model: torch.nn.Module, inputs: Mapping[str, Any], tier: str) -> list[Operation]:
    """Run the model once, capturing its attention by the given tier."""
    if tier == "maps":
        return _maps(model, inputs)
    keeper = _Keeper(model)
    registered = tier == "registered"
    with ExitStack() as stack:
        if tier != "watch":
            stack.enter_context(tap(keeper, registered=registered))
        if registered:
            stack.enter_context(attention_set(model, REGISTERED))
        seen = stack.enter_context(watching(model)).seen if tier in ("watch", "both") else []
        model(**inputs)
    return _in_order(keeper.store.operations(), from_watch(seen)[0])


def _in_order(*found: list[Operation]) -> list[Operation]:
    """Operations in the order they ran."""
    return sorted((operation for some in found for operation in some), key=lambda operation: operation.order)


def _survey(model: torch.nn.Module, inputs: Mapping[str, Any]) -> tuple[list[Operation], Plan]:
    """Run with every way of capturing attention, and choose the one that captures all of it most exactly."""
    if isinstance(model, PreTrainedModel) and not interface_works():
        operations = capture_by(model, inputs, "registered")
        if operations:
            return operations, Plan("registered")
    keeper = _Surveyor(model)
    watched = watching(model)
    with large_blocks_apart(), tap(keeper), watched as watch, _projections(model, keeper, watch) as projections:
        model(**inputs)
    tapped, (outside, missed) = keeper.store.operations(), from_watch(watch.seen)
    if tapped and not watch.seen:
        return tapped, Plan("tap", projections, calls=_calls(tapped))
    sampled = any(hasattr(module, SAMPLED) for module in model.modules())  # what is reported of it looks like maps
    maps = _maps(model, inputs) if isinstance(model, PreTrainedModel) and not sampled else []
    if len(maps) > _layers(tapped) + _layers(outside) or (maps and not tapped and len(maps) == _layers(outside)):
        return maps, Plan("maps", vectors=False)
    found = _in_order(tapped, outside)
    if tapped:
        return found, Plan("both" if outside else "tap", projections, missed)
    if outside:
        vectors = not missed and all(operation.v is not None for operation in outside)
        return found, Plan("watch", projections, missed, vectors)
    if missed:
        raise UserError(
            f"{type(model).__name__} attends within blocks or over pooled positions ({missed[0]}), and returns no maps "
            "from positions to positions that regard could read"
        )
    raise UserError(
        f"{type(model).__name__} ran no softmax attention that regard can see; models such as Mamba, RWKV or FNet "
        "mix tokens by other means and have no attention maps"
    )


def _calls(operations: list[Operation]) -> tuple[str, ...]:
    """The paths of the calls behind operations in their order; none if a module calls more than once."""
    paths = tuple(operation.path for operation in _in_order(operations))
    return paths if len(set(paths)) == len(paths) else ()


def _layers(operations: list[Operation]) -> int:
    return sum(operation.part == 0 for operation in operations)


def _maps(model: torch.nn.Module, inputs: Mapping[str, Any]) -> list[Operation]:
    """The model's own eager maps: those outputs that are maps by their shape."""
    with attention_set(model, "eager"), _without_recorders(model):
        try:
            outputs = model(**inputs, output_attentions=True, return_dict=True)
        except TypeError:  # a forward without these arguments
            return []
    batch = next((v.shape[0] for v in inputs.values() if isinstance(v, torch.Tensor)), 1)
    found = []
    for name, kind in _MAP_FIELDS.items():
        for number, maps in enumerate(_flat(outputs.get(name) if hasattr(outputs, "get") else None)):
            if model_type(model) in BANDED and name.removeprefix("encoder_") == "attentions":
                maps = _unband(maps, _window(model, number))
            least, most = (float(edge) for edge in torch.aminmax(maps))
            outside = least < 0 or most > 1.001  # NaN is neither: broken maps are still maps
            if maps.ndim == 4 and maps.shape[0] % batch == 0 and not outside:
                found.append(Operation(f"{name}.{number}", None, maps=maps, kind=kind))
    return found


def _window(model: torch.nn.Module, layer: int) -> int:
    window: Any = model.config.attention_window  # type: ignore[union-attr]
    return int(window if isinstance(window, int) else window[layer])


def _unband(bands: torch.Tensor, window: int) -> torch.Tensor:
    """(B, H, Q, window + 1) weights of the keys around each query as (B, H, Q, Q) maps."""
    queries, width = bands.shape[-2:]
    if width != window + 1:  # the weights of global tokens come first, and do not say which tokens they are
        raise UserError("attention to global tokens cannot be read as a map; trace without global_attention_mask")
    keys = torch.arange(queries, device=bands.device)[:, None] + torch.arange(width, device=bands.device)
    wide = bands.new_zeros(*bands.shape[:3], queries + width - 1)  # half a window before the first key, half after
    wide.scatter_(-1, keys.expand_as(bands), bands)
    return wide[..., width // 2 : width // 2 + queries]


@contextmanager
def _without_recorders(model: torch.nn.Module) -> Iterator[None]:
    """Remove the hooks that transformers puts on a model, and leaves there, when first asked for attentions."""
    flag = "_output_capturing_hooks_installed"
    before = [(module, set(module._forward_hooks), flag in vars(module)) for module in model.modules()]
    try:
        yield
    finally:
        for module, hooks, flagged in before:
            for number in set(module._forward_hooks) - hooks:
                del module._forward_hooks[number]
            if not flagged:
                vars(module).pop(flag, None)


def _flat(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _flat(item)


@contextmanager
def _projections(
    model: torch.nn.Module, keeper: _Surveyor, watch: Watched
) -> Iterator[dict[str, torch.nn.Module | str]]:
    """Find, for each attention, the linear module whose input is the attention output itself.

    Families that gate or normalise in between have none: their norms are reported as unavailable rather than guessed.
    """
    found: dict[str, torch.nn.Module | str] = {}

    def check(module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        if not args or not isinstance(args[0], torch.Tensor):
            return
        given = args[0]
        last = [] if keeper.latest is None else [keeper.latest]
        last += [(seen.path, seen.out) for seen in watch.seen[-1:] if seen.out is not None]
        for one in last:
            path, out = one
            same = given.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()
            if same and given.numel() == out.numel():
                found.setdefault(path, module)
                keeper.latest = None if one is keeper.latest else keeper.latest

    with ExitStack() as stack:
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if isinstance(weight, torch.Tensor) and weight.ndim == 2 and not list(module.children()):
                stack.callback(module.register_forward_pre_hook(check).remove)
        yield found


@contextmanager
def attention_set(model: torch.nn.Module, name: str) -> Iterator[None]:
    """Run a model's attention under another implementation; every config is restored afterwards."""
    before = [(config, config._attn_implementation_internal) for config in configs_of(model)]
    try:
        for config, _ in before:
            config._attn_implementation_internal = name
        yield
    finally:
        for config, value in before:
            config._attn_implementation_internal = value


@contextmanager
def undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """A run without gradients, dropout or other threads; training flags are restored afterwards."""
    with alone(model, running=True):
        training = [module for module in model.modules() if module.training]
        try:
            if training:
                model.eval()
            # not inference_mode: it hides the kernels' operations from torch's modes
            with torch.no_grad():
                yield
        finally:
            for module in training:
                module.training = True


def model_type(model: torch.nn.Module) -> str:
    """The family's name in transformers, or the class name of a plain torch module."""
    return str(getattr(getattr(model, "config", None), "model_type", type(model).__name__))


@cache
def interface_works() -> bool:
    """Whether the tap sees every attention call of a tiny encoder and decoder (its entry point is not public API)."""
    small: dict[str, Any] = {"vocab_size": 8, "max_position_embeddings": 8}
    bert = BertConfig(hidden_size=4, num_hidden_layers=1, num_attention_heads=2, intermediate_size=4, **small)
    gpt2 = GPT2Config(n_embd=4, n_layer=1, n_head=2, vocab_size=8, n_positions=8, bos_token_id=0, eos_token_id=0)
    with torch.random.fork_rng(devices=[]):  # building models must not change the caller's random state
        models: list[torch.nn.Module] = [BertModel(bert).eval(), GPT2Model(gpt2).eval()]
    for model in models:
        keeper = _Keeper(model)
        with torch.no_grad(), tap(keeper):
            model(input_ids=torch.tensor([[1, 2, 3]]))
        if len(keeper.store) != 1:
            return False
    return True
