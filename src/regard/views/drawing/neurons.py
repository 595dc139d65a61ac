"""The figure of neurons: how one query's scores are made.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.trace.site import Array
from regard.trace.tokens import subscript
from regard.views.drawing.common import (
    INK,
    MONO,
    NEGATIVE,
    POSITIVE,
    QUIET,
    RULE,
    bare,
    label_of,
    labels_of,
    name_parts,
    new_figure,
    scored_as,
)
from regard.views.drawing.depicted import NUMBERED, Depicted
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NARROW = 5  # inches
_NAMED = 0.13  # inches of a neuron that has room for its number
_WIDEST = 6  # times as wide as the others such a neuron may be
_ABOVE = 12  # points between numbered neurons and every title
_BETWEEN = 0.05  # of the width of a column: between two, for the signs that lead from one to the next
_LETTER = 0.055  # inches of a digit beside a bar
_SMALL = 0.001  # a smaller weight is not written
_FAR = 3  # times the size at which a colour is clear: the largest colour


def draw_neurons(job: Depicted) -> Figure:
    """For one query: q, and below it every k, what q x k adds to the score, the score and its softmax; blue positive.

    Neurons are in the order of what they add to the best score above the average of its row. A column of a journal has
    no room for k.
    """
    job.check_length()
    asked = job.asked
    order, best = asked.order, asked.best
    q, k = asked.q[order], asked.k[:, order]
    weights = job.trace.attention(job.layer, job.heads[0], kind=job.kind, queries=job.asking, keys=job.columns)[0]
    drawn = new_figure(job.width or 7.2, 1.8 + 0.17 * len(job.columns))
    drawn.set_layout_engine("constrained", wspace=_BETWEEN)
    inches = drawn.get_figwidth()
    narrow = inches < _NARROW
    of_q, of_k, of_products = asked.clear
    product = f"q × k{_scaled(asked.scale, q.size)}"
    blocks = {product: (asked.scale * q * k, of_products)}
    if not narrow:
        blocks = {"k" if of_q != of_k else "q, k": (k, of_k)} | blocks
    widths = [4, 2.2, 2.2] if narrow else [4, 4, 1.6, 1.6]  # a neuron is as wide in k as in q x k
    (top, *rest), grid = drawn.subplots(2, len(widths), width_ratios=widths, height_ratios=[1, len(k)])
    for axes in rest:
        axes.set_axis_off()
    for axes in (top, *grid):
        bare(axes)
        axes.set(xticks=[], yticks=[])
    times = 1 if narrow else _times(0.34 * inches, q.size)
    wide = np.where(np.arange(q.size) < NUMBERED, times, 1)  # how wide each neuron is, beside the others
    _signed(top, q[None], of_q, wide)
    titles = [product, "score", "weight"] if narrow else ["× k", f"= {product}", "sum → score", "softmax → weight"]
    for axes, name in zip(grid, titles, strict=True):
        axes.set_title(name, size=6.5, color=QUIET, pad=_ABOVE if times > 1 else None)
    for axes, (name, (block, size)) in zip(grid, blocks.items(), strict=False):
        _scale(drawn, _signed(axes, block, size, wide), axes, name, size)
    for axes in grid[:-2]:
        _number(axes, order[:NUMBERED], narrow, times)
    if times > 1:
        for axes, values, row in (
            (top, q, 0),
            *((axes, blocks[name][0][best], best) for axes, name in zip(grid, blocks, strict=False)),
        ):
            _mark(axes, values, row, times)
    if not narrow:
        grid[0].set_xlabel("neurons, in the same order", size=6, color=QUIET)
    column = widths[-1] / sum(widths) * (inches - 1)  # inches of a column of bars, at least
    _bars(grid[-2], np.where(np.isfinite(asked.scores), asked.scores, np.nan), best, scored_as(asked.scores), column)
    grid[-2].axvline(asked.average, color=QUIET, linewidth=0.6, linestyle=(0, (3, 2)))
    grid[-2].set_xlabel(f"┆ average {scored_as(asked.scores)(asked.average)}", size=6, color=QUIET)
    _bars(grid[-1], weights, best, _weight, column)
    if (weights < _SMALL).any():
        grid[-1].set_xlabel(f"blank: < {_SMALL}", size=6, color=QUIET)
    asking = job.trace.side(job.site.query_side).tokens[job.asking]
    top.set_yticks([0], [f"q of {label_of(asking)}{subscript(job.asking)}"], **MONO)
    grid[0].set_yticks(range(len(k)), labels_of(job.key_tokens, job.columns), **MONO)
    grid[0].get_yticklabels()[best].set_fontweight("bold")
    grid[0].set_ylabel("key", size=8, color=QUIET)
    for axes, sign in zip(grid, "" if narrow else "=→→", strict=False):
        place = {"transform": axes.get_yaxis_transform(), "ha": "left", "va": "center"}
        axes.text(1.03, best, sign, size=8, color=QUIET, **place)
    _divide(job, grid, int(wide.sum()))
    return drawn


def _scaled(scale: float, d: int) -> str:
    """What q x k is multiplied with, as it is written behind it, in the app's words."""
    if abs(scale - 1) < 1e-4:
        return ""
    return f" / √{d}" if abs(scale * d**0.5 - 1) < 1e-4 else f" × {scale:.3g}"


