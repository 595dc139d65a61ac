"""The wire format: a trace as the bytes that every view reads, however they are sent.

Enters: a Trace and what to show first. Leaves: header length, JSON header, one little-endian buffer
(docs/reference/wire.md). `frontend/src/data/wire.ts` is the other reader.

Long on purpose: writer and reader are side by side.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from regard import __version__
from regard.base.errors import UserError
from regard.measures.types import TYPES
from regard.patterns.cautions import precision_of
from regard.trace.blocks import block_shares, block_size
from regard.trace.mask import Mask
from regard.trace.medium import SOUND, Medium
from regard.trace.sentences import Message, coded
from regard.trace.site import Array, Site
from regard.trace.tokens import Segment, Side, Token, text_of, word_groups
from regard.trace.trace import Trace
from regard.views.arrays import ALIGN, Buffer, Record, read
from regard.views.packing import PATCH_ERROR, pack_parts, pack_site, pack_worth
from regard.views.report import Given, Report, measure_arrays, report_of, type_table

if TYPE_CHECKING:
    from regard.transformer.walk import Walk

VERSION = 1
VIEWS: tuple[str, ...] = tuple(json.loads((files("regard") / "static" / "views.json").read_text("utf-8")))
_EXACT = 2_000_000  # bytes of q, k or maps up to which they are sent as float32; more are packed
LONG = 1024  # keys above which rows come with their log-sum-exp, so that a tile needs no whole row
_LAYOUT = ("row", "column", "word")
_READ = 240  # letters of the text in the page's head


def encode(
    trace: Trace,
    *,
    view: str = "heads",
    kind: str | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    worth: bool = False,
    vectors: bool = True,
    measures: Mapping[str, Sequence[Array]] | None = None,
    report: Given = None,
    walk: Walk | None = None,
    weights: Container[tuple[str, int]] | None = None,
    pictures: bool = False,
    packed: bool | None = None,
    study: Mapping[str, Any] | None = None,
) -> bytes:
    """A trace as bytes for the views.

    Parameters
    ----------
    trace
        What to show.
    view, kind, layer, heads
        What to open with: one of `static/views.json` (heads, atlas ...); a layer and heads of one kind of attention.
        Without layer and heads, the head that shows a pattern most clearly.
    worth
        Open with what lines are worth rather than with weights; the trace must have been made with worth=True.
    vectors
        False leaves out q and k where the maps are smaller; then there is no neuron view.
    measures
        Numbers per head by name: for each site of the trace, in its order, an array (heads,).
    report
        What each head does. None measures it unless the trace is very large, True always, False never; or the
        `Patterns` of this trace, or records as from `regard.patterns.head_report`.
    walk
        One layer of the model, opened (`regard.transformer.walk`); without it, there is no walk view.
    weights
        The (kind, layer) pairs whose attention is sent; all unless given. The others are only named.
    pictures
        Whether every head comes with a small picture of its map, made of all its weights.
    packed
        Whether numbers are sent in fewer bits than they have; unless given, only if there are many.
    study
        Of the report of a study, in which the trace is one example: how many `inputs` it read, and whether what heads
        do is `named` over all of them, or on this one alone.
    """
    known = report_of(trace, report)
    selection = _selection(trace, known, view, kind, layer, heads)
    if worth:
        require_worth(trace)
        selection["worth"] = True
    if view == "walk" and walk is None:
        raise UserError("this trace has no walk; make the page with `regard walk`, or model.walk(text).save(path)")
    few = _packed(trace) if packed is None else packed
    buffer = Buffer()
    header = _header(trace, known, buffer)  # what is heard or seen comes before the first layer
    sites = _site_records(trace, buffer, known, measures or {}, weights, vectors, few, pictures)
    header |= {"sites": sites, "selection": selection} | ({} if study is None else {"study": dict(study)})
    return _payload(header if walk is None else header | {"walk": _walk_record(walk, buffer)}, buffer)


def _site_records(
    trace: Trace,
    buffer: Buffer,
    known: Report | None,
    measures: Mapping[str, Sequence[Array]],
    weights: Container[tuple[str, int]] | None,
    vectors: bool,
    packed: bool,
    pictures: bool,
) -> list[Record]:
    sites = []
    for number, site in enumerate(trace.sites):
        own = {name: np.asarray(values[number]) for name, values in measures.items()}
        whole = weights is None or (site.kind, site.layer) in weights
        record = _site_record(site, trace, buffer, packed, whole)
        if whole:
            patches = all(token.special or token.row is not None for token in trace.sides[site.key_side].tokens)
            record |= _weights(site, buffer, vectors, packed, patches)
            record |= _parts(site, buffer, packed) | _worth(site, buffer, packed)
        if pictures:
            record |= _picture(site, buffer)
        sites.append(record | _known(site, known, own, buffer))
    return sites


def _header(trace: Trace, known: Report | None, buffer: Buffer) -> Record:
    """The header without its sites, and without what is shown first."""
    cautions = known.cautions if known else precision_of(trace.facts)
    return {
        "format": "regard",
        "version": VERSION,
        "made": __version__,
        "facts": dict(trace.facts),
        "read": _read(trace),
        "types": list(TYPES),
        "cautions": cautions,
        "coded": [sentence.record for sentence in cautions],
        "sides": [_side_record(side, buffer) for side in trace.sides.values()],
    }


def _read(trace: Trace) -> str:
    """The text that was read, as it is written, for the page's head; a picture or a sound has none of its own."""
    texts = [trace.facts["reads"]] if trace.facts.get("reads") else []  # what a model read in a picture
    texts += [text_of(side) for side in trace.sides.values() if side.medium is None and not _has_patches(side)]
    whole = " | ".join(texts)
    return whole if len(whole) <= _READ else f"{whole[: _READ - 1]}…"


