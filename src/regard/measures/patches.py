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
    if not np.isfinite(spans).any():
        return np.zeros(spans.shape[:-1], bool)
    size = _NEAR * (spans[..., 2:] - spans[..., :2])
    first, last = _corners(spans)
    low = np.abs(spans[..., :2] - first) < size
    high = np.abs(spans[..., 2:] - last) < size
    return np.asarray((low | high).any(axis=-1))


def _corners(spans: Array) -> tuple[Array, Array]:
    """(..., 1, 2) left and top, right and bottom of all patches of a picture."""
    low, high = np.nanmin(spans[..., :2], axis=-2, keepdims=True), np.nanmax(spans[..., 2:], axis=-2, keepdims=True)
    return np.asarray(low), np.asarray(high)


def _size(spans: Array, along: tuple[int, int]) -> Array:
    """(..., n, 1) how wide or high patches are."""
    return np.asarray(spans[..., along[1], None] - spans[..., along[0], None])


def _aligned(queries: Array, keys: Array, along: tuple[int, int]) -> Array:
    """(queries, keys) whether both edges of the key are those of the query, across or down."""
    near = _NEAR * _size(queries, along)
    edges = [np.abs(keys[..., None, :, edge] - queries[..., :, None, edge]) < near for edge in along]
    return np.asarray(edges[0] & edges[1])
