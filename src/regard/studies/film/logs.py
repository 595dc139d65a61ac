"""A film in other people's logs: TensorBoard, and Weights & Biases where a run is under way.

Enters: frames. Leaves: scalars: per pattern how many heads have its name and the highest lift, per layer what rests.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from regard.studies.film.frames import Frame


def scalars_of(frame: Frame) -> dict[str, float]:
    """What is logged of a frame, by name."""
    names = [name for head in frame.heads for name in head["names"]]
    asked = dict.fromkeys(name for head in frame.heads for name in head["lifts"])
    found = {f"regard/heads named/{name}": float(names.count(name)) for name in asked}
    for name in asked:
        lifts = [head["lifts"][name][0] for head in frame.heads if name in head["lifts"]]
        found[f"regard/highest lift/{name}"] = max(lift for lift in lifts if lift is not None)
    layers = dict.fromkeys((head["kind"], head["layer"]) for head in frame.heads)
    for kind, layer in layers:
        here = [h["rest"] for h in frame.heads if (h["kind"], h["layer"]) == (kind, layer) and h["rest"] is not None]
        if here:
            found[f"regard/resting/{kind} {layer}"] = sum(here) / len(here)
    return found


class FilmLogs:
    """The logs that are there: TensorBoard if it is installed, Weights & Biases if the script has begun a run."""

    def __init__(self, folder: Path, step: int) -> None:
        self._board: Any = None
        if find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(folder / "tensorboard", purge_step=step or None)

    def add(self, frame: Frame) -> None:
        """Log a frame."""
        scalars = scalars_of(frame)
        if self._board is not None:
            for name, value in scalars.items():
                self._board.add_scalar(name, value, frame.step)
            self._board.flush()
        wandb = sys.modules.get("wandb")  # whoever logs there has imported it
        if wandb is not None and getattr(wandb, "run", None) is not None:
            wandb.log({**scalars, "regard/step": frame.step})

    def close(self) -> None:
        """No more frames will come."""
        if self._board is not None:
            self._board.close()
