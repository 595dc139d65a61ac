"""Queries and keys of a head in one space, and in a picture of it.

Enters: q (N, d) and k (M, d), in numpy. Leaves: both moved into one space, points in the plane, and how much of
the scores' order the plane keeps.

Softmax is unchanged by k → k + c and by (q, k) → (aq, k/a). c puts the centre of the keys on that of the queries, a
gives both the same mean distance from it (AttentionViz: Yeh et al. 2023); the plane is that of the first two principal
components of all points together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ASKED = 1000  # queries whose neighbours are compared
NEIGHBOURS = 10


@dataclass(frozen=True, eq=False)
class Joint:
    """Queries (N, d) and keys (M, d) in one space: a q, and (k + c) / a."""

    q: Array
    k: Array
    a: float
    c: Array  # (d,)


@dataclass(frozen=True)
class Quality:
    """Of the keys nearest to a query in the plane, the share that is among those with its largest scores."""

    overlap: float
    chance: float  # the same for keys placed at random
    queries: int
    neighbours: int


def joined(q: Array, k: Array) -> Joint:
    """Queries and keys in one space, with scores that differ from q·k by a number per query."""
    q, k = np.asarray(q, np.float64), np.asarray(k, np.float64)
    centre, other = q.mean(axis=0), k.mean(axis=0)
    spread, wide = (np.linalg.norm(one, axis=1).mean() for one in (q - centre, k - other))
    a = float(np.sqrt(wide / spread)) if spread > 0 and wide > 0 else 1.0
    c = a * a * centre - other  # so that the centre of (k + c) / a is that of a q
    return Joint(a * q, (k + c) / a, a, c)


def plane(joint: Joint) -> tuple[Array, Array, float]:
    """(N, 2) queries and (M, 2) keys in the plane of the first two principal components, and its share of variance."""
    points = np.concatenate([joint.q, joint.k])
    points = points - points.mean(axis=0)
    values, vectors = np.linalg.eigh(points.T @ points)
    axes = vectors[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[largest, [0, 1]] < 0, -1, 1)  # either sign is right: one and the same everywhere
    flat = points @ axes
    whole = values.sum()
    shown = float(values[::-1][:2].sum() / whole) if whole > 0 else 1.0
    return flat[: len(joint.q)], flat[len(joint.q) :], shown


def quality(q: Array, k: Array, flat_q: Array, flat_k: Array, *, seed: int = 0) -> Quality:
    """How many of the nearest keys in the plane have the largest scores q·k, over queries drawn by lot.

    A key counts if its score is that of the last of the largest, or more: equal keys are as good as each other.
    """
    count = min(NEIGHBOURS, len(k))
    chosen = np.sort(np.random.default_rng(seed).permutation(len(q))[:ASKED])
    keys = np.asarray(k, np.float32)
    flat = np.asarray(flat_k, np.float32)
    squares = np.square(flat).sum(axis=1)
    hits = 0.0
    for some in np.array_split(chosen, max(1, len(chosen) * len(k) // 2_000_000)):
        scores = np.asarray(q[some], np.float32) @ keys.T  # (n, M)
        last = np.partition(scores, -count, axis=1)[:, -count]
        gaps = squares - 2 * np.asarray(flat_q[some], np.float32) @ flat.T
        near = np.argpartition(gaps, count - 1, axis=1)[:, :count]
        hits += (np.take_along_axis(scores, near, axis=1) >= last[:, None]).sum()
    return Quality(float(hits / (len(chosen) * count)), count / len(k), len(chosen), count)