def _has_patches(side: Side) -> bool:
    return any(token.row is not None for token in side.tokens)


def _payload(header: Record, buffer: Buffer) -> bytes:
    """The header's length, the header, the buffer; the latter two begin at multiples of ALIGN."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    text += b" " * (-len(text) % ALIGN)
    return len(text).to_bytes(8, "little") + text + bytes(buffer)


def header_of(data: bytes) -> dict[str, Any]:
    """The JSON header, checked."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise UserError(
            f"the payload is damaged: its header should have {length} bytes, but there are {len(data)} in all"
        )
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError as error:
        raise UserError(f"the payload is damaged: its header is not JSON ({error})") from None
    if not isinstance(header, dict) or header.get("format") != "regard":
        raise UserError("the payload is not regard's")
    if header["version"] != VERSION:
        raise UserError(f"the payload has wire version {header['version']}, this regard reads {VERSION}")
    return header


def decode(data: bytes) -> Trace:
    """The trace in some bytes; packed arrays are returned as the page sees them."""
    header = header_of(data)
    buffer = memoryview(data)[8 + int.from_bytes(data[:8], "little") :]

    def get(record: Record | None) -> Array | None:
        return None if record is None else read(record, buffer)

    sides = {record["name"]: _side(record, get) for record in header["sides"]}
    return Trace(sides, tuple(_site(record, get) for record in header["sites"]), header["facts"])


def opening(trace: Trace) -> dict[str, Any]:
    """What a page of this trace opens with: of a sound that words were heard in, when they are listened for."""
    if "cross" not in trace.kinds or not any(
        side.medium and side.medium.kind == SOUND for side in trace.sides.values()
    ):
        return {}
    site = trace.site(trace.layers("cross")[-1], kind="cross")
    return {"view": "sound", "kind": "cross", "layer": site.layer, "heads": list(site.head_ids)}


def shown_first(
    trace: Trace, view: str | None, kind: str | None, layer: int | None, heads: Sequence[int] | None
) -> dict[str, Any]:
    """What is asked for; if nothing is, what a page of this trace opens with."""
    asked = {"view": view, "kind": kind, "layer": layer, "heads": heads}
    given = {name: value for name, value in asked.items() if value is not None}
    return {"view": "heads", **(given or opening(trace))}


def require_worth(trace: Trace) -> None:
    """Refuse to show what lines are worth where nobody has asked the model."""
    if "worth" not in trace.facts:
        raise UserError("this trace does not know what its lines are worth; trace the text with worth=True")


