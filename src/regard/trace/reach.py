"""Which rows of a text's maps can change a prediction.

Enters: a trace and the position of the prediction. Leaves: booleans per query of each site.
"""

from __future__ import annotations

import numpy as np

from regard.trace.site import Array, Site
from regard.trace.trace import Trace


def reaching(trace: Trace, position: int | None) -> list[Array]:
    """(Q,) booleans of each site: the rows from which the prediction at a position can be reached.

    Where gradients were recorded, those with one. Otherwise by the masks: in the last layer the row of the position
    alone, in each layer below also those that a row above it sees. Without a position all rows count.
    """
    state: dict[str, Array] = {}
    if position is not None:
        first = "decoder" if "decoder" in trace.sides else next(iter(trace.sides))
        state[first] = np.arange(len(trace.sides[first])) == position
    found: dict[int, Array] = {}
    for number, site in sorted(enumerate(trace.sites), key=lambda one: _depth(one[1])):
        found[number] = _rows(site, state, position)
        if position is not None and site.part == 0:
            _spread(site, found[number], state)
    return [found[number] for number in range(len(trace.sites))]


def _depth(site: Site) -> tuple[bool, int, bool]:
    """Later operations first: the encoder is read by the decoder, and a layer's cross-attention follows its own."""
    return site.kind == "encoder", -site.layer, site.kind != "cross"


def _rows(site: Site, state: dict[str, Array], position: int | None) -> Array:
    if site.g is not None:
        return np.asarray(np.abs(site.g).max(axis=(0, 2)) > 0)
    if position is None or site.part != 0:
        return np.ones(site.queries, bool)
    rows = state.get(site.query_side)
    return np.zeros(site.queries, bool) if rows is None else rows[: site.queries].copy()


def _spread(site: Site, rows: Array, state: dict[str, Array]) -> None:
    """Add the keys that some rows see to the positions that are reached."""
    chosen = np.flatnonzero(rows)
    seen = np.zeros(site.keys, bool)
    for index in range(site.heads if site.mask.table is not None and site.mask.table.ndim == 3 else 1):
        seen |= site.visible(index, chosen).any(0)
    known = state.setdefault(site.key_side, np.zeros(site.keys, bool))
    known[: len(seen)] |= seen
