"""A process that has imported what takes long, and forks those that need it: workers of a run, and what tests start.

python -m tests.warm 5   listens at the socket that is its open file 5, until its standard input ends

A question is a line of JSON with the environment and the folder of the new process and either the arguments of a
`python` or a pickled function with what it is given; three open files come with it. The answer is a line with the
number of the process, and a line with its exit code when it has ended. Where the asker is gone, the process ends.
Where only a worker is named, the answer is how many seconds of CPU took what it started and has ended.
"""

from __future__ import annotations

import array
import atexit
import base64
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pickle
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_PR_SET_NAME = 15  # of linux/prctl.h
# What test files import, and `regard` with its studies.
MODULES = (
    *("torch", "transformers.modeling_utils", "transformers.generation.utils", "regard.cli", "regard.studies.registry"),
    *("regard.app.server", "tests.fidelity.compare", "scipy.stats", "pandas", "httpx", "playwright.sync_api"),
    *(f"transformers.models.{name}.modeling_{name}" for name in ("bert", "gpt2", "llama", "t5", "bart", "gemma2")),
)


def serve(listener: socket.socket, modules: Sequence[str]) -> Callable[[], object]:
    """Fork until nobody holds the other end of standard input; in a new process, what it has to do."""
    with warnings.catch_warnings(action="error"):
        for module in modules:
            importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is imported stays
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run, and that ends this
    waiting = selectors.DefaultSelector()
    for one in (listener, woken, sys.stdin):
        waiting.register(one, selectors.EVENT_READ)
    asking: dict[int, tuple[socket.socket, str]] = {}  # and for which worker, by process
    spent: Counter[str] = Counter()
    while True:
        ready = [key.fileobj for key, _ in waiting.select()]
        if sys.stdin in ready:
            os._exit(0)
        if woken in ready:
            woken.recv(4096)
            _say_ended(asking, spent)
        if listener in ready:
            asker, _ = listener.accept()
            question, files = _question(asker)
            if "worker" in question:
                asker.sendall(f"{spent[question['worker']]}\n".encode())
                asker.close()
                continue
            child = os.fork()
            if child == 0:
                for end in (listener, woken, wake, waiting, *(other for other, _ in asking.values())):
                    end.close()
                return _made(question, files, asker)
            for file in files:
                os.close(file)
            asking[child] = asker, _worker(question)


def _say_ended(asking: dict[int, tuple[socket.socket, str]], spent: Counter[str]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.wait4(-1, os.WNOHANG))[0]:
            asker, worker = asking.pop(ended[0])
            spent[worker] += ended[2].ru_utime + ended[2].ru_stime  # type: ignore[assignment, operator]
            with suppress(OSError):
                asker.sendall(f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())
            asker.close()


def _worker(question: dict[str, Any]) -> str:
    return str(question["environment"].get("PYTEST_XDIST_WORKER", "alone"))


def _question(asker: socket.socket) -> tuple[dict[str, Any], list[int]]:
    files = array.array("i")
    said, ancillary, _, _ = asker.recvmsg(1 << 16, socket.CMSG_SPACE(3 * files.itemsize))
    for _, _, data in ancillary:
        files.frombytes(data)
    while not said.endswith(b"\n"):
        said += asker.recv(1 << 16)
    return json.loads(said), list(files)


def _made(question: dict[str, Any], files: list[int], asker: socket.socket) -> Callable[[], object]:
    """A new process as one that was started by itself: its environment, files and signals."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform == "linux":  # whose it is, for tests/cpu.py; and a signal when the asker's end is closed
        ctypes.CDLL(None).prctl(_PR_SET_NAME, _worker(question).encode())
        fcntl.fcntl(asker, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(asker, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(asker, fcntl.F_SETFL, fcntl.fcntl(asker, fcntl.F_GETFL) | os.O_ASYNC)
    _kept.append(asker)
    asker.sendall(f"{os.getpid()}\n".encode())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(question["environment"])
    os.chdir(question["folder"])
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    errors = {"encoding": "utf-8", "errors": "backslashreplace", "closefd": False, "buffering": 1}
    sys.stderr = sys.__stderr__ = open(2, "w", **errors)  # noqa: SIM115
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # not the same numbers in every process
    if "arguments" in question:
        return lambda: _python(question["arguments"])
    function, given = pickle.loads(base64.b64decode(question["function"]))
    return lambda: function(*given)


_kept: list[socket.socket] = []


def _python(arguments: list[str]) -> None:
    """What `python` does with arguments: -u, -W, -c and -m are known."""
    while arguments[0] in ("-u", "-W"):
        if arguments.pop(0) == "-W":
            warnings.simplefilter(arguments.pop(0))  # type: ignore[arg-type]
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [one for one in named if one and one not in sys.path[1:]]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if arguments[0] == "-c":
        sys.argv, sys.path[0] = ["-c", *arguments[2:]], ""
        exec(compile(arguments[1], "<string>", "exec"), vars(main))
    elif arguments[0] == "-m":
        sys.argv, sys.path[0] = arguments[1:], str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        raise SystemExit(f"only -c and -m are known here, not {arguments[0]}")


def _ended(work: Callable[[], object]) -> int:
    """Do something to its end: the exit code; no time is spent on taking modules apart."""
    code: Any = 0
    try:
        work()
        threading._shutdown()  # type: ignore[attr-defined]
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)  # noqa: T201
            code = 1
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return int(code or 0)


if __name__ == "__main__":
    os._exit(_ended(serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:] or MODULES)))
