"""A map in brief: how much attention goes from each run of queries to each run of keys.

Enters: a site. Leaves: sums over blocks of its maps, from every weight, a few rows at a time. A long text is pictured
by them: at 8,192 tokens a map has 67 million weights, and a picture of it some thousand pixels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from regard.trace.site import Array, Site

_ROWS = 64  # of all heads, computed at once: 9 heads of 8,192 keys take 19 MB
_KEYS = 2048  # of one group of heads, computed at once: with 57 rows of 3 heads 1.4 MB, which a core's cache holds
_THREADS = 8
MOST = 72  # blocks along the longer side of a picture


def block_size(queries: int, keys: int) -> int:
    """How many positions a side of a block has in the picture of a map."""
    return max(1, -(-max(queries, keys) // MOST))


def block_shares(site: Site, size: int) -> Array:
    """(H, row blocks, column blocks) shares of the attention of `size` queries, on average, that go to `size` keys.

    Rows of a picture sum to 1, or to less where queries see nothing or a sink takes attention.
    """
    line = _folded_lines(site, size) if _is_folded(site) else _lines(site, size)
    # Products of this size are faster on as many threads of our own than on all threads of the library, one by one.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        return np.stack(list(pool.map(line, range(0, site.queries, size))), axis=1).astype(np.float32)


def _lines(site: Site, size: int) -> Callable[[int], Array]:
    """What gives the (H, column blocks) shares of `size` queries from one on, of any site."""
    starts = np.arange(0, site.keys, size)

    def line(row: int) -> Array:
        last = min(row + size, site.queries)
        seen, reach = _in_reach(site, last)
        found = np.zeros((site.heads, len(starts)))
        for first in range(row, last, _ROWS):
            sums = seen.block(slice(first, min(first + _ROWS, last))).sum(axis=1)  # (H, reach)
            found[:, : -(-reach // size)] += np.add.reduceat(sums, starts[starts < reach], axis=1)
        return np.asarray(found / (last - row))

    return line


def _in_reach(site: Site, last: int) -> tuple[Site, int]:
    """The site with the keys that queries before `last` may see, and how many these are: of a causal map, half."""
    right = site.mask.right
    if site.k is None or site.mask.table is not None or right is None:
        return site, site.keys
    reach = min(site.keys, last + right)
    return replace(site, k=site.k[:, :reach]), reach


def _is_folded(site: Site) -> bool:
    """Whether the kernel's log-sum-exps, and nothing but products and a band, make the weights."""
    if site.q is None or site.k is None or site.known_lse is None:
        return False
    plain = site.softcap is None and site.bias is None and site.mask.table is None
    return plain and bool(np.isfinite(site.known_lse).all())


def _folded_lines(site: Site, size: int) -> Callable[[int], Array]:
    """The same, where one product gives the logarithms of weights: [scale q, -lse] . [k, 1]."""
    assert site.q is not None and site.k is not None and site.known_lse is not None
    groups, width = site.kv_heads, site.q.shape[-1] + 1
    scaled = np.asarray(site.q, np.float32) * np.float32(site.scale)
    q = np.concatenate([scaled, -np.asarray(site.known_lse, np.float32)[..., None]], axis=-1)
    q = q.reshape(groups, -1, site.queries, width)  # (G, H/G, Q, d + 1)
    k = np.concatenate([site.k, np.ones((*site.k.shape[:2], 1))], axis=-1, dtype=np.float32)  # (G, K, d + 1)
    columns, step = -(-site.keys // size), max(1, _KEYS // size) * size

    def line(row: int) -> Array:
        last = min(row + size, site.queries)
        low, high = _band(site, row, last)
        found = np.zeros((groups, q.shape[1], columns))
        room = np.empty(q.shape[1] * (last - row) * step, np.float32)
        for group in range(groups):
            some = q[group, :, row:last].reshape(-1, width)  # (H/G * rows, d + 1)
            for first in range(low // size * size, high, step):
                end = min(first + step, high)
                logs = room[: len(some) * (end - first)].reshape(len(some), -1)
                np.matmul(some, k[group, first:end].T, out=logs)
                weights = logs.reshape(-1, last - row, end - first)
                _hide(weights, site, (row, last), (first, end))
                sums = np.exp(weights, out=weights).sum(axis=1)  # (H/G, keys)
                blocks = np.add.reduceat(sums, np.arange(0, end - first, size), axis=1)
                found[group, :, first // size : -(-end // size)] = blocks
        return np.asarray(found.reshape(site.heads, columns) / (last - row))

    return line


def _band(site: Site, row: int, last: int) -> tuple[int, int]:
    """The first key that some queries see, and the one after the last."""
    left, right = site.mask.left, site.mask.right
    low = 0 if left is None else max(0, row - left)
    return low, site.keys if right is None else max(low, min(site.keys, last + right))


def _hide(weights: Array, site: Site, rows: tuple[int, int], keys: tuple[int, int]) -> None:
    """Put -inf where the band of a mask has begun or ended, in the columns where it does."""
    left, right = site.mask.left, site.mask.right
    queries, first = np.arange(*rows), keys[0]
    ended = None if right is None else slice(max(0, rows[0] + right + 1 - first), None)
    begins = None if left is None else slice(0, max(0, rows[1] - 1 - left - first))
    for part in (ended, begins):
        columns = np.arange(*keys)[part] if part is not None else np.arange(0)
        if part is not None and len(columns):
            weights[:, :, part][:, ~site.mask.allowed(queries, columns, 0)] = -np.inf  # type: ignore[operator]
