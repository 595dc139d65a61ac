"""Word times from cross attention: which frame of a sound the decoder is at when it writes each token.

Enters: maps (..., tokens, frames). Leaves: the first frame of each token, by dynamic time warping, as OpenAI's Whisper
does it: rows renormalised over the sound, each frame's column z-scored over tokens, smoothed by a median of seven.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
WIDTH = 7  # frames of the median filter


def sharpen(maps: Array) -> Array:
    """(..., tokens, frames) maps made comparable: what tokens share is taken out, single peaks are smoothed."""
    maps = np.asarray(maps, np.float32)
    rows = maps / np.maximum(maps.sum(axis=-1, keepdims=True), 1e-12)
    spread = rows.std(axis=-2, keepdims=True)
    scored = (rows - rows.mean(axis=-2, keepdims=True)) / np.where(spread > 0, spread, 1)
    return median_filter(scored)


def median_filter(values: Array, width: int = WIDTH) -> Array:
    """The median over `width` places of the last axis, mirrored at its ends; too short an axis stays as it is."""
    half = width // 2
    if values.shape[-1] <= half:
        return values
    padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(half, half)], mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=-1)
    return np.asarray(np.median(windows, axis=-1), values.dtype)


def warped_starts(scores: Array) -> Array:
    """(S, tokens) the first frame of each token on the path of the highest sum through scores (S, tokens, frames).

    The path goes from the first token and frame to the last ones, by one token, one frame or both at a time.
    """
    sets, tokens, frames = scores.shape
    total = np.full((sets, tokens + 1, frames + 1), np.inf, np.float32)
    total[:, 0, 0] = 0
    step = np.zeros((tokens + 1, frames + 1, sets), np.int8)
    for diagonal in range(2, tokens + frames + 1):  # cells of one diagonal do not depend on each other
        i = np.arange(max(1, diagonal - frames), min(tokens, diagonal - 1) + 1)
        j = diagonal - i
        before = np.stack([total[:, i - 1, j - 1], total[:, i - 1, j], total[:, i, j - 1]])  # (3, S, cells)
        both = (before[0] < before[1]) & (before[0] < before[2])
        token = (before[1] < before[0]) & (before[1] < before[2])
        chosen = np.where(both, 0, np.where(token, 1, 2))
        total[:, i, j] = np.take_along_axis(before, chosen[None], axis=0)[0] - scores[:, i - 1, j - 1]
        step[i, j] = chosen.T
    return np.stack([_walk_back(step[..., one]) for one in range(sets)])


def _walk_back(step: Array) -> Array:
    """(tokens,) the first frame of each token on the path that ends in the last cell."""
    i, j = step.shape[0] - 1, step.shape[1] - 1
    starts = np.zeros(i, np.int64)
    while i > 0 and j > 0:
        starts[i - 1] = j - 1
        went = step[i, j]
        i, j = i - (went != 2), j - (went != 1)
    return starts
