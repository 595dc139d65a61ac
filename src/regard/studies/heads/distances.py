"""How far heads look: sums of maps over their diagonals.

Enters: maps. Leaves: what lies on each distance from query to key, up to `FARTHEST` either way and beyond.
"""

from __future__ import annotations

import numpy as np
import torch

from regard.corpus.sums import Array

FARTHEST = 32
# Distances key - query, in order; the first and the last stand for all beyond.
DISTANCES = tuple(range(-FARTHEST - 1, FARTHEST + 2))


def diagonal_sums(maps: torch.Tensor) -> torch.Tensor:
    """(..., Q + K - 1) sums of maps (..., Q, K) over key - query, from 1 - Q to K - 1."""
    *lead, queries, keys = maps.shape
    width = keys + queries
    flat = maps.new_zeros(*lead, queries * width)
    flat[..., : queries * (width - 1)].view(*lead, queries, width - 1)[..., :keys] = maps
    sums = flat.view(*lead, queries, width).sum(dim=-2)  # in rows one wider, key - query is the column, modulo width
    return torch.cat([sums[..., keys + 1 :], sums[..., :keys]], dim=-1)


def distance_sums(maps: torch.Tensor) -> torch.Tensor:
    """(..., 67) sums of maps (..., Q, K) over `DISTANCES`."""
    queries = maps.shape[-2]
    sums = diagonal_sums(maps)
    gaps = torch.arange(sums.shape[-1], device=maps.device) - (queries - 1)
    places = gaps.clamp(DISTANCES[0], DISTANCES[-1]) - DISTANCES[0]
    return sums.new_zeros(*sums.shape[:-1], len(DISTANCES)).index_add_(-1, places, sums)


def distance_table(queries: int, keys: int) -> Array:
    """(Q, K) the place of key - query among `DISTANCES`."""
    gaps = np.arange(keys)[None, :] - np.arange(queries)[:, None]
    return np.asarray(np.clip(gaps, DISTANCES[0], DISTANCES[-1]) - DISTANCES[0])
