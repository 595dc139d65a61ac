"""Processes that tests start: they end with the test, and with the run where it is killed."""

from __future__ import annotations

import atexit
import base64
import ctypes
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h
WARM = "REGARD_TESTS_WARM"  # in the environment, the socket of tests/warm.py
# Tiny models and small sums: two threads only wait for each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ROOT = Path(__file__).resolve().parents[1]
_servers: list[subprocess.Popen[Any]] = []  # held while this process runs: they end with it


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def spawned(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """A process that the system ends when the one that runs the tests is gone; on Linux."""
    own = {"preexec_fn": _end_with_parent} if sys.platform == "linux" else {}
    return subprocess.Popen(command, **own, **options)


def warm(modules: Sequence[str] = ()) -> str:
    """The socket of what forks processes that have torch, transformers and regard imported; one for a whole run."""
    if WARM not in os.environ:
        place = Path(tempfile.mkdtemp(prefix="regard-tests-")) / "warm"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
            listener.listen(64)
            command = [sys.executable, "-m", "tests.warm", str(listener.fileno()), *modules]
            where = {"cwd": ROOT, "env": os.environ | ONE_THREAD, "pass_fds": [listener.fileno()]}
            _servers.append(spawned(command, stdin=subprocess.PIPE, **where))
        atexit.register(shutil.rmtree, place.parent, ignore_errors=True)
        os.environ[WARM] = str(place)
    return os.environ[WARM]


def connected() -> socket.socket:
    """A connection to what forks processes."""
    made = socket.socket(socket.AF_UNIX)
    made.connect(warm())
    return made


def warm_python() -> list[str]:
    """What stands for `python` where a process is started that needs torch, and would take long to import it."""
    warm()
    return [sys.executable, "-SE", str(ROOT / "tests" / "warm_python.py")]


class Forked:
    """A function in a process of its own, used like `subprocess.Popen`: it ends with its exit code, or by a signal."""

    def __init__(self, function: Callable[..., object], *given: object) -> None:
        ends = [os.pipe() for _ in range(2)]
        self._server = connected()
        work = base64.b64encode(pickle.dumps((function, given))).decode()
        asked = {"environment": dict(os.environ), "folder": str(Path.cwd()), "function": work}
        said = json.dumps(asked).encode() + b"\n"
        with Path(os.devnull).open("rb") as nothing:
            files = [nothing.fileno(), *(written for _, written in ends)]
            self._server.sendall(said[socket.send_fds(self._server, [said], files) :])
        for _, written in ends:
            os.close(written)
        self.stdout, self.stderr = (os.fdopen(read, encoding="utf-8") for read, _ in ends)
        self._said = b""
        self.pid = int(self._line(None) or 0)
        self.returncode: int | None = None

    def _line(self, timeout: float | None) -> bytes | None:
        """The next line of the answer, if it comes in time."""
        self._server.settimeout(timeout)
        try:
            while b"\n" not in self._said:
                more = self._server.recv(64)
                if not more:
                    raise ConnectionError("what forks processes is gone")
                self._said += more
        except (TimeoutError, BlockingIOError):
            return None
        line, _, self._said = self._said.partition(b"\n")
        return line

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            code = self._line(timeout)
            if code is None:
                raise subprocess.TimeoutExpired("a forked process", timeout or 0)
            self.returncode = int(code)
            self._server.close()
        return self.returncode

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
