"""The figure of a sound: its spectrogram over time, and below it when each word is listened for.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.views.drawing.common import INK, QUIET, bare, colour_bar, greys, labels_of, lettering, new_figure
from regard.views.drawing.depicted import Depicted
from regard.views.drawing.heard import HeardRows, heard_in, resting_at
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 5.2  # inches, unless asked for
_SPECTROGRAM, _CURVE, _ROW, _AROUND = 0.8, 0.5, 0.15, 1.2  # inches; around: title, caption, axis
_TALLEST = 7.0  # inches of all rows together
_BAR = 2.4  # inches of the colour bar
_STRONG = 0.6  # of the blue over the spectrogram where a word is listened for most


def draw_sound(job: Depicted) -> Figure:
    """Spectrogram, the attention of a word or of all, and a row for every word, or the map of moments."""
    heard = heard_in(job)
    width = job.width or _WIDTH
    rows = min(_TALLEST, max(0.3, _ROW * len(heard.rows))) if heard.words else 0.7 * width
    height = _SPECTROGRAM + _CURVE + rows
    drawn = new_figure(width, _AROUND + height)
    parts = drawn.subplots(3, 1, sharex=True, height_ratios=(_SPECTROGRAM, _CURVE, rows))
    _spectrogram(parts[0], heard)
    _curve(parts[1], heard)
    image = _rows(parts[2], heard, job, rows)
    colour_bar(drawn, image, list(parts), f"{job.quantity} / the row's largest", shrink=min(0.9, _BAR / height))
    for axes in parts:
        bare(axes)
        axes.tick_params(axis="x", labelsize=6, labelcolor=INK, length=0)
    parts[2].tick_params(axis="x", length=2, color=QUIET)
    parts[2].set(xlim=heard.extent)
    parts[2].set_xlabel("time, seconds", size=7, color=QUIET)
    drawn.align_ylabels(parts)
    return drawn


def _spectrogram(axes: Axes, heard: HeardRows) -> None:
    """The sound in grey, blue where the row that is pointed at looks."""
    features = heard.medium.features
    if features is not None:
        shape: dict[str, Any] = {"extent": (0, heard.medium.size[0], 0, len(features)), "aspect": "auto"}
        axes.imshow(features, cmap=greys(), vmin=0, vmax=255, origin="lower", **shape)
        axes.set_yticks([0, len(features)], ["low", "high"], size=6, color=INK)
    else:
        axes.set_yticks([])
    axes.set_ylabel("frequency", size=7, color=QUIET)
    if heard.chosen is None:
        return
    from matplotlib.colors import to_rgba

    blue = np.tile(np.array(to_rgba(theme().accent)), (1, len(heard.spans), 1))
    blue[..., 3] = _STRONG * heard.curve / (heard.curve.max() or 1)
    top = 1 if features is None else len(features)
    axes.imshow(blue, extent=(heard.spans[0, 0], heard.spans[-1, 1], 0, top), aspect="auto", interpolation="nearest")


def _curve(axes: Axes, heard: HeardRows) -> None:
    """How much every moment is looked at."""
    edges = np.append(heard.spans[:, 0], heard.spans[-1, 1])
    axes.stairs(heard.curve, edges, fill=True, color=theme().accent, alpha=0.85)
    top = float(heard.curve.max()) or 1.0
    axes.set(ylim=(0, 1.1 * top))
    axes.set_yticks([0, top], ["0", f"{top:.2g}"], size=6, color=INK)
    all_of_them = "sum of rows" if heard.words else "mean of rows"
    axes.set_ylabel(all_of_them if heard.chosen is None else "weight", size=7, color=QUIET)


def _rows(axes: Axes, heard: HeardRows, job: Depicted, inches: float) -> Any:
    """Every row scaled to its own maximum; the one that is pointed at between rules."""
    shares = heard.values / np.maximum(heard.values.max(axis=1, keepdims=True), 1e-12)
    start, end = float(heard.spans[0, 0]), float(heard.spans[-1, 1])
    count = len(heard.rows)
    place: dict[str, Any] = {"cmap": theme().maps, "vmin": 0, "vmax": 1, "aspect": "auto", "interpolation": "nearest"}
    if not heard.words:
        looks = job.trace.side(job.site.query_side).spans
        assert looks is not None
        down = float(looks[heard.rows[-1], 1]), float(looks[heard.rows[0], 0])
        image = axes.imshow(shares, extent=(start, end, *down), **place)
        axes.tick_params(axis="y", labelsize=6, labelcolor=INK)
        axes.set_ylabel("looks, at second", size=7, color=QUIET)
        if heard.chosen is not None:
            axes.axhline(float(looks[heard.rows[heard.chosen]].mean()), color=INK, linewidth=0.6)
        return image
    image = axes.imshow(shares, extent=(start, end, count - 0.5, -0.5), **place)
    tokens = job.trace.side(job.site.query_side).tokens
    written = heard.rows + 1
    names = labels_of([tokens[at] for at in written], written)
    axes.set_yticks(range(count), names, **lettering(inches / count))
    axes.set_ylabel("word being written", size=7, color=QUIET)
    _rest(axes, resting_at(job))
    if heard.chosen is not None:
        axes.get_yticklabels()[heard.chosen].set_fontweight("bold")
        for edge in (heard.chosen - 0.5, heard.chosen + 0.5):
            axes.axhline(edge, color=INK, linewidth=0.6)
    return image


def _rest(axes: Axes, second: float | None) -> None:
    """A mark where the layer rests, whichever word comes next."""
    if second is None:
        return
    axes.axvline(second, color=QUIET, linewidth=0.4, linestyle=(0, (2, 3)), zorder=0.5)
    beside: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "size": 5.5,
        "color": QUIET,
    }
    axes.annotate("▼ rests", (second, 1), (-2.5, 1.5), ha="left", va="bottom", **beside)
