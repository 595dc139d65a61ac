"""The map of a head's queries and keys on its page: points, texts and how far the picture can be trusted.

Enters: the vectors of a sample. Leaves: markup that carries its data and needs no network.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regard.corpus.sums import Array
from regard.measures.joint import Joint, Quality, joined, plane, quality
from regard.studies.heads.describing import Place
from regard.studies.heads.vectors import Vectors
from regard.views.html import bundle

_FULL = 65535  # of a coordinate
_COLOURS = {"side": "query or key", "token": "token", "position": "position in its text"}
_KINDS = {1: "u1", 2: "u2", 4: "u4"}


@dataclass(frozen=True, eq=False)
class JointMap:
    """One head: queries (N, 2) and keys (M, 2) in the plane, its share of the variance, and its quality."""

    queries: Array
    keys: Array
    variance: float
    quality: Quality


def joint_map(q: Array, k: Array, *, seed: int = 0) -> JointMap:
    """The map of queries (N, d) and keys (M, d)."""
    joint: Joint = joined(q, k)
    queries, keys, variance = plane(joint)
    return JointMap(queries, keys, variance, quality(q, k, queries, keys, seed=seed))


class SampleTexts:
    """The texts of a sample for all pages: each token once, and which of them stand where."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    @cached_property
    def texts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in self.vectors.inputs:
            for tokens in one.sides.values():
                for token in tokens:
                    found.setdefault(token, len(found))
        return found

    def side(self, name: str) -> dict[str, Array]:
        """The tokens of a side, where inputs begin, and the numbers of their examples."""
        inputs = self.vectors.inputs
        return {
            "words": np.array([self.texts[token] for one in inputs for token in one.sides[name]], np.uint32),
            "starts": np.array(self.vectors.starts(name), np.uint32),
            "examples": np.array([one.name[0] for one in inputs], np.uint32),
        }


def map_section(place: Place, sample: SampleTexts, *, seed: int = 0) -> str:
    """The part of a head's page with its map; nothing if there are no vectors."""
    kind, layer, head = place
    one = sample.vectors.layers.get((kind, layer))
    if one is None or head >= len(one.q):
        return ""
    found = joint_map(*one.of(head), seed=seed)
    look = one.keys[head, :, 0], np.round(np.clip(one.weights[head, :, 0].astype(np.float32), 0, 1) * 255)
    data = packed(found, sample, one.sides, look)
    return _markup(found, data, still=one.still)


def packed(found: JointMap, sample: SampleTexts, sides: tuple[str, str], look: tuple[Array, Array]) -> bytes:
    """Points and texts as bytes: gzip of a length, a JSON header, and little-endian arrays."""
    both = np.concatenate([found.queries, found.keys])  # (N + M, 2)
    low = both.min(axis=0)
    span = max(float((both.max(axis=0) - low).max()), 1e-12)
    middle = (1 - (both.max(axis=0) - low) / span) / 2  # the shorter way is centred
    codes = np.round(((both - low) / span + middle) * _FULL).astype(np.uint16)
    buffer = bytearray()

    def put(array: Array) -> dict[str, Any]:
        buffer.extend(b"\0" * (-len(buffer) % 4))
        record = {"kind": _KINDS[array.itemsize], "offset": len(buffer), "count": len(array)}
        buffer.extend(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return record

    names = sides[:1] if sides[0] == sides[1] else sides
    header = {
        "queries": len(found.queries),
        "keys": len(found.keys),
        "texts": list(sample.texts),
        "sides": [{name: put(array) for name, array in sample.side(side).items()} for side in names],
        "x": put(codes[:, 0]),
        "y": put(_FULL - codes[:, 1]),
        "look": put(look[0].astype(np.uint16)),
        "weight": put(look[1].astype(np.uint8)),
    }
    text = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return gzip.compress(len(text).to_bytes(4, "little") + text + bytes(buffer), 6, mtime=0)


def _markup(found: JointMap, data: bytes, *, still: bool) -> str:
    options = "".join(f'<option value="{name}">{said}</option>' for name, said in _COLOURS.items())
    said = " ".join(map(html.escape, about(found, still=still)))
    count = f"{len(found.queries):,} queries and {len(found.keys):,} keys"
    return (
        '<section class="wide joint" data-joint><h2>Queries and keys</h2>'
        f'<p class="quiet">{said}</p>'
        f'<p class="bar"><label>Colour <select data-part="colour">{options}</select></label>'
        '<label><input type="checkbox" data-part="lasso"> lasso (or shift and drag)</label>'
        '<button type="button" data-part="reset">All points</button></p>'
        f'<canvas data-part="canvas" tabindex="0" role="img" aria-label="A map of {count}; drag or use the arrow keys '
        'to move, the wheel or + and − to come closer, 0 for all points"></canvas>'
        '<div class="bar quiet" data-part="legend"></div><div class="tip" data-part="tip" aria-live="polite"></div>'
        '<div class="list" data-part="list"></div>'
        f'<script type="text/plain">{base64.b64encode(data).decode()}</script>'
        f"<script>{bundle('joint.js')}</script></section>"
    )


def about(found: JointMap, *, still: bool) -> list[str]:
    """What the map shows, and how far it can be trusted."""
    best = found.quality
    sentences = [
        f"{len(found.queries):,} queries and {len(found.keys):,} keys of a sample, moved so that softmax stays the "
        "same: keys are centred on queries and both are equally spread. The plane is that of the first two principal "
        f"components, {found.variance:.0%} of the variance.",
        f"Nearness on the map is not the dot product: of the {best.neighbours} keys nearest to a query, "
        f"{best.overlap:.1%} are among the {best.neighbours} with its largest scores, where random places give "
        f"{best.chance:.1%} ({best.queries:,} queries).",
    ]
    if not still:
        sentences.append("Rotary positions could not be undone for this family: places are part of the picture.")
    return sentences
