"""What a notebook shows of a trace that is the last line of a cell.

Enters: a Trace. Leaves: the widget, while the kernel runs and if it is installed; and a still, which the notebook's
file keeps: GitHub, nbviewer and a notebook that is opened again show it. The widget's style hides it.
"""

from __future__ import annotations

import base64
import html
from importlib.util import find_spec
from typing import TYPE_CHECKING

from regard.base.errors import UserError
from regard.trace.records import report_bundle
from regard.trace.site import Site
from regard.trace.trace import Trace
from regard.views.drawing.heard import hears

if TYPE_CHECKING:
    from regard.views.widget import View

LIGHT = 32_000_000  # bytes of a trace that a cell sends to the browser without being asked
STILL = 400_000  # bytes of a picture that a notebook's file keeps
_DPI = 96


def display_trace(trace: Trace) -> None:
    """Show a trace in IPython: the widget where there is a notebook, and the still."""
    from IPython import get_ipython
    from IPython.display import display

    if not hasattr(get_ipython(), "kernel"):
        display({"text/plain": repr(trace)}, raw=True)
        return
    view = view_of(trace)
    if view is not None:
        display(view)
    display(still_bundle(trace), raw=True)


def view_of(trace: Trace) -> View | None:
    """The widget, unless it is not installed or the trace is too long to be sent unasked."""
    if find_spec("anywidget") is None or sum(map(_size, trace.sites)) > LIGHT:
        return None
    return trace.view()


def still_bundle(trace: Trace) -> dict[str, str]:
    """A picture of the head with the clearest pattern, or of a sound, with what the trace holds; or words alone."""
    found = report_bundle(trace)
    picture = _picture(trace)
    if picture:
        found["text/html"] = f'<div class="regard-still">{picture}{found["text/html"]}</div>'
    return {**found, "text/plain": repr(trace)}


def _picture(trace: Trace) -> str:
    if find_spec("matplotlib") is None:
        return ""
    heard = hears(trace)
    first = None if heard else next(iter(trace.patterns()), None)
    try:
        if heard:
            said, figure = "when a sound is listened to", trace.figure("sound")
        elif first is None:
            said, figure = "attention of one layer", trace.figure("heads")
        else:
            said = f"head {first.layer}.{first.head}: {first.sentence}"
            figure = trace.figure("heads", layer=first.layer, head=first.head, kind=first.kind)
    except UserError:  # too long a text for a figure
        return ""
    drawn = figure.png(dpi=_DPI)
    return image(drawn, said) if len(drawn) <= STILL else ""


def image(png: bytes, said: str) -> str:
    """A picture inside the markup, and what it shows in words."""
    data = base64.b64encode(png).decode()
    return f'<img style="max-width: 100%" alt="{html.escape(said)}" src="data:image/png;base64,{data}">'


def _size(site: Site) -> int:
    """Bytes that a view is made of; v stays behind."""
    return sum(array.nbytes for array in (site.q, site.k, site.maps) if array is not None)
