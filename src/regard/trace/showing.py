"""What `Trace.view`, `save_html` and `figure` take: the options of the views, by name and type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from regard.trace.site import Array, Positions

if TYPE_CHECKING:
    from regard.transformer.walk import Walk
    from regard.views.report import Given


class Shown(TypedDict, total=False):
    """What is sent to the views besides the trace; see `regard.views.encode`."""

    vectors: bool
    measures: Mapping[str, Sequence[Array]] | None
    report: Given
    walk: Walk | None
    worth: bool


class ViewOptions(Shown, total=False):
    """What a view opens with, and what it is given."""

    kind: str | None
    layer: int | None
    heads: Sequence[int] | None


class PageOptions(ViewOptions, total=False):
    """What a page opens with, and what is in it; see `regard.views.html.save_html`."""

    view: str | None
    layers: Iterable[int] | None
    title: str | None
    limit: int
    aim: int


class FigureOptions(TypedDict, total=False):
    """What a figure shows; see `regard.views.figures.figure`."""

    layer: int | None
    head: int | None
    heads: Sequence[int] | None
    kind: str | None
    query: int | None
    queries: Positions
    keys: Positions
    contributions: bool
    worth: bool
    threshold: float
    title: str | None
    width: str | float | None
