"""One run of a module at a time, whichever `Model` asks for it.

Enters: a module. Leaves: nothing; while the block lasts, regard runs it in no other thread.

What a run changes temporarily belongs to the module, not to a `Model`: training flags, hooks, the attention setting of
its config. So a thread claims the module with all its submodules and configs. Two modules that share one of these wait
for each other; shared parameters are only read, so modules that share nothing else run in parallel. Runs that
are not regard's, such as a training loop in another thread, are not noticed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class _Claim:
    """What a thread has claimed: ids of modules and configs; `running` during a forward pass."""

    thread: int
    owned: frozenset[int]
    running: bool

    def meets(self, other: _Claim) -> bool:
        return not self.owned.isdisjoint(other.owned)


shared = threading.RLock()  # guards the state that threads share here and in `tap` and `watch`; a fork holds it
_changed = threading.Condition(shared)
_claims: list[_Claim] = []
_forked = False  # whether this process is a fork of one that had loaded regard


@contextmanager
def alone(module: torch.nn.Module, *, running: bool = False) -> Iterator[None]:
    """Claim a module for this thread until the block ends; others wait. Blocks of one thread may be nested.

    `running` says that the block runs the module: a run within a run, from a hook, is refused.
    """
    claim = _Claim(threading.get_ident(), _parts_of(module), running)
    if _forked:
        torch.set_num_threads(1)  # OpenMP's threads stayed in the parent, and torch would wait for them forever
    with _changed:
        _refuse(claim, type(module).__name__)
        _changed.wait_for(lambda: not _is_taken(claim))
        _claims.append(claim)
    try:
        yield
    finally:
        with _changed:
            _claims.remove(claim)
            _changed.notify_all()


def _refuse(claim: _Claim, name: str) -> None:
    """Say why a claim cannot be met by a thread that is inside a run; it might wait forever."""
    own = [other for other in _claims if other.thread == claim.thread]
    if claim.running and any(other.running and other.meets(claim) for other in own):
        raise RuntimeError(
            f"{name} is already running in this thread: one of its hooks, or a function called from one, asked for "
            "another run; trace before or after that run"
        )
    if own and _is_taken(claim):
        raise RuntimeError(
            f"{name} is in use by another thread, and this thread cannot wait for it during a run of its own; trace "
            "before or after that run"
        )


def _is_taken(claim: _Claim) -> bool:
    """Whether another thread has some of what is claimed."""
    return any(other.thread != claim.thread and other.meets(claim) for other in _claims)


def _parts_of(module: torch.nn.Module) -> frozenset[int]:
    """Ids of a module's parts and of their configs."""
    parts = list(module.modules())
    return frozenset(id(one) for one in (*parts, *_configs_of(parts)))


def configs_of(module: torch.nn.Module) -> list[Any]:
    """The transformers configs of a module and its parts, each once."""
    return _configs_of(module.modules())


def _configs_of(parts: Iterable[torch.nn.Module]) -> list[Any]:
    own = {id(config): config for part in parts if (config := getattr(part, "config", None)) is not None}
    return list({id(config): config for one in own.values() for config in _within(one)}.values())


def _within(config: Any) -> Iterator[Any]:
    """A config and those nested in it; nothing if it is not a transformers config."""
    if hasattr(config, "_attn_implementation_internal"):
        yield config
        for key in getattr(config, "sub_configs", {}):
            yield from _within(getattr(config, key, None))


def _before_fork() -> None:
    """A fork waits until the runs of other threads end: in the child nobody would restore the modules."""
    shared.acquire()
    _changed.wait_for(lambda: all(claim.thread == threading.get_ident() for claim in _claims))


def _in_child() -> None:
    global _forked
    _forked = True
    shared.release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=shared.release, after_in_child=_in_child)
