"""What the figures share: ink, letters, rules, colour bars.

Enters: axes. Leaves: the same axes, with a part more or less.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import MissingPackageError
from regard.trace.lettering import plain, readable
from regard.trace.site import Array
from regard.trace.tokens import Token, subscript
from regard.views.themes import theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, GREY = "#1c2230", "#5f6879", "#878e9b"
POSITIVE, NEGATIVE = "#2b6fd6", "#e07b1a"  # of signed numbers, as in the app
MONO: dict[str, Any] = {"family": "monospace", "size": 7}
RULE: dict[str, Any] = {"color": "#2457b8", "linewidth": 0.8}  # between prompt and answer
_SMALL = 3.5  # points of the smallest label


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackageError("figures need matplotlib; run: pip install 'regard[figures]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def lettering(room: float) -> dict[str, Any]:
    """Labels that fit into so many inches each."""
    return MONO | {"size": max(_SMALL, min(7.0, 72 * room * 0.85))}


def label_of(token: Token) -> str:
    """A token as a figure can print it."""
    return plain(readable(token.text))


def labels_of(tokens: Sequence[Token], positions: Sequence[int] | Array) -> list[str]:
    """Tokens as a figure can print them; one that stands there twice carries its position, as in every view."""
    texts = [listed(label_of(token)) for token in tokens]
    seen = Counter(texts)
    return [text + subscript(at) if seen[text] > 1 else text for text, at in zip(texts, positions, strict=True)]


def listed(text: str) -> str:
    """A token in a list: marks stand in quotes, since a full stop before digits reads as a number."""
    spelt = any(unicodedata.category(letter)[0] in "LNS" for letter in text)
    return text if spelt or not text else f"“{text}”"


def quoted(text: str) -> str:
    """A token of a list within a sentence: in quotes, once."""
    return text if text.startswith("“") else f"“{text}”"


def scored_as(scores: Array) -> Callable[[float], str]:
    """Scores with as many decimals each, as the app writes them."""
    largest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    places = 0 if largest >= 100 else 1 if largest >= 10 else 2
    return lambda value: f"{value:.{places}f}".replace("-", "−")


def bare(axes: Axes) -> None:
    """Axes without ticks, in a faint frame."""
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_color("#dfe3ea")


def colour_bar(drawn: Figure, image: Any, axes: Any, name: str, *, shrink: float = 0.8) -> Any:
    """A colour bar with ticks and a name, over so much of its axes."""
    bar = drawn.colorbar(image, ax=axes, shrink=shrink, aspect=30, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, length=0)
    bar.set_label(name, size=7, color=QUIET)
    return bar


def grey_key(bar: Any, name: str = "resting") -> None:
    """A grey swatch below a colour bar: what the map shows in grey."""
    from matplotlib.patches import Rectangle

    place = {"transform": bar.ax.transAxes, "clip_on": False}
    bar.ax.add_patch(Rectangle((0, -0.1), 1, 0.045, facecolor=GREY, **place))
    bar.ax.text(1.35, -0.0775, name, size=6, color=QUIET, va="center", **place)


def greys() -> Any:
    """From the ground to a middle grey, for places where attention rests."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("resting", [theme().ground, GREY])


def name_parts(axes: Any, place: tuple[float, float], side: str, *, across: bool) -> None:
    """The names of prompt and answer at a rule: left and right of it, or above and below."""
    names = {"color": RULE["color"], "size": 6}
    if across:
        axes.annotate("prompt", place, (-2, -2), textcoords="offset points", ha="right", va="top", **names)
        axes.annotate("answer", place, (2, -2), textcoords="offset points", ha="left", va="top", **names)
    else:
        axes.annotate("prompt", place, (0, 1), textcoords="offset points", ha=side, va="bottom", **names)
        axes.annotate("answer", place, (0, -1), textcoords="offset points", ha=side, va="top", **names)


def farthest(values: Array) -> float:
    """How far from 0 the known numbers go."""
    known = np.abs(values[~np.isnan(values)])
    return float(known.max()) if known.size else 0.0
