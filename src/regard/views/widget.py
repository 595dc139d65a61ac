"""The views in a notebook: Jupyter, VS Code, Colab, marimo.

Enters: a Trace. Leaves: a widget that shows itself; its selection can be read and set from Python.
"""

from __future__ import annotations

from typing import Any, Unpack

import anywidget
import traitlets

from regard.base.errors import UserError
from regard.trace.showing import ViewOptions
from regard.trace.trace import Trace
from regard.views.html import bundle
from regard.views.wire import VIEWS, encode, header_of, require_worth, shown_first

_CHOICES = (
    *("view", "kind", "layer", "part", "heads", "queries", "keys", "pairs", "contributions", "relative"),
    *("worth", "level", "special", "threshold", "from", "to", "log", "step", "form"),
)


class View(anywidget.AnyWidget):  # type: ignore[misc]
    """Interactive views of one trace.

    `selection` is what is chosen in the view: a dictionary with view, kind, layer, heads, queries (pinned
    positions) and so on. Set some of it with `select`.
    """

    _esm = bundle("regard.js")
    _css = bundle("regard.css")
    payload = traitlets.Bytes().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)

    def __init__(self, trace: Trace, view: str | None = None, **first: Unpack[ViewOptions]) -> None:
        """Show a trace; `first` says what to open with, as in `regard.views.encode`."""
        asked = shown_first(trace, view, first.get("kind"), first.get("layer"), first.get("heads"))
        payload = encode(trace, **{**first, **asked})
        super().__init__(payload=payload, selection=header_of(payload)["selection"])
        self.trace = trace

    def select(self, **change: Any) -> None:
        """Change the selection: view="matrix", layer=3, heads=[0, 4], queries=[5] ..."""
        self._check(change)
        self.selection = {**self.selection, **change}

    def _check(self, change: dict[str, Any]) -> None:
        unknown = [name for name in change if name not in _CHOICES]
        if unknown:
            raise UserError(f"a view has no option {unknown[0]!r}; choose from {', '.join(_CHOICES)}")
        wanted = {**self.selection, **change}
        if wanted["view"] not in VIEWS:
            raise UserError(f"there is no view {wanted['view']!r}; choose from {', '.join(VIEWS)}")
        site = self.trace.site(wanted["layer"], kind=wanted["kind"])
        if change.get("worth"):
            require_worth(self.trace)
        for head in change.get("heads", ()):
            site.index(head)
