"""Names of heads around their maps in a figure of all heads.

Enters: a trace and the axes of its maps. Leaves: frames in the colours of the names, and a legend that counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from regard.patterns.entries import PATTERN_COLOURS
from regard.patterns.saved import usable_rules
from regard.trace.trace import Trace
from regard.views.report import report_of

_LINE = 1.6  # points
_ROW = 0.27  # inches of a row of the legend
_BELOW = 4  # letters: under the numbers of the heads and what they are
_NARROW = 4  # inches: a column of a paper


def named_frames(
    axes: Any, trace: Trace, kind: str, corner: Callable[[int, int], tuple[float, float]], size: float
) -> None:
    """Frame every head that has a name; `corner` is where the map at a row and column of the grid begins."""
    from matplotlib.patches import Patch, Rectangle

    report = report_of(trace)
    if report is None:
        return
    colours = PATTERN_COLOURS | {rule.name: rule.colour for rule in usable_rules()}
    counts: Counter[str] = Counter()
    whole = 0
    for row, layer in enumerate(trace.layers(kind)):
        for column, record in enumerate(report.of(trace.site(layer, kind=kind))):
            whole += 1
            names = [found["name"] for found in record["patterns"] if found["name"] in colours]
            if not names:
                continue
            counts[names[0]] += 1
            colour = colours[names[0]]
            axes.add_patch(Rectangle(corner(row, column), size, size, fill=False, edgecolor=colour, linewidth=_LINE))
    if counts:
        handles = [
            Patch(facecolor="none", edgecolor=colours[name], linewidth=_LINE, label=f"{name} {count}")
            for name, count in counts.most_common()
        ]
        figure = axes.figure
        columns = min(len(handles), 4 if figure.get_figwidth() > _NARROW else 2)
        figure.set_figheight(figure.get_figheight() + _ROW * (1 + -(-len(handles) // columns)))
        legend = axes.legend(
            handles=handles,
            title=f"{sum(counts.values())} of {whole} heads have a name\neach counted by its most specific one",
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            borderaxespad=_BELOW,
            ncols=columns,
            fontsize=7,
            title_fontsize=7,
            frameon=False,
        )
        legend.get_title().set_multialignment("center")