def _selection(
    trace: Trace, known: Report | None, view: str, kind: str | None, layer: int | None, heads: Sequence[int] | None
) -> dict[str, Any]:
    if view not in VIEWS:
        raise UserError(f"there is no view {view!r}; choose from {', '.join(VIEWS)}")
    for one in known.clearest(1, kind) if known and layer is None and heads is None else ():
        return {"view": view, "kind": one.kind, "layer": one.layer, "part": one.part, "heads": [one.head]}
    kind = trace.kinds[0] if kind is None else kind
    site = trace.site(trace.layers(kind)[0] if layer is None else layer, kind=kind)
    for head in heads or ():
        site.index(head)
    chosen = list(site.head_ids if heads is None else heads)
    return {"view": view, "kind": kind, "layer": site.layer, "part": site.part, "heads": chosen}


def _packed(trace: Trace) -> bool:
    """Whether there are so many numbers that they are sent in fewer bits than they have."""
    vectors = sum(site.q.size + site.k.size for site in trace.sites if site.q is not None and site.k is not None)
    maps = sum(site.heads * site.queries * site.keys for site in trace.sites if site.q is None)
    return 4 * (vectors + maps) > _EXACT


def _walk_record(walk: Walk, buffer: Buffer) -> Record:
    record = {name: value for name, value in vars(walk).items() if name != "arrays"}
    return record | {"arrays": {name: buffer.put(array) for name, array in walk.arrays.items()}}


def _site_record(site: Site, trace: Trace, buffer: Buffer, packed: bool, whole: bool) -> Record:
    """A site without its weights; if it is not whole, only its name and shape."""
    table, bias, sink, norms = (site.mask.table, site.bias, site.sink, site.norms) if whole else [None] * 4
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
        "bias": buffer.put(bias),
        "sink": buffer.put(sink),
        "norms": buffer.put(norms, "l16" if packed else "f4"),
        "dots": buffer.put(_word_dots(site, trace.sides[site.key_side]) if whole else None),
        "why": site.no_norms,
        "why_coded": coded(site.no_norms),
    }


def _weights(site: Site, buffer: Buffer, vectors: bool, packed: bool, patches: bool) -> Record:
    """What the attention is read from: maps, or q and k (with lse for long rows)."""
    if site.q is None or site.k is None:
        return {"maps": buffer.put(site.maps, "l12" if packed else "f4")}
    if not vectors and site.keys < 2 * site.q.shape[-1]:
        whole = np.stack([site.attention(i) for i in range(site.heads)])
        return {"maps": buffer.put(whole, "l12" if packed else "f4")}
    if not packed:
        record: Record = {"q": buffer.put(site.q), "k": buffer.put(site.k)}
        return record | ({"lse": buffer.put(site.lse)} if site.keys > LONG else {})
    q, k = pack_site(site, PATCH_ERROR) if patches else pack_site(site)
    record = {"q": buffer.put_vectors(q), "k": buffer.put_vectors(k)}
    if site.keys > LONG:
        record["lse"] = buffer.put(_packed_lse(site, q.values, k.values))
    return record


def _packed_lse(site: Site, q: Array, k: Array) -> Array:
    """(H, Q) log-sum-exps for packed vectors: what the model's kernel gave, or else those of the vectors as sent.

    To sum all rows again takes longer than everything else in a page. With the kernel's, rows sum to 1 as exactly as
    scores are packed.
    """
    return replace(site, q=q, k=k).lse


def _picture(site: Site, buffer: Buffer) -> Record:
    """Shares of attention between blocks of tokens."""
    size = block_size(site.queries, site.keys)
    return {"block": size, "blocks": buffer.put(block_shares(site, size), "l12")}


def _parts(site: Site, buffer: Buffer, packed: bool) -> Record:
    """The parts that q and k are sums of, if known: all but the first, which is the remainder."""
    if site.qparts is None or site.kparts is None:
        return {}
    q, k = (np.asarray(a[1:], np.float32).reshape(-1, *a.shape[2:]) for a in (site.qparts, site.kparts))
    record: Record = {"parts": list(site.parts)}
    if not packed:
        return record | {"qparts": buffer.put(q), "kparts": buffer.put(k)}
    few = pack_parts(site, q, k)
    return record | {"qparts": buffer.put_vectors(few[0]), "kparts": buffer.put_vectors(few[1])}


