"""Which library an array belongs to, and what array_api_compat does slowly on the small arrays of a short text.

numpy is its own array API. That of array_api_compat imports all of it, tests and Fortran included: a page of a saved
trace took 0.55 s of a busy core with it, and 0.42 s without.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import is_torch_array

_KNOWN: dict[type, Any] = {}


def array_namespace(array: Any) -> Any:
    """The array API of numpy or torch, whichever the array is of; remembered by type."""
    kind = type(array)
    if kind not in _KNOWN:
        own = issubclass(kind, (np.ndarray, np.generic))
        _KNOWN[kind] = np if own else array_api_compat.array_namespace(array)
    return _KNOWN[kind]


def log(array: Any) -> Any:
    """Natural logarithms; of torch's tensors beside the processor by numpy, in a third of the time."""
    xp = array_namespace(array)
    if not is_torch_array(array) or array.device.type != "cpu" or array.requires_grad or array.dtype != xp.float32:
        return xp.log(array)
    return xp.from_numpy(np.log(array.numpy()))


def clip(array: Any, low: float | None, high: float | None) -> Any:
    """Values brought between two bounds; numpy and torch spell it alike."""
    return array.clip(low, high)


def distinct(array: Any) -> Any:
    """The different values of an array in ascending order, in which numpy's `unique_values` need not have them."""
    xp = array_namespace(array)
    return xp.sort(xp.unique_values(array))
