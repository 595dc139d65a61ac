"""GGUF files, dequantised once: later loads read plain weights from regard's cache.

Enters: a .gguf file. Leaves: a folder with weights, config and tokenizer as transformers reads them, verified by
checksums on every use.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache as cache_of
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.files import own_cache

LARGEST = 4_000_000_000  # bytes per model; larger ones are dequantised every time
LIMIT = 8_000_000_000  # bytes in all; the least recently used goes first
_SUMS = "checksums.json"
_VERSION = 1


def cache() -> Path:
    """The folder for dequantised models."""
    return own_cache() / "gguf"


def folder_of(file: Path, dtype: Any) -> Path:
    """The folder for this file's weights: by its content, the requested precision and the version that reads it."""
    import transformers

    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    made_by = f"{digest} {dtype} {transformers.__version__} {_VERSION}"
    return cache() / f"{file.stem}-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}"


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process after the other dequantise a file: who waited finds the copy of the first."""
    lock = cache().parent / f".{folder.name}.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # nothing can be kept either
        yield
        return
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        lock.unlink(missing_ok=True)  # who waits for it has it open; who comes later finds the copy
        _lock(descriptor, wait=False)  # not only closed: a process that was forked meanwhile has it open, too
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> None:
    """Wait for a lock, or release it; where there are none, every process dequantises for itself."""
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_UN)


def whole(folder: Path) -> bool:
    """Whether the folder exists and every file is intact; a damaged folder is removed."""
    if not folder.is_dir():
        return False
    try:
        same: bool = json.loads((folder / _SUMS).read_bytes()) == _sums(folder)
        (folder / _SUMS).touch()  # used now
    except (OSError, ValueError):
        same = False
    if not same:
        shutil.rmtree(folder, ignore_errors=True)
    return same


def keep(folder: Path, model: Any, tokenizer: Any) -> None:
    """Write model and tokenizer for next time; skip it if there is no room or no permission to write."""
    size = sum(weight.nbytes for weight in model.state_dict().values())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if size > LARGEST or 2 * size > shutil.disk_usage(folder.parent).free:
            return
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as beside:
            staging = Path(beside) / "model"
            model.save_pretrained(staging)
            tokenizer.save_pretrained(staging)
            (staging / _SUMS).write_text(json.dumps(_sums(staging)))
            staging.rename(folder)
        _tidy(folder)
    except OSError:  # another process was first, or the disk is full
        return


def plain(model: Any) -> Any:
    """Mark a fully dequantised model as an ordinary one, so that it can be saved."""
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None and all(weight.is_floating_point() for weight in model.parameters()):
        quantizer.remove_quantization_config(model)
    return model


@contextmanager
def read_once() -> Iterator[None]:
    """Let what reads a file, which is done once each for config, weights and tokenizer, share one look at it.

    transformers asks the package gguf, whose reader makes two memory maps of every token and merge, and whose table of
    names is made for every module anew: that took most of the time of a first load.
    """
    try:
        import gguf
    except ImportError:  # who needs it says so
        yield
        return
    theirs, names = gguf.GGUFReader, gguf.get_tensor_name_map

    class Reader(theirs):  # type: ignore[misc, valid-type]
        data: Any

        def _get(self, *args: Any, **options: Any) -> Any:
            self.data = np.asarray(self.data)  # the same bytes; parts of a plain array are made faster
            return super()._get(*args, **options)

    gguf.GGUFReader, gguf.get_tensor_name_map = cache_of(Reader), cache_of(names)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = theirs, names


def size() -> int:
    """Bytes that the cache uses."""
    return sum(_size(folder) for folder in _folders())


def _tidy(newest: Path) -> None:
    others = sorted((f for f in _folders() if f != newest), key=lambda folder: (folder / _SUMS).stat().st_mtime)
    while others and size() > LIMIT:
        shutil.rmtree(others.pop(0), ignore_errors=True)


def _folders() -> list[Path]:
    return [path.parent for path in cache().glob(f"[!.]*/{_SUMS}")]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _sums(folder: Path) -> dict[str, str]:
    """The checksum of each file by its name."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name != _SUMS:
            with path.open("rb") as content:
                found[path.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found
