"""Jensen-Shannon distance between heads: which heads look at the same things."""

from __future__ import annotations

from array_api_compat import array_namespace

from regard.measures.entropy import x_log_x
from regard.measures.reading import Array

SMOOTH = 1e-3  # as Clark et al. (2019)


def js_distance(attention: Array, *, smooth: float = SMOOTH) -> Array:
    """(heads, heads) Jensen-Shannon distances, summed over rows.

    JS(p, q) = KL(p || m) / 2 + KL(q || m) / 2 with m = (p + q) / 2, computed as H(m) - (H(p) + H(q)) / 2, on maps
    mixed with `smooth` of uniform attention. Leading axes of (..., queries, keys) become one list of heads.
    The work grows with the square of the number of heads.

    Source: Clark et al. (2019).
    """
    xp = array_namespace(attention)
    queries, keys = attention.shape[-2:]
    maps = xp.reshape(attention, (-1, queries, keys)) * (1 - smooth) + smooth / keys  # (N, Q, K)
    own = -xp.sum(x_log_x(maps), axis=(-2, -1))  # (N,)
    rows = [_to_later(maps, own, head) for head in range(maps.shape[0])]
    upper = xp.stack(rows)  # (N, N), zero below the diagonal
    return upper + upper.T


def _to_later(maps: Array, own: Array, head: int) -> Array:
    """Distances from one head to those after it, zeros before."""
    xp = array_namespace(maps)
    later = maps[head + 1 :, ...]
    mixed = -xp.sum(x_log_x((later + maps[head, ...]) / 2), axis=(-2, -1))
    found = xp.clip(mixed - (own[head + 1 :] + own[head]) / 2, 0.0, None)
    return xp.concat([xp.zeros_like(own[: head + 1]), found])
