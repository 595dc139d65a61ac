"""Edges by name: one notation for what a head takes from a key for a query, for the API, the command line and the app.

Enters: (layer, head, query, key), (kind, layer, head, query, key), "5.4:it→animal", "5.*:8→*". Leaves: `EdgeBlock`s,
checked against the tokens and masks of a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from regard.base.errors import OutOfRangeError, UserError
from regard.trace.heads import ALL, Head, names_of, parse_heads
from regard.trace.picking import positions_of
from regard.trace.tokens import Side
from regard.trace.trace import Trace

Edges = str | Sequence[Any]  # what `parse_edges` reads
CUTS = ("mask", "zero")  # ways to cut an edge; see `Model.cut`
_NAME = re.compile(r"(?P<head>(?:[a-z]+:)?(?:\d+|\*)\.(?:\d+|\*)):(?P<query>.+?)\s*(?:→|->)\s*(?P<key>.+)", re.DOTALL)
_RANGE = re.compile(r"(\d+)-(\d+)")
_WAYS = 'write "5.4:it→animal" (layer 5, head 4, query, key), with tokens by text, "it@8", "8", "3-6" or "*" for all'


class EdgeBlock(NamedTuple):
    """The edges of some heads from some queries to some keys, as `label` names them ("it → animal")."""

    heads: tuple[Head, ...]
    queries: tuple[int, ...]
    keys: tuple[int, ...]
    label: str = ""

    @property
    def single(self) -> bool:
        """Whether it is one edge."""
        return len(self.heads) == len(self.queries) == len(self.keys) == 1


def parse_edges(edges: Edges, trace: Trace) -> tuple[EdgeBlock, ...]:
    """The named edges of a trace.

    Parameters
    ----------
    edges
        One or several of "5.4:it→animal" (also ->), "cross:1.3:8→2", "5.*:it→*", (layer, head, query, key),
        (kind, layer, head, query, key). A token is named by its text, by its word, by text and position ("it@8"), by
        position (8), by positions ("3-6", or a list), or "*" (None) for all. A head of "*" (None) means all heads of
        the layer.
    trace
        The trace of the text: its tokens, heads and masks.

    Examples
    --------
    >>> trace = Trace.from_maps(np.full((1, 2, 3, 3), 1 / 3), ["the", "cat", "sat"])
    >>> parse_edges("0.1:sat→cat", trace)[0].queries
    (2,)
    """
    found = tuple(dict.fromkeys(_block(item, trace) for item in _items(edges)))
    if not found:
        raise UserError(f"no edges were named; {_WAYS}")
    return found


def block_name(block: EdgeBlock, trace: Trace) -> str:
    """A block as people write it: "5.4: it → animal"."""
    layout = {(site.kind, site.layer): site.heads for site in trace.sites}
    return f"{', '.join(names_of(block.heads, layout))}: {block.label}"


def _items(edges: Any) -> Iterator[Any]:
    numbered = isinstance(edges, tuple) and len(edges) in (4, 5) and isinstance(edges[-4], (int, np.integer))
    if numbered or isinstance(edges, (str, EdgeBlock)):
        yield edges
    elif isinstance(edges, Sequence):
        for item in edges:
            yield from _items(item)
    else:
        raise UserError(f"{edges!r} names no edge; {_WAYS}")


def _block(item: Any, trace: Trace) -> EdgeBlock:
    layout = {(site.kind, site.layer): site.heads for site in trace.sites}
    if isinstance(item, EdgeBlock):
        return item
    if isinstance(item, str):
        match = _NAME.fullmatch(item.strip())
        if match is None:
            raise UserError(f"{item!r} names no edge; {_WAYS}")
        heads, query, key = parse_heads(match["head"], layout), match["query"].strip(), match["key"].strip()
    else:
        *place, query, key = item
        heads = parse_heads([tuple(place)], layout)
    sites = [trace.site(head.layer, kind=head.kind) for head in heads]
    sides = trace.sides[sites[0].query_side], trace.sides[sites[0].key_side]
    queries, keys = _positions(query, sides[0]), _positions(key, sides[1])
    label = f"{_label(query, queries, sides[0])} → {_label(key, keys, sides[1])}"
    block = EdgeBlock(heads, queries, keys, label)
    if not any(_sees(trace, head, block) for head in heads):
        raise UserError(
            f"there is no line {label}: the model hides {'this key' if len(keys) == 1 else 'these keys'} from "
            f"{'this query' if len(queries) == 1 else 'these queries'}, so nothing can be cut"
        )
    return block


def _sees(trace: Trace, head: Head, block: EdgeBlock) -> bool:
    """Whether some query of a block may see one of its keys."""
    site = trace.site(head.layer, kind=head.kind)
    allowed = site.mask.allowed(np.array(block.queries), np.array(block.keys), site.index(head.head))
    return allowed is None or bool(allowed.any())


def _positions(name: Any, side: Side) -> tuple[int, ...]:
    """The positions of a side that a name stands for."""
    count = len(side)
    if name is None or name == ALL:
        return tuple(range(count))
    if isinstance(name, str):
        return _named(name, side)
    chosen = range(count)[name] if isinstance(name, slice) else name
    try:
        places = [int(place) for place in (chosen if isinstance(chosen, (Sequence, range, np.ndarray)) else [chosen])]
    except (TypeError, ValueError):
        raise UserError(f"{name!r} names no token; {_WAYS}") from None
    return tuple(dict.fromkeys(_checked(place, count) for place in places))


def _checked(place: int, count: int) -> int:
    if not -count <= place < count:
        raise OutOfRangeError(f"there is no position {place}; the text has {count} tokens, from 0")
    return place % count


def _named(name: str, side: Side) -> tuple[int, ...]:
    spread = _RANGE.fullmatch(name)
    if spread:
        first, last = (_checked(int(end), len(side)) for end in spread.groups())
        return tuple(range(min(first, last), max(first, last) + 1))
    return positions_of(side.tokens, name)


def _label(name: Any, found: tuple[int, ...], side: Side) -> str:
    """How positions are called in a sentence."""
    if len(found) == 1:
        text = side.tokens[found[0]].text.strip()
        several = sum(token.text.strip() == text for token in side.tokens) > 1
        return f"{text}@{found[0]}" if several or not text else text
    if len(found) == len(side):
        return ALL
    if isinstance(name, str) and not _RANGE.fullmatch(name):
        return name
    if found == tuple(range(found[0], found[-1] + 1)):
        return f"{found[0]}-{found[-1]}"
    return ",".join(map(str, found))
