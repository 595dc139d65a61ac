"""Writes tests/data/wire-golden.bin: one small payload with every array type and every term of the softmax.

Run it after a change of the wire format: `python tests/views/golden.py`. Python and TypeScript tests read it. The
attention it should give stands in its facts, computed in numpy from the payload's own (packed) arrays.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from regard import measures
from regard.trace.mask import Mask
from regard.trace.medium import Medium
from regard.trace.sentences import reason
from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token, word_groups
from regard.trace.trace import Trace
from regard.views import decode, encode, wire

PATH = Path(__file__).parents[1] / "data" / "wire-golden.bin"
D = 6


def golden_trace() -> Trace:
    rng = np.random.default_rng(3)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    encoder = Side(
        "encoder",
        (
            Token("[CLS]", special=True),
            Token("straw", word=0),
            Token("##berries", word=0),
            Token("</script>", word=1),
            Token("草莓", word=2),
            Token("فراولة", word=3, segment=1),
            Token("[SEP]", special=True, segment=1),
        ),
        (Segment("A", 0, 5), Segment("B", 5, 7)),
    )
    said = tuple(Token(text, word=i) for i, text in enumerate("ein zwei drei vier fünf".split()))
    sound = Medium("sound", "audio/wav", b"RIFF\0golden", (2.5,), np.arange(12, dtype=np.uint8).reshape(3, 4))
    seconds = np.array([[np.nan, np.nan], [0, 0.5], [0.5, 1], [1, 2], [2, 2.5]], np.float32)
    decoder = Side("decoder", said, medium=sound, spans=seconds)
    w_o = normal(4, D, 9)
    grouped = Site(
        "encoder", 0, "encoder", "encoder", (0, 1, 2, 3), scale=0.4, softcap=2.0, q=2 * normal(4, 7, D),
        k=normal(2, 7, D), v=normal(2, 7, D), gram=w_o @ w_o.swapaxes(1, 2), bias=normal(4, 13),
    )  # fmt: skip
    windowed = Site(
        "encoder", 1, "encoder", "encoder", (0, 2), scale=0.4, q=normal(2, 7, D), k=normal(2, 7, D),
        bias=normal(1, 7, 7), mask=Mask(left=2, right=3),
    )  # fmt: skip
    weights = np.exp(3 * normal(2, 7, 7))
    given = Site(
        "encoder", 2, "encoder", "encoder", (0, 1), maps=weights / weights.sum(-1, keepdims=True),
        no_norms=reason("foreign_maps"),
    )  # fmt: skip
    causal = Site(
        "decoder", 0, "decoder", "decoder", (0, 1), scale=0.4, q=normal(2, 5, D), k=normal(2, 5, D),
        mask=Mask(right=0), sink=np.array([0.5, -1], np.float32),
    )  # fmt: skip
    table = rng.random((5, 7)) < 0.6
    table[2] = False  # a query that sees nothing
    crossed = Site(
        "cross", 0, "decoder", "encoder", (0, 1), scale=0.4, q=normal(2, 5, D), k=normal(2, 7, D),
        mask=Mask(table=table),
    )  # fmt: skip
    parts = {"parts": ("word", "position", "constant"), "qparts": normal(3, 2, 5, D), "kparts": normal(3, 2, 5, D)}
    parts["kparts"][2] = parts["kparts"][2, :, :1]
    causal = replace(causal, q=parts["qparts"].sum(0), k=parts["kparts"].sum(0), **parts)
    outputs = np.stack([grouped.attention(i) @ grouped.v[grouped.group(i)] for i in range(4)])  # (H, Q, e)
    g = normal(4, 7, D)
    grouped = replace(grouped, g=g, go=(g * outputs).sum(-1))
    sides = {"encoder": encoder, "decoder": decoder}
    return Trace(sides, (grouped, windowed, given, causal, crossed), {"model": "golden"})


def word_contributions(site: Site, seen: Site, side: Side) -> Any:
    """(H, words, words) ||sum of alpha f||, from the vectors f themselves: row means, then the norm of the sum."""
    groups = word_groups(side)
    values = []
    for index in range(site.heads):
        root = np.linalg.cholesky(site.gram[index].astype(np.float64) + 1e-9 * np.eye(D))
        f = site.v[site.group(index)] @ root  # f f' = v gram v'
        alpha = seen.attention(index)
        means = np.stack([alpha[group].mean(axis=0) for group in groups])
        values.append(np.stack([np.linalg.norm(means[:, group] @ f[group], axis=1) for group in groups], axis=1))
    return np.stack(values)


def head_measures(trace: Trace, site: Site) -> list[dict[str, dict[str, float | None]]]:
    """For each head what the page counts itself (frontend/src/digest.ts), and its chance; None where it is n/a."""
    found = []
    special = np.array([token.special for token in trace.sides[site.key_side].tokens])
    for index in range(site.heads):
        attention = site.attention(index)
        visible = site.mask.allowed(np.arange(site.queries), np.arange(site.keys), index)
        seen = np.ones(attention.shape, bool) if visible is None else visible
        readings = {
            "first": measures.to_first(attention, visible=seen),
            "special": measures.to_places(attention, special, visible=seen),
        }
        levels = {"entropy": measures.entropy(attention, visible=seen)}
        if site.query_side == site.key_side:
            readings |= {
                "previous": measures.to_previous(attention, visible=seen),
                "next": measures.to_next(attention, visible=seen),
                "self": measures.to_self(attention, visible=seen),
            }
            levels["distance"] = measures.mean_distance(attention, visible=seen)
        values = {name: (reading.mass, reading.chance) for name, reading in readings.items()} | levels
        found.append(
            {
                part: {name: None if np.isnan(pair[n]) else round(float(pair[n]), 6) for name, pair in values.items()}
                for n, part in enumerate(("measures", "chance"))
            }
        )
    return found


REPORT = [
    {
        "kind": "encoder",
        "layer": 1,
        "head": 2,
        "patterns": [{"name": "previous token", "score": 0.75, "sentence": "attends to the previous token"}],
        "probabilities": {"vertical": 0.25, "diagonal": 0.75},
        "measures": {"previous token": 0.5, "entropy": None},
    }
]


def reference_of(trace: Trace, seen: Trace) -> dict[str, Any]:
    """What a reader should compute from a payload's own arrays; `seen` is the trace as the payload tells it."""
    return {
        "attention": [[site.attention(i).round(7).tolist() for i in range(site.heads)] for site in seen.sites],
        "measures": [head_measures(seen, site) for site in seen.sites],
        "worth": {
            how: [seen.sites[0].worth(i, how=how).round(6).tolist() for i in range(4)] for how in ("mask", "zero")
        },
        "rollout": {
            "weights": seen.rollout(kind="encoder").round(7).tolist(),
            "contributions": seen.select(kinds=["encoder"], layers=[0]).rollout("contributions").round(7).tolist(),
        },
        "words": word_contributions(trace.sites[0], seen.sites[0], trace.sides["encoder"]).round(6).tolist(),
    }


def golden() -> bytes:
    trace = golden_trace()
    with mock.patch.multiple(wire, _EXACT=0, LONG=6, __version__="0.1.0"):  # pack everything, and call seven keys many
        reference = reference_of(trace, decode(encode(trace, report=False)))
        given = {"height": [np.arange(site.heads) + 0.5 for site in trace.sites]}
        whole = replace(trace, facts={"model": "golden", "reference": reference})
        return encode(whole, view="matrix", layer=1, heads=[2], measures=given, report=REPORT)


if __name__ == "__main__":
    PATH.write_bytes(golden())
