"""Arcs over the words of a sentence as SVG: guesses that are right or wrong, true ones that were missed, and looks.

Enters: words and arcs. Leaves: markup whose text is escaped; colours follow the page's theme.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from regard.trace.lettering import visible

_LETTER, _GAP, _STEP, _LINE = 8.0, 12.0, 18.0, 15.0
_QUIET = "var(--quiet, #5f6879)"
_COLOURS = {"right": "#2b6fd6", "wrong": "#d2622a", "missed": _QUIET, "look": "var(--accent, #2457b8)", "rest": _QUIET}
_DASHES = {"wrong": ' stroke-dasharray="6 3"', "missed": ' stroke-dasharray="1 4"'}
_BOLD = ' font-weight="700"'
_FAINTEST = 0.15  # of an arc with little weight


class Arc(NamedTuple):
    """From one word to another.

    `kind` is right, wrong or missed (a true arc that was not guessed), or look or rest, of a weight up to 1.
    """

    query: int
    key: int
    kind: str
    weight: float = 1.0


def arcs_svg(words: Sequence[str], arcs: Sequence[Arc], *, label: str, bold: int | None = None) -> str:
    """The sentence on one line with arcs above it, each ending in a dot at its key; one word may be bold."""
    widths = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in word) * _LETTER for word in words]
    edges = [sum(widths[:n]) + n * _GAP for n in range(len(words))]
    centres = [edge + width / 2 for edge, width in zip(edges, widths, strict=True)]
    tallest = max((abs(arc.query - arc.key) for arc in arcs), default=1)
    base = _LINE + _STEP * min(tallest, 6)
    width, height = sum(widths) + _GAP * len(words), base + 24
    drawn = [
        _path(arc, centres, base) for arc in sorted(arcs, key=lambda arc: (arc.kind != "rest", arc.kind, arc.weight))
    ]
    texts = [
        f'<text x="{centre:.1f}" y="{base + 16:.1f}" text-anchor="middle"{_BOLD if place == bold else ""}>'
        f"{html.escape(visible(word))}</text>"
        for place, (centre, word) in enumerate(zip(centres, words, strict=True))
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
    faint = f' opacity="{max(_FAINTEST, arc.weight):.2f}"' if arc.weight < 1 else ""
    curve = f"M{x:.1f} {base:.1f} C{x:.1f} {rise - 6:.1f} {y:.1f} {rise - 6:.1f} {y:.1f} {base:.1f}"
    return (
        f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="1.6"{_DASHES.get(arc.kind, "")}{faint}/>'
        f'<circle cx="{y:.1f}" cy="{base:.1f}" r="2.6" fill="{colour}"{faint}/>'
    )
