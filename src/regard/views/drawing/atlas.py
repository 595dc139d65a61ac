"""The figure of all heads: a small map for each.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.patterns.resting import rests_of
from regard.trace.site import SURE, Array, Site
from regard.views.drawing.common import GREY, QUIET, bare, colour_bar, farthest, greys, lettering, new_figure
from regard.views.drawing.depicted import Depicted
from regard.views.frames import BELOW, NARROW, named_frames, rest_shares
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_HEADS = 4096  # maps of an atlas
_AROUND = 0.6  # inches beside the maps: numbers of the layers
_BESIDE = 1.35  # the same with a colour bar at the right
_BAR = {"width": 1.1, "height": 0.07, "room": 2.7}  # inches of the colour bar below the maps, and of what belongs to it
_SWATCH = 0.12  # inches
_NAME, _ROW = 0.14, 0.17  # inches of the bar's name, and of a row of the legend
_NAMEABLE = 0.4  # inches of a map with its name below it


def draw_atlas(job: Depicted) -> Figure:
    """All layers by all heads, each head a small map scaled to its own maximum."""
    kind = job.site.kind
    layers = job.trace.layers(kind)
    columns = max(site.heads for site in job.trace.sites if site.kind == kind)
    if len(layers) * columns > _MOST_HEADS:
        raise UserError(f"{len(layers) * columns:,} heads do not fit a figure; it holds up to {_MOST_HEADS:,}")
    size = 64 if len(layers) * columns <= 256 else 24
    gap = max(2, size // 10)
    step = size + gap
    width = job.width or 1.2 + 0.62 * columns
    cell = (width - (_BESIDE if job.shown == "worth" else _AROUND)) / columns
    letters = 6.0 if cell >= _NAMEABLE and job.shown != "worth" else 0.0  # of the names below the maps
    down = step + (size // 4 if letters else 0)
    whole = np.full((down * len(layers), step * columns), np.nan)
    rests = np.zeros(whole.shape, bool)
    for row, layer in enumerate(layers):
        site = job.trace.site(layer, kind=kind)
        for column in range(site.heads):
            small = pooled(site, column, size, job.judged["how"] if job.shown == "worth" else None)
            resting = reduced(np.asarray(rests_of(job.trace, site)), size)
            small = small if job.shown == "worth" else np.minimum(small / awake_top(small, resting, site.keys), 1)
            cells = np.ix_(*(np.arange(size) * length // size for length in small.shape))
            place = np.s_[row * down : row * down + size, column * step : column * step + size]
            whole[place] = small[cells]
            rests[place] = resting[cells]
    drawn = new_figure(width, (1.05 if width < NARROW else 0.85) + cell * down / step * len(layers))
    axes = drawn.add_subplot()
    if job.shown == "worth":
        _worth_atlas(drawn, axes, whole, job.quantity)
    else:
        image = axes.imshow(whole, cmap=theme().maps, vmin=0, vmax=1, interpolation="nearest")
        resting = np.where(rests, whole, np.nan)
        axes.imshow(resting, cmap=greys(), vmin=0, vmax=1, interpolation="nearest")  # over it
    axes.set_anchor("N")
    if not letters:
        axes.set_facecolor("#dfe3ea")  # shows where there is no map
    numbering = lettering(cell)
    numbers = job.trace.site(layers[0], kind=kind).head_ids
    names = [str(number) for number in numbers] if len(numbers) == columns else [str(i) for i in range(columns)]
    axes.set_xticks(step * np.arange(columns) + size / 2, names, **numbering)
    axes.set_yticks(down * np.arange(len(layers)) + size / 2, [str(layer) for layer in layers], **numbering)
    bare(axes)
    axes.tick_params(top=False, labeltop=True, labelbottom=False, pad=1)
    axes.xaxis.set_label_position("top")
    axes.tick_params(axis="y", pad=3 + 72 * 0.06 * cell)  # beside what rests
    axes.spines[:].set_visible(False)
    if job.shown != "worth":
        _ticks(axes, job, [(column * step, row * down) for row, column in _heads(job)], size)
    grey = f"; grey: weight above {SURE}, only an exact cut tells" if job.shown == "worth" else ""
    axes.set_xlabel(f"head{grey}", size=7, color=QUIET)
    axes.set_ylabel("layer", size=7, color=QUIET)
    room = (cell * columns, cell * down / step * len(layers))  # inches of all maps
    beside = 0.0 if job.shown == "worth" else _BAR["room"]
    corner = lambda row, column: (column * step - 0.5, row * down - 0.5)  # noqa: E731
    rows = named_frames(axes, job.trace, kind, corner, size, letters, (room[0], beside))
    if beside:
        under = rows if width < NARROW else 0
        _bar_below(drawn, axes, image, room, under)
    return drawn


_EVEN, _HALF, _LEAST = 4, 0.5, 0.12  # as in the app (frame/small.ts)
_RESTING = 0.03  # share from which a tick is more than a dot


def awake_top(small: Array, rests: Array, keys: int) -> float:
    """Where the colours of a small map end: at its strongest look that does not rest, beside which a sink is cut.

    A head that looks everywhere alike, or next to nowhere, stays pale.
    """
    awake = float(small[~rests].max(initial=0.0))
    top = float(small.max()) or 1.0
    return max(awake, min(top, _LEAST), min(_HALF, _EVEN / keys)) if awake else top


def _heads(job: Depicted) -> list[tuple[int, int]]:
    """Rows and columns of all heads in the grid."""
    kind = job.site.kind
    sites = [job.trace.site(layer, kind=kind) for layer in job.trace.layers(kind)]
    return [(row, column) for row, site in enumerate(sites) for column in range(site.heads)]


def _ticks(axes: Axes, job: Depicted, corners: list[tuple[int, int]], size: int) -> None:
    """At the left of each map, how much of the attention rests."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    shares = rest_shares(job.trace, job.site.kind)
    high = size - 2
    ticks = [
        Rectangle((x - 0.5 - 0.06 * size, y + 0.5 + (1 - share) * high), 0.04 * size, share * high)
        for (x, y), share in zip(corners, shares, strict=True)
        if share >= _RESTING
    ]
    axes.add_collection(PatchCollection(ticks, facecolor=GREY, linewidth=0, clip_on=False), autolim=False)


