"""Checkpoints of a study: what was summed so far and how far the corpus was read, in one file.

Enters: sums, tallies, and what the run is of. Leaves: a safetensors file that replaces the last one only when complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from regard.corpus.batches import Tally
from regard.corpus.sums import Sums
from regard.store import write_atomic

FORMAT = "regard-checkpoint"


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a run is: windows done, what became of their examples, what was summed."""

    windows: int = 0
    tally: Tally = field(default_factory=Tally)
    sums: Sums = field(default_factory=Sums)

    def plus(self, index: int, tally: Tally, sums: Sums) -> Progress:
        """With one more window; a new object, so that an interrupt leaves a window counted whole or not at all."""
        return Progress(index + 1, self.tally.plus(tally), self.sums.plus(sums))


def save_checkpoint(path: Path, progress: Progress, run: Mapping[str, Any]) -> None:
    """Write a checkpoint; on any failure the old one stays valid."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    metadata = {
        "format": FORMAT,
        "windows": str(progress.windows),
        "tally": json.dumps(asdict(progress.tally)),
        "run": json.dumps(run, sort_keys=True),
    }
    try:
        write_atomic(path, lambda temporary: save_file(progress.sums.arrays, temporary, metadata))
    except (SafetensorError, OSError) as error:
        kept = "; the one before is still valid" if path.exists() else ""
        raise OSError(f"the checkpoint {path} could not be written ({error}){kept}") from None


def load_checkpoint(path: Path, run: Mapping[str, Any]) -> Progress:
    """Read a checkpoint of the same run; another run's is refused with the difference named."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a checkpoint or is damaged ({error}); start anew without --resume") from None
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is not a checkpoint of a study; start anew without --resume")
    _check_same(path, json.loads(metadata["run"]), json.loads(json.dumps(run)))
    return Progress(int(metadata["windows"]), Tally(**json.loads(metadata["tally"])), Sums(arrays))


def _check_same(path: Path, stored: dict[str, Any], run: dict[str, Any]) -> None:
    for name in sorted({*stored, *run}):
        if stored.get(name) != run.get(name):
            raise ValueError(
                f"the checkpoint {path} is of another run: {name} was {stored.get(name)!r} and is now "
                f"{run.get(name)!r}; use the same, or another output folder"
            )
