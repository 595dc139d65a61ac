"""The sound or picture that the tokens of a side are pieces of, as a page plays or shows it.

Enters: the bytes of a file, made small and free of metadata by whoever read it. Leaves: a frozen record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

SOUND, PICTURE = "sound", "picture"
_MIMES = {SOUND: ("audio/wav", "audio/flac"), PICTURE: ("image/png", "image/jpeg", "image/webp")}
_NUMBERS = {SOUND: 1, PICTURE: 2}


@dataclass(frozen=True, eq=False)
class Medium:
    """A sound or a picture, embedded once.

    `kind` is "sound" or "picture", `mime` the type of its `data`. `size` is (seconds,) of a sound, (width, height)
    of a picture in pixels. `features` is what the model reads of a sound, (bands, frames) uint8 from quiet to loud, the
    lowest band first; None where that is no spectrogram, and for pictures.
    """

    kind: str
    mime: str
    data: bytes
    size: tuple[float, ...]
    features: np.ndarray | None = None

    @cached_property
    def array(self) -> np.ndarray:
        """Its bytes as one array: sides that share a medium share it."""
        return np.frombuffer(self.data, np.uint8)

    def __post_init__(self) -> None:
        """Refuse what no browser should be handed."""
        if self.mime not in _MIMES.get(self.kind, ()):
            raise ValueError(f"a medium cannot be a {self.kind} of type {self.mime}")
        if len(self.size) != _NUMBERS[self.kind] or not all(0 < number < np.inf for number in self.size):
            raise ValueError(f"a {self.kind} cannot have the size {self.size}")


def joined_spans(spans: np.ndarray, groups: list[list[int]]) -> np.ndarray:
    """The places of words in their medium: from where the first token begins to where the last one ends."""
    half = spans.shape[1] // 2
    return np.stack([np.r_[spans[group, :half].min(0), spans[group, half:].max(0)] for group in groups])
