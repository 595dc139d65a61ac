"""The folder of a run: one process at a time writes to it, and an unfinished run is not lost by accident.

Enters: a folder and what to do with checkpoints. Leaves: a folder that is locked while the run lasts.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from regard.base.errors import UserError

CHECKPOINT = "checkpoint.safetensors"
LOCK = ".lock"
TERMINATED = 143  # the exit status of a process ended by SIGTERM
_KEPT = (CHECKPOINT, f"control*-{CHECKPOINT}", f"second-{CHECKPOINT}")


@contextmanager
def held(folder: Path | None, *, resume: bool = False, restart: bool = False) -> Iterator[None]:
    """Lock a folder while a run lasts; a folder that was created for it and stayed empty is removed.

    Meanwhile SIGTERM ends the run as Ctrl-C does: with an exception, so that progress is saved.
    """
    if resume and restart:
        raise UserError("--resume continues from the checkpoint and --restart discards it; choose one")
    if folder is None:
        yield
        return
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(folder / LOCK), _terminable():
            _prepare(folder, resume=resume, restart=restart)
            yield
    finally:
        for path in new:
            with suppress(OSError):
                path.rmdir()


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder: of the run itself, its controls and its second pass."""
    return [path for pattern in _KEPT for path in sorted(folder.glob(pattern))]


def forget(folder: Path) -> None:
    """Remove the checkpoints of a run that is done."""
    for path in checkpoints(folder):
        path.unlink(missing_ok=True)


def _prepare(folder: Path, *, resume: bool, restart: bool) -> None:
    """Remove half-written files of a killed run; its checkpoints only if asked to."""
    for path in folder.glob(f".*{CHECKPOINT}.*"):
        path.unlink(missing_ok=True)
    if restart:
        forget(folder)
    elif checkpoints(folder) and not resume:
        raise UserError(
            f"{folder} holds the checkpoint of an unfinished run; continue it (--resume), discard it (--restart), or "
            "choose another output folder"
        )


# -- one run per folder ------------------------------------------------------------------------------------------


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that is released with the process, however it ends."""
    descriptor = _taken(path)
    try:
        yield
    finally:
        if _is(descriptor, path):
            with suppress(OSError):
                path.unlink()
        os.close(descriptor)


def _taken(path: Path) -> int:
    """Open and lock the lock file, and write the owner into it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                os.close(descriptor)
                raise UserError(_taken_by(path)) from None
        if _is(descriptor, path):  # otherwise its owner has just removed it, and the name belongs to another file
            break
        os.close(descriptor)
    owner = {"process": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}
    os.truncate(descriptor, 0)
    os.write(descriptor, json.dumps(owner).encode())
    return descriptor


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _taken_by(path: Path) -> str:
    owner: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        owner = json.loads(path.read_text("utf-8"))
    who = f"process {owner['process']} on {owner['host']} since {owner['since']}" if owner else "another process"
    return (
        f"another run is writing to {path.parent} ({who}); wait for it or choose another output folder; if you are "
        f"sure that it has ended, remove {path}"
    )


# -- SIGTERM -----------------------------------------------------------------------------------------------------


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM raise SystemExit, unless it is handled otherwise."""
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not mine:
        yield
        return
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(TERMINATED)
