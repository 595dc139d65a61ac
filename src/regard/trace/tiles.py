"""A picture as a model reads it: whole, cut into tiles or into patches, and where each piece lies in the picture.

Enters: how pixels that a model sees lie in the picture. Leaves: for every position of a tower or a text its row, column
and span: left, top, right and bottom as shares of the picture's width and height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from regard.trace.medium import Medium
from regard.trace.tokens import Segment, Side, Token

MOST_SPECIAL = 16  # positions before the patches: [CLS], distillation and register tokens


class Grid(NamedTuple):
    """Positions that are patches, between `special` ones and `after`: rows and columns are (n,), spans (n, 4)."""

    special: int
    rows: np.ndarray
    columns: np.ndarray
    spans: np.ndarray
    after: int = 0


class Sighting(Protocol):
    """A picture, or a tile of it, as a tower reads it."""

    @property
    def patches(self) -> int:
        """How many patches it is cut into."""

    def grid(self, length: int) -> Grid | None:
        """The patches among so many positions; None if so many cannot be patches of it."""


@dataclass(frozen=True, eq=False)
class Tile:
    """A rectangle of pixels that a model sees, cut into patches of `patch` (height, width) pixels.

    `place` is the (2, 3) affine map from its pixels (column, row, 1) to shares of the picture's width and height;
    `real` (height, width) is False where it is padded.
    """

    place: np.ndarray
    real: np.ndarray
    patch: tuple[int, int]

    def grid(self, length: int) -> Grid | None:
        """Patches in reading order; towers that merge them have a half, a quarter or an eighth of rows and columns."""
        height, width = self.real.shape
        for merged in (1, 2, 4, 8):
            rows, columns = height // (self.patch[0] * merged), width // (self.patch[1] * merged)
            special = length - rows * columns
            if rows * columns and (0 <= special <= MOST_SPECIAL if merged == 1 else special == 0):
                return self.cells(rows, columns, special)
        return None

    @property
    def patches(self) -> int:
        """How many it is cut into."""
        height, width = self.real.shape
        return int(height // self.patch[0]) * int(width // self.patch[1])

    def corners(self) -> np.ndarray:
        """(patches, 4) spans of all patches, also of those that are padding or beyond the picture."""
        height, width = self.real.shape
        return self._spans(height // self.patch[0], width // self.patch[1]).astype(np.float32)

    def cells(self, rows: int, columns: int, special: int = 0) -> Grid:
        """So many rows and columns of equal cells over the tile."""
        row, column = (part.ravel() for part in np.mgrid[:rows, :columns])
        spans = self._spans(rows, columns)
        inside = _within(spans) & self._shown(rows, columns)
        return Grid(special, row, column, np.where(inside[:, None], spans.clip(0, 1), np.nan).astype(np.float32))

    def _spans(self, rows: int, columns: int) -> np.ndarray:
        row, column = (part.ravel() for part in np.mgrid[:rows, :columns])
        height, width = self.real.shape
        corners = np.stack(
            [
                self._shares((column + right) * width / columns, (row + low) * height / rows)
                for low in (0, 1)
                for right in (0, 1)
            ]
        )
        return np.concatenate([corners.min(0), corners.max(0)], axis=1)

    def evenly(self, count: int) -> Grid | None:
        """So many cells in reading order, rows to columns as the tile is high to wide; the first may be no cell."""
        height, width = self.real.shape
        for special in (0, 1):
            rows = round(((count - special) * height / width) ** 0.5)
            if rows and (count - special) % rows == 0:
                return self.cells(rows, (count - special) // rows, special)
        return None

    def _shares(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.stack([x, y, np.ones_like(x)], axis=1) @ self.place.T)

    def _shown(self, rows: int, columns: int) -> np.ndarray:
        """Whether cells have a pixel that is no padding."""
        height, width = self.real.shape
        if self.real.all():
            return np.ones(rows * columns, bool)
        down = np.add.reduceat(self.real, (np.arange(rows) * height // rows), axis=0, dtype=np.int64)
        both = np.add.reduceat(down, (np.arange(columns) * width // columns), axis=1)
        return both.ravel() > 0


@dataclass(frozen=True, eq=False)
class Patches:
    """A picture that comes as a list of patches, in any order: (n,) rows and columns of `shape`; -1 is padding."""

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray

    @property
    def patches(self) -> int:
        """How many there are, also of padding."""
        return len(self.rows)

    def grid(self, length: int) -> Grid | None:
        """One position for each patch."""
        return self.merged(1) if length == len(self.rows) else None

    def merged(self, count: int) -> Grid:
        """One position for `count` patches that follow each other."""
        rows, columns = (each.reshape(-1, count) for each in (self.rows, self.columns))
        size = np.array([self.shape[1], self.shape[0]], float)
        low = np.stack([columns.min(1), rows.min(1)], axis=1) / size
        high = np.stack([columns.max(1) + 1, rows.max(1) + 1], axis=1) / size
        spans = np.concatenate([low, high], axis=1)
        spans[rows.min(1) < 0] = np.nan
        step = round(count**0.5)
        return Grid(0, rows.min(1) // step, columns.min(1) // step, spans.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Followed:
    """What a tower reads with so many positions of its own behind the patches, such as those that detect."""

    seen: Sighting
    count: int

    @property
    def patches(self) -> int:
        """How many there are, without those positions."""
        return self.seen.patches

    def grid(self, length: int) -> Grid | None:
        """The patches, which are not at the end."""
        found = self.seen.grid(length - self.count)
        return None if found is None else found._replace(after=self.count)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """What a tower reads in an order drawn by chance: no position is known to be some patch."""

    seen: Sighting

    @property
    def patches(self) -> int:
        """How many there are, also of those that stay hidden."""
        return self.seen.patches

    def grid(self, length: int) -> Grid | None:
        """None, however many there are."""
        return None


def _within(spans: np.ndarray) -> np.ndarray:
    """Whether spans lie in the picture with more than a sliver."""
    shown = spans.clip(0, 1)
    size = (spans[:, 2:] - spans[:, :2]).clip(1e-9)
    return np.asarray(np.all((shown[:, 2:] - shown[:, :2]) / size > 0.02, axis=1))


def picture_side(seen: Sequence[Sighting], medium: Medium | None, length: int, part: int) -> Side | None:
    """The side of so many positions of a tower, special tokens first; with several tiles, of tile `part`, or of all.

    None if so many positions cannot be patches of it.
    """
    whole = _joined(seen, length) if len(seen) > 1 else None
    one = seen[part if part < len(seen) > 1 else 0].grid(length)
    grids = whole or ([] if one is None else [one])
    if not grids:
        return None
    name = "image" if whole or len(seen) == 1 else f"tile {part + 1}"
    tokens: list[Token] = []
    spans: list[np.ndarray] = []
    for grid in grids:
        names = ["[CLS]", *(f"[REG{i}]" for i in range(1, grid.special))][: grid.special]
        tokens += [Token(text, special=True) for text in names] + patch_tokens(grid)
        tokens += [Token(f"[DET{i}]", special=True) for i in range(1, grid.after + 1)]
        spans += [_nowhere(grid.special), grid.spans, _nowhere(grid.after)]
    return Side(name, tuple(tokens), (Segment("image", 0, length),), medium=medium, spans=np.concatenate(spans))


def _nowhere(count: int) -> np.ndarray:
    """(count, 4) spans of positions without a place."""
    return np.full((count, 4), np.nan, np.float32)


def _joined(seen: Sequence[Sighting], length: int) -> list[Grid] | None:
    """The patches of all tiles, one tile after the other."""
    each, left = divmod(length, len(seen))
    grids = [one.grid(each) for one in seen]
    found = [grid for grid in grids if grid is not None]
    return found if not left and len(found) == len(seen) else None


def patch_tokens(grid: Grid, id: int | None = None, segment: int = 0) -> list[Token]:
    """A token for each patch, named by its row and column; each is a word."""
    places = zip(grid.rows.tolist(), grid.columns.tolist(), strict=True)
    return [
        Token(f"{row},{column}", id, row=row, column=column, word=number, segment=segment)
        for number, (row, column) in enumerate(places)
    ]
