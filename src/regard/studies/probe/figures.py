"""Figures of probes: bars beside baselines and controls, weights of heads, the structural probe by layer and rank.

Enters: values and tables of a result. Leaves: Pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array
from regard.studies.figures import heat_picture, new_figure
from regard.studies.probe.scores import Value
from regard.views.figures import Picture
from regard.views.themes import head_colour, theme

if TYPE_CHECKING:
    import pandas as pd


def heat(weights: Array, heads: Array, title: str) -> Callable[[], Picture]:
    """Weights over layers and heads."""
    layer, head = heads.astype(int).T
    grid = np.full((layer.max() + 1, head.max() + 1), np.nan)
    grid[layer, head] = weights
    return lambda: heat_picture(grid, title=title, label="weight", centre=0.0)


def bars(found: Mapping[str, Mapping[str, Value]]) -> Picture:
    """By title, what was measured of the model, its baselines and its controls, with intervals."""
    drawn = new_figure(7.2, 0.6 + 1.5 * len(found))
    axes = drawn.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
    for place, (title, values) in zip(axes, found.items(), strict=True):
        middle = np.array([value.value for value in values.values()])
        reach = np.abs(np.array([[v.value - v.low, v.high - v.value] for v in values.values()]).T)
        colours = [head_colour(0) if of in ("model", "one direction") else theme().quiet for of in values]
        place.barh(
            list(values),
            middle,
            xerr=reach,
            color=colours,
            height=0.7,
            error_kw={"linewidth": 0.8, "ecolor": theme().ink},
        )
        place.invert_yaxis()
        place.set_title(title, size=8, loc="left")
        place.tick_params(labelsize=7, length=0)
        place.set_xlim(0, 1)
        for side in ("top", "right"):
            place.spines[side].set_visible(False)
    return Picture(drawn, whole=True)


def curves(table: pd.DataFrame, what: str, label: str) -> Callable[[], Picture]:
    """The structural probe by layer or rank, with intervals."""

    def draw() -> Picture:
        drawn = new_figure(4.8, 2.9)
        axes = drawn.add_subplot()
        for n, measure in enumerate(("UUAS", "DSpr")):
            mine = table[table["measure"] == measure].sort_values(what)
            reach = np.abs([mine["value"] - mine["low"], mine["high"] - mine["value"]])
            axes.errorbar(
                mine[what], mine["value"], yerr=reach, color=head_colour(n), label=measure, marker="o", markersize=2.5
            )
        if what == "rank":
            axes.set_xscale("log", base=2)
            ranks = sorted(set(table[what]))
            axes.set_xticks(ranks, [str(rank) for rank in ranks])
        axes.set_ylim(0, 1)
        axes.set_xlabel(label, size=8)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=7, frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        return Picture(drawn, whole=True)

    return draw
