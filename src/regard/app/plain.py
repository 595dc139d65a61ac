"""Records that JSON can hold."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """A record in which numbers that JSON cannot hold are null."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
