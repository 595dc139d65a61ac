"""Checkpoints of a study: the sums so far and how far the corpus was read, in one file.

Enters: sums, tallies, and the identity of the run. Leaves: a safetensors file that replaces the previous one only when
complete, with a checksum over its whole content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.corpus.batches import Tally
from regard.corpus.identity import differences
from regard.corpus.sums import Sums
from regard.models.fingerprint import digest

FORMAT = "regard-checkpoint-2"  # changes when older files can no longer be read


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a run is: windows done, a fingerprint of what was read, the tally, the sums."""

    windows: int = 0
    tally: Tally = field(default_factory=Tally)
    sums: Sums = field(default_factory=Sums)
    read: str = ""

    def plus(self, index: int, tally: Tally, sums: Sums, read: str = "") -> Progress:
        """Progress with one more window; a new object, so that an interrupt counts a window fully or not at all."""
        return Progress(index + 1, self.tally.plus(tally), self.sums.plus(sums), read)


def save_checkpoint(path: Path, progress: Progress, run: Mapping[str, Any]) -> None:
    """Write a checkpoint; on any failure the old one stays valid."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    metadata = {
        "format": FORMAT,
        "windows": str(progress.windows),
        "read": progress.read,
        "tally": json.dumps(asdict(progress.tally)),
        "run": json.dumps(run, sort_keys=True),
    }
    metadata["checksum"] = _checksum(metadata, progress.sums.arrays)
    try:
        write_atomic(path, lambda temporary: save_file(progress.sums.arrays, temporary, metadata))
    except (SafetensorError, OSError) as error:
        kept = "; the previous one is still valid" if path.exists() else ""
        raise OSError(f"the checkpoint {path} could not be written ({error}){kept}") from None


def load_checkpoint(path: Path, run: Mapping[str, Any]) -> Progress:
    """Read a checkpoint of the same run; a damaged one, or one of a different run, is refused with the reason."""
    metadata, arrays = _read(path)
    checksum = metadata.pop("checksum", "")
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} is not a checkpoint of this version of regard; discard it with --restart")
    if checksum != _checksum(metadata, arrays):
        raise UserError(f"{path} is damaged (its checksum is wrong); discard it with --restart")
    different = differences(json.loads(metadata["run"]), json.loads(json.dumps(run)))
    if different:
        raise UserError(
            f"the checkpoint {path} belongs to a different run: {'; '.join(different)}. Use the same settings, choose "
            "another output folder, or discard it with --restart"
        )
    tally = Tally(**json.loads(metadata["tally"]))
    return Progress(int(metadata["windows"]), tally, Sums(arrays), metadata["read"])


def _read(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray[Any, Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return dict(file.metadata() or {}), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, LookupError, TypeError, ArithmeticError, MemoryError) as error:
        raise UserError(f"{path} is not a checkpoint or is damaged ({error}); discard it with --restart") from None


def _checksum(metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """The fingerprint of a checkpoint's whole content."""
    parts: list[Any] = [json.dumps(sorted(metadata.items()))]
    for name, array in sorted(arrays.items()):
        parts += [f"{name} {array.dtype} {array.shape}", np.ascontiguousarray(array).reshape(-1).view(np.uint8)]
    return digest(parts)
