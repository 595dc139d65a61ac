"""The figure of neurons: how one query's scores are made.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

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
)
from regard.views.drawing.depicted import Depicted
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NUMBERED = 6  # neurons that have their number above them
_NARROW = 5  # inches
_CELL = 0.065  # inches of a neuron that has room for its number
_ABOVE = 12  # points between numbered neurons and every title
_SMALL = 0.001  # a smaller weight is not written
_CLEAR = 2  # times the size of numbers: where their colour is clear, as in the app
_FAR = 3  # times that: the largest colour


def draw_neurons(job: Depicted) -> Figure:
    """For one query: q, and below it every k, q x k, the score and its softmax; blue positive, orange negative.

    Neurons are in the order of what they add to the best score above the average of its row. A column of a journal has
    no room for k.
    """
    job.check_length()
    asked = job.asked
    order, best = asked.order, asked.best
    q, k = asked.q[order], asked.k[:, order]
    weights = job.trace.attention(job.layer, job.heads[0], kind=job.kind, queries=job.asking, keys=job.columns)[0]
    drawn = new_figure(job.width or 7.2, 1.8 + 0.17 * len(job.columns))
    narrow = drawn.get_figwidth() < _NARROW
    blocks = {"q × k": q * k} if narrow else {"k": k, "q × k": q * k}
    widths = [4, 2.2, 2.2] if narrow else [4, 4, 1.6, 1.6]  # a neuron is as wide in k as in q x k
    (top, *rest), grid = drawn.subplots(2, len(widths), width_ratios=widths, height_ratios=[1, len(k)])
    for axes in rest:
        axes.set_axis_off()
    for axes in (top, *grid):
        bare(axes)
        axes.set(xticks=[], yticks=[])
    of_q, of_k = (_CLEAR * size for size in asked.sizes)
    sizes = {"k": of_k, "q × k": of_q * of_k / _CLEAR}
    _signed(top, q[None], of_q)
    numbered = not narrow and 0.34 * drawn.get_figwidth() / q.size > _CELL
    for axes, name in zip(grid, [*blocks, "score", "weight"], strict=True):
        axes.set_title(name, size=8, color=QUIET, pad=_ABOVE if numbered else None)
    for axes, (name, block) in zip(grid, blocks.items(), strict=False):
        _scale(drawn, _signed(axes, block, sizes[name]), axes, name, sizes[name])
    for axes in grid[:-2]:
        _number(axes, order[:_NUMBERED], narrow, above=numbered)
    if not narrow:
        grid[0].set_xlabel("neurons, in the same order", size=6, color=QUIET)
    _bars(grid[-2], np.where(np.isfinite(asked.scores), asked.scores, np.nan), best, "{:.1f}")
    grid[-2].axvline(asked.average, color=QUIET, linewidth=0.6, linestyle=(0, (3, 2)))
    grid[-2].set_xlabel(f"┆ average {asked.average:.1f}".replace("-", "−"), size=6, color=QUIET)
    _bars(grid[-1], weights, best, "{:.2f}", _SMALL)
    if (weights < _SMALL).any():
        grid[-1].set_xlabel(f"blank: < {_SMALL}", size=6, color=QUIET)
    asking = job.trace.side(job.site.query_side).tokens[job.asking]
    top.set_yticks([0], [f"q of {label_of(asking)}{subscript(job.asking)}"], **MONO)
    grid[0].set_yticks(range(len(k)), labels_of(job.key_tokens, job.columns), **MONO)
    grid[0].get_yticklabels()[best].set_fontweight("bold")
    grid[0].set_ylabel("key", size=8, color=QUIET)
    _divide(job, grid, q.size)
    return drawn


def _number(axes: Any, named: Array, narrow: bool, above: bool) -> None:
    """Which neurons stand first: above them, or below where there is no room."""
    if not above:
        apart = "\n" if narrow else " "
        axes.set_xlabel(f"neurons{apart}{', '.join(map(str, named))}, …", size=6, color=QUIET)
        return
    axes.set_xticks(range(len(named)), [str(n) for n in named], size=5, color=INK, rotation=90)
    axes.tick_params(top=False, labeltop=True, labelbottom=False, pad=1)
    axes.set_xlabel("neurons, sorted by effect on the bold score", size=6, color=QUIET)


def _divide(job: Depicted, grid: Any, neurons: int) -> None:
    """Where the answer begins."""
    first = job.divisions[1]
    if first is None:
        return
    for axes in grid:
        axes.axhline(first - 0.5, **RULE)
    name_parts(grid[-3], (neurons - 0.5, first - 0.5), "right", across=False)


def _bars(axes: Any, values: Array, most: int, form: str, small: float = 0.0) -> None:
    """A number for each key as a bar from 0, and written beside it; that of the key looked at most is bold."""
    known = np.nan_to_num(values)
    below, above = NEGATIVE, POSITIVE
    axes.barh(range(len(values)), known, height=0.7, color=[below if value < 0 else above for value in known])
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max())) or 1.0
    room = (high - low) * 0.75  # for the numbers
    axes.set(xlim=(low - 0.05 * (high - low), high + room), ylim=(len(values) - 0.5, -0.5))
    axes.axvline(0, color=QUIET, linewidth=0.5)
    for row, value in enumerate(values):
        few = small and value < 10 * small  # a weight below 0.01 has a decimal more
        said = f"{value:.3f}" if few else form.format(value).replace("-", "−")
        text = "" if np.isnan(value) or 0 <= value < small else said
        bold = "bold" if row == most else "normal"
        axes.text(high + room * 0.97, row, text, ha="right", va="center", size=6, color=INK, fontweight=bold)


def _signed(axes: Any, block: Array, size: float) -> Any:
    """Numbers of both signs in the colours of the app: zero is the ground, and large numbers are all alike."""
    from matplotlib.colors import FuncNorm, LinearSegmentedColormap

    known = 1 - 1e-9  # of the largest colour
    bend = (lambda x: np.tanh(x / size), lambda y: size * np.arctanh(np.clip(y, -known, known)))
    colours = LinearSegmentedColormap.from_list("neurons", [NEGATIVE, theme().ground, POSITIVE])
    norm = FuncNorm(bend, vmin=-_FAR * size, vmax=_FAR * size)
    return axes.imshow(block, cmap=colours, norm=norm, aspect="auto", interpolation="nearest")


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
