"""Fingerprints: short digests of contents, equal if and only if the contents are.

Enters: bytes, files, a module, a tokenizer. Leaves: digests. Every byte is read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_SIZE = 16  # bytes of a digest
# Fields of a configuration that say who wrote it; its class and precision are compared separately.
_NO_CONTENT = {"transformers_version", "architectures", "dtype", "torch_dtype"}


def digest(parts: Iterable[Any]) -> str:
    """The fingerprint of some bytes, texts and buffers in order; their boundaries count."""
    hasher = hashlib.blake2b(digest_size=_SIZE)
    for part in parts:
        data = memoryview(part.encode() if isinstance(part, str) else part).cast("B")
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """The fingerprint of a file; it is not read again while its size and time stay the same."""
    state = Path(path).stat()
    return _read(str(Path(path).resolve()), state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=256)
def _read(path: str, size: int, changed: int, inode: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_SIZE)).hexdigest()


def folder_digest(folder: str | os.PathLike[str]) -> str:
    """The fingerprint of all files in a folder and their names."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return digest(text for path in files for text in (path.relative_to(folder).as_posix(), file_digest(path)))


def weights_digest(module: torch.nn.Module) -> str:
    """The fingerprint of all weights and stored buffers: names, types, shapes and every byte."""
    import torch

    def parts() -> Iterable[Any]:
        for name, value in module.state_dict().items():
            if not isinstance(value, torch.Tensor):
                yield f"{name} {value!r}"
                continue
            yield f"{name} {value.dtype} {tuple(value.shape)}"
            flat = value.detach().cpu().contiguous().reshape(-1)
            yield flat.view(torch.uint8).numpy() if flat.numel() else b""

    return digest(parts())


def config_digest(config: Any) -> str:
    """The fingerprint of a model's configuration; where it came from does not count."""
    fields = config.to_dict() if hasattr(config, "to_dict") else vars(config) if hasattr(config, "__dict__") else {}
    return digest([json.dumps(_content(fields), sort_keys=True, default=str)])


def _content(fields: Any) -> Any:
    """A configuration without the fields that say who wrote it, where it came from and which kernel runs it."""
    if not isinstance(fields, dict):
        return fields
    return {
        str(name): _content(value)
        for name, value in fields.items()
        if not str(name).startswith("_") and name not in _NO_CONTENT
    }


def tokenizer_digest(tokenizer: Any) -> str | None:
    """The fingerprint of how a tokenizer splits texts and which special tokens it adds; None without a tokenizer."""
    if tokenizer is None:
        return None
    around = {
        name: getattr(tokenizer, name, None) for name in ("special_tokens_map", "all_special_ids", "padding_side")
    }
    return digest([_cuts(tokenizer), json.dumps(around, sort_keys=True, default=str)])


def processor_digest(processor: Any) -> str | None:
    """The fingerprint of how a processor prepares pictures or sounds; None without one."""
    parts = [getattr(processor, name, None) for name in ("image_processor", "feature_extractor")]
    known = [part for part in (processor, *parts) if hasattr(part, "to_dict")]
    return digest(json.dumps(part.to_dict(), sort_keys=True, default=str) for part in known) if known else None


def _cuts(tokenizer: Any) -> str:
    """What decides how a tokenizer splits texts; without a backend, its class, vocabulary and arguments."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        known = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else {}
        how = _content(dict(getattr(tokenizer, "init_kwargs", {})))
        return json.dumps([type(tokenizer).__name__, sorted(known.items()), how], sort_keys=True, default=str)
    content = json.loads(backend.to_str())
    for name in ("truncation", "padding"):  # leftovers of the last call
        content.pop(name, None)
    return json.dumps(content, sort_keys=True)
