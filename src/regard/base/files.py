"""Atomic writes: a file is written next to its target, flushed to disk, then renamed. And where the cache is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


def own_cache() -> Path:
    """The folder for what can be made again: REGARD_CACHE, or regard in the user's cache folder."""
    home = os.environ.get("REGARD_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "regard"
    return Path(home).expanduser()


def write_atomic(target: Path, write: Callable[[str], Any]) -> None:
    """Write to a file next to the target, then rename it over the target."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(descriptor)
    try:
        write(temporary)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        _to_disk(temporary)  # before the rename: a power cut must not leave a name without content
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system can do this with a folder
        _to_disk(target.parent)


def _to_disk(path: str | Path) -> None:
    """Wait until the content is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
