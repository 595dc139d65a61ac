"""Stripes: whether heads look at the same keys whatever the query is.

Enters: rows of maps, and the rows of other queries. Leaves: what stays where it is when the queries are exchanged.

Query i of the first half is compared with the one half a text further on, i' = i + n // 2, far enough for neighbours
not to be shared. It goes one way: what i gives is asked of i', and what i' gives is not asked of i.
Over the keys F_i that i sees and does not rest on, with the awake attention a_i of row i,

    kept_ij = min(A_ij, a_i A_i'j / sum of A_i'l over F_i)
    stays   = sum of kept_ij over targets / sum of A_ij over targets

over the pairs that count. It is 1 where the share of every column is the same for both queries: a stripe. Uniform
attention stays too, so that it says something only of targets that have more than chance.
"""

from __future__ import annotations

from regard.measures.library import array_namespace
from regard.measures.reading import Array


def partners(content: Array) -> tuple[Array, Array]:
    """(m,) queries, and those they are exchanged with; `content` (n,) says which queries are ordinary tokens."""
    xp = array_namespace(content)
    count = content.shape[0]
    half = count // 2
    (first,) = xp.nonzero(content[: count - half] & content[half:])
    return (first, first + half) if half else (first[:0], first[:0])


def kept(rows: Array, others: Array, free: Array) -> Array:
    """(..., m, K) what rows (..., m, K) and the others, brought to the same sum over the `free` keys, have in common.

    `free` (..., m, K) is 1 where a row sees a key that it does not rest on, else 0.
    """
    xp = array_namespace(rows)
    mine, theirs = rows * free, others * free
    return in_common(mine, theirs, *(xp.sum(some, axis=-1) for some in (mine, theirs)))


def in_common(rows: Array, others: Array, awake: Array, other: Array) -> Array:
    """The same at the free keys, from the sums (..., m) of both rows over these; `others` are overwritten."""
    xp = array_namespace(rows)
    least = xp.finfo(other.dtype).tiny  # below that, the ratio of the sums may overflow
    others *= (awake / xp.where(other > least, other, xp.ones_like(other)))[..., None]
    return xp.minimum(rows, others)
