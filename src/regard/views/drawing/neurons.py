"""The figure of neurons: how one query's scores are made.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.trace.site import Array
from regard.trace.tokens import subscript
from regard.views.drawing.common import INK, MONO, QUIET, RULE, bare, label_of, labels_of, name_parts, new_figure
from regard.views.drawing.depicted import Depicted
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NUMBERED = 6  # neurons that have their number above them
_NARROW = 5  # inches
_SMALL = 0.001  # a smaller weight is a dot


def draw_neurons(job: Depicted) -> Figure:
    """For one query: q, and below it every k, q x k, the score and its softmax; blue positive, orange negative.

    Neurons are in the order of |q x k| with the key that is looked at most.
    """
    job.check_length()
    head = job.heads[0]
    query = job.asking
    q = job.trace.q(job.layer, head, kind=job.kind)[query].astype(np.float32)
    k = job.trace.k(job.layer, head, kind=job.kind)[job.columns].astype(np.float32)
    scores = job.trace.scores(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    weights = job.trace.attention(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    most = int(weights.argmax())
    order = np.argsort(-np.abs(q * k[most]), kind="stable")
    q, k = q[order], k[:, order]
    drawn = new_figure(job.width or 7.2, 1.7 + 0.17 * len(job.columns))
    (top, *rest), grid = drawn.subplots(2, 4, width_ratios=[4, 4, 1.5, 1.5], height_ratios=[1, len(k)])
    for axes in rest:
        axes.set_axis_off()
    shown = [_signed(top, q[None])]
    for axes, name, block in ((grid[0], "k", k), (grid[1], "q × k", q * k)):
        shown.append(_signed(axes, block))
        axes.set_title(name, size=8, color=QUIET, pad=10 if axes is grid[1] else None)
    for axes in (top, *grid):
        bare(axes)
        axes.set(xticks=[], yticks=[])
    turned = 90 if drawn.get_figwidth() < _NARROW else 0
    _bars(grid[2], np.where(np.isfinite(scores), scores, np.nan), most, "{:.1f}")
    grid[2].set_title("score", size=8, color=QUIET, rotation=turned)
    _bars(grid[3], weights, most, "{:.2f}")
    grid[3].set_title("weight", size=8, color=QUIET, rotation=turned)
    asking = job.trace.side(job.site.query_side).tokens[query]
    top.set_yticks([0], [f"q of {label_of(asking)}{subscript(query)}"], **MONO)
    grid[0].set_yticks(range(len(k)), labels_of(job.key_tokens, job.columns), **MONO)
    grid[0].get_yticklabels()[most].set_fontweight("bold")
    grid[0].set_ylabel("key", size=8, color=QUIET)
    named = order[:_NUMBERED]
    grid[1].set_xticks(range(len(named)), [str(n) for n in named], size=5, color=QUIET, rotation=90)
    grid[1].tick_params(top=False, labeltop=True, labelbottom=False, pad=1)
    _divide(job, grid, q.size)
    grid[0].set_xlabel("neuron, by |q × k| of the bold key", size=7, color=QUIET)
    for axes, one in zip(grid, shown[1:], strict=False):
        _scale(drawn, one, axes)
    return drawn


def _divide(job: Depicted, grid: Any, neurons: int) -> None:
    """Where the answer begins."""
    first = job.divisions[1]
    if first is None:
        return
    for axes in grid:
        axes.axhline(first - 0.5, **RULE)
    name_parts(grid[1], (neurons - 0.5, first - 0.5), "right", across=False)


def _bars(axes: Any, values: Array, most: int, form: str) -> None:
    """A number for each key as a bar from 0, and written beside it; that of the key looked at most is bold."""
    known = np.nan_to_num(values)
    below, above = theme().below[3], theme().above[3]
    axes.barh(range(len(values)), known, height=0.7, color=[below if value < 0 else above for value in known])
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max())) or 1.0
    room = (high - low) * 0.75  # for the numbers
    axes.set(xlim=(low - 0.05 * (high - low), high + room), ylim=(len(values) - 0.5, -0.5))
    axes.axvline(0, color=QUIET, linewidth=0.5)
    for row, value in enumerate(values):
        text = "" if np.isnan(value) else "·" if 0 < value < _SMALL else form.format(value).replace("-", "−")
        bold = "bold" if row == most else "normal"
        axes.text(high + room * 0.97, row, text, ha="right", va="center", size=6, color=INK, fontweight=bold)


def _signed(axes: Any, block: Array) -> Any:
    """Numbers of both signs, zero in the middle of their colours."""
    limit = float(np.nanmax(np.abs(block))) or 1.0
    return axes.imshow(block, cmap=theme().signs, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")


def _scale(drawn: Figure, image: Any, axes: Any) -> None:
    """What the colours of a block mean, below it: from the lowest over zero to the highest."""
    bar = drawn.colorbar(image, ax=axes, location="bottom", aspect=18, pad=0.02, shrink=0.9)
    low, high = image.get_clim()
    places = [low, 0, high] if low < 0 else [low, high]
    if axes.get_position().width < 0.12:
        places = places[:: len(places) - 1]  # a narrow one has room for its ends
    bar.set_ticks(places, labels=[f"{place:+.2g}" if low < 0 and place else f"{place:.2g}" for place in places])
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=0)
