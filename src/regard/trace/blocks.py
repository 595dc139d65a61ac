"""A map in brief: how much attention goes from each run of queries to each run of keys.

Enters: a site. Leaves: sums over blocks of its maps, from every weight, a few rows at a time. A long text is pictured
by them: at 8,192 tokens a map has 67 million weights, and a picture of it some thousand pixels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.trace.site import Array, Site

_ROWS = 64  # of all heads, computed at once: 9 heads of 8,192 keys take 19 MB
MOST = 72  # blocks along the longer side of a picture


def block_size(queries: int, keys: int) -> int:
    """How many positions a side of a block has in the picture of a map."""
    return max(1, -(-max(queries, keys) // MOST))


def block_shares(site: Site, size: int) -> Array:
    """(H, row blocks, column blocks) shares of the attention of `size` queries, on average, that go to `size` keys.

    Rows of a picture sum to 1, or to less where queries see nothing or a sink takes attention.
    """
    heads, queries, keys = site.heads, site.queries, site.keys
    starts = np.arange(0, keys, size)
    found = np.zeros((heads, -(-queries // size), len(starts)), np.float64)
    room = np.empty(heads * min(_ROWS, queries) * keys, np.float32)
    for row in range(0, queries, size):
        last = min(row + size, queries)
        seen, reach = _in_reach(site, last)
        for first in range(row, last, _ROWS):
            end = min(first + _ROWS, last)
            out = room[: heads * (end - first) * reach].reshape(heads, end - first, reach)
            sums = seen.block(slice(first, end), out).sum(axis=1)  # (H, reach)
            found[:, row // size, : -(-reach // size)] += np.add.reduceat(sums, starts[starts < reach], axis=1)
        found[:, row // size] /= last - row
    return found.astype(np.float32)


def _in_reach(site: Site, last: int) -> tuple[Site, int]:
    """The site with the keys that queries before `last` may see, and how many these are: of a causal map, half."""
    right = site.mask.right
    if site.k is None or site.mask.table is not None or right is None:
        return site, site.keys
    reach = min(site.keys, last + right)
    return replace(site, k=site.k[:, :reach]), reach
