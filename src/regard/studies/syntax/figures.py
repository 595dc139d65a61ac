"""Figures of `syntax`: the best head of each relation with its baselines, and a heat map per relation.

Enters: counted relations. Leaves: Pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from regard.corpus.sums import ratio
from regard.studies.figures import new_figure
from regard.studies.syntax.counts import ALL, Best, Counted
from regard.trace.lettering import plain
from regard.views.figures import Picture
from regard.views.themes import theme

_HEAD, _OFFSET, _CONTROL = "#2b6fd6", "#e07b1a", "#9aa3b2"
_COLUMNS = 5


Controlled = Mapping[str, Sequence[Best]]  # of each relation, the best head of each control, the shuffled one last


def gain_picture(bests: Sequence[Best], controls: Controlled) -> Picture:
    """A line per relation: best head with its interval, best offset, controls; the largest gain on top."""
    order = sorted(bests, key=lambda best: float(np.nan_to_num(best.gain[0], nan=-1)))
    drawn = new_figure(5.4, 0.9 + 0.2 * len(order))
    axes = drawn.add_subplot()
    for row, best in enumerate(order):
        low, high = best.head.limits
        axes.plot([100 * low, 100 * high], [row, row], color=_HEAD, linewidth=2, alpha=0.45, solid_capstyle="round")
        axes.plot(
            [100 * best.offset.value, 100 * best.head.value], [row, row], color=theme().rule, linewidth=1, zorder=0
        )
    rows = np.arange(len(order))
    axes.scatter([100 * best.head.value for best in order], rows, s=18, color=_HEAD, label="best head", zorder=3)
    axes.scatter(
        [100 * best.offset.value for best in order],
        rows,
        s=18,
        facecolors=theme().ground,
        edgecolors=_OFFSET,
        marker="D",
        label="best fixed offset",
        zorder=2,
    )
    if controls:
        values = 100 * np.array([[other.head.value for other in controls[best.relation]] for best in order])
        random = values[:, :-1]  # (relations, draws)
        axes.hlines(rows, random.min(axis=1), random.max(axis=1), color=_CONTROL, linewidth=1, zorder=1)
        axes.scatter(random.mean(axis=1), rows, s=20, color=_CONTROL, marker="x", label="random weights", zorder=1)
        axes.scatter(values[:, -1], rows, s=24, color=_CONTROL, marker="+", label="shuffled weights", zorder=1)
    axes.set_yticks(rows, [plain(f"{best.relation}  {best.place.name}") for best in order], size=6.5)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.7, len(order) - 0.3)
    axes.set_xlabel("held-out accuracy, %", size=8, color=theme().quiet)
    axes.tick_params(labelsize=6.5, length=0)
    axes.grid(axis="x", color=theme().rule, linewidth=0.8)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    drawn.legend(fontsize=7, frameon=False, ncols=4, loc="outside upper center")
    return Picture(drawn, whole=True)


def relation_picture(counted: Counted, bests: Sequence[Best], kind: str) -> Picture:
    """A small layer x head map per relation, all on one scale."""
    mine = [(layer, head) for other, layer, head in counted.heads if other == kind]
    shape = max(layer for layer, _ in mine) + 1, max(head for _, head in mine) + 1
    lines = -(-len(bests) // _COLUMNS)
    drawn = new_figure(1.75 * _COLUMNS, lines * (0.3 + 1.35 * shape[0] / shape[1]) + 0.4)
    grid = drawn.subplots(lines, _COLUMNS, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    image = None
    for axes, best in zip(grid.flat, bests, strict=False):
        axes.set_axis_on()
        image = axes.imshow(_values(counted, best.relation, kind, shape), vmin=0, vmax=1, cmap=theme().maps)
        name = "all relations" if best.relation == ALL else best.relation
        axes.set_title(plain(f"{name} (offset {100 * best.offset.value:.0f}%)"), size=6.5, loc="left")
        axes.set_xticks([0, shape[1] - 1])
        axes.set_yticks([0, shape[0] - 1])
        axes.tick_params(labelsize=5, length=0, pad=1)
        for spine in axes.spines.values():
            spine.set_visible(False)
    assert image is not None  # there is always the row of all relations
    bar = drawn.colorbar(image, ax=grid, shrink=0.5, aspect=30)
    bar.set_label("accuracy", size=7, color=theme().quiet)
    bar.ax.tick_params(labelsize=6, length=0)
    drawn.supxlabel("head", size=7, color=theme().quiet)
    drawn.supylabel("layer", size=7, color=theme().quiet)
    return Picture(drawn, whole=True)


def _values(counted: Counted, relation: str, kind: str, shape: tuple[int, int]) -> np.ndarray:
    """(layers, heads) accuracies over all sentences, the better of both directions; NaN where there is no head."""
    counts = counted.relations[relation]
    accuracies = ratio(counts.hits.sum(axis=(0, 1)), np.array(counts.total))
    found = np.full(shape, np.nan)
    for place, value in zip(counted.places, accuracies, strict=True):
        if place.kind == kind:
            found[place.layer, place.head] = np.fmax(found[place.layer, place.head], value)
    return found