def _times(inches: float, neurons: int) -> int:
    """How many times as wide as the others a neuron with a number must be in a block; 1 where that is too much."""
    return next((n for n in range(2, _WIDEST + 1) if inches * n / (neurons + NUMBERED * (n - 1)) >= _NAMED), 1)


def _number(axes: Any, named: Array, narrow: bool, times: int) -> None:
    """Which neurons stand first: above them, in a frame, or below where there is no room."""
    if times == 1:
        apart = "\n" if narrow else " "
        axes.set_xlabel(f"neurons{apart}{', '.join(map(str, named))}, …", size=6, color=QUIET)
        return
    axes.set_xticks(_middles(len(named), times), [str(n) for n in named], size=6.5, color=INK)
    axes.tick_params(top=False, labeltop=True, labelbottom=False, pad=1)
    axes.set_xlabel("neurons, sorted by effect on the bold score", size=6, color=QUIET)
    axes.axvline(times * len(named) - 0.5, color=INK, linewidth=0.8)


def _middles(count: int, times: int) -> Array:
    return times * (np.arange(count) + 0.5) - 0.5


def _mark(axes: Any, values: Array, row: int, times: int) -> None:
    """The signs of the numbered neurons in a row."""
    for x, value in zip(_middles(min(NUMBERED, len(values)), times), values, strict=False):
        axes.text(
            x, row, "−" if value < 0 else "+", ha="center", va="center_baseline", size=6, color=INK, weight="bold"
        )


def _divide(job: Depicted, grid: Any, neurons: int) -> None:
    """Where the answer begins."""
    first = job.divisions[1]
    if first is None:
        return
    for axes in grid:
        axes.axhline(first - 0.5, **RULE)
    name_parts(grid[-3], (neurons - 0.5, first - 0.5), "right", across=False)


def _bars(axes: Any, values: Array, most: int, written: Callable[[float], str], inches: float) -> None:
    """A number for each key as a bar from 0, and written beside it; that of the key looked at most is bold."""
    known = np.nan_to_num(values)
    below, above = NEGATIVE, POSITIVE
    axes.barh(range(len(values)), known, height=0.7, color=[below if value < 0 else above for value in known])
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max())) or 1.0
    texts = ["" if np.isnan(value) else written(value) for value in values]
    said = _LETTER * (max(map(len, texts)) + 0.6)  # inches of the numbers
    room = 1.05 * (high - low) * said / max(said, inches - said)
    axes.set(xlim=(low - 0.05 * (high - low), high + room), ylim=(len(values) - 0.5, -0.5))
    axes.axvline(0, color=QUIET, linewidth=0.5)
    for row, text in enumerate(texts):
        bold = "bold" if row == most else "normal"
        axes.text(high + room * 0.97, row, text, ha="right", va="center", size=6, color=INK, fontweight=bold)


def _weight(value: float) -> str:
    """A weight; below 0.01 it has a decimal more, and below that there is nothing to see."""
    return "" if value < _SMALL else f"{value:.{3 if value < 10 * _SMALL else 2}f}"


def _signed(axes: Any, block: Array, size: float, wide: Array) -> Any:
    """Numbers of both signs in the colours of the app: zero is the ground, and large numbers are all alike."""
    from matplotlib.colors import FuncNorm, LinearSegmentedColormap

    known = 1 - 1e-9  # of the largest colour
    bend = (lambda x: np.tanh(x / size), lambda y: size * np.arctanh(np.clip(y, -known, known)))
    colours = LinearSegmentedColormap.from_list("neurons", [NEGATIVE, theme().ground, POSITIVE])
    norm = FuncNorm(bend, vmin=-_FAR * size, vmax=_FAR * size)
    cells = np.repeat(block, wide, axis=1)
    return axes.imshow(cells, cmap=colours, norm=norm, aspect="auto", interpolation="nearest")


def _scale(drawn: Figure, image: Any, axes: Any, name: str, size: float) -> None:
    """What the colours of a block mean, below it: its name, a round number of either sign, and zero."""
    bar = drawn.colorbar(image, ax=axes, location="bottom", aspect=18, pad=0.02, shrink=0.9)
    bar.set_label(name, size=7, color=QUIET)
    end = _roundly(size)
    bar.set_ticks([-end, 0, end], labels=[f"−{end:.2g}", "0", f"+{end:.2g}"])
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=0)


def _roundly(size: float) -> float:
    """1, 2 or 5 times a power of ten, up to twice a size; the app's keys end there."""
    power = 10.0 ** np.floor(np.log10(2 * size))
    return float(power * next(step for step in (5, 2, 1) if step * power <= 2 * size or step == 1))
