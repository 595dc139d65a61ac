"""Figures that studies share: layer x head grids, lines by layer, stacked shares.

Enters: numbers. Leaves: Pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array
from regard.patterns.entries import TYPE_COLOURS
from regard.trace.lettering import plain
from regard.views.figures import Picture
from regard.views.themes import THEMES, head_colour, name_colours, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def grid_picture(
    shape: tuple[int, int],
    named: Mapping[tuple[int, int], tuple[str, float]],
    *,
    title: str,
    own: Mapping[str, str] | None = None,
) -> Picture:
    """Layers down, heads across; each named head in its pattern's colour, stronger ones more saturated.

    `own` are the colours of saved rules.
    """
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    layers, heads = shape
    colours = {**name_colours(), **(own or {})}
    names = list(dict.fromkeys(name for name, _ in named.values()))
    ground = np.array(to_rgb(theme().ground))
    image = np.tile(ground, (layers, heads, 1))
    for (layer, head), (name, value) in named.items():
        strength = 0.4 + 0.6 * float(np.clip(value, 0, 1))
        image[layer, head] = ground + strength * (np.array(to_rgb(colours[name])) - ground)
    drawn = new_figure(max(4.5, 0.32 * heads + 2.4), max(2.2, 0.28 * layers + 1.0))
    axes = drawn.add_subplot()
    axes.imshow(image, aspect="equal", interpolation="nearest")
    grid_axes(axes, layers, heads, title)
    axes.grid(which="minor", color=theme().rule, linewidth=1)  # heads without a name are empty
    if names:
        patches = [Patch(color=colours[name], label=plain(name)) for name in names]
        axes.legend(handles=patches, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, frameon=False)
    return Picture(drawn, whole=True)


def heat_picture(values: Array, *, title: str, label: str, centre: float | None = None) -> Picture:
    """Layers down, heads across, numbers as colours; around a centre, if one is given."""
    layers, heads = values.shape
    drawn = new_figure(max(4.0, 0.32 * heads + 1.6), max(2.2, 0.28 * layers + 1.0))
    axes = drawn.add_subplot()
    if centre is None:
        image = axes.imshow(values, cmap=theme().maps, interpolation="nearest")
    else:
        spread = float(np.nanmax(np.abs(values - centre))) or 1.0
        image = axes.imshow(
            values, cmap=theme().signs, vmin=centre - spread, vmax=centre + spread, interpolation="nearest"
        )
    grid_axes(axes, layers, heads, title)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30)
    bar.set_label(plain(label), size=7, color=theme().quiet)
    bar.ax.tick_params(labelsize=7, length=0)
    return Picture(drawn, whole=True)


def grid_axes(axes: Axes, layers: int, heads: int, title: str) -> None:
    """Layers down, heads across, white lines between."""
    axes.set_xticks(range(heads), [str(n) for n in range(heads)], size=6)
    axes.set_yticks(range(layers), [str(n) for n in range(layers)], size=6)
    axes.set_xlabel("head", size=7, color=theme().quiet)
    axes.set_ylabel("layer", size=7, color=theme().quiet)
    axes.set_title(plain(title), size=8, loc="left", color=theme().ink)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(heads + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(layers + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=theme().ground, linewidth=1)
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def line_picture(
    lines: Mapping[str, Array], *, x: str, y: str, title: str, bands: Mapping[str, tuple[Array, Array]] | None = None
) -> Picture:
    """A line per name over layers, with its interval as a band."""
    from matplotlib.ticker import MaxNLocator

    drawn = new_figure(4.8, 2.9)
    axes = drawn.add_subplot()
    for number, (name, values) in enumerate(lines.items()):
        colour = head_colour(number)
        places = np.arange(len(values))
        axes.plot(places, values, color=colour, label=plain(name), marker="o", markersize=2.5, linewidth=1.3)
        if bands and name in bands:
            axes.fill_between(places, *bands[name], color=colour, alpha=0.18, linewidth=0)
    axes.set_xlabel(plain(x), size=8, color=theme().quiet)
    axes.set_ylabel(plain(y), size=8, color=theme().quiet)
    axes.set_title(plain(title), size=8, loc="left")
    if any((np.asarray(values) < 0).any() for values in lines.values()):
        axes.axhline(0, color=theme().quiet, linewidth=0.6)
    else:
        axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Picture(drawn, whole=True)


def share_picture(shares: Mapping[str, Array]) -> Picture:
    """Stacked horizontal bars of the types of maps, one per corpus: Kovaleva's figure."""
    drawn = new_figure(5.6, 0.9 + 0.4 * len(shares))
    axes = drawn.add_subplot()
    left = np.zeros(len(shares))
    rows = np.arange(len(shares))
    for number, (name, colour) in enumerate(TYPE_COLOURS.items()):
        widths = np.array([float(share[number]) for share in shares.values()]) * 100
        axes.barh(rows, widths, left=left, color=colour, label=name, height=0.7)
        ink = "white" if name == "vertical" else THEMES["light"].ink  # on the colour of a bar, in both themes
        for row, width in enumerate(widths):
            if width >= 5:
                axes.text(left[row] + width / 2, row, f"{width:.0f}", ha="center", va="center", size=7, color=ink)
        left += widths
    axes.set_yticks(rows, [plain(name) for name in shares])
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of maps", size=8, color=theme().quiet)
    axes.tick_params(labelsize=7, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.legend(fontsize=7, frameon=False, ncols=len(TYPE_COLOURS), loc="lower left", bbox_to_anchor=(0, 1))
    return Picture(drawn, whole=True)


def scatter_picture(places: Array, groups: Sequence[str], labels: Sequence[str], *, title: str) -> Picture:
    """Points in the plane, coloured by pattern with a legend; points without a pattern are empty."""
    drawn = new_figure(5.2, 4.2)
    axes = drawn.add_subplot()
    for group in dict.fromkeys(groups):
        chosen = np.array([other == group for other in groups])
        x, y = places[chosen].T
        colour = name_colours().get(group, theme().ground)
        axes.scatter(x, y, s=16, color=colour, label=plain(group), edgecolors=theme().quiet, linewidths=0.4)
    for (x, y), label in zip(places, labels, strict=True):
        axes.annotate(plain(label), (x, y), size=4, color=theme().quiet, xytext=(2, 2), textcoords="offset points")
    axes.set(xticks=[], yticks=[])
    axes.set_title(plain(title), size=8, loc="left")
    for spine in axes.spines.values():
        spine.set_color(theme().rule)
    axes.legend(fontsize=6, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Picture(drawn, whole=True)


def bar_picture(groups: Sequence[str], bars: Mapping[str, Array], *, y: str) -> Picture:
    """Bars side by side in each group; `bars` are (groups, 3): value and the ends of its interval."""
    drawn = new_figure(max(4.8, 1.5 * len(groups) + 1.6), 2.9)
    axes = drawn.add_subplot()
    width = 0.8 / max(1, len(bars))
    for number, (name, numbers) in enumerate(bars.items()):
        value, low, high = np.asarray(numbers, float).T
        places = np.arange(len(groups)) + (number - (len(bars) - 1) / 2) * width
        axes.bar(places, value, 0.9 * width, color=head_colour(number), label=plain(name))
        axes.vlines(places, low, high, color=theme().ink, linewidth=0.8)
    axes.set_xticks(range(len(groups)), [plain(group) for group in groups], size=8)
    axes.set_ylabel(plain(y), size=8, color=theme().quiet)
    axes.tick_params(labelsize=7, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Picture(drawn, whole=True)
