"""One example as many rows of a batch.

Enters: the inputs of one example. Leaves: the same inputs, so many times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def repeated(inputs: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The inputs of one example as `count` rows that share their memory; what has no rows stays as it is."""
    return {
        name: value.expand(count, *value.shape[1:]) if isinstance(value, torch.Tensor) and value.ndim > 1 else value
        for name, value in inputs.items()
    }
