"""Names of heads around their maps in a figure of all heads.

Enters: a trace and the axes of its maps. Leaves: frames in the colours of the names, and a legend that counts them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from regard.patterns.entries import BROAD, RESTING_PLACES, does_of, rank_of, short_of
from regard.patterns.saved import usable_rules
from regard.trace.trace import Trace
from regard.views.drawing.common import INK
from regard.views.report import report_of
from regard.views.themes import name_colours

_LINE = 1.6  # points
_FAINT = "#c4cad6"  # the frame of a head without a name
_ROW = 0.27  # inches of a row of the legend
_LETTERS = 6.5  # points
BELOW = 0.2  # inches under the maps and their names
NARROW = 4  # inches: a column of a paper
_ENTRY = 1.25  # inches of a name with its swatch


def _names(trace: Trace, kind: str) -> Iterator[tuple[int, int, str | None]]:
    """The most specific name of every head, by its row and column in a grid of layers."""
    report, colours = report_of(trace), _colours()
    for row, layer in enumerate(trace.layers(kind)):
        site = trace.site(layer, kind=kind)
        records = report.of(site) if report else [{"patterns": ()}] * site.heads
        for column, record in enumerate(records):
            yield row, column, next((one["name"] for one in record["patterns"] if one["name"] in colours), None)


def _colours() -> dict[str, str]:
    """Colours of all names, in the app's order."""
    return {rule.name: rule.colour for rule in usable_rules()} | name_colours()


def rest_shares(trace: Trace, kind: str) -> list[float]:
    """How much of every head's attention rests, row by row of a grid; 0 where that is not known."""
    report = report_of(trace)
    sites = [trace.site(layer, kind=kind) for layer in trace.layers(kind)]
    records = [record for site in sites for record in (report.of(site) if report else [{}] * site.heads)]
    return [float((record.get("rest") or {}).get("share", 0.0)) for record in records]


def told_names(trace: Trace, kind: str, most: int = 2) -> list[str]:
    """What heads do, the most specific names first, with their numbers; how many do something else comes last."""
    counts, _ = counted_names(trace, kind)
    for name in RESTING_PLACES:
        counts.pop(name, None)
    order = lambda name: (name in BROAD, -counts[name] if name in BROAD else rank_of(name))  # noqa: E731
    names = sorted(counts, key=order)
    told = [f"{counts[name]} {_do(does_of(name), counts[name])}" for name in names[:most]]
    left = sum(counts[name] for name in names[most:])
    others = f"{len(names) - most} other patterns" if len(names) - most > 1 else "another pattern"
    return [*told, f"{left} {_do('follows', left)} {others}"] if left else told


def _do(does: str, count: int) -> str:
    """ "looks" of one head, "look" of several."""
    return does if count == 1 else re.sub(r"^(\w+)s\b", r"\1", does)


def counted_names(trace: Trace, kind: str) -> tuple[Counter[str], int]:
    """How many heads have each name, each counted by its most specific one, and how many heads there are."""
    names = [name for *_, name in _names(trace, kind)]
    return Counter(name for name in names if name), len(names)


def named_frames(
    axes: Any,
    trace: Trace,
    kind: str,
    corner: Callable[[int, int], tuple[float, float]],
    size: float,
    letters: float,
    room: tuple[float, float],
) -> int:
    """Frame every head that has a name; `corner` is where the map at a row and column of the grid begins.

    The name stands below its map, in `letters` points; with 0 the frame stands alone. `room` has the inches of all maps
    and those to leave free at the right of the legend. Returns how many rows the legend has.
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
    figure = axes.figure
    if not counts:
        figure.set_figheight(figure.get_figheight() + (2 * _ROW if room[1] else 0))
        return 0
    handles = [
        Patch(facecolor="none", edgecolor=colours[name], linewidth=_LINE, label=f"{name} {count}")
        for name, count in sorted(counts.items(), key=lambda entry: list(colours).index(entry[0]))
    ]
    narrow = figure.get_figwidth() < NARROW
    free = room[0] - (0 if narrow else room[1])
    rows = -(-len(handles) // max(1, int(free / _ENTRY)))
    columns = -(-len(handles) // rows)
    under = 2 if narrow and room[1] else 0  # the colours of the maps stand below it
    figure.set_figheight(figure.get_figheight() + _ROW * (0.7 + max(rows, 2) + under))
    axes.legend(
        handles=_across(handles, columns),
        loc="upper center",
        bbox_to_anchor=(free / 2 / room[0], 0),
        borderaxespad=72 * BELOW / _LETTERS,
        ncols=columns,
        fontsize=_LETTERS,
        labelcolor=INK,
        handlelength=1.4,
        frameon=False,
    )
    return rows


def _across(entries: list[Any], columns: int) -> list[Any]:
    """Entries in the order in which a legend, which fills its columns one by one, reads across."""
    return [entry for column in range(columns) for entry in entries[column::columns]]
