"""How much memory an object uses: everything reachable from it, each part once.

Enters: records, lists, dicts, arrays. Leaves: bytes. An array that is a view of another counts the whole of it.
"""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def weight_of(thing: Any) -> int:
    """Bytes of everything reachable from an object."""
    sizes: dict[int, int] = {}
    waiting = [thing]
    while waiting:
        one = waiting.pop()
        if id(one) not in sizes:
            sizes[id(one)] = sys.getsizeof(one)
            waiting += _parts(one, sizes)
    return sum(sizes.values())


def _parts(one: Any, sizes: dict[int, int]) -> list[Any]:
    """The parts of an object; memory shared by several arrays is counted under its own address."""
    if isinstance(one, np.ndarray):
        return [] if one.base is None else [one.base]
    if hasattr(one, "untyped_storage"):  # a tensor behind an array
        storage = one.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return []
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    if isinstance(one, (list, tuple, set, frozenset)):
        return list(one)
    if is_dataclass(one) and not isinstance(one, type):
        return [*vars(one).values()] if hasattr(one, "__dict__") else [getattr(one, own.name) for own in fields(one)]
    return []
