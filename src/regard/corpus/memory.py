"""Freed memory goes back to the system, so that a long run needs no more than a short one.

Enters: nothing. Leaves: nothing. Batches of many shapes leave holes in the C library's heap, which glibc keeps.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

_SLACK = 200e6  # bytes of free heap that may stay for the next batch: taking pages anew costs time
_STATM = Path("/proc/self/statm")
_level: float | None = None  # what this process held when it last gave memory back


def settle() -> None:
    """Give memory back, if much has come together since the last time."""
    global _level
    if _level is None or _resident() - _level > _SLACK:
        _level = _given_back()


def _given_back() -> float:
    """Hand free pages back (some ten milliseconds); bytes that remain. Nothing where the C library is another one."""
    trim = _trim()
    if trim is not None:
        trim(0)
    return _resident()


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's malloc_trim, where there is one."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def _resident() -> float:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return 0.0
