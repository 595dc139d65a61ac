"""Random edges of the same weight: what a cut is compared with.

Enters: a trace, the edges that were cut. Leaves: sets of other edges, each of nearly the same weight as the one that it
stands for: in any head of the same text, not on a resting place, not in the same row, and where they can reach the
prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.trace.edges import EdgeBlock
from regard.trace.pool import Pool
from regard.trace.site import Array
from regard.trace.trace import Trace

_NEAREST = 64  # edges of the nearest weight, from which one is drawn
_MOST = 256  # edges of a large block that get a partner


def like(blocks: Sequence[EdgeBlock], trace: Trace, pool: Pool, count: int, seed: int = 0) -> list[list[EdgeBlock]]:
    """`count` sets of random edges; each edge of the blocks has a partner of nearly its weight in every set."""
    rng = np.random.default_rng(seed)
    edges = edges_of(blocks, trace)
    taken = {(number, index, query) for number, index, query, _, _ in edges}
    if len(edges) > _MOST:
        edges = [edges[i] for i in rng.choice(len(edges), _MOST, replace=False)]
    sets: list[list[EdgeBlock]] = [[] for _ in range(count)]
    for *_, weight in edges:
        near = [i for i in _nearest(pool, weight) if pool.row(i) not in taken]
        if near:
            for one, pick in zip(sets, rng.choice(near, count, replace=len(near) < count), strict=True):
                one.append(pool.block(int(pick)))
    return [one for one in sets if one]


def edges_of(blocks: Sequence[EdgeBlock], trace: Trace) -> list[tuple[int, int, int, int, float]]:
    """The visible edges of some blocks: (place of the site, index of the head, query, key, weight) each, once."""
    places = {(site.kind, site.layer): number for number, site in enumerate(trace.sites) if site.part == 0}
    found: dict[tuple[int, int, int, int], float] = {}
    for block in blocks:
        queries, keys = np.array(block.queries), np.array(block.keys)
        for head in block.heads:
            number = places[head.kind, head.layer]
            site = trace.sites[number]
            index = site.index(head.head)
            weights, seen = site.attention(index, queries, keys), site.mask.allowed(queries, keys, index)
            for i, j in np.argwhere(np.ones_like(weights, bool) if seen is None else seen):
                found[number, index, int(queries[i]), int(keys[j])] = float(weights[i, j])
    return [(*edge, weight) for edge, weight in found.items()]


def _nearest(pool: Pool, weight: float) -> Array:
    """Indices of the edges whose weights are nearest."""
    middle = int(np.searchsorted(pool.weight, weight))
    window = np.arange(max(0, middle - _NEAREST), min(len(pool.weight), middle + _NEAREST))
    return window[np.argsort(np.abs(pool.weight[window] - weight), kind="stable")][:_NEAREST]
