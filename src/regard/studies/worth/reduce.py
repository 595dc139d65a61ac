"""Shares of weight, of contributions and of worth by class of line, for one text.

Enters: a trace with worth. Leaves: for each site (H, classes) shares, and which classes the text has.

Only rows that can reach the judged prediction count (`regard.trace.reach`): in the last layer of a causal model that
is the row of its position. Worth is by size, |A g.v|. The control gives every line the size of the worth of a random
line of nearly the same weight, from any head of the same text and not on a resting place: the shares that worth would
have if it depended on weight alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.patterns.resting import rests_of
from regard.trace.places import context_of
from regard.trace.reach import reaching
from regard.trace.site import Array, Site
from regard.trace.trace import Trace

CLASSES = ("resting place", "itself", "previous token", "next token", "same word", "punctuation", "other")
QUANTITIES = ("weight", "contribution", "worth", "worth of equal weights")
_NEAR = 32  # lines of less and of more weight, from which a partner is drawn


@dataclass(frozen=True, eq=False)
class SiteShares:
    """(H, classes) shares by quantity, and (classes,) which classes there are."""

    shares: dict[str, Array]
    counted: Array


def shares_of(trace: Trace, seed: int = 0) -> dict[tuple[str, int], SiteShares]:
    """The shares of every layer of a text, by (kind, layer)."""
    rng = np.random.default_rng(seed)
    reach = reaching(trace, None)
    found: dict[tuple[str, int], SiteShares] = {}
    for kind in trace.kinds:
        read = [
            _Read(trace, site, rows)
            for site, rows in zip(trace.sites, reach, strict=True)
            if site.kind == kind and site.part == 0 and site.g is not None
        ]
        read = [one for one in read if one.rows.any()]
        if not read:
            continue
        free = [(one.weights[:, ~one.rests], one.worth[:, ~one.rests]) for one in read]
        weights, worth = (np.concatenate([part[n].ravel() for part in free]) for n in (0, 1))
        order = np.argsort(weights, kind="stable")
        for one in read:
            partners = _partners(one.weights, weights[order], worth[order], rng)
            found[kind, one.site.layer] = one.shares(partners)
    return found


class _Read:
    """The visible lines of a site in rows that can reach the prediction: (H, n) numbers of each."""

    def __init__(self, trace: Trace, site: Site, reach: Array) -> None:
        assert site.g is not None and site.v is not None
        self.site = site
        seen = site.visible(0) & reach[:, None]
        self.rows = reach
        self.seen = seen
        classes = classes_of(trace, site)
        self.members = np.stack([classes == number for number in range(len(CLASSES))])[:, seen]  # (C, n)
        self.rests = self.members[0]
        maps = np.stack([site.attention(index) for index in range(site.heads)])
        self.weights = maps[:, seen]
        self.worth = np.stack([np.abs(site.worth(index, how="zero"))[seen] for index in range(site.heads)])
        self.contributions = None if site.norms is None else (maps * site.norms[:, None])[:, seen]

    def shares(self, partners: Array) -> SiteShares:
        parts = dict(zip(QUANTITIES, (self.weights, self.contributions, self.worth, partners), strict=True))
        found = {}
        for name, values in parts.items():
            if values is not None:
                total = values.sum(-1, dtype=np.float64)[:, None]
                shares = values @ self.members.T.astype(np.float64) / np.where(total > 0, total, 1)
                found[name] = np.asarray(shares)
        return SiteShares(found, np.asarray(self.members.any(axis=-1), np.float64))


def classes_of(trace: Trace, site: Site) -> Array:
    """(Q, K) the class of each line, as its number in CLASSES."""
    causal = site.mask.causal and site.query_side == site.key_side
    context = context_of(trace, site, causal)
    found = np.full((site.queries, site.keys), CLASSES.index("other"))
    found[:, context.keys.punctuation] = CLASSES.index("punctuation")
    words = context.queries.words[:, None] == context.keys.words[None, :]
    found[words & (context.keys.words >= 0)] = CLASSES.index("same word")
    if context.same:
        offset = np.arange(site.keys)[None, :] - np.arange(site.queries)[:, None]
        for number, name in ((1, "next token"), (-1, "previous token"), (0, "itself")):
            found[offset == number] = CLASSES.index(name)
    found[rests_of(trace, site)] = CLASSES.index("resting place")
    return found


def _partners(weights: Array, sorted_weights: Array, sizes: Array, rng: np.random.Generator) -> Array:
    """For each line the size of a random one of nearly its weight."""
    if not len(sizes):
        return np.zeros_like(weights)
    middle = np.searchsorted(sorted_weights, weights)
    picked = middle + rng.integers(-_NEAR, _NEAR, weights.shape)
    return np.asarray(sizes[np.clip(picked, 0, len(sizes) - 1)])
