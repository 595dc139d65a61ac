"""Torch-level watching: which softmax attention runs where, for modules outside the attention interface.

Enters: a module while it runs. Leaves: the fused attention calls (q, k, v) and attention-shaped softmax results,
each with the path of the module it ran in.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from regard.capture.alone import shared
from regard.capture.tap import clock, inside_tapped_call

_ATTENTION = re.compile(r"attn|attention|selfatt|mha", re.IGNORECASE)


@dataclass(eq=False)
class Seen:
    """A fused attention call (q, k, v given) or the result of a softmax (maps given), inside module `path`.

    `lengths` are the numbers of positions of the tensors that entered the module; `run` distinguishes its runs. `off`
    and `cut` are what edits have replaced, as in `Call`.
    """

    path: str
    module: torch.nn.Module
    q: torch.Tensor | None = None
    k: torch.Tensor | None = None
    v: torch.Tensor | None = None
    mask: torch.Tensor | None = None
    causal: bool = False
    scale: float | None = None
    lse: torch.Tensor | None = None
    out: torch.Tensor | None = None
    maps: torch.Tensor | None = None
    run: int = 0
    lengths: frozenset[int] = frozenset()
    off: set[tuple[int, int]] = field(default_factory=set)
    cut: list[tuple[int, int, torch.Tensor, torch.Tensor]] = field(default_factory=list)
    order: int = field(default_factory=clock)


@dataclass(eq=False)
class _Frame:
    """A module that is running."""

    path: str
    module: torch.nn.Module
    lengths: frozenset[int] = frozenset()
    run: int = field(default_factory=clock)

    @property
    def attends(self) -> bool:
        """Whether it is attention by its name or class, and has projections that make queries and keys."""
        named = _ATTENTION.search(self.path.rpartition(".")[2]) or _ATTENTION.search(type(self.module).__name__)
        weights = (getattr(child, "weight", None) for child in self.module.modules())
        return bool(named) and any(isinstance(weight, torch.Tensor) and weight.ndim > 1 for weight in weights)


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records attention operations below the level of any library."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.model = model
        self.watched: list[Watched] = []
        self.latest: dict[str, Seen] = {}  # by path
        self.stack = [_Frame("", model)]
        self.thread = threading.get_ident()  # hooks also see runs of the module in other threads

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = str(func)
        if inside_tapped_call():
            return result
        if name.startswith("aten._scaled_dot_product_"):
            self._fused(func, result, args, kwargs)
        elif name.startswith(("aten._softmax.", "aten._safe_softmax.")) and result.ndim >= 3:
            frame = self._attention_frame()
            over_keys = args[1] in (-1, result.ndim - 1) and result.shape[-1] > 1
            if frame is not None and over_keys:
                self._add(frame, maps=result)
        return result

    def _fused(self, func: Any, result: Any, args: Any, kwargs: Any) -> None:
        given = {a.name: v for a, v in zip(func._schema.arguments, args, strict=False)} | kwargs
        self._add(
            self._attention_frame() or self.stack[-1],
            q=given["query"],
            k=given["key"],
            v=given["value"],
            mask=given.get("attn_mask", given.get("attn_bias")),
            causal=bool(given.get("is_causal", False)),
            scale=given.get("scale"),
            lse=result[1] if result[1].ndim == 3 else None,
            out=result[0],
        )

    def _add(self, frame: _Frame, **what: Any) -> None:
        one = self.latest[frame.path] = Seen(frame.path, frame.module, run=frame.run, lengths=frame.lengths, **what)
        for watched in self.watched:
            watched.seen.append(one)

    def _attention_frame(self) -> _Frame | None:
        """The innermost running module that is attention."""
        return next((frame for frame in reversed(self.stack) if frame.attends), None)


@dataclass(eq=False)
class Watched:
    """What has been seen since somebody began to watch."""

    seen: list[Seen] = field(default_factory=list)


_open: ContextVar[tuple[Watch, ...]] = ContextVar("regard_watches", default=())


@contextmanager
def watching(model: torch.nn.Module, *, keep: bool = True) -> Iterator[Watched]:
    """Watch a model run in this thread; its hooks are removed afterwards.

    Who watches a model that is watched already sees the same `Seen`, with what edits did to it. Unless `keep`, only the
    latest of each module is held, for `latest_seen`.
    """
    watched, outer = Watched(), _open_on(model)
    with ExitStack() as stack:
        watch = outer or _start(model, stack)
        if keep:
            watch.watched.append(watched)
            stack.callback(watch.watched.remove, watched)
        yield watched


def latest_seen(model: torch.nn.Module, path: str) -> Seen | None:
    """What a module did last, if its model is being watched."""
    watch = _open_on(model)
    return None if watch is None else watch.latest.get(path)


def _open_on(model: torch.nn.Module) -> Watch | None:
    return next((watch for watch in _open.get() if watch.model is model), None)


def _start(model: torch.nn.Module, stack: ExitStack) -> Watch:
    watch = Watch(model)
    for path, module in model.named_modules():
        _follow(watch, stack, path, module)
    stack.enter_context(_slow_path())
    stack.callback(_open.reset, _open.set((*_open.get(), watch)))
    stack.enter_context(watch)
    return watch


_slow: list[bool] = []  # one entry per user of the slow path; the first is the setting to restore


@contextmanager
def _slow_path() -> Iterator[None]:
    """Switch off the fast path of nn.MultiheadAttention, whose one fused operation shows neither q nor softmax.

    The switch is shared by all threads: the last to finish restores it.
    """
    mha = torch.backends.mha
    with shared:
        _slow.append(_slow[0] if _slow else mha.get_fastpath_enabled())
        mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        with shared:
            before = _slow.pop()
            if not _slow:
                mha.set_fastpath_enabled(before)


def _follow(watch: Watch, stack: ExitStack, path: str, module: torch.nn.Module) -> None:
    def enter(_module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        if threading.get_ident() == watch.thread:
            if not path:  # a new pass: an earlier one may have ended in the middle
                del watch.stack[1:]
            watch.stack.append(_Frame(path, module, frozenset(_lengths((*args, *kwargs.values())))))

    def leave(_module: torch.nn.Module, _args: Any, _output: Any) -> None:
        if threading.get_ident() == watch.thread and watch.stack and watch.stack[-1].module is module:
            watch.stack.pop()

    stack.callback(module.register_forward_pre_hook(enter, with_kwargs=True).remove)
    stack.callback(module.register_forward_hook(leave).remove)


def _lengths(inputs: tuple[Any, ...]) -> Iterator[int]:
    """Numbers of positions: (batch, positions, width), (positions, width), or (batch, rows, columns, width)."""
    for value in inputs:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            continue
        if value.ndim == 4:
            yield value.shape[1] * value.shape[2]
        elif value.ndim in (2, 3):
            yield value.shape[-2]
            yield value.shape[0]  # where positions come before the batch
