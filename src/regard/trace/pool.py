"""The edges of a trace by weight, for samples and for comparisons.

Enters: a trace. Leaves: a `Pool` of its visible edges; of long texts, rows drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regard.trace.edges import EdgeBlock
from regard.trace.heads import Head
from regard.trace.reach import reaching
from regard.trace.site import Array, Site
from regard.trace.trace import Trace

POOL = 4_000_000  # weights that are looked through


@dataclass(frozen=True, eq=False)
class Pool:
    """Edges by weight, lightest first, (n,) each; `site` is their place in the trace, `head` the index there."""

    trace: Trace
    site: Array
    head: Array
    query: Array
    key: Array
    weight: Array

    def row(self, number: int) -> tuple[int, int, int]:
        """The row that an edge is in: site, head, query."""
        return int(self.site[number]), int(self.head[number]), int(self.query[number])

    def block(self, number: int) -> EdgeBlock:
        """An edge as a block of one."""
        site = self.trace.sites[self.site[number]]
        head = Head(site.kind, site.layer, site.head_ids[self.head[number]])
        return EdgeBlock((head,), (int(self.query[number]),), (int(self.key[number]),))


def pool_of(
    trace: Trace, position: int | None, without: Callable[[Trace, Site], Array] | None = None, seed: int = 0
) -> Pool:
    """The edges of a text that can reach the prediction at a position.

    `without` gives (Q, K) booleans of those to leave out.
    """
    rng = np.random.default_rng(seed)
    reach = reaching(trace, position)
    total = sum(site.heads * int(rows.sum()) * site.keys for site, rows in zip(trace.sites, reach, strict=True))
    found: list[tuple[Array, ...]] = []
    for number, site in enumerate(trace.sites):
        rows = np.flatnonzero(reach[number])
        if total > POOL:
            rows = np.sort(rng.permutation(rows)[: max(1, int(len(rows) * POOL / total))])
        left_out = None if without is None else without(trace, site)[rows]
        found += _edges(site, number, rows, left_out)
    columns = [np.concatenate(parts) for parts in zip(*found, strict=True)]
    order = np.argsort(columns[-1], kind="stable")
    return Pool(trace, *(column[order] for column in columns))


def _edges(site: Site, number: int, rows: Array, left_out: Array | None) -> list[tuple[Array, ...]]:
    found: list[tuple[Array, ...]] = []
    for index in range(site.heads):
        seen = site.visible(index, rows)
        query, key = np.nonzero(seen if left_out is None else seen & ~left_out)
        weights = site.attention(index, rows)[query, key]
        found.append((np.full(len(key), number), np.full(len(key), index), rows[query], key, weights))
    return found
