"""What the mask of an operation lets each query see, for a whole batch.

Enters: an operation. Leaves: booleans; padding counts as hidden where the mask hides it.
"""

from __future__ import annotations

import numpy as np

from regard.capture.naming import Array, as_numpy, split_mask
from regard.capture.operation import Operation
from regard.trace.mask import Mask


def visible_of(operation: Operation) -> Array:
    """(B, Q, K) booleans; where heads have their own masks, the union of these."""
    shape = (operation.batch, operation.queries, operation.keys)
    if operation.maps is not None:
        return np.asarray(as_numpy(operation.maps).max(axis=1) > 0)
    if operation.mask is not None:
        allowed, _ = split_mask(as_numpy(operation.mask))
        return np.broadcast_to(allowed.any(axis=1), shape)
    if not operation.causal:
        return np.ones(shape, bool)
    band = Mask(operation.window - 1 if operation.window else None, 0)
    allowed_band = band.allowed(np.arange(operation.queries), np.arange(operation.keys), 0)
    return np.broadcast_to(np.asarray(allowed_band), shape)
