"""Traces in files: safetensors with a JSON header. No pickle, no torch, no model needed to read one.

Enters: a Trace. Leaves: bytes on disk, written next to the target and renamed, so that nothing is half-written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import MissingFileError, UserError
from regard.base.files import write_atomic
from regard.trace.mask import Mask
from regard.trace.medium import Medium
from regard.trace.sentences import Message, coded
from regard.trace.site import Array, Site
from regard.trace.tokens import UNASKED, Segment, Side, Token

if TYPE_CHECKING:
    from regard.trace.trace import Trace

FORMAT = "regard-trace"
VERSION = 1
ARRAYS = ("q", "k", "v", "bias", "sink", "gram", "maps", "known_lse", "known_norms", "qparts", "kparts", "g", "go")
Parts = tuple[dict[str, Side], tuple[Site, ...], dict[str, Any]]  # sides, sites and facts of a trace
Put = Callable[[Array | None, str], str | None]
_PLAIN = ("kind", "layer", "part", "path", "query_side", "key_side", "scale", "softcap", "no_norms")


def save(trace: Trace, path: str | Path) -> Path:
    """Write a trace; an existing file is replaced only when the new one is complete."""
    from safetensors.numpy import save_file

    arrays: dict[str, Array] = {}
    seen: dict[int, str] = {}

    def put(array: Array | None, name: str) -> str | None:
        """Store an array once, however many sites share it, and return its name."""
        if array is None:
            return None
        if id(array) not in seen:
            seen[id(array)] = name
            arrays[name] = np.ascontiguousarray(array)
        return seen[id(array)]

    header = {
        "sides": [_side_record(side, put) for side in trace.sides.values()],
        "sites": [_site_record(site, number, put) for number, site in enumerate(trace.sites)],
        "facts": dict(trace.facts),
    }
    text = json.dumps(header)
    metadata = {"format": FORMAT, "version": str(VERSION), "trace": text, "checksum": _checksum(text, arrays)}
    target = Path(path)
    write_atomic(target, lambda temporary: save_file(arrays, temporary, metadata))
    return target


def load(path: str | Path) -> Parts:
    """The parts of the trace in a file, after checking that the file is a complete trace."""
    from safetensors import SafetensorError, safe_open

    source = Path(path)
    if not source.is_file():
        raise MissingFileError(f"there is no trace file {source}")
    try:
        with safe_open(source, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_format(metadata, source)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise UserError(f"{source} is not a trace file or is damaged: {error}") from None
    text = metadata.get("trace", "")
    if metadata.get("checksum", _checksum(text, arrays)) != _checksum(text, arrays):  # older files have none
        raise UserError(f"{source} is a damaged trace file: its checksum does not match; trace the text again")
    try:
        return _parts(json.loads(text), arrays)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{source} is a damaged trace file: {error!r} while reading its header") from None


def _parts(header: dict[str, Any], arrays: dict[str, Array]) -> Parts:
    sides = {record["name"]: _side(record, arrays) for record in header["sides"]}
    sites = tuple(_site(record, arrays) for record in header["sites"])
    for site in sites:
        if site.maps is None and (site.q is None or site.k is None):
            raise UserError(f"layer {site.layer} has neither maps nor q and k")
        for side, length in ((site.query_side, site.queries), (site.key_side, site.keys)):
            if len(sides[side].tokens) != length:
                raise UserError(f"layer {site.layer} has {length} positions, its {side} side has a different number")
    return sides, sites, header["facts"]


def _checksum(header: str, arrays: dict[str, Array]) -> str:
    """One checksum for the whole content of a file."""
    found = hashlib.sha256(header.encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _check_format(metadata: dict[str, str], source: Path) -> None:
    if metadata.get("format") != FORMAT:
        raise UserError(f"{source} is a safetensors file but not a regard trace; make one with `regard trace`")
    if not metadata.get("version", "").isdecimal():
        raise UserError(f"{source} is a damaged trace file: it has no format version")
    if int(metadata["version"]) > VERSION:
        raise UserError(
            f"{source} has trace format {metadata['version']}, this regard reads up to {VERSION}; upgrade regard"
        )


def _side_record(side: Side, put: Put) -> dict[str, Any]:
    return {
        "name": side.name,
        "tokens": [_token_record(token) for token in side.tokens],
        "segments": [asdict(segment) for segment in side.segments],
        "related": put(side.related, f"related.{side.name}"),
        **({} if side.gains is None else {"gains": put(side.gains, f"gains.{side.name}")}),
        **({} if side.no_gains in ("", UNASKED) else {"no_gains": side.no_gains}),
        **({} if side.medium is None else {"medium": _medium_record(side.medium, side.name, put)}),
        **({} if side.spans is None else {"spans": put(side.spans, f"spans.{side.name}")}),
    }


def _medium_record(medium: Medium, side: str, put: Put) -> dict[str, Any]:
    return {
        "kind": medium.kind,
        "mime": medium.mime,
        "size": list(medium.size),
        "data": put(medium.array, f"medium.{side}"),
        "features": put(medium.features, f"features.{side}"),
    }


def _medium(record: dict[str, Any] | None, arrays: dict[str, Array]) -> Medium | None:
    if record is None:
        return None
    features = None if record["features"] is None else arrays[record["features"]]
    return Medium(record["kind"], record["mime"], arrays[record["data"]].tobytes(), tuple(record["size"]), features)


def _token_record(token: Token) -> dict[str, Any]:
    """A token's fields; `adds` and `common` only if they are set, so that files without such tokens do not change."""
    unset = {"adds": None, "common": False}
    return {name: value for name, value in asdict(token).items() if name not in unset or value != unset[name]}


def _side(record: dict[str, Any], arrays: dict[str, Array]) -> Side:
    related = record.get("related")  # older files have no related words, and pictures as arrays, which are left out
    gains = record.get("gains")
    return Side(
        record["name"],
        tuple(Token(**token) for token in record["tokens"]),
        tuple(Segment(**segment) for segment in record["segments"]),
        None if related is None else arrays[related],
        None if gains is None else arrays[gains],
        record.get("no_gains", UNASKED) if gains is None else "",
        _medium(record.get("medium"), arrays),
        arrays[record["spans"]] if "spans" in record else None,
    )


def _site_record(site: Site, number: int, put: Put) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(site, name) for name in _PLAIN}
    record["no_norms_coded"] = coded(site.no_norms)
    record["head_ids"] = list(site.head_ids)
    record["parts"] = list(site.parts)
    record["arrays"] = {name: put(getattr(site, name), f"{number}.{name}") for name in ARRAYS}
    table = put(site.mask.table, f"{number}.mask")
    record["mask"] = {"left": site.mask.left, "right": site.mask.right, "table": table}
    return record


def _site(record: dict[str, Any], arrays: dict[str, Array]) -> Site:
    held: dict[str, Any] = {name: arrays[key] for name, key in record["arrays"].items() if key is not None}
    mask = record["mask"]
    table = None if mask["table"] is None else arrays[mask["table"]]
    plain = {name: record[name] for name in _PLAIN}
    plain["no_norms"] = Message(record["no_norms"], **record.get("no_norms_coded", {}))  # files of before have no codes
    return Site(
        head_ids=tuple(record["head_ids"]),
        parts=tuple(record["parts"]),
        mask=Mask(mask["left"], mask["right"], table),
        **plain,
        **held,
    )
