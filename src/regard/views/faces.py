"""The faces of figures: those of the page where they are installed, else matplotlib's own.

Enters: a figure and a format. Leaves: the same figure, while it is written, in letters that the format can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREFERRED = {"sans-serif": "Inter", "monospace": "JetBrains Mono"}  # the page asks for them too, and ships neither
_OUTLINES = ".otf"  # PDF would hold such a face as TrueType, which it is not


@contextmanager
def dressed(figure: Figure, ending: str) -> Iterator[None]:
    """Let a figure have the faces of the page until the block ends; a family that was chosen by hand stays."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    faces = {family: [face, family] for family, face in _PREFERRED.items() if _usable(face, ending)}
    changed = [
        (text, family) for text in figure.findobj(Text) for family in [text.get_fontfamily()[0]] if family in faces
    ]
    for text, family in changed:
        text.set_fontfamily(faces[family])
    try:
        with rc_context({"font.family": faces.get("sans-serif", ["sans-serif"])}):  # ticks are made as they are drawn
            yield
    finally:
        for text, family in changed:
            text.set_fontfamily(family)


@cache
def _usable(face: str, ending: str) -> bool:
    """Whether a face is installed, in a form that the format can hold."""
    from matplotlib.font_manager import fontManager

    files = [entry.fname for entry in fontManager.ttflist if entry.name == face]
    return bool(files) and not (ending == "pdf" and any(file.lower().endswith(_OUTLINES) for file in files))
