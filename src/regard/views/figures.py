"""Figures for papers: the views as SVG, PDF or PNG, without a browser.

Enters: a Trace and what to draw. Leaves: a `Picture` that shows itself in a notebook and saves itself. The drawings of
the views are in `views/drawing`.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.base.files import write_atomic
from regard.trace.site import Positions
from regard.trace.trace import Trace
from regard.views.drawing.atlas import draw_atlas
from regard.views.drawing.caption import write_caption
from regard.views.drawing.depicted import Depicted
from regard.views.drawing.heads import draw_heads
from regard.views.drawing.heard import listening
from regard.views.drawing.matrix import draw_matrix
from regard.views.drawing.neurons import draw_neurons
from regard.views.drawing.overlay import depicts_picture, draw_overlay
from regard.views.drawing.sound import draw_sound
from regard.views.faces import dressed
from regard.views.wire import require_worth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "pdf", "png")
_DRAWERS: dict[str, Callable[[Depicted], Figure]] = {
    "heads": draw_heads,
    "matrix": draw_matrix,
    "atlas": draw_atlas,
    "neurons": draw_neurons,
    "sound": draw_sound,
}
FIGURES = tuple(_DRAWERS)
WIDTHS = {"column": 3.3, "page": 6.9}  # inches, of a journal's column and of its page
_PAD = 0.15  # inches around a figure that is saved whole: a reader's own font may be a little wider


class Picture:
    """A finished figure. `figure` is the matplotlib figure, for those who want to change it.

    `whole` saves all that is drawn, also a legend that reaches beyond the figure's own size.
    """

    def __init__(self, figure: Figure, *, whole: bool = False) -> None:
        self.figure, self._whole = figure, whole

    def save(self, path: str | Path, *, dpi: int = 300) -> Path:
        """Write SVG, PDF or PNG, depending on the file's ending."""
        target = Path(path)
        ending = target.suffix.lower().lstrip(".")
        if ending not in FORMATS:
            raise UserError(
                f"a figure can be saved as {', '.join(FORMATS)}, not {target.suffix or 'a file without ending'!r}"
            )
        write_atomic(target, lambda temporary: Path(temporary).write_bytes(self._bytes(ending, dpi)))
        return target

    def _bytes(self, ending: str, dpi: int = 144) -> bytes:
        from matplotlib import rc_context

        buffer = io.BytesIO()
        # text stays text, and the same figure gives the same file
        settings = {"svg.fonttype": "none", "svg.hashsalt": "regard", "pdf.fonttype": 42}
        with rc_context(settings), dressed(self.figure, ending), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box is drawn, or SVG's reader has it
            stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
            edge: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": _PAD} if self._whole else {}
            self.figure.savefig(buffer, format=ending, dpi=dpi, metadata=stamp, **edge)
        return buffer.getvalue()

    def svg(self) -> bytes:
        """The figure as SVG."""
        return self._bytes("svg")

    def png(self, dpi: int = 144) -> bytes:
        """The figure as PNG."""
        return self._bytes("png", dpi)

    def _repr_png_(self) -> bytes:
        return self.png()


def figure(
    trace: Trace,
    view: str = "heads",
    *,
    layer: int | None = None,
    head: int | None = None,
    heads: Sequence[int] | None = None,
    kind: str | None = None,
    query: int | None = None,
    queries: Positions = None,
    keys: Positions = None,
    contributions: bool = False,
    worth: bool = False,
    threshold: float = 0.0,
    title: str | None = None,
    width: str | float | None = None,
) -> Picture:
    """Draw one view of a trace.

    Parameters
    ----------
    view
        "heads" (lines between tokens; over a picture, where one token looks), "matrix" (one map), "atlas" (all heads),
        "neurons" (how a score is made), "sound" (when each word is listened for, under the spectrogram).
    layer, head, heads, kind
        Which attention; the first layer and all its heads unless given (matrix and neurons: head 0). Of a sound the
        mean of the heads, by default of the last layer in which words listen.
    query
        The query token whose scores `neurons` shows, by default the last one that is not special; over a picture the
        token that looks, by default [CLS], or the last one of a text; in a sound the token before the word, or the
        moment, to point at: its frames are lit.
    queries, keys
        Positions to show; all unless given.
    contributions
        Show contributions ||alpha f(x)|| instead of the weights.
    worth
        Show what lines are worth instead: blue helps, orange works against; the trace must have been made with
        worth=True.
    threshold
        Leave out lines weaker than this share of the strongest.
    title
        The line above the figure, in place of one that says what it shows; model, input, layer and heads are always
        printed below it.
    width
        "column" (3.3 inches), "page" (6.9 inches) or inches; by default as wide as the tokens need.
    """
    if view not in _DRAWERS:
        raise UserError(f"there is no figure {view!r}; choose from {', '.join(_DRAWERS)}")
    if head is not None and heads is not None:
        raise UserError("pass head=... for one head or heads=[...] for several, not both")
    chosen = [head] if head is not None else None if heads is None else list(heads)
    if worth and (contributions or view in ("neurons", "sound")):
        raise UserError("worth is shown in heads, matrix and atlas, in place of weights and of contributions")
    if worth:
        require_worth(trace)
    if view == "sound":
        kind, layer = listening(trace, kind, layer)
    shown = "worth" if worth else "contributions" if contributions else "weights"
    job = Depicted(trace, layer, chosen, kind, query, queries, keys, shown, threshold, _inches(width))
    drawn = draw_overlay(job) if view == "heads" and depicts_picture(job) else _DRAWERS[view](job)
    write_caption(drawn, job, view, title)
    return Picture(drawn)


def _inches(width: str | float | None) -> float | None:
    """A width in inches; None leaves it to the tokens."""
    if width is None:
        return None
    if isinstance(width, str):
        if width not in WIDTHS:
            raise UserError(f"a figure's width is {' or '.join(WIDTHS)} or a number of inches, not {width!r}")
        return WIDTHS[width]
    if not 1 <= width <= 40:
        raise UserError(f"a figure is between 1 and 40 inches wide, not {width}")
    return float(width)
