"""Rotary positions undone: q and k as they are before they are turned by their place in the text.

Enters: a module that runs, and its operations. Leaves: q and k whose product is the score at distance 0.

Families of transformers hand an attention module the cosines and sines of its positions and turn q and k with a
function of their own, `apply_rotary_pos_emb`; the same function with the sines negated turns them back. A factor on
both cosines and sines, as in YaRN, is part of the score at every distance, and stays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from regard.capture.operation import Operation

_FUNCTION = "apply_rotary_pos_emb"
_GIVEN = "position_embeddings"


class Turns:
    """The cosines and sines that each attention module was given when it last ran."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.rotary = any("Rotary" in type(module).__name__ for module in model.modules())
        self._given: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def note(self, module: torch.nn.Module, _: Any, given: dict[str, Any]) -> None:
        """A hook: remember what a module is given."""
        found = given.get(_GIVEN)
        if isinstance(found, tuple) and len(found) == 2:
            self._given[id(module)] = found

    def undone(self, operation: Operation) -> tuple[torch.Tensor, torch.Tensor, bool]:
        """(B, H, Q, d) q and (B, G, K, d) k without their turns, and whether no turn is left in them."""
        assert operation.q is not None and operation.k is not None
        q, k = operation.q.float(), operation.k.float()
        given = self._given.get(id(operation.module))
        turn = _function(operation.module)
        if given is None or turn is None:
            return q, k, not self.rotary
        cos, sin = (part.float() for part in given)
        width = cos.shape[-1]
        if width > q.shape[-1] or cos.shape[-2] != q.shape[-2] or q.shape[-2] != k.shape[-2]:
            return q, k, False
        length = (cos.square() + sin.square()).sqrt().clamp(min=1e-12)  # not 1 where both are scaled (YaRN)
        turned = turn(q[..., :width], k[..., :width], cos / length, -sin / length)
        q, k = (torch.cat([new, old[..., width:]], dim=-1) for new, old in zip(turned, (q, k), strict=True))
        return q, k, True


@contextmanager
def turns_of(model: torch.nn.Module) -> Iterator[Turns]:
    """Watch how a model turns q and k while it runs."""
    turns = Turns(model)
    with ExitStack() as stack:
        for module in model.modules() if turns.rotary else ():
            if _function(module) is not None:
                stack.callback(module.register_forward_pre_hook(turns.note, with_kwargs=True).remove)
        yield turns


def _function(module: torch.nn.Module | None) -> Callable[..., Any] | None:
    """What turns q and k of a module; None if only some part that is not the first of each vector is turned."""
    if module is None or hasattr(module, "qk_rope_head_dim"):
        return None
    found = getattr(sys.modules.get(type(module).__module__), _FUNCTION, None)
    return found if callable(found) and found.__code__.co_varnames[:4] == ("q", "k", "cos", "sin") else None
