"""One run of a module at a time, whichever `Model` asks for it.

Enters: a module. Leaves: nothing; while the block lasts, regard runs it in no other thread.

What a run changes for its time belongs to the module, not to a `Model`: training flags, hooks, the attention setting of
its config. So a thread claims the module with all its submodules and configs. Two modules that share one of these wait
for each other; shared parameters alone are only read, and modules that share nothing else run side by side. Runs that
are not regard's, such as a training loop in another thread, are not seen.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(eq=False)
class _Claim:
    """What a thread has for itself: ids of modules and configs; `running` while a forward pass is under way."""

    thread: int
    owned: frozenset[int]
    running: bool

    def meets(self, other: _Claim) -> bool:
        return not self.owned.isdisjoint(other.owned)


shared = threading.RLock()  # for all that threads change together here and in `tap` and `watch`; a fork holds it
_changed = threading.Condition(shared)
_claims: list[_Claim] = []
_forked = False  # whether this process is a fork of one that had loaded regard


@contextmanager
def alone(module: torch.nn.Module, *, running: bool = False) -> Iterator[None]:
    """Have a module for this thread until the block ends; others wait. Blocks of one thread may be nested.

    `running` says that the block runs the module: a run within a run, from a hook, is refused.
    """
    claim = _Claim(threading.get_ident(), _owned(module), running)
    if _forked:
        torch.set_num_threads(1)  # OpenMP's threads stayed in the parent, and torch would wait for them for ever
    with _changed:
        _refuse(claim, type(module).__name__)
        _changed.wait_for(lambda: not _taken(claim))
        _claims.append(claim)
    try:
        yield
    finally:
        with _changed:
            _claims.remove(claim)
            _changed.notify_all()


def _refuse(claim: _Claim, name: str) -> None:
    """Say why a claim of a thread that is within a run cannot be met; waiting might be for ever."""
    own = [other for other in _claims if other.thread == claim.thread]
    if claim.running and any(other.running and other.meets(claim) for other in own):
        raise RuntimeError(
            f"{name} is running in this thread already: a hook of it, or a function called from one, asked for another "
            "run; trace before or after that run"
        )
    if own and _taken(claim):
        raise RuntimeError(
            f"{name} is in use by another thread, and this one cannot wait for it within a run of its own; trace "
            "before or after that run"
        )


def _taken(claim: _Claim) -> bool:
    """Whether another thread has some of what is claimed."""
    return any(other.thread != claim.thread and other.meets(claim) for other in _claims)


def _owned(module: torch.nn.Module) -> frozenset[int]:
    """Ids of a module's parts and of their configs."""
    return frozenset(id(one) for one in (*module.modules(), *configs_of(module)))


def configs_of(module: torch.nn.Module) -> list[Any]:
    """The configs of transformers that a module and its parts have, each once."""
    own = {id(config): config for part in module.modules() if (config := getattr(part, "config", None)) is not None}
    return list({id(config): config for one in own.values() for config in _within(one)}.values())


def _within(config: Any) -> Iterator[Any]:
    """A config and those within it; nothing for what is not one of transformers."""
    if hasattr(config, "_attn_implementation_internal"):
        yield config
        for key in getattr(config, "sub_configs", {}):
            yield from _within(getattr(config, key, None))


def _before_fork() -> None:
    """A fork waits until the runs of other threads end: in the child nobody would put modules back as they were."""
    shared.acquire()
    _changed.wait_for(lambda: all(claim.thread == threading.get_ident() for claim in _claims))


def _in_child() -> None:
    global _forked
    _forked = True
    shared.release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=shared.release, after_in_child=_in_child)
