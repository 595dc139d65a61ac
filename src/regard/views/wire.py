"""The wire format: a trace as the bytes that every view reads, whatever carries them there.

Enters: a Trace and what to show first. Leaves: header length, JSON header, one little-endian buffer
(docs/reference/wire.md). `frontend/src/wire.ts` is the other reader.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import regard
from regard.site import Array, Mask, Site
from regard.tokens import Segment, Side, Token, word_groups
from regard.trace import Trace
from regard.views.arrays import ALIGN, Buffer, Record, bits_for, read, rounded

VERSION = 1
VIEWS = ("heads", "atlas", "matrix", "neurons")
_EXACT = 2_000_000  # bytes of q, k or maps that travel as float32; more are packed
_LONG = 1024  # keys from which rows carry their log-sum-exp, so that a tile needs no whole row
_LAYOUT = ("row", "column", "word")


@dataclass(frozen=True, eq=False)
class Attribution:
    """What q and k of a site are sums of (METHODS §7): q (P, H, Q, d) and k (P, H, K, d) over P named parts."""

    names: tuple[str, ...]
    q: Array
    k: Array


def encode(
    trace: Trace,
    *,
    view: str = "heads",
    kind: str | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    vectors: bool = True,
    measures: Mapping[str, Sequence[Array]] | None = None,
    attribution: Mapping[int, Attribution] | None = None,
) -> bytes:
    """A trace as bytes for the views.

    Parameters
    ----------
    trace
        What to show.
    view, kind, layer, heads
        What is open first: one of heads, atlas, matrix, neurons; a layer and heads of one kind of attention.
    vectors
        False leaves out q and k where the maps are smaller; there is no neuron view then.
    measures
        Numbers per head by name: for each site of the trace, in its order, an array (heads,).
    attribution
        For sites (by their number in `trace.sites`) whose q and k are known sums, the parts.
    """
    selection = _selection(trace, view, kind, layer, heads)
    buffer = Buffer()
    bits = _vector_bits(trace)
    maps = "f4" if sum(4 * site.heads * site.queries * site.keys for site in trace.sites) <= _EXACT else "l12"
    sites = []
    for number, site in enumerate(trace.sites):
        record = _site_record(site, trace, buffer)
        record |= _weights(site, buffer, bits, vectors, maps)
        record |= _attribution(site, (attribution or {}).get(number), buffer)
        if measures:
            record["measures"] = {name: buffer.put(np.asarray(v[number])) for name, v in measures.items()}
        sites.append(record)
    header = {
        "format": "regard",
        "version": VERSION,
        "made": regard.__version__,
        "facts": dict(trace.facts),
        "sides": [_side_record(side, buffer) for side in trace.sides.values()],
        "sites": sites,
        "selection": selection,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    text += b" " * (-len(text) % ALIGN)
    return len(text).to_bytes(8, "little") + text + bytes(buffer)


def header_of(data: bytes) -> dict[str, Any]:
    """The JSON header, checked."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError(f"the payload is damaged: its header should have {length} bytes, {len(data)} came in all")
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError as error:
        raise ValueError(f"the payload is damaged: its header is not JSON ({error})") from None
    if not isinstance(header, dict) or header.get("format") != "regard":
        raise ValueError("the payload is not one of regard's")
    if header["version"] != VERSION:
        raise ValueError(f"the payload has wire version {header['version']}, this regard reads {VERSION}")
    return header


def decode(data: bytes) -> Trace:
    """The trace that some bytes stand for; packed arrays come back as the reader in the page sees them."""
    header = header_of(data)
    buffer = memoryview(data)[8 + int.from_bytes(data[:8], "little") :]

    def get(record: Record | None) -> Array | None:
        return None if record is None else read(record, buffer)

    sides = {record["name"]: _side(record, get) for record in header["sides"]}
    return Trace(sides, tuple(_site(record, get) for record in header["sites"]), header["facts"])


def _selection(
    trace: Trace, view: str, kind: str | None, layer: int | None, heads: Sequence[int] | None
) -> dict[str, Any]:
    if view not in VIEWS:
        raise ValueError(f"there is no view {view!r}; choose from {', '.join(VIEWS)}")
    kind = trace.kinds[0] if kind is None else kind
    site = trace.site(trace.layers(kind)[0] if layer is None else layer, kind=kind)
    for head in heads or ():
        site.index(head)
    chosen = list(site.head_ids if heads is None else heads)
    return {"view": view, "kind": kind, "layer": site.layer, "part": site.part, "heads": chosen}


def _vector_bits(trace: Trace) -> int | None:
    """32 where all vectors are few; None where each site finds its own width."""
    size = sum(site.q.size + site.k.size for site in trace.sites if site.q is not None and site.k is not None)
    return 32 if 4 * size <= _EXACT else None


