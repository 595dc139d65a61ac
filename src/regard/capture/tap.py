"""The tap: watch (or edit) every call a model makes to its attention function, while its fast kernel runs.

Enters: a consumer. While the tap is open, each attention call of this thread reaches it as a `Call`; the model keeps
its kernel, its config and its masks. Leaves: nothing; closing the last tap restores transformers.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from regard.capture.alone import shared

REGISTERED = "regard_tap"
_KERNELS = ("_scaled_dot_product_flash", "_scaled_dot_product_efficient", "_scaled_dot_product_cudnn")


clock = itertools.count().__next__  # orders what the tap and the watch see in one run


@dataclass(eq=False)
class Call:
    """One attention operation of a whole batch, as it ran.

    q (B, H, Q, d), k (B, G, K, d), v (B, G, K, e), out (B, Q, H, e); mask as the model passed it. `uniform` are the
    rows and heads whose attention an ablation has made uniform, `off` those whose output it has replaced. `cut` has
    the edges that were cut by masking: row, head, (n,) queries, (n, K) booleans.
    """

    module: torch.nn.Module
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    mask: torch.Tensor | None
    extras: dict[str, Any]
    eager: bool
    part: int = 0
    out: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    lse: torch.Tensor | None = None
    uniform: tuple[torch.Tensor, torch.Tensor] | None = None
    off: set[tuple[int, int]] = field(default_factory=set)
    cut: list[tuple[int, int, torch.Tensor, torch.Tensor]] = field(default_factory=list)
    order: int = field(default_factory=clock)


class Consumer(Protocol):
    """Sees attention calls; returning a tensor from `after` replaces the attention output.

    A consumer that is alone and has a method `instead` is asked before the kernel runs, with the function and a way to
    run it: a tensor is the attention output, and the kernel need not run.
    """

    def wants(self, module: torch.nn.Module) -> bool: ...

    def after(self, call: Call) -> torch.Tensor | None: ...


@dataclass
class _Open:
    consumers: tuple[Consumer, ...]
    frame: FrameType | None = None
    part: int = 0
    running: bool = False


_open: ContextVar[_Open | None] = ContextVar("regard_tap", default=None)
_users = 0
_original = AttentionInterface.get_interface


@contextmanager
def tap(consumer: Consumer, *, registered: bool = False) -> Iterator[None]:
    """Show `consumer` every attention call of this thread until the block ends."""
    outer = _open.get()
    token = _open.set(_Open(((*outer.consumers, consumer)) if outer else (consumer,)))
    _install(registered)
    try:
        yield
    finally:
        _uninstall(registered)
        _open.reset(token)


def _install(registered: bool) -> None:
    global _users
    with shared:
        if registered:
            AttentionInterface.register(REGISTERED, _registered)
            AttentionMaskInterface.register(REGISTERED, eager_mask)  # without it masks silently become None
            return
        _users += 1
        AttentionInterface.get_interface = _get_interface


def _uninstall(registered: bool) -> None:
    global _users
    with shared:
        if registered:
            return
        _users -= 1
        if _users == 0:
            AttentionInterface.get_interface = _original


def _get_interface(self: AttentionInterface, name: str, default: Callable[..., Any]) -> Callable[..., Any]:
    function: Callable[..., Any] = _original(self, name, default)
    if _open.get() is None:
        return function
    # A module asks once per run: further calls are its windows, packed images or differential attention.
    parts = itertools.count()

    def watched(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        return _call_and_show(function, function is default, next(parts), module, *args, **kwargs)

    return watched


def _registered(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    """What a model calls when its attention is set to our registered name: the eager function of its own file."""
    eager = sys.modules[type(module).__module__].eager_attention_forward
    state, frame = _open.get(), sys._getframe(1)
    if state is not None:  # two calls from one frame belong to one run of the module
        state.part = state.part + 1 if frame is state.frame else 0
        state.frame = frame
    return _call_and_show(eager, True, state.part if state else 0, module, *args, **kwargs)


def _call_and_show(
    function: Callable[..., Any],
    eager: bool,
    part: int,
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Run the model's attention function and show the call to the consumers that want it."""
    state = _open.get()
    takers = [c for c in state.consumers if c.wants(module)] if state else []
    if state is None or not takers:
        return function(module, query, key, value, attention_mask, *args, **kwargs)
    call = Call(module, query, key, value, attention_mask, dict(kwargs), eager, part)

    def run() -> Any:
        state.running = True
        try:
            with LseWatch() as watch:
                ran = function(module, query, key, value, attention_mask, *args, **kwargs)
        finally:
            state.running = False
        call.lse = watch.lse
        return ran

    instead = getattr(takers[0], "instead", None) if len(takers) == 1 and not args else None
    own = None if instead is None else instead(call, function, run)
    out, weights = run() if own is None else (own, None)
    call.out = out
    for consumer in takers:
        edited = consumer.after(call)
        if edited is not None:
            call.out = out = edited
    return out, weights


def inside_tapped_call() -> bool:
    """Whether an attention function is running that a consumer of this thread sees."""
    state = _open.get()
    return state is not None and state.running


class LseWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Picks up the log-sum-exp that fused kernels compute anyway."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lse: torch.Tensor | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if str(func).startswith(tuple(f"aten.{kernel}" for kernel in _KERNELS)):
            self.lse = result[1]
        return result
