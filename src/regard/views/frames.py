"""Names of heads around their maps in a figure of all heads.

Enters: a trace and the axes of its maps. Leaves: frames in the colours of the names, and a legend that counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from regard.patterns.entries import short_of
from regard.patterns.saved import usable_rules
from regard.trace.trace import Trace
from regard.views.drawing.common import INK
from regard.views.report import report_of
from regard.views.themes import name_colours

_LINE = 1.6  # points
_FAINT = "#c4cad6"  # the frame of a head without a name
_ROW = 0.27  # inches of a row of the legend
_BELOW = 4  # letters: under the numbers of the heads and what they are
_NARROW = 4  # inches: a column of a paper


def _names(trace: Trace, kind: str) -> Iterator[tuple[int, int, str | None]]:
    """The most specific name of every head, by its row and column in a grid of layers."""
    report, colours = report_of(trace), _colours()
    for row, layer in enumerate(trace.layers(kind)):
        site = trace.site(layer, kind=kind)
        records = report.of(site) if report else [{"patterns": ()}] * site.heads
        for column, record in enumerate(records):
            yield row, column, next((one["name"] for one in record["patterns"] if one["name"] in colours), None)


def _colours() -> dict[str, str]:
    return name_colours() | {rule.name: rule.colour for rule in usable_rules()}


def counted_names(trace: Trace, kind: str) -> tuple[Counter[str], int]:
    """How many heads have each name, each counted by its most specific one, and how many heads there are."""
    names = [name for *_, name in _names(trace, kind)]
    return Counter(name for name in names if name), len(names)


def named_frames(
    axes: Any, trace: Trace, kind: str, corner: Callable[[int, int], tuple[float, float]], size: float, letters: float
) -> None:
    """Frame every head that has a name; `corner` is where the map at a row and column of the grid begins.

    The name stands below its map, in `letters` points; with 0 the frame stands alone.
    """
    from matplotlib.patches import Patch, Rectangle

    colours = _colours()
    for row, column, name in _names(trace, kind):
        x, y = corner(row, column)
        if name is None:
            axes.add_patch(Rectangle((x, y), size, size, fill=False, edgecolor=_FAINT, linewidth=_LINE / 4))
            continue
        axes.add_patch(Rectangle((x, y), size, size, fill=False, edgecolor=colours[name], linewidth=_LINE))
        if letters:
            axes.text(x + size / 2, y + size * 1.04, short_of(name), ha="center", va="top", size=letters, color=INK)
    counts, _ = counted_names(trace, kind)
    if not counts:
        return
    handles = [
        Patch(facecolor="none", edgecolor=colours[name], linewidth=_LINE, label=f"{name} {count}")
        for name, count in counts.most_common()
    ]
    figure = axes.figure
    columns = min(len(handles), 4 if figure.get_figwidth() > _NARROW else 2)
    figure.set_figheight(figure.get_figheight() + _ROW * (0.7 - (-len(handles) // columns)))
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        borderaxespad=_BELOW,
        ncols=columns,
        fontsize=6.5,
        labelcolor=INK,
        handlelength=1.4,
        frameon=False,
    )