def _site_record(site: Site, trace: Trace, buffer: Buffer) -> Record:
    table = site.mask.table
    return {
        "kind": site.kind,
        "layer": site.layer,
        "part": site.part,
        "heads": list(site.head_ids),
        "query": site.query_side,
        "key": site.key_side,
        "scale": site.scale,
        "softcap": site.softcap,
        "mask": {"left": site.mask.left, "right": site.mask.right, "table": buffer.put(table, "u1")},
        "bias": buffer.put(site.bias),
        "sink": buffer.put(site.sink),
        "norms": buffer.put(site.norms),
        "dots": buffer.put(_word_dots(site, trace.sides[site.key_side])),
        "why": site.no_norms,
    }


def _weights(site: Site, buffer: Buffer, bits: int | None, vectors: bool, maps: str) -> Record:
    """What the attention is read from: maps, or q and k (with lse for long rows)."""
    if site.q is None or site.k is None:
        return {"maps": buffer.put(site.maps, maps)}
    if not vectors and site.keys < 2 * site.q.shape[-1]:
        whole = np.stack([site.attention(i) for i in range(site.heads)])
        return {"maps": buffer.put(whole, maps)}
    width = bits or bits_for(site)
    record: Record = {"q": buffer.put_vectors(site.q, width), "k": buffer.put_vectors(site.k, width)}
    if site.keys > _LONG:
        # Of the vectors as they travel, not as they were: a tile then agrees with its row to the last digit.
        travelling = replace(site, q=rounded(site.q, width), k=rounded(site.k, width), known_lse=None)
        record["lse"] = buffer.put(travelling.lse)
    return record


def _attribution(site: Site, parts: Attribution | None, buffer: Buffer) -> Record:
    if parts is None:
        return {}
    shapes = ((len(parts.names), site.heads, site.queries), (len(parts.names), site.heads, site.keys))
    if (parts.q.shape[:3], parts.k.shape[:3]) != shapes:
        raise ValueError(
            f"attribution of layer {site.layer} has q {parts.q.shape} and k {parts.k.shape}; expected "
            "(parts, heads, queries, d) and (parts, heads, keys, d)"
        )
    return {"parts": list(parts.names), "qparts": buffer.put(parts.q), "kparts": buffer.put(parts.k)}


def _word_dots(site: Site, side: Side) -> Array | None:
    """(H, pairs) products f(x_j)·f(x_j') of tokens of one word: with them, norms of whole words are exact."""
    pairs = [pair for group in word_groups(side) for pair in combinations(group, 2)]
    if site.v is None or site.gram is None or not pairs:
        return None
    first, second = np.array(pairs).T
    v = np.stack([site.v[site.group(i)] for i in range(site.heads)]).astype(np.float32)  # (H, K, e)
    return np.asarray(np.einsum("hpe,hpe->hp", v[:, first] @ site.gram, v[:, second]), np.float32)


def _side_record(side: Side, buffer: Buffer) -> Record:
    record: Record = {
        "name": side.name,
        "text": [token.text for token in side.tokens],
        "special": [int(token.special) for token in side.tokens],
        "segment": [token.segment for token in side.tokens],
        "segments": [{"name": s.name, "start": s.start, "end": s.end} for s in side.segments],
        "image": buffer.put(side.image, "u1"),
    }
    for name in _LAYOUT:
        values = [getattr(token, name) for token in side.tokens]
        record[name] = None if all(value is None for value in values) else values
    return record


def _side(record: Record, get: Any) -> Side:
    count = len(record["text"])
    layout = {name: record[name] or [None] * count for name in _LAYOUT}
    tokens = tuple(
        Token(
            record["text"][i],
            special=bool(record["special"][i]),
            segment=record["segment"][i],
            **{name: values[i] for name, values in layout.items()},
        )
        for i in range(count)
    )
    segments = tuple(Segment(s["name"], s["start"], s["end"]) for s in record["segments"])
    return Side(record["name"], tokens, segments, get(record["image"]))


def _site(record: Record, get: Any) -> Site:
    mask, table = record["mask"], get(record["mask"]["table"])
    return Site(
        kind=record["kind"],
        layer=record["layer"],
        query_side=record["query"],
        key_side=record["key"],
        head_ids=tuple(record["heads"]),
        part=record["part"],
        scale=record["scale"],
        mask=Mask(mask["left"], mask["right"], None if table is None else table.astype(bool)),
        softcap=record["softcap"],
        q=get(record.get("q")),
        k=get(record.get("k")),
        bias=get(record["bias"]),
        sink=get(record["sink"]),
        maps=get(record.get("maps")),
        known_lse=get(record.get("lse")),
        known_norms=get(record["norms"]),
        no_norms=record["why"],
    )
