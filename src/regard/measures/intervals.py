"""How sure a number is: one bootstrap and one 95 % interval for every study.

Enters: what each cluster (a document, or an input that stands alone) adds to a sum. Leaves: the same sums over drawn
clusters, and from numbers made of those the ends of an interval.

Clusters are drawn with Poisson(1) weights, so that sums over drawn clusters are sums again and can be added. The
interval is the percentile one with tails widened as Student's t is against the normal curve (Hesterberg 2015), for as
many clusters as carry the number: (sum c)^2 / sum c^2 of their shares c, which is less than their count where a few
hold most of it. `benchmarks/coverage.py` tells how often such intervals hold the truth.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DRAWS = 2000
GROUPS = 128  # sums are kept for so many groups of clusters; up to here every cluster is a group of its own
FEWEST = 8  # clusters below which no interval is given, and rows of one text below which no head is named
LEVEL = 0.95
_NORMAL = NormalDist()


@cache
def draws(clusters: int) -> Array:
    """(1 + DRAWS, clusters) how often each is taken: once for the number itself, then as drawn; always the same."""
    drawn = np.random.Generator(np.random.Philox(key=clusters)).poisson(1.0, (DRAWS, clusters))
    weights = np.concatenate([np.ones((1, clusters)), drawn])
    weights.flags.writeable = False
    return weights


def resampled(sums: Array) -> Array:
    """(1 + DRAWS, ...) sums over all and over drawn groups of sums by group (G, ...)."""
    flat = sums.reshape(len(sums), -1)
    return np.asarray(draws(len(sums)) @ flat).reshape(-1, *sums.shape[1:])


def clusters_of(counts: Array) -> Array:
    """(...) how many clusters of like size would carry counts (G, ...) as well; 0 where nothing is counted."""
    squares = (counts**2).sum(axis=0)
    return np.asarray(np.where(squares > 0, counts.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1), 0.0))


def interval(values: Array, clusters: Array | float) -> tuple[Array, Array]:
    """The ends (...) of the 95 % interval of values (1 + DRAWS, ...), the number itself first.

    NaN where fewer than `FEWEST` clusters (...) carry the number, and where it is undefined.
    """
    drawn = np.sort(values[1:], axis=0)  # undefined ones come last
    defined = np.isfinite(drawn).sum(axis=0)
    enough = (np.round(clusters, 6) >= FEWEST) & (defined > 0) & np.isfinite(values[0])
    tail = _tail(np.where(enough, clusters, FEWEST))
    low, high = (_at(drawn, share * (np.maximum(defined, 1) - 1)) for share in (tail, 1 - tail))
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def share_interval(values: Array, clusters: Array | float, least: float = 0.0) -> tuple[Array, Array]:
    """The same for shares, or with `least` -1 for changes of shares.

    Where all clusters agree, every draw is alike and says nothing of how sure that is: there, the ends are as far away
    as the exact interval of none, or all, of so many clusters.
    """
    low, high = interval(values, clusters)
    alike = np.isfinite(low) & (np.ptp(values, axis=0) < 1e-12)
    room = 1 - ((1 - LEVEL) / 2) ** (1 / np.maximum(clusters, 1))
    point = values[0]
    return (
        np.where(alike, np.maximum(point - room, least), low),
        np.where(alike, np.minimum(point + room, 1.0), high),
    )


def _at(ordered: Array, places: Array) -> Array:
    """Ordered values (N, ...) at places (...) between 0 and N - 1, in a straight line between neighbours."""
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    one, other = (np.take_along_axis(ordered, place[None], axis=0)[0] for place in (below, above))
    share = places - below
    return np.asarray(np.where(share > 0, one + (other - one) * share, one))


def _tail(clusters: Array) -> Array:
    """What each tail of the draws holds for so many clusters: 2.5 % for very many, less for few."""
    z = _NORMAL.inv_cdf((1 + LEVEL) / 2)
    wide = student(z, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    return np.asarray(np.vectorize(lambda x: _NORMAL.cdf(-x), otypes=[float])(wide))


def student(z: float, freedom: Array) -> Array:
    """The quantile of Student's t where the normal curve has z (Abramowitz & Stegun 26.7.5; 0.001 off at 7)."""
    n = np.asarray(freedom, float)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return np.asarray(z + sum(term / n**power for power, term in enumerate(terms, 1)))


def correlation_interval(value: float, count: int) -> tuple[float, float]:
    """The interval of a rank correlation over `count` things, by Fisher's transform (Bonett & Wright 2000)."""
    if count < FEWEST or not abs(value) < 1:
        return float("nan"), float("nan")
    width = student(_NORMAL.inv_cdf((1 + LEVEL) / 2), np.array(count - 3)) * np.sqrt((1 + value**2 / 2) / (count - 3))
    return float(np.tanh(np.arctanh(value) - width)), float(np.tanh(np.arctanh(value) + width))


def between(low: float, high: float, form: str = ".2f", unit: str = "") -> str:
    """An interval in words, with the space before it: " (0.10–0.20)", " (−0.10 to 0.20)"; nothing if there is none."""
    said = ranged(low, high, form, unit)
    return f" ({said})" if said else ""


def ranged(low: float, high: float, form: str = ".2f", unit: str = "") -> str:
    """The same where brackets are open already: "0.10–0.20"."""
    if not np.isfinite(low + high):
        return ""
    first, last = (f"{value:{form}}".replace("-", "−") for value in (low, high))
    apart = "–" if first[0].isdigit() and last[0].isdigit() else " to "
    return f"{first}{apart}{last}{unit}"
