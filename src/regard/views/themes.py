"""Light and dark: the page's own colours, for pictures that stand in a page (themes.json, which the bundle holds too).

Enters: the name of a theme. Leaves: its colours, and the ramps of maps and of differences as matplotlib knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.patterns.entries import DARK_COLOURS, PATTERN_COLOURS
from regard.trace.site import Array

if TYPE_CHECKING:
    from matplotlib.colors import ListedColormap

_STEPS = 256  # colours of a ramp


@dataclass(frozen=True)
class Theme:
    """The colours of a picture; `ramp` begins at the ground, `below` and `above` are the sides of a difference."""

    ground: str
    ink: str
    quiet: str
    rule: str
    accent: str
    band: str
    ramp: list[str]
    change: list[str]  # how much something changes, from the ground up
    below: list[str]
    above: list[str]
    heads: list[str]  # a colour for each head; beyond these they repeat

    @property
    def maps(self) -> ListedColormap:
        """From zero, which is the ground, to the strongest."""
        from matplotlib.colors import ListedColormap

        return ListedColormap(spline(self.ramp, _STEPS))

    @property
    def signs(self) -> ListedColormap:
        """From the lowest over zero, which is the ground, to the highest."""
        from matplotlib.colors import ListedColormap

        below, above = (spline(side, _STEPS) for side in (self.below, self.above))
        return ListedColormap(np.concatenate([below[:0:-1], above]))


_STORED: dict[str, Any] = json.loads((files("regard.views") / "themes.json").read_text("utf-8"))
THEMES = {name: Theme(**colours) for name, colours in _STORED.items()}
_current: ContextVar[Theme] = ContextVar("theme", default=THEMES["light"])


def theme() -> Theme:
    """The theme that pictures are drawn in: light, unless `themed` says otherwise."""
    return _current.get()


def head_colour(head: int) -> str:
    """The colour of a head in every view."""
    colours = theme().heads
    return colours[head % len(colours)]


@contextmanager
def themed(name: str) -> Iterator[None]:
    """Draw in a theme; what a figure does not colour itself takes the theme's ground and ink."""
    from matplotlib import rc_context

    chosen = THEMES[name]
    ink = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color", "legend.labelcolor")
    ground = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    settings = {**dict.fromkeys(ink, chosen.ink), **dict.fromkeys(ground, chosen.ground), "axes.edgecolor": chosen.rule}
    before = _current.set(chosen)
    try:
        with rc_context(settings):
            yield
    finally:
        _current.reset(before)


def spline(colours: Sequence[str], steps: int) -> Array:
    """(steps, 3) colours along a uniform cubic B-spline through the first and the last, as the page's ramps (d3)."""
    knots = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    ends = np.concatenate([[2 * knots[0] - knots[1]], knots, [2 * knots[-1] - knots[-2]]])
    place = np.linspace(0, len(knots) - 1, steps)
    left = np.minimum(place.astype(int), len(knots) - 2)
    t = (place - left)[:, None]
    basis = (1 - t) ** 3, 4 - 6 * t**2 + 3 * t**3, 1 + 3 * t + 3 * t**2 - 3 * t**3, t**3
    drawn: Array = np.clip(np.sum([part * ends[left + n] for n, part in enumerate(basis)], axis=0) / 6, 0, 1)
    return drawn


def name_colours() -> dict[str, str]:
    """The colours of patterns' names on the ground of the current theme."""
    return DARK_COLOURS if theme() == THEMES["dark"] else PATTERN_COLOURS
