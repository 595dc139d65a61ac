"""The frames of a film on disk: one file each, written atomically, so that a killed run loses none that was taken.

Enters: what heads do at a step. Leaves: files; the frames of a folder in order.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.base.errors import UserError
from regard.base.files import write_atomic

FILM, FRAMES = "film.json", "frames"
VERSION = 1


class Lift(NamedTuple):
    """How far a head follows a pattern, with the ends of its 95 % interval (NaN where there is none)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class FilmHead:
    """What one head does at a step: how much of it rests, its names, its lifts, and a small map."""

    kind: str
    layer: int
    head: int
    rest: float | None
    names: Sequence[str]
    lifts: Mapping[str, Lift]
    picture: np.ndarray | None = None  # (rows, columns) bytes

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        shape = None if self.picture is None else list(self.picture.shape)
        pixels = None if self.picture is None else base64.b64encode(self.picture.tobytes()).decode()
        return {
            "kind": self.kind,
            "layer": self.layer,
            "head": self.head,
            "rest": _rounded(self.rest),
            "names": list(self.names),
            "lifts": {name: [_rounded(number) for number in lift] for name, lift in self.lifts.items()},
            "shape": shape,
            "map": pixels,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)


@dataclass(frozen=True, eq=False)
class Frame:
    """All heads at a step; `loss` is the mean since the frame before."""

    step: int
    loss: float | None
    heads: Sequence[Mapping[str, Any]]  # records of `FilmHead`

    @classmethod
    def of(cls, step: int, loss: float | None, heads: Iterable[FilmHead]) -> Frame:
        """A frame as it is kept."""
        return cls(step, None if loss is None else _rounded(loss), [head.record for head in heads])

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {"step": self.step, "loss": self.loss, "heads": list(self.heads)}


class Reel:
    """The frames of a folder."""

    def __init__(self, folder: str | Path, about: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.about = {"version": VERSION, **about}
        self.frames: list[Frame] = []

    def open(self, step: int, *, restart: bool) -> None:
        """Begin at a step: with the frames up to it, if training goes on there; without any, if it begins."""
        found = [] if restart else stored(self.folder)
        kept = [frame for frame in found if frame.step <= step]
        if found and not any(frame.step > 0 for frame in kept):
            raise UserError(
                f"{self.folder} holds a film of {len(found)} frames, and training begins at step {step}; pass "
                "restart=True to discard it, or name another folder"
            )
        if kept:
            self._check()
        self.frames = kept
        (self.folder / FRAMES).mkdir(parents=True, exist_ok=True)
        for path in self._files():
            if int(path.stem) not in {frame.step for frame in kept}:
                path.unlink(missing_ok=True)
        text = json.dumps(self.about, ensure_ascii=False, indent=1)
        write_atomic(self.folder / FILM, lambda path: Path(path).write_text(text, "utf-8"))

    def _check(self) -> None:
        """Refuse frames of another model or other probes."""
        before = about_of(self.folder)
        for name, what in (("heads", "model of another shape"), ("probes", "different probe texts")):
            if before.get(name) != self.about.get(name):
                raise UserError(
                    f"{self.folder} holds a film with a {what}; name another folder, or restart=True to discard it"
                    if name == "heads"
                    else f"{self.folder} holds a film with {what}; pass the same ones, or name another folder"
                )

    def _files(self) -> list[Path]:
        return sorted((self.folder / FRAMES).glob("[0-9]*.json"))

    def add(self, frame: Frame) -> None:
        """Keep a frame; on disk before anything else happens."""
        text = json.dumps(frame.record, separators=(",", ":"))
        target = self.folder / FRAMES / f"{frame.step:09d}.json"
        write_atomic(target, lambda path: Path(path).write_text(text, "utf-8"))
        self.frames.append(frame)


def about_of(folder: Path) -> dict[str, Any]:
    """What a film says of itself."""
    try:
        found = json.loads((folder / FILM).read_text("utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{folder} holds no film: {FILM} is missing or damaged") from None
    return dict(found)


def stored(folder: Path) -> list[Frame]:
    """The frames of a folder, in order."""
    frames = []
    for path in sorted((folder / FRAMES).glob("[0-9]*.json")):
        record = json.loads(path.read_text("utf-8"))
        frames.append(Frame(record["step"], record["loss"], record["heads"]))
    return frames
