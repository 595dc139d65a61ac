"""Texts in figures: whatever a token or name contains, SVG and PDF stay well-formed and show a symbol in its place.

Enters: any text. Leaves: text that can be drawn.
"""

from __future__ import annotations

import re

# Characters that XML cannot contain, and the byte order mark, which matplotlib's PDF cannot.
_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def visible(text: str) -> str:
    """The text with a symbol for each character that cannot be drawn (frontend/src/marks/pen.ts does the same)."""
    return _UNDRAWABLE.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "�"


def plain(text: str) -> str:
    """A text for matplotlib, which would read anything between two dollar signs as a formula."""
    return visible(text).replace("$", r"\$")


def readable(text: str) -> str:
    """A token made readable: leading spaces and line breaks visible, long tokens shortened."""
    shown = text.replace("\n", "⏎").replace("\t", "⇥")
    if shown.startswith(" ") and shown.strip():
        shown = shown[1:]
    shown = "␣" * len(shown) if shown and not shown.strip() else shown
    return visible(shown if len(shown) <= 24 else shown[:23] + "…")
