"""The figure of one map, queries down and keys across.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.views.drawing.common import (
    GREY,
    QUIET,
    RULE,
    bare,
    colour_bar,
    farthest,
    grey_key,
    greys,
    labels_of,
    lettering,
    name_parts,
    new_figure,
)
from regard.views.drawing.depicted import Depicted
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_BOUND: dict[str, Any] = {"color": GREY, "linewidth": 0.5}  # between sentences, as in the app


def draw_matrix(job: Depicted) -> Figure:
    """One map: queries down, keys across."""
    job.check_length()
    across, down = len(job.columns), len(job.rows)
    width = job.width or max(3.0, 1.5 + 0.15 * across)
    cell = min(0.3, max(0.4, width - 1.5) / across)
    drawn = new_figure(width, max(2.6, 1.5 + cell * down))
    axes = drawn.add_subplot()
    weights = job.map_of(job.heads[0])
    rests = job.rests & (job.shown != "worth")
    if job.shown == "worth":
        top = farthest(weights) or 1.0
        image = axes.imshow(weights, cmap=theme().signs, vmin=-top, vmax=top, interpolation="nearest")
        axes.patch.set(facecolor="#dfe3ea", hatch="////", edgecolor="#b8bfca")  # where only an exact cut tells
    else:
        top = float(weights[~rests].max(initial=0)) or float(weights.max(initial=0)) or 1.0
        scale: dict[str, Any] = {"vmin": 0, "vmax": top, "interpolation": "nearest"}
        image = axes.imshow(weights, cmap=theme().maps, **scale)
        axes.imshow(np.where(rests, weights, np.nan), cmap=greys(), **scale)  # over it
    letters = lettering(cell)
    axes.set_xticks(range(across), labels_of(job.key_tokens, job.columns), rotation=90, **letters)
    axes.set_yticks(range(down), labels_of(job.query_tokens, job.rows), **letters)
    bare(axes)
    axes.set_xlabel("looked at", size=8, color=QUIET)
    axes.set_ylabel("looks", size=8, color=QUIET)
    _bound(axes, *job.bounds)
    _divide(axes, *job.divisions, across - 0.6)
    bar = colour_bar(drawn, image, axes, job.quantity)
    if rests.any():
        grey_key(bar)
    return drawn


def _bound(axes: Any, rows: list[int], columns: list[int]) -> None:
    """Faint rules where another part of the text begins."""
    for row in rows:
        axes.axhline(row - 0.5, **_BOUND)
    for column in columns:
        axes.axvline(column - 0.5, **_BOUND)


def _divide(axes: Any, row: int | None, column: int | None, right: float) -> None:
    """Rules between prompt and answer on a map, named where a causal map is empty."""
    if row is not None:
        axes.axhline(row - 0.5, **RULE)
        name_parts(axes, (right, row - 0.5), "right", across=False)
    if column is not None:
        axes.axvline(column - 0.5, **RULE)
        name_parts(axes, (column - 0.5, -0.4), "left", across=True)
