"""Where the pixels that a model sees come from: through any processor, without knowing what it does.

Enters: a function that prepares a picture for a model. Leaves: tiles and patches that know their place in the picture.

Four more pictures of the same size go through it: black, white, and two that grow brighter from left to right and from
top to bottom. What is the same in black and white is padding; elsewhere brightness says which column and row it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from regard.trace.tiles import Patches, Sighting, Tile

Prepare = Callable[[Any], Mapping[str, Any]]
_POINTS = 48  # pixels of a side of a tile from which its place is found


def seen_through(prepare: Prepare, size: tuple[int, int], patch: tuple[int, int]) -> list[Sighting]:
    """What a model sees of a picture of this (width, height): its tiles, or its list of patches."""
    black, white, across, down = (prepare(picture) for picture in _probes(size))
    if "flattened_patches" in black:
        return [_numbered(np.asarray(black["flattened_patches"])[0])]
    shape = black.get("spatial_shapes", black.get("image_grid_thw"))
    values = [_numbers(one) for one in (black, white, across, down)]
    found = [_ratio(*parts) for parts in zip(*values, strict=True)]
    if shape is not None:
        (x, y, real) = found[0]
        return [_patches(x.reshape(-1, x.shape[-1]), y, real, np.asarray(shape).ravel()[-2:])]
    return [_tile(x, y, real, patch) for x, y, real in found]


@lru_cache(maxsize=1)
def _probes(size: tuple[int, int]) -> tuple[Any, ...]:
    from PIL import Image

    width, height = size
    across = np.round(255 * (np.arange(width) + 0.5) / width).astype(np.uint8)
    down = np.round(255 * (np.arange(height) + 0.5) / height).astype(np.uint8)
    black = np.zeros((height, width), np.uint8)
    parts = (black, black + 255, np.broadcast_to(across, black.shape), np.broadcast_to(down[:, None], black.shape))
    return tuple(Image.fromarray(np.repeat(part[:, :, None], 3, axis=2)) for part in parts)


def _numbers(prepared: Mapping[str, Any]) -> list[np.ndarray]:
    """(height, width) of the first channel of each tile, or one list of patches."""
    pixels = prepared["pixel_values"]
    if "spatial_shapes" in prepared or "image_grid_thw" in prepared:
        return [np.asarray(pixels, np.float32)]
    tiles = pixels if isinstance(pixels, (list, tuple)) else [pixels]
    arrays = [np.asarray(tile) for tile in tiles]
    return [one[0].astype(np.float32) for array in arrays for one in array.reshape(-1, *array.shape[-3:])]


def _ratio(
    black: np.ndarray, white: np.ndarray, across: np.ndarray, down: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where values come from, as shares of width and height, and which are no padding."""
    step = white - black
    real = np.abs(step) > 1e-6
    safe = np.where(real, step, 1)
    return (across - black) / safe, (down - black) / safe, real


def _tile(x: np.ndarray, y: np.ndarray, real: np.ndarray, patch: tuple[int, int]) -> Tile:
    """The affine map that (height, width) values tell, by least squares over the pixels that are real."""
    rows, columns = np.nonzero(real)
    if not rows.size:
        return Tile(np.full((2, 3), -9.0), real, patch)  # a tile of padding alone lies nowhere
    pick = _spread(rows.size)
    rows, columns = rows[pick], columns[pick]
    terms = np.stack([columns + 0.5, rows + 0.5, np.ones(rows.size)], axis=1)
    places = np.stack([x[rows, columns], y[rows, columns]], axis=1)
    # brightness stops at the edges of the picture, and filters bend it there
    inside = np.all((places > 0.02) & (places < 0.98), axis=1)
    chosen = inside if inside.sum() >= 16 else np.ones_like(inside)
    found, *_ = np.linalg.lstsq(terms[chosen], places[chosen], rcond=None)
    return Tile(found.T, real, patch)


def _spread(count: int) -> np.ndarray:
    """Some of so many pixels, drawn alike each time."""
    most = _POINTS * _POINTS
    return np.arange(count) if count <= most else np.random.default_rng(0).choice(count, most, replace=False)


def _numbered(patches: np.ndarray) -> Patches:
    """Patches (n, 2 + pixels) that begin with their row and column, from 1; 0 is padding. They cover the picture."""
    rows, columns = (patches[:, part].round().astype(int) - 1 for part in (0, 1))
    return Patches((int(rows.max()) + 1, int(columns.max()) + 1), rows, columns)


def _patches(x: np.ndarray, y: np.ndarray, real: np.ndarray, shape: np.ndarray) -> Patches:
    """Rows and columns of patches from the mean brightness of each; the picture is cut into `shape` of them."""
    rows, columns = int(shape[0]), int(shape[1])
    y, real = (part.reshape(x.shape) for part in (y, real))
    count = real.sum(1).clip(1)
    column = np.floor((x * real).sum(1) / count * columns).clip(0, columns - 1).astype(int)
    row = np.floor((y * real).sum(1) / count * rows).clip(0, rows - 1).astype(int)
    padding = ~real.any(1)
    row[padding] = column[padding] = -1
    return Patches((rows, columns), row, column)
