"""The figure of heads: lines between two columns of tokens.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.trace.site import Array
from regard.views.drawing.common import (
    INK,
    MONO,
    NEGATIVE,
    POSITIVE,
    QUIET,
    RULE,
    farthest,
    labels_of,
    name_parts,
    new_figure,
)
from regard.views.drawing.depicted import Depicted
from regard.views.report import report_of
from regard.views.themes import head_colour, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

_RESTING = 0.55  # of the opacity of other lines: what rests stays in the background
_LEGEND = 12  # heads that a legend lists
_STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)  # the weights that legends of lines name, in every view
_SWATCHES = 4
_STRONG = 0.6  # of the full opacity: stronger lines are wider
_THIN, _WIDE = 0.5, 1.3  # points
_COLUMN = 4  # inches: narrower, both legends need short words


def draw_heads(job: Depicted) -> Figure:
    """Two columns of tokens, a line per query and key: opacity is strength, colour one of several heads, grey rests."""
    job.check_length()
    longest = max(len(job.rows), len(job.columns))
    drawn = new_figure(job.width or 4.2, 1.6 + 0.17 * longest)
    axes = drawn.add_subplot()
    maps = [job.map_of(head) for head in job.heads]
    strongest = max(farthest(m) for m in maps) or 1.0
    rests = job.rests
    for head, weights in zip(job.heads, maps, strict=True):
        share = weights / strongest
        if job.shown == "worth":
            _signed_lines(axes, share, job.threshold)
            continue
        seen = share > max(job.threshold, 0.005)
        axes.add_collection(_lines(_RESTING * _opacity(share), seen & rests, QUIET, linewidths=0.5, zorder=1))
        axes.add_collection(_lines(_opacity(share), seen & ~rests, _colour(job, head), zorder=2))
    columns_of = ((-0.03, "right", job.query_tokens, job.rows), (1.03, "left", job.key_tokens, job.columns))
    for x, side, tokens, places in columns_of:
        for y, (token, text) in enumerate(zip(tokens, labels_of(tokens, places), strict=True)):
            colour = QUIET if token.special else INK
            axes.text(x, y, text, ha=side, va="center", color=colour, **MONO)
    for x, side, name in ((-0.03, "right", "looks"), (1.03, "left", "looked at")):
        axes.text(x, -1.1, name, ha=side, va="center", color=QUIET, size=8)
    for first, near, far in zip(job.divisions, (-0.03, 1.03), (-0.75, 1.75), strict=True):
        if first is not None:
            axes.plot([near, far], [first - 0.5] * 2, **RULE)
            side = "left" if far < near else "right"
            name_parts(axes, (far, first - 0.5), side, across=False)
    named = job.heads[:_LEGEND]
    columns = 4 if (job.width or 4.2) < 5 else 8
    below = 2.2 + len(named) // columns  # rows that the legend takes
    axes.set(xlim=(-0.75, 1.75), ylim=(longest - 0.4 + below, -1.6))
    axes.axis("off")
    for handles, title, place in _keys(job, named, strongest, bool(rests.any())):
        across = min(columns, len(handles)) if title == "head" else len(handles)  # strengths in one line
        legend = axes.legend(
            handles=handles, title=title, loc=place, ncols=across, frameon=False,
            fontsize=6, title_fontsize=6, handlelength=1.2, columnspacing=0.8, labelcolor=INK,
            borderaxespad=0, alignment=place.split()[1],
        )  # fmt: skip
        legend.get_title().set_color(QUIET)
        axes.add_artist(legend)
    return drawn


def _keys(job: Depicted, named: list[int], strongest: float, resting: bool) -> Iterator[tuple[list[Any], str, str]]:
    """What colours and strengths of lines mean: handles, a title and a place for each legend."""
    from matplotlib.lines import Line2D

    if job.shown == "worth":
        signs = [
            Line2D([], [], color=POSITIVE, linewidth=2, label="helps"),
            Line2D([], [], color=NEGATIVE, linewidth=2, label="works against"),
            Line2D([], [], color=QUIET, linewidth=0.6, linestyle="--", label="cut to know"),
        ]
        yield signs, "line", "lower left"
    else:
        marks = [Line2D([], [], color=_colour(job, head), linewidth=2, label=f"{job.layer}.{head}") for head in named]
        if len(job.heads) > len(named):
            marks.append(Line2D([], [], linestyle="", label=f"and {len(job.heads) - len(named)} more"))
        if resting:
            marks.append(Line2D([], [], color=QUIET, linewidth=0.8, label=_resting(job)))
        yield marks, "head", "lower left"
    steps = [*[step for step in _STRENGTHS if step < 0.85 * strongest][-_SWATCHES + 1 :], strongest]
    colour = _colour(job, job.heads[0]) if len(job.heads) == 1 and job.shown != "worth" else INK
    opacities = _opacity(np.array(steps) / strongest)
    strengths = [
        Line2D([], [], color=colour, alpha=opacity, linewidth=2, label=f"{x:.2g}")
        for x, opacity in zip(steps, opacities, strict=True)
    ]
    yield strengths, job.quantity, "lower right"


def _colour(job: Depicted, head: int) -> str:
    """Hues tell heads apart; one alone needs none."""
    return head_colour(head) if len(job.heads) > 1 else theme().accent


def _resting(job: Depicted) -> str:
    """What grey lines are: of one head shown whole also how much of its attention they are."""
    report = report_of(job.trace) if len(job.heads) == 1 and job.shown == "weights" else None
    record = report.of(job.site)[job.site.index(job.heads[0])] if report else {}
    rest = record.get("rest")
    whole = "" if (job.width or 4.2) < _COLUMN else " of words' attention"
    return f"resting, {int(100 * rest['share'] + 0.5)}%{whole}" if rest else "resting"


def _signed_lines(axes: Axes, share: Array, threshold: float) -> None:
    """Lines that help and that work against, as opaque as their share; those not known grey and dashed."""
    known = np.nan_to_num(share)
    seen = np.abs(known) > max(threshold, 0.005)
    unknown = np.isnan(share)
    axes.add_collection(_lines(np.full(share.shape, 0.4), unknown, QUIET, linewidths=0.5, linestyles="--", zorder=1))
    axes.add_collection(_lines(_opacity(known), seen & (known < 0), NEGATIVE, zorder=2))
    axes.add_collection(_lines(_opacity(known), seen & (known > 0), POSITIVE, zorder=2))


def _opacity(share: Array) -> Array:
    """How opaque a share of the strongest is drawn: the square root keeps weak ones in sight, as in the app."""
    return np.asarray(np.sqrt(np.clip(np.abs(share), 0, 1)))


def _lines(opacity: Array, seen: Array, colour: str, **style: Any) -> LineCollection:
    """A line for each pair that is seen; strong ones are wider."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    i, j = np.nonzero(seen)
    lines = np.stack([np.stack([np.zeros(len(i)), i], 1), np.stack([np.ones(len(j)), j], 1)], 1)
    colours = np.column_stack([np.tile(to_rgb(colour), (len(i), 1)), opacity[i, j]])
    widths = np.where(opacity[i, j] > _STRONG, _WIDE, _THIN)
    return LineCollection(list(lines), colors=colours, capstyle="round", **({"linewidths": widths} | style))