def _worth(site: Site, buffer: Buffer, packed: bool) -> Record:
    """What worth is computed from, if known: value vectors, g, and g . o."""
    if site.g is None or site.v is None:
        return {}
    if not packed:
        return {"v": buffer.put(site.v), "g": buffer.put(site.g), "go": buffer.put(site.go)}
    v, g = pack_worth(site)
    return {"v": buffer.put_vectors(v), "g": buffer.put_vectors(g), "go": buffer.put(site.go)}


def _known(site: Site, report: Report | None, measures: Mapping[str, Array], buffer: Buffer) -> Record:
    """What the site's heads do, and their measures."""
    records = report.of(site) if report else []
    table = {**measure_arrays(records), **measures}
    record: Record = {"measures": {name: buffer.put(values) for name, values in table.items()}}
    if report is not None:
        record["patterns"] = [list(one["patterns"]) for one in records]
        record["rest"] = [one.get("rest") for one in records]
        record["arriving"] = [one.get("contributions") for one in records]
        record["types"] = buffer.put(type_table(records))
        missing = report.missing.get((site.kind, site.layer, site.part), {})
        record["missing"] = missing
        record["coded"] = {name: reason.record for name, reason in missing.items()}
    return record


def _word_dots(site: Site, side: Side) -> Array | None:
    """(H, pairs) products f(x_j)·f(x_j') of tokens of the same word: with them, norms of whole words are exact."""
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
    }
    for name in _LAYOUT:
        values = [getattr(token, name) for token in side.tokens]
        record[name] = None if all(value is None for value in values) else values
    adds = [token.adds for token in side.tokens]
    if any(added is not None for added in adds):
        record["adds"] = adds
    if side.spans is not None:
        record["spans"] = buffer.put(side.spans)
    if side.medium is not None:
        record["medium"] = _medium_record(side.medium, buffer)
    stand_ins = [place for place, token in enumerate(side.tokens) if token.special and not token.border]
    return record | {"stand_ins": stand_ins} if stand_ins else record


def _medium_record(medium: Medium, buffer: Buffer) -> Record:
    return {
        "kind": medium.kind,
        "mime": medium.mime,
        "size": list(medium.size),
        "data": buffer.put(medium.array, "u1"),
        "features": buffer.put(medium.features, "u1"),
    }


def _medium(record: Record | None, get: Any) -> Medium | None:
    if record is None:
        return None
    data, features = get(record["data"]).tobytes(), get(record["features"])
    return Medium(record["kind"], record["mime"], data, tuple(record["size"]), features)


def _side(record: Record, get: Any) -> Side:
    count = len(record["text"])
    layout = {name: record.get(name) or [None] * count for name in (*_LAYOUT, "adds")}
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
    held = {"medium": _medium(record.get("medium"), get), "spans": get(record.get("spans"))}
    return Side(record["name"], tokens, segments, **held)


def _site(record: Record, get: Any) -> Site:
    mask, table = record["mask"], get(record["mask"]["table"])
    q, k = get(record.get("q")), get(record.get("k"))
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
        q=q,
        k=k,
        bias=get(record["bias"]),
        sink=get(record["sink"]),
        maps=get(record.get("maps")),
        known_lse=get(record.get("lse")),
        known_norms=get(record["norms"]),
        no_norms=Message(record["why"], **record.get("why_coded", {})),
        parts=tuple(record.get("parts", ())),
        qparts=_whole(q, get(record.get("qparts"))),
        kparts=_whole(k, get(record.get("kparts"))),
        v=get(record.get("v")),
        g=get(record.get("g")),
        go=get(record.get("go")),
    )


def _whole(vectors: Array | None, rest: Array | None) -> Array | None:
    """(P, H, positions, d) parts, from the vectors and all parts but the first."""
    if vectors is None or rest is None:
        return None
    others = rest.reshape(-1, *vectors.shape)
    return np.concatenate([(vectors - others.sum(axis=0))[None], others])
