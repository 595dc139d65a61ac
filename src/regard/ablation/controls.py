"""Random edges of the nearest weights: what a cut is compared with.

Enters: a trace, the edges that were cut. Leaves: sets of other edges, each of the nearest weight to the one that it
stands for: in any head of the same text, not on a resting place, not in the same row, and where they can reach the
prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.trace.edges import EdgeBlock
from regard.trace.pool import Pool
from regard.trace.site import Array
from regard.trace.trace import Trace

_NEAREST = 64  # edges of the nearest weight, from which one is drawn
_MOST = 256  # edges of a large block that get a partner

Place = tuple[int, int]  # a head: the place of its site in the trace, and its index there


@dataclass(frozen=True)
class Partners:
    """Sets of random edges, how many each has, and their mean weight."""

    sets: list[list[EdgeBlock]]
    lines: int
    weight: float


class CutEdges:
    """The visible edges of some blocks, each once: how many, their mean weight, their rows; read head by head."""

    def __init__(self, blocks: Sequence[EdgeBlock], trace: Trace) -> None:
        self._trace = trace
        self._blocks: dict[Place, list[EdgeBlock]] = {}
        places = {(site.kind, site.layer): number for number, site in enumerate(trace.sites) if site.part == 0}
        for block in blocks:
            for head in block.heads:
                number = places[head.kind, head.layer]
                self._blocks.setdefault((number, trace.sites[number].index(head.head)), []).append(block)
        self.rows = {place: np.zeros(trace.sites[place[0]].queries, bool) for place in self._blocks}
        self._counts, total = [], 0.0
        for place in self._blocks:
            seen, weights = self._read(place)
            self.rows[place][:] = seen.any(1)
            self._counts.append(int(seen.sum()))
            total += float(weights[seen].sum(dtype=np.float64))
        self.count = sum(self._counts)
        self.weight = total / self.count

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """(n,) weights of all edges, or of so many of them at random."""
        picked = np.arange(self.count) if self.count <= count else np.sort(rng.choice(self.count, count, replace=False))
        found, start = [], 0
        for place, size in zip(self._blocks, self._counts, strict=True):
            own = picked[(picked >= start) & (picked < start + size)] - start
            if len(own):
                seen, weights = self._read(place)
                found.append(weights[seen][own])
            start += size
        return np.concatenate(found)

    def _read(self, place: Place) -> tuple[Array, Array]:
        """(Q, K) booleans of a head's edges, and (Q, K) weights of the rows that have any."""
        site, index = self._trace.sites[place[0]], place[1]
        seen = np.zeros((site.queries, site.keys), bool)
        for block in self._blocks[place]:
            seen[np.ix_(block.queries, block.keys)] = True
        rows = np.flatnonzero(seen.any(1))
        seen[rows] &= site.visible(index, rows)
        weights = np.zeros(seen.shape, np.float32)
        weights[rows] = site.attention(index, rows)
        return seen, weights


def like(edges: CutEdges, pool: Pool, count: int, seed: int = 0) -> Partners | None:
    """`count` sets of random edges, in each a partner of nearly its weight for every edge; None if there are none."""
    rng = np.random.default_rng(seed)
    sets: list[list[EdgeBlock]] = [[] for _ in range(count)]
    weights: list[float] = []
    for weight in edges.sample(_MOST, rng):
        near = [i for i in _nearest(pool, float(weight)) if not _taken(edges, pool.row(i))]
        if near:
            for one, pick in zip(sets, rng.choice(near, count, replace=len(near) < count), strict=True):
                one.append(pool.block(int(pick)))
                weights.append(float(pool.weight[pick]))
    return Partners(sets, len(sets[0]), float(np.mean(weights))) if weights else None


def _taken(edges: CutEdges, row: tuple[int, int, int]) -> bool:
    """Whether a row has an edge that is cut."""
    own = edges.rows.get(row[:2])
    return own is not None and bool(own[row[2]])


def _nearest(pool: Pool, weight: float) -> Array:
    """Indices of the edges whose weights are nearest."""
    middle = int(np.searchsorted(pool.weight, weight))
    window = np.arange(max(0, middle - _NEAREST), min(len(pool.weight), middle + _NEAREST))
    return window[np.argsort(np.abs(pool.weight[window] - weight), kind="stable")][:_NEAREST]
