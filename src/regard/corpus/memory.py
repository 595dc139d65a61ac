"""Freed memory goes back to the system, so that a long run needs no more than a short one.

Enters: nothing. Leaves: nothing. Batches of ever other shapes leave holes in the C library's heap; glibc keeps them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's malloc_trim, where there is one."""
    try:
        return ctypes.CDLL(None).malloc_trim  # type: ignore[no-any-return]
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Hand free pages back; a few milliseconds, nothing where the C library is another one."""
    trim = _trim()
    if trim is not None:
        trim(0)
