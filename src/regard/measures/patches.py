"""Attention between patches of a picture: neighbours, rows and columns, its centre and border.

Spans are (n, 4): left, top, right and bottom of each patch as shares of the picture's width and height, NaN for tokens
that are no patch. Edges are equal that differ by less than a quarter of a patch, so patches of another size (a small
copy of the whole picture beside its tiles) are nobody's neighbours. Source: the grid of Dosovitskiy et al. (2021), "An
image is worth 16x16 words"; chance is the share of such patches among the visible keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_DRAWS = 2000  # exchanges of patches that form no grid
_NEAR = 0.25  # of a patch, within which two edges are one
_ACROSS, _DOWN = (0, 2), (1, 3)  # columns of spans: left and right, top and bottom


def neighbour_targets(queries: Array, keys: Array, across: int, down: int) -> Array:
    """(queries, keys) booleans: the key is the patch next to the query, `across` or `down` being -1 or 1."""
    along, other = (_ACROSS, _DOWN) if across else (_DOWN, _ACROSS)
    near, far = along if across + down < 0 else along[::-1]  # the query's edge, and the key's that touches it
    touching = np.abs(keys[..., None, :, far] - queries[..., :, None, near]) < _NEAR * _size(queries, along)
    return np.asarray(touching & _aligned(queries, keys, other))


def row_targets(queries: Array, keys: Array) -> Array:
    """(queries, keys) booleans: the key is another patch of the query's row."""
    return np.asarray(_aligned(queries, keys, _DOWN) & ~_aligned(queries, keys, _ACROSS))


def column_targets(queries: Array, keys: Array) -> Array:
    """(queries, keys) booleans: the key is another patch of the query's column."""
    return np.asarray(_aligned(queries, keys, _ACROSS) & ~_aligned(queries, keys, _DOWN))


def centre_places(spans: Array) -> Array:
    """(..., n) booleans: the middle of the patch is in the middle half of the picture, across and down."""
    if not np.isfinite(spans).any():
        return np.zeros(spans.shape[:-1], bool)
    low, high = _corners(spans)
    away = np.abs((spans[..., :2] + spans[..., 2:] - low - high) / 2)
    return np.asarray((away < (high - low) / 4 - 1e-6).all(axis=-1))


def border_places(spans: Array) -> Array:
    """(..., n) booleans: the patch is in the first or last row or column of what the model sees of the picture."""
    return np.asarray(border_sides(spans).any(axis=-1))


def border_sides(spans: Array) -> Array:
    """(..., n, 4) booleans: the patch is at the left, the top, the right, the bottom of what the model sees."""
    if not np.isfinite(spans).any():
        return np.zeros(spans.shape, bool)
    size = _NEAR * (spans[..., 2:] - spans[..., :2])
    first, last = _corners(spans)
    low = np.abs(spans[..., :2] - first) < size
    high = np.abs(spans[..., 2:] - last) < size
    return np.asarray(np.concatenate([low, high], axis=-1))


def _corners(spans: Array) -> tuple[Array, Array]:
    """(..., 1, 2) left and top, right and bottom of all patches of a picture."""
    low, high = np.nanmin(spans[..., :2], axis=-2, keepdims=True), np.nanmax(spans[..., 2:], axis=-2, keepdims=True)
    return np.asarray(low), np.asarray(high)


def by_chance(received: Array, spans: Array, away: Array) -> float:
    """How often patches would lie as close to a place if the same attention were elsewhere in the picture; 1 at most.

    `received` (n,) is what each patch gets, `away` (n,) how far it lies from the place. The whole map of what patches
    get is moved over the grid, what leaves it at one side coming back at the other (torus shifts, as in spatial
    statistics): so what hangs together stays together. A head that looks at a thing which happens to be there is as
    close after some other moves; a head that looks at the place itself is not. Patches that form no grid are exchanged
    at random.
    """
    grid = _grid(spans)
    if grid is None:
        rng = np.random.default_rng(0)
        moved = np.stack([received, *(rng.permutation(received) for _ in range(_DRAWS))])
        far = moved @ away
    else:
        whole, distance = received[grid], away[grid]
        moves = (np.roll(whole, move, (0, 1)) for move in np.ndindex(grid.shape))
        far = np.array([(moved * distance).sum() for moved in moves])
    return float((far <= far[0] + 1e-9 * max(1.0, abs(far[0]))).mean())


def _grid(spans: Array) -> Array | None:
    """(rows, columns) the patches row by row, where they fill a grid; None where they do not."""
    left, top = (np.unique(np.round(spans[:, edge], 5), return_inverse=True) for edge in (0, 1))
    grid = np.full((len(top[0]), len(left[0])), -1)
    grid[top[1], left[1]] = np.arange(len(spans))
    return grid if grid.size == len(spans) and (grid >= 0).all() else None


def centre_distances(spans: Array) -> Array:
    """(n,) squared distances of patches from the middle of what the model sees of the picture."""
    low, high = spans[:, :2].min(axis=0), spans[:, 2:].max(axis=0)
    away = (spans[:, :2] + spans[:, 2:] - low - high) / (high - low)
    return np.asarray((away**2).sum(axis=1))


def _size(spans: Array, along: tuple[int, int]) -> Array:
    """(..., n, 1) how wide or high patches are."""
    return np.asarray(spans[..., along[1], None] - spans[..., along[0], None])


def _aligned(queries: Array, keys: Array, along: tuple[int, int]) -> Array:
    """(queries, keys) whether both edges of the key are those of the query, across or down."""
    near = _NEAR * _size(queries, along)
    edges = [np.abs(keys[..., None, :, edge] - queries[..., :, None, edge]) < near for edge in along]
    return np.asarray(edges[0] & edges[1])
