"""The views in a notebook: Jupyter, VS Code, Colab, marimo.

Enters: a Trace. Leaves: a widget that shows itself; its selection can be read and set from Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from regard.trace import Trace
from regard.views.html import bundle
from regard.views.wire import encode


class View(anywidget.AnyWidget):  # type: ignore[misc]
    """Interactive views of one trace.

    `selection` is what is chosen in the view: a dictionary with view, kind, layer, heads, queries (pinned
    positions) and so on. Set some of it with `select`.
    """

    _esm = bundle("regard.js")
    _css = bundle("regard.css")
    payload = traitlets.Bytes().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)

    def __init__(self, trace: Trace, **first: Any) -> None:
        """Show a trace; `first` names what is open first, as in `regard.views.encode`."""
        super().__init__(payload=encode(trace, **first))
        self.trace = trace

    def select(self, **change: Any) -> None:
        """Choose something else in the view: view="matrix", layer=3, heads=[0, 4], queries=[5] ..."""
        self._check(change)
        self.selection = {**self.selection, **change}

    def _check(self, change: dict[str, Any]) -> None:
        kind = change.get("kind", self.selection.get("kind"))
        layer = change.get("layer", self.selection.get("layer"))
        site = self.trace.site(self.trace.layers(kind)[0] if layer is None else layer, kind=kind)
        heads: Sequence[int] = change.get("heads", ())
        for head in heads:
            site.index(head)
