"""Jensen-Shannon distance between heads: which heads look at the same things."""

from __future__ import annotations

from collections.abc import Iterator

from regard.measures.entropy import mix_uniform, x_log_x
from regard.measures.library import array_namespace, clip
from regard.measures.reading import Array

SMOOTH = 1e-3  # as Clark et al. (2019)


def js_distance(attention: Array, *, visible: Array | None = None, smooth: float = SMOOTH) -> Array:
    """(heads, heads) Jensen-Shannon distances, summed over rows.

    JS(p, q) = KL(p || m) / 2 + KL(q || m) / 2 with m = (p + q) / 2, computed as H(m) - (H(p) + H(q)) / 2, on maps
    mixed with `smooth` of uniform attention over the visible keys. Leading axes of (..., queries, keys) become one list
    of heads. The work grows with the square of the number of heads.

    Source: Clark et al. (2019).
    """
    xp = array_namespace(attention)
    maps = mix_uniform(attention, visible=visible, smooth=smooth)
    found = [xp.sum(rows, axis=-1) for rows in js_pairs(xp.reshape(maps, (-1, *maps.shape[-2:])))]
    count = len(found)
    upper = xp.stack([xp.concat([xp.zeros((count - len(row),), dtype=maps.dtype), row]) for row in found])
    return upper + upper.T


def js_pairs(maps: Array) -> Iterator[Array]:
    """For each head in turn, (later heads, rows) distances of its rows from those of maps (heads, rows, keys)."""
    own = neg_entropy(maps)  # (N, rows)
    for head in range(maps.shape[0]):
        yield js_rows(maps[head + 1 :, ...], maps[head, ...], own[head + 1 :, ...], own[head, ...])


def js_rows(one: Array, other: Array, own: Array | None = None, others: Array | None = None) -> Array:
    """(...) distances of rows (..., keys) that are mixed already; `own` and `others` are their `neg_entropy`."""
    own = neg_entropy(one) if own is None else own
    others = neg_entropy(other) if others is None else others
    return clip((own + others) / 2 - neg_entropy((one + other) / 2), 0.0, None)


def neg_entropy(rows: Array) -> Array:
    """(...) sums of p ln p of rows (..., keys)."""
    return array_namespace(rows).sum(x_log_x(rows), axis=-1)
