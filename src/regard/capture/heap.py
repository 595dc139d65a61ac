"""Allocate large tensors directly from the system for a while, so that the heap does not fragment.

glibc takes blocks above a threshold from the system and gives them back when they are freed. It raises that threshold
to 32 MB as a program frees larger ones, and from then on a layer's tensors lie on the heap, between small objects
that stay. Capture leaves many of those: at 2,048 tokens the heap grew by 100 to 200 MB that nothing used.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_TRIM, _FROM_SYSTEM = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_LARGE = 1 << 20
_RAISED = 32 << 20  # where glibc's own threshold ends up; the other one is then twice that


@contextmanager
def large_blocks_apart() -> Iterator[None]:
    """Allocations above 1 MB lie outside the heap until the block ends; without glibc nothing changes."""
    mallopt = _mallopt()
    if mallopt is None:
        yield
        return
    mallopt(_FROM_SYSTEM, _LARGE)
    try:
        yield
    finally:
        mallopt(_FROM_SYSTEM, _RAISED)
        mallopt(_TRIM, 2 * _RAISED)


@cache
def _mallopt() -> Any:
    return ctypes.CDLL(None).mallopt if platform.libc_ver()[0] == "glibc" else None
