"""How alike two queries, or two keys, of a head are: by what they do to its scores.

Enters: q (N, d) and k (M, d) of a head over a corpus, in numpy. Leaves: distances in units of the head's scores.

Attention is by dot product, so lengths and angles of q alone say little: a direction in which no two keys differ
changes nothing. Two queries are as far apart as their scores differ over the keys of the corpus: the standard deviation
over keys of s q·k - s q'·k, since what is added to all scores of a row vanishes in the softmax. Two keys are as far
apart as the scores that queries give them: the root mean square over queries of s q·k - s q·k'. Both are Euclidean
after a linear map, and unchanged by whatever leaves the scores unchanged: k → k + c for queries, (q, k) → (aq, k/a)
for both.

Models that add their positions to the tokens have them in q and k: heads that go by position would find the same place
in every text. `apart` takes the mean of each position out first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SIDES = ("q", "k")


def nearness_map(q: Array, k: Array, scale: float, side: str) -> Array:
    """(d, d) the linear map after which vectors of a side are as far apart as their scores are."""
    others = np.asarray(k if side == "q" else q, np.float64)
    if side == "q":
        others = others - others.mean(axis=0)
    values, vectors = np.linalg.eigh(others.T @ others / len(others))
    return np.asarray(scale * vectors * np.sqrt(np.maximum(values, 0)), np.float32)


def distances_to(vector: Array, vectors: Array, mapped: Array) -> Array:
    """(N,) how far vectors (N, d) are from one (d,), after a linear map (d, d)."""
    gaps = (np.asarray(vectors, np.float32) - np.asarray(vector, np.float32)) @ mapped
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", gaps, gaps)))


def nearest_of(distances: Array, count: int) -> Array:
    """(count,) places of the smallest distances, the smallest first; of equals, the first."""
    count = min(count, len(distances))
    limit = np.partition(distances, count - 1)[count - 1] if count else 0
    found = np.flatnonzero(distances <= limit)
    return np.asarray(found[np.argsort(distances[found], kind="stable")][:count])


def position_means(vectors: Array, positions: Array) -> Array:
    """(P, d) the mean vector of each position, drawn to that of all where its few vectors tell little.

    How little is told by the variance within positions beside that between them: a head that goes by position has
    nearly the plain means, one that does not nearly the mean of all.
    """
    whole, counts = vectors.mean(axis=0), np.bincount(positions)
    centred, total = vectors - whole, len(vectors)
    found = np.flatnonzero(counts)
    sums = np.zeros((len(counts), vectors.shape[1]))
    starts = np.concatenate([[0], np.cumsum(counts[found])[:-1]])
    sums[found] = np.add.reduceat(centred[np.argsort(positions, kind="stable")], starts, axis=0)
    explained = float((np.square(sums[found]).sum(axis=1) / counts[found]).sum())
    known = len(found)
    within = (float(np.vdot(centred, centred)) - explained) / max(1, total - known)
    between = (explained - (known - 1) * within) / max(1.0, total - float(counts @ counts) / total)
    few = within / between if between > 0 else np.inf
    return np.asarray(whole + sums / np.maximum(counts + few, 1)[:, None], np.float32)


def apart(vectors: Array, positions: Array, means: Array) -> Array:
    """Vectors (N, d) without the means of their positions (N,); beyond the last known one, without the last."""
    return np.asarray(vectors - means[np.minimum(positions, len(means) - 1)])
