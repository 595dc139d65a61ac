"""What the query of an address asks for, checked on arrival.

Enters: a request. Leaves: frozen records of the right types, or a Problem that names the field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from starlette.requests import Request

from regard.app.fields import PLACE, Fields
from regard.app.problems import bad, large
from regard.app.questions import NAME, Open, open_in
from regard.views.figures import FIGURES, FORMATS, WIDTHS

_PAGE = re.compile(r"heads/[\w.-]{1,64}\.html", re.ASCII)
_DRAWN = 64  # heads of one figure


@dataclass(frozen=True)
class Drawing:
    """A figure: what it shows, in which format and width."""

    open: Open
    format: str
    width: str
    contributions: bool
    threshold: float
    query: int | None


@dataclass(frozen=True)
class Near:
    """A position of a trace and a head, for what is nearest in a study; `page` is the head's own page there."""

    study: str
    head: tuple[str, int, int]
    query: int
    side: str
    page: str


def open_of(request: Request) -> Open:
    """What an exported page opens with, from its query."""
    query = request.query_params
    try:
        first = open_in(
            Fields(
                {
                    "view": query.get("view"),
                    "kind": query.get("kind"),
                    "layer": int(query["layer"]) if query.get("layer") else None,
                    "heads": [int(part) for part in query["heads"].split(",")] if query.get("heads") else None,
                }
            )
        )
        return replace(first, worth=query.get("worth") == "1")
    except ValueError:
        raise bad("layer must be a number, heads must be numbers separated by commas") from None


def drawing_of(request: Request) -> Drawing:
    """What a figure shows, from its query."""
    query = request.query_params
    ending, width = query.get("format", "svg"), query.get("width", "column")
    if ending not in FORMATS:
        raise bad(f"format must be one of {', '.join(FORMATS)}")
    if width not in WIDTHS:
        raise bad(f"width must be one of {', '.join(WIDTHS)}")
    first = open_of(request)
    if first.view not in FIGURES:
        raise bad(f"view must be one of {', '.join(FIGURES)}")
    if first.heads is not None and len(first.heads) > _DRAWN:
        raise large(f"at most {_DRAWN} heads can be drawn at once")
    try:
        threshold = float(query.get("threshold") or 0)
        token = int(query["query"]) if query.get("query") else None
    except ValueError:
        raise bad("threshold and query must be numbers") from None
    if not 0 <= threshold <= 1 or (token is not None and not 0 <= token <= PLACE):
        raise bad(f"threshold must be between 0 and 1, query between 0 and {PLACE:,}")
    return Drawing(first, ending, width, query.get("contributions") == "1", threshold, token)


def near_of(request: Request) -> Near:
    """Which head at which position, from the query of a request."""
    query, first = request.query_params, open_of(request)
    side, page = query.get("side", "q"), query.get("page", "")
    if first.kind is None or first.layer is None or first.heads is None or len(first.heads) != 1:
        raise bad("kind, layer and one head are needed")
    if side not in ("q", "k"):
        raise bad("side must be q or k")
    if not _PAGE.fullmatch(page):
        raise bad("page must be that of a head")
    try:
        place = int(query.get("query", ""))
    except ValueError:
        raise bad("query must be a number") from None
    if not 0 <= place <= PLACE:
        raise bad(f"query must be between 0 and {PLACE:,}")
    return Near(query.get("study", "")[:NAME], (first.kind, first.layer, first.heads[0]), place, side, page)
