"""The figure of heads that look at a picture: where one token looks, a picture for each head.

Enters: what is shown. Leaves: a matplotlib figure.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from regard.base.errors import MissingPackageError, UserError
from regard.trace.medium import PICTURE, Medium
from regard.trace.site import Array
from regard.trace.tokens import Side
from regard.views.drawing.common import INK, QUIET, label_of, new_figure
from regard.views.drawing.depicted import Depicted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 32  # heads that a figure holds
_WIDE = 360  # pixels of the longer side that are drawn for each head
_STRIP = 3  # times as wide as high, from which a picture, such as a line of text, has a row for itself
_LINE = 6.5  # inches that it is wide
_DIM = 0.22  # of the picture that shows where nobody looks
_TINT = np.array([0.13, 0.39, 0.86])  # the blue of attention
_STRONG = 0.45  # of the tint where a head looks most


def depicts_picture(job: Depicted) -> bool:
    """Whether the keys of what is shown are patches of a picture that is here."""
    side = job.trace.side(job.site.key_side)
    return side.medium is not None and side.medium.kind == PICTURE and side.spans is not None and job.shown != "worth"


def draw_overlay(job: Depicted) -> Figure:
    """The picture with the token that looks, then as each head sees it: clear and blue where it looks."""
    if len(job.heads) > _MOST:
        raise UserError(f"{len(job.heads)} heads do not fit a figure over a picture; choose up to {_MOST} with heads=")
    side = job.trace.side(job.site.key_side)
    medium, placed = side.medium, side.spans
    assert medium is not None and placed is not None
    pixels = pixels_of(medium)
    rows = looks_of(job)  # (heads, keys)
    spans = placed[job.columns]
    count = 1 + len(rows)
    strip = medium.size[0] >= _STRIP * medium.size[1]
    columns = 1 if strip else min(count, 4)
    width = job.width or (_LINE if strip else 1.75 * columns)
    high = width / columns * pixels.shape[0] / pixels.shape[1] + 0.25
    lines = -(-count // columns)
    drawn = new_figure(width, 0.75 + high * lines)
    grid = drawn.subplots(lines, columns, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.set_visible(False)
    _shown(grid[0], pixels, f"{_who(job)} looks", INK)
    _outline(grid[0], _span_of(job), pixels.shape, INK)
    for axes, head, weights in zip(grid[1:], job.heads, rows, strict=False):
        most = int(np.where(np.isfinite(spans[:, 0]), weights, -1).argmax())
        here = float(weights[np.isfinite(spans[:, 0])].sum() / (weights.sum() or 1))
        rest = "" if here > 0.995 else f" · {100 * here:.0f}% on it"
        name = (
            f"{job.layer}.{head}: most {100 * weights[most]:.0f}%{rest}"
            if job.shown == "weights"
            else f"{job.layer}.{head}"
        )
        _shown(axes, lit(pixels, spans, weights), name, QUIET)
        _outline(axes, spans[most], pixels.shape, "#e07b1a")
    return drawn


def looks_of(job: Depicted) -> Array:
    """(heads, keys) weights or contributions from the token that looks."""
    read = job.trace.contributions if job.shown == "contributions" else job.trace.attention
    rows = [read(job.layer, head, kind=job.kind, queries=job.looking, keys=job.columns)[0] for head in job.heads]
    return np.stack(rows)


def headline(job: Depicted) -> str:
    """Which head looks most at one place, and how much that is beside even attention."""
    rows = looks_of(job)
    side = job.trace.side(job.site.key_side)
    spans = side.spans
    assert spans is not None
    placed = np.isfinite(spans[job.columns][:, 0])
    best, most = np.unravel_index(int(np.where(placed, rows, -1).argmax()), rows.shape)
    place = _place(side, int(job.columns[most]))
    head = f"{job.layer}.{job.heads[int(best)]}"
    if job.shown == "contributions":
        return f"What arrives at {_who(job)} from the picture: head {head} takes most from {place}"
    even = 100 / job.site.keys
    return f"From {_who(job)}, head {head} looks most at {place}: {100 * rows[best, most]:.0f}% (even: {even:.1f}%)"


def _place(side: Side, position: int) -> str:
    """A patch in words."""
    spans = side.spans
    assert spans is not None
    left, top, right, bottom = spans[position]
    across = ("left", "middle", "right")[min(2, int((left + right) * 1.5))]
    down = ("top", "middle", "bottom")[min(2, int((top + bottom) * 1.5))]
    where = (
        "the middle" if across == down == "middle" else f"the {down} {across}" if down != "middle" else f"the {across}"
    )
    token = side.tokens[position]
    return f"{where} (row {token.row}, column {token.column})" if token.row is not None else where


def pixels_of(medium: Medium) -> Array:
    """(height, width, 3) the picture between 0 and 1, small enough for a figure."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingPackageError("figures of pictures need Pillow; run: pip install 'regard[figures]'") from None

    with Image.open(io.BytesIO(medium.data)) as opened:
        small = opened.convert("RGB")
        strip = medium.size[0] >= _STRIP * medium.size[1]
        small.thumbnail((3 * _WIDE, _WIDE) if strip else (_WIDE, _WIDE))
        return np.asarray(small, np.float32) / 255


def lit(pixels: Array, spans: Array, weights: Array) -> Array:
    """The picture, pale where nothing looks, clear and blue where a patch gets most; spans (n, 4), weights (n,)."""
    height, width = pixels.shape[:2]
    light = np.zeros((height, width), np.float32)
    placed = np.isfinite(spans[:, 0])
    top = float(weights[placed].max(initial=0)) or 1.0
    for (left, upper, right, lower), weight in zip(spans[placed], weights[placed], strict=True):
        rows = slice(round(upper * height), max(round(upper * height) + 1, round(lower * height)))
        columns = slice(round(left * width), max(round(left * width) + 1, round(right * width)))
        light[rows, columns] = np.maximum(light[rows, columns], weight / top)
    light = light[..., None]
    pale = 1 - _DIM * (1 - pixels)
    clear = pixels * (1 - _STRONG * light) + _TINT * _STRONG * light
    strength = np.sqrt(light)
    return np.asarray(np.clip(pale * (1 - strength) + clear * strength, 0, 1))


def _who(job: Depicted) -> str:
    return label_of(job.trace.side(job.site.query_side).tokens[job.looking])


def _span_of(job: Depicted) -> Array:
    """Where the token that looks lies; NaN where it has no place."""
    spans = job.trace.side(job.site.query_side).spans
    return np.full(4, np.nan) if spans is None else np.asarray(spans[job.looking])


def _shown(axes: Axes, pixels: Array, name: str, colour: str) -> None:
    axes.imshow(pixels, interpolation="nearest")
    axes.set_title(name, size=6.5, color=colour, pad=2)
    axes.axis("off")


def _outline(axes: Axes, span: Array, shape: tuple[int, ...], colour: str) -> None:
    """A frame around a patch."""
    if not np.isfinite(span).all():
        return
    from matplotlib.patches import Rectangle

    left, top, right, bottom = span * np.array([shape[1], shape[0]] * 2)
    frame = Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False, edgecolor=colour, linewidth=1.1)
    axes.add_patch(frame)
