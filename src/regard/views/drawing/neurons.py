"""The figure of neurons: how one query's scores are made.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.trace.site import Array
from regard.trace.tokens import subscript
from regard.views.drawing.common import MONO, QUIET, RULE, bare, label_of, labels_of, name_parts, new_figure
from regard.views.drawing.depicted import Depicted
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_neurons(job: Depicted) -> Figure:
    """For one query: q, and below it every k, q x k, the score and its softmax; blue positive, orange negative."""
    job.check_length()
    head = job.heads[0]
    query = job.asking
    q = job.trace.q(job.layer, head, kind=job.kind)[query].astype(np.float32)
    k = job.trace.k(job.layer, head, kind=job.kind)[job.columns].astype(np.float32)
    scores = job.trace.scores(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    weights = job.trace.attention(job.layer, head, kind=job.kind, queries=query, keys=job.columns)[0]
    drawn = new_figure(job.width or 7.2, 1.7 + 0.17 * len(job.columns))
    (top, *rest), grid = drawn.subplots(2, 4, width_ratios=[4, 4, 0.9, 0.9], height_ratios=[1, len(k)])
    for axes in rest:
        axes.set_axis_off()
    shown = [_signed(top, q[None])]
    for axes, name, block in ((grid[0], "k", k), (grid[1], "q x k", q * k)):
        shown.append(_signed(axes, block))
        axes.set_title(name, size=8, color=QUIET)
    shown.append(_signed(grid[2], np.where(np.isfinite(scores), scores, np.nan)[:, None]))
    turned = 90 if drawn.get_figwidth() < 5 else 0
    grid[2].set_title("score", size=8, color=QUIET, rotation=turned)
    image = grid[3].imshow(weights[:, None], cmap=theme().maps, vmin=0, vmax=1, aspect="auto")
    grid[3].set_title("weight", size=8, color=QUIET, rotation=turned)
    for axes in (top, *grid):
        bare(axes)
        axes.set(xticks=[], yticks=[])
    asking = job.trace.side(job.site.query_side).tokens[query]
    top.set_yticks([0], [f"q of {label_of(asking)}{subscript(query)}"], **MONO)
    grid[0].set_yticks(range(len(k)), labels_of(job.key_tokens, job.columns), **MONO)
    grid[0].set_ylabel("key", size=8, color=QUIET)
    first = job.divisions[1]
    if first is not None:
        for axes in grid:
            axes.axhline(first - 0.5, **RULE)
        name_parts(grid[1], (q.size - 0.5, first - 0.5), "right", across=False)
    grid[0].set_xlabel("neuron", size=7, color=QUIET)
    for axes, one in zip(grid, [*shown[1:], image], strict=True):
        _scale(drawn, one, axes)
    return drawn


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