def _bar_below(drawn: Figure, axes: Axes, image: Any, room: tuple[float, float], under: int) -> None:
    """A short colour bar at the right below the maps, or under so many rows of the legend; beside it what is grey."""
    from matplotlib.patches import Rectangle

    wide, high = room
    down = BELOW + _NAME + _ROW * under
    place = (1 - _BAR["width"] / wide, -(down + _BAR["height"]) / high, _BAR["width"] / wide, _BAR["height"] / high)
    bar = axes.inset_axes(place)
    drawn.colorbar(image, cax=bar, orientation="horizontal", ticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    bar.set_title("weight / the head's strongest look", size=6, color=QUIET, pad=2, loc="right")
    bar.tick_params(labelsize=5.5, length=0, pad=2)
    bar.spines[:].set_visible(False)
    swatch, gap = _SWATCH / _BAR["width"], 1.25 / _BAR["width"]
    fixed: dict[str, Any] = {"transform": bar.transAxes, "clip_on": False}
    bar.add_patch(Rectangle((-gap - swatch, 0), swatch, 1, facecolor=GREY, **fixed))
    bar.text(-gap + 0.04, 0.5, "resting; tick: how much", size=6, color=QUIET, va="center", ha="left", **fixed)


def _worth_atlas(drawn: Figure, axes: Axes, whole: Array, name: str) -> None:
    """Maps of both signs on one scale for all heads; its square root keeps small numbers in sight."""
    top = farthest(whole) or 1.0
    roots = np.sign(whole) * np.sqrt(np.abs(whole) / top)
    image = axes.imshow(roots, cmap=theme().signs, vmin=-1, vmax=1, interpolation="nearest")
    bar = colour_bar(drawn, image, axes, name)
    shares = (-1.0, -0.1, 0.0, 0.1, 1.0)
    bar.set_ticks([np.sign(x) * abs(x) ** 0.5 for x in shares], labels=[f"{x * top:.2g}" for x in shares])


def pooled(site: Site, index: int, size: int = 64, cut: str | None = None) -> Array:
    """A map at most `size` cells wide: each cell is the largest weight it covers, so that no line is lost.

    With a way to cut, the worth that is farthest from 0; cells of which nothing is known are NaN.
    """
    return reduced(site.attention(index) if cut is None else site.worth(index, how=cut), size)


def reduced(values: Array, size: int) -> Array:
    """At most `size` cells each way: each is the value farthest from 0 of those it covers."""
    for axis in (0, 1):
        if values.shape[axis] > size:
            edges = np.linspace(0, values.shape[axis], size, endpoint=False).astype(int)
            most = np.fmax.reduceat(values, edges, axis=axis)
            least = np.fmin.reduceat(values, edges, axis=axis)
            values = np.where(np.abs(least) > np.abs(most), least, most)
    return values
