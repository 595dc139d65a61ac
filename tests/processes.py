"""Processes that tests start: they end with the test, and with the run where it is killed."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def spawned(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """A process that the system ends when the one that runs the tests is gone; on Linux."""
    own = {"preexec_fn": _end_with_parent} if sys.platform == "linux" else {}
    return subprocess.Popen(command, **own, **options)
