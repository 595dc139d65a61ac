"""Arcs over the words of a sentence as SVG: right ones, wrong ones, and the true ones that were missed.

Enters: words and arcs. Leaves: markup whose text is escaped; colours follow the page's theme.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from regard.trace.lettering import visible

_LETTER, _GAP, _STEP, _LINE = 8.0, 12.0, 18.0, 15.0
_COLOURS = {"right": "#2b6fd6", "wrong": "#d2622a", "missed": "var(--quiet, #5f6879)"}
_DASHES = {"right": "", "wrong": ' stroke-dasharray="6 3"', "missed": ' stroke-dasharray="1 4"'}


class Arc(NamedTuple):
    """From one word to another; `kind` is right, wrong or missed (a true arc that was not guessed)."""

    query: int
    key: int
    kind: str


def arcs_svg(words: Sequence[str], arcs: Sequence[Arc], *, label: str) -> str:
    """The sentence on one line with arcs above it; each arc ends in a dot at its key."""
    widths = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in word) * _LETTER for word in words]
    edges = [sum(widths[:n]) + n * _GAP for n in range(len(words))]
    centres = [edge + width / 2 for edge, width in zip(edges, widths, strict=True)]
    tallest = max((abs(arc.query - arc.key) for arc in arcs), default=1)
    base = _LINE + _STEP * min(tallest, 6)
    width, height = sum(widths) + _GAP * len(words), base + 24
    drawn = [_path(arc, centres, base) for arc in sorted(arcs, key=lambda arc: arc.kind)]
    texts = [
        f'<text x="{centre:.1f}" y="{base + 16:.1f}" text-anchor="middle">{html.escape(visible(word))}</text>'
        for centre, word in zip(centres, words, strict=True)
    ]
    return (
        f'<svg role="img" aria-label="{html.escape(visible(label))}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="ui-monospace, monospace" font-size="13" '
        f'fill="currentColor">{"".join(drawn)}{"".join(texts)}</svg>'
    )


def _path(arc: Arc, centres: Sequence[float], base: float) -> str:
    shift = 3 if arc.query < arc.key else -3  # arcs that begin and end at one word do not touch
    x, y = centres[arc.query] + shift, centres[arc.key] - shift
    rise = base - _STEP * min(abs(arc.query - arc.key), 6)
    colour = _COLOURS[arc.kind]
    curve = f"M{x:.1f} {base:.1f} C{x:.1f} {rise - 6:.1f} {y:.1f} {rise - 6:.1f} {y:.1f} {base:.1f}"
    return (
        f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="1.6"{_DASHES[arc.kind]}/>'
        f'<circle cx="{y:.1f}" cy="{base:.1f}" r="2.6" fill="{colour}"/>'
    )
