"""Figures of switched-off heads: the map with the baseline marked, importance beside it, and pruning curves.

Enters: tables of a result. Leaves: Pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regard.studies.figures import grid_axes, new_figure
from regard.trace.lettering import plain
from regard.views.figures import Picture
from regard.views.themes import head_colour, theme

if TYPE_CHECKING:
    import pandas as pd

    from regard.ablation.tasks import Task

CLEAR = 0.05  # heads are marked if chance gives such a gain or loss less often, corrected for all heads


def map_picture(heads: pd.DataFrame, layers: pd.DataFrame, baseline: float, task: Task, title: str) -> Picture:
    """The score without each head, around the baseline; whole layers as numbers in a column beside them."""
    values = np.asarray(heads.pivot(index="layer", columns="head", values="score"))
    rows, columns = values.shape
    drawn = new_figure(max(4.6, 0.32 * columns + 2.6), max(2.3, 0.28 * rows + 1.1))
    axes = drawn.add_subplot()
    spread = float(np.nanmax(np.abs(values - baseline))) or 1e-6
    colours = theme().signs if task.sign > 0 else theme().signs.reversed()  # the same colour means better in both
    image = axes.imshow(values, cmap=colours, vmin=baseline - spread, vmax=baseline + spread, interpolation="nearest")
    grid_axes(axes, rows, columns, title)
    for row in heads.itertuples():
        better = row.better_p < CLEAR
        if better or row.worse_p < CLEAR:
            axes.text(row.head, row.layer, "+" if better else "−", ha="center", va="center", size=8, color=theme().ink)
    order = list(dict.fromkeys(heads["layer"]))
    for row in layers.itertuples():
        axes.text(columns - 0.3, order.index(row.layer), f"{row.score:.3f}", va="center", size=6, color=theme().quiet)
    axes.text(columns - 0.3, rows - 0.1, "layer off", size=6, color=theme().quiet)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=25, pad=0.12)
    bar.set_label(task.score, size=7, color=theme().quiet)
    bar.ax.axhline(baseline, color=theme().ink, linewidth=1.2)
    bar.set_ticks([baseline - spread, baseline, baseline + spread])
    bar.set_ticklabels([f"{baseline - spread:.3f}", f"baseline {baseline:.3f}", f"{baseline + spread:.3f}"])
    bar.ax.tick_params(labelsize=6, length=0)
    return Picture(drawn, whole=True)


def curve_picture(curve: pd.DataFrame, baseline: float, task: Task, title: str) -> Picture:
    """Score against the share of heads removed: a line for each order, a band for random ones, points for patterns."""
    drawn = new_figure(6.6, 3.2)
    axes = drawn.add_subplot()
    axes.axhline(baseline, color=theme().quiet, linewidth=0.8, linestyle=":")
    for number, name in enumerate(("importance", "ablation", "random")):
        mine = curve[curve["order"] == name]
        if mine.empty:
            continue
        means = mine.groupby("share")["score"].mean()
        x, y = np.array([0.0, *means.index]), np.array([baseline, *means])
        axes.plot(x, y, color=head_colour(number), label=f"by {name}" if name != "random" else name, marker="o", ms=2.5)
        if name == "random":
            spread = mine.groupby("share")["score"].agg(["min", "max"])
            axes.fill_between(spread.index, spread["min"], spread["max"], color=head_colour(number), alpha=0.18, lw=0)
    points = curve[curve["order"].str.startswith("pattern")]
    axes.scatter(points["share"], points["score"], marker="D", s=14, color=theme().ink, zorder=3)
    for letter, row in zip("abcdefghijklmnopqrstuvwxyz", points.itertuples(), strict=False):
        axes.annotate(
            letter, (row.share, row.score), size=7, color=theme().ink, xytext=(3, 3), textcoords="offset points"
        )
        axes.plot([], [], " ", label=f"{letter}  {row.order}")
    axes.set_xlabel("share of heads removed", size=8, color=theme().quiet)
    axes.set_ylabel(task.score, size=8, color=theme().quiet)
    axes.set_title(plain(title), size=8, loc="left")
    axes.tick_params(labelsize=7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Picture(drawn, whole=True)
