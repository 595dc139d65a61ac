"""Torch-level watching: which softmax attention runs where, for modules outside the attention interface.

Enters: a module while it runs. Leaves: the fused attention calls (q, k, v) and attention-shaped softmax results,
each with the path of the module it ran in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from regard.capture.tap import inside_tapped_call

_ATTENTION = re.compile(r"attn|attention|selfatt|mha", re.IGNORECASE)


@dataclass(eq=False)
class Seen:
    """A fused attention call (q, k, v given) or the result of a softmax (maps given), inside module `path`."""

    path: str
    module: torch.nn.Module
    q: torch.Tensor | None = None
    k: torch.Tensor | None = None
    v: torch.Tensor | None = None
    mask: torch.Tensor | None = None
    causal: bool = False
    scale: float | None = None
    lse: torch.Tensor | None = None
    maps: torch.Tensor | None = None


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records attention operations below the level of any library."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.model = model
        self.seen: list[Seen] = []
        self.stack: list[tuple[str, torch.nn.Module]] = [("", model)]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = str(func)
        if inside_tapped_call():
            return result
        if name.startswith("aten._scaled_dot_product_"):
            self._fused(func, result, args, kwargs)
        elif name.startswith(("aten._softmax.", "aten._safe_softmax.")) and result.ndim in (3, 4):
            path, module = self._attention_module()
            if module is not None:
                self.seen.append(Seen(path, module, maps=result))
        return result

    def _fused(self, func: Any, result: Any, args: Any, kwargs: Any) -> None:
        path, module = self._attention_module()
        given = {a.name: v for a, v in zip(func._schema.arguments, args, strict=False)} | kwargs
        self.seen.append(
            Seen(
                path,
                module or self.stack[-1][1],
                q=given["query"],
                k=given["key"],
                v=given["value"],
                mask=given.get("attn_mask", given.get("attn_bias")),
                causal=bool(given.get("is_causal", False)),
                scale=given.get("scale"),
                lse=result[1] if result[1].ndim == 3 else None,
            )
        )

    def _attention_module(self) -> tuple[str, torch.nn.Module | None]:
        """The innermost module on the stack that is attention by its name or class."""
        for path, module in reversed(self.stack):
            if _ATTENTION.search(path.rpartition(".")[2]) or _ATTENTION.search(type(module).__name__):
                return path, module
        return self.stack[-1][0], None


@contextmanager
def watching(model: torch.nn.Module) -> Iterator[Watch]:
    """Watch a model run; its hooks and the global fast path of nn.MultiheadAttention are put back afterwards."""
    watch = Watch(model)
    fastpath = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        for path, module in model.named_modules():
            _follow(watch, stack, path, module)
        stack.callback(torch.backends.mha.set_fastpath_enabled, fastpath)
        torch.backends.mha.set_fastpath_enabled(False)  # its one fused operation shows neither q nor softmax
        stack.enter_context(watch)
        yield watch


def _follow(watch: Watch, stack: ExitStack, path: str, module: torch.nn.Module) -> None:
    def enter(_module: torch.nn.Module, _args: Any) -> None:
        watch.stack.append((path, module))

    def leave(_module: torch.nn.Module, _args: Any, _output: Any) -> None:
        if watch.stack and watch.stack[-1][1] is module:
            watch.stack.pop()

    stack.callback(module.register_forward_pre_hook(enter).remove)
    stack.callback(module.register_forward_hook(leave).remove)
