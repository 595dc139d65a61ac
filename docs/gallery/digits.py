"""Handwritten digits as ink on paper, one or four on a sheet. Enters: nothing. Leaves: pictures, and what stands on them.

The digits are those of `sklearn.datasets.load_digits`: 1,797 of them, 8 x 8 values from 0 to 16, by E. Alpaydin and C. Kaynak
(Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998; CC BY 4.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PLACES = ("top left", "top right", "bottom left", "bottom right")  # of a sheet, in the order of its digits
SHOWN = 640  # pixels of a picture across
READ = 40  # pixels of a digit across that models read
PAPER, INK = np.array([252, 251, 247]), np.array([24, 28, 44])
_HELD_OUT = 0.2  # of all digits, which no model has seen
_SIDE = 10  # values of a digit across, with the paper around it
_FINE = 320  # pixels across at which it is drawn before models read it
_EDGE = (0.3, 0.8)  # values between which paper becomes ink


@dataclass(frozen=True, eq=False)
class Digits:
    """Some of the digits: (n, 10, 10) values from 0 to 1, and what each is."""

    values: np.ndarray
    labels: np.ndarray

    @cache  # noqa: B019 (there are two of these)
    def read(self) -> np.ndarray:
        """(n, 40, 40): how much ink there is on each pixel that models read."""
        fine = _FINE // READ
        return np.stack([ink(one, _FINE).reshape(READ, fine, READ, fine).mean((1, 3)) for one in self.values])


@cache
def split() -> tuple[Digits, Digits]:
    """The digits to learn from, and those held out."""
    found = load_digits()
    values = np.pad(found.images / 16, ((0, 0), (1, 1), (1, 1)))
    order = np.random.default_rng(0).permutation(len(values))
    held = round(_HELD_OUT * len(values))
    learned, kept = (Digits(values[some], found.target[some]) for some in (order[held:], order[:held]))
    return learned, kept


def ink(values: np.ndarray, size: int) -> np.ndarray:
    """How much ink there is on each of `size` x `size` pixels, from 0 to 1, with smooth edges."""
    wide = np.asarray(Image.fromarray(values.astype(np.float32)).resize((size, size), Image.Resampling.BICUBIC))
    low, high = _EDGE
    part = np.clip((wide - low) / (high - low), 0, 1)
    return part * part * (3 - 2 * part)


def moved(read: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Digits as models read them, each moved by so many of its values down and across; there is paper for one."""
    step = READ // _SIDE
    return np.stack([np.roll(one, step * by, axis=(0, 1)) for one, by in zip(read, steps, strict=True)])


def tiled(four: np.ndarray) -> np.ndarray:
    """(..., 4, n, n) digits as sheets (..., 2n, 2n)."""
    *before, _, size, _ = four.shape
    return four.reshape(*before, 2, 2, size, size).swapaxes(-3, -2).reshape(*before, 2 * size, 2 * size)


def picture(values: np.ndarray) -> Image.Image:
    """One digit (10, 10) as a picture."""
    return _painted(ink(values, SHOWN))


def sheet(values: np.ndarray) -> Image.Image:
    """Four digits (4, 10, 10) as one picture."""
    return _painted(tiled(np.stack([ink(one, SHOWN // 2) for one in values])))


def _painted(part: np.ndarray) -> Image.Image:
    return Image.fromarray((PAPER + (INK - PAPER) * part[..., None]).round().astype(np.uint8))
