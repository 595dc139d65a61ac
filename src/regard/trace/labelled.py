"""A trace as an array whose dimensions have names, for xarray.

Enters: a Trace. Leaves: a DataArray (layer, head, query, key) that computes what is looked at, when it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.base.extras import require
from regard.trace.site import Array, Site

if TYPE_CHECKING:
    from regard.trace.trace import Trace

WHAT = ("attention", "scores", "contributions", "worth")
LIMIT = 1 << 30  # bytes that are computed at once
DIMENSIONS = ("layer", "head", "query", "key")


def to_xarray(trace: Trace, what: str, layers: Iterable[int] | None, kind: str | None, part: int) -> Any:
    """See `Trace.to_xarray`."""
    xarray = require("xarray", "labelled arrays")
    if what not in WHAT:
        raise UserError(f"there is no {what!r} to read; choose from {', '.join(WHAT)}")
    kind = trace.kinds[0] if kind is None else kind
    chosen = trace.layers(kind) if layers is None else tuple(layers)
    if not chosen:
        raise UserError("no layer is chosen; choose at least one")
    sites = [trace.site(layer, kind=kind, part=part) for layer in chosen]
    _require_one_shape(sites)
    for site in sites:  # what is not available is said now
        _read(trace, what, site, 0, np.arange(1), np.arange(1))
    first = sites[0]
    shape = (len(sites), first.heads, first.queries, first.keys)
    lazy = _lazy(shape, lambda index: _compute(trace, what, sites, shape, index))
    texts = {side: [token.text for token in trace.sides[side].tokens] for side in (first.query_side, first.key_side)}
    coordinates = {
        "layer": list(chosen),
        "head": list(first.head_ids),
        "query": np.arange(first.queries),
        "key": np.arange(first.keys),
        "query_token": ("query", texts[first.query_side]),
        "key_token": ("key", texts[first.key_side]),
    }
    facts = {"model": str(trace.facts.get("model", "maps")), "kind": kind, "part": part}
    variable = xarray.Variable(DIMENSIONS, lazy, attrs=facts)
    return xarray.DataArray(variable, coords=coordinates, name=what)


def _require_one_shape(sites: list[Site]) -> None:
    first = sites[0]
    same = (first.head_ids, first.queries, first.keys)
    odd = next((site.layer for site in sites if (site.head_ids, site.queries, site.keys) != same), None)
    if odd is not None:
        raise UserError(
            f"layers {first.layer} and {odd} have different heads or lengths and do not fit into one array; pass "
            f"layers=[{first.layer}] and layers=[{odd}]"
        )


def _lazy(shape: tuple[int, ...], compute: Callable[[tuple[Any, ...]], Array]) -> Any:
    """An array of xarray that is computed, in the part that is asked for, when its numbers are needed."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Computed(BackendArray):  # type: ignore[misc]
        def __init__(self) -> None:
            self.shape, self.dtype = shape, np.dtype(np.float32)

        def __getitem__(self, key: Any) -> Any:
            return indexing.explicit_indexing_adapter(key, shape, indexing.IndexingSupport.OUTER, compute)

    return indexing.LazilyIndexedArray(Computed())


def _compute(trace: Trace, what: str, sites: list[Site], shape: tuple[int, ...], index: tuple[Any, ...]) -> Array:
    """The part of the array that an outer index asks for; integers leave their dimension out."""
    picked = [np.atleast_1d(np.arange(size)[one]) for size, one in zip(shape, index, strict=True)]
    lengths = [len(some) for some in picked]
    if (size := 4 * int(np.prod(lengths, dtype=np.int64))) > LIMIT:
        raise UserError(
            f"{what} of {lengths[0]} layers and {lengths[1]} heads are {size / 1e9:.1f} GB, and at most "
            f"{LIMIT / 1e9:.1f} GB are computed at once; choose first, as in .sel(layer={sites[0].layer}, head=0) or "
            ".isel(query=slice(0, 256)), or go layer by layer"
        )
    found = np.empty(lengths, np.float32)
    for row, layer in enumerate(picked[0]):
        for column, head in enumerate(picked[1]):
            found[row, column] = _read(trace, what, sites[layer], int(head), picked[2], picked[3])
    return found[tuple(0 if isinstance(one, int | np.integer) else slice(None) for one in index)]


def _read(trace: Trace, what: str, site: Site, index: int, queries: Array, keys: Array) -> Array:
    read = getattr(trace, what)
    head = site.head_ids[index]
    return np.asarray(read(site.layer, head, kind=site.kind, part=site.part, queries=queries, keys=keys))
