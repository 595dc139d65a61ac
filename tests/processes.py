"""Processes that tests start: they end with the test, and with the run where it is killed."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h
_WARM = ["transformers.modeling_utils", "regard.cli", "regard.studies.registry", "tests.fidelity.compare"]


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def spawned(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """A process that the system ends when the one that runs the tests is gone; on Linux."""
    own = {"preexec_fn": _end_with_parent} if sys.platform == "linux" else {}
    return subprocess.Popen(command, **own, **options)


def warm() -> ForkServerContext:
    """What forks processes that have torch, transformers and regard imported, which takes longer than most of them."""
    # a fork of this process, which ran torch, may hang; one of a process that only imported it does not
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_WARM)
    return context


class Forked:
    """A function in a process of its own, used like `subprocess.Popen`: it ends with its exit code, or by a signal."""

    def __init__(self, function: Callable[..., object], *given: object) -> None:
        ends = [multiprocessing.Pipe(duplex=False) for _ in range(2)]
        out, err = (written for _, written in ends)
        arguments = (out, err, dict(os.environ), function, given)
        self._process = warm().Process(target=_begin, args=arguments)
        self._process.start()
        for written in (out, err):
            written.close()
        self.stdout, self.stderr = (os.fdopen(os.dup(read.fileno()), encoding="utf-8") for read, _ in ends)
        for read, _ in ends:
            read.close()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that it writes until it ends."""
        said = ["", ""]

        def read(number: int, stream: Any) -> None:
            with stream:
                said[number] = stream.read()

        readers = [threading.Thread(target=read, args=pair) for pair in enumerate((self.stdout, self.stderr))]
        for one in readers:
            one.start()
        self.wait(timeout)
        for one in readers:
            one.join()
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None and self.pid is not None:
            with suppress(ProcessLookupError):  # it has ended, and what forked it has not said so yet
                os.kill(self.pid, number)


def command_line(*arguments: str) -> None:
    """`regard` with arguments, in the process of `Forked`."""
    from regard.cli import main

    sys.argv = ["regard", *arguments]
    main()


def _begin(
    out: Connection, err: Connection, environment: Mapping[str, str], function: Callable[..., object], given: Any
) -> None:
    # what forks ends when nobody holds this any more; this process ends with it
    os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined]
    if sys.platform == "linux":
        _end_with_parent()
    for end, number in ((out, 1), (err, 2)):
        os.dup2(end.fileno(), number)
        end.close()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    function(*given)
