"""The picture of what a study found: a few named bars, which the report and the list of studies draw.

Enters: names and numbers. Leaves: a record for lists, and markup whose texts are escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

MOST = 8  # bars of a chart


class Bar(NamedTuple):
    """One number with its name, where a tick stands (nan: nowhere), and what is said beside it."""

    name: str
    value: float
    chance: float = nan
    note: str = ""

    @property
    def below(self) -> bool:
        """Whether it is less than chance: drawn quietly."""
        return self.value < self.chance  # never where chance is nan


@dataclass(frozen=True)
class Chart:
    """Bars, the largest first, and the sentence that says what they are.

    `top` is where their scale ends: 1 for shares, which are printed as percentages, and 0 for the largest of them.
    `tick` is what the ticks are; with `bar`, what the bars are, the second number is a bar of its own below the first.
    """

    about: str
    bars: Sequence[Bar]
    top: float = 0.0
    tick: str = ""
    bar: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """As JSON, for lists of studies."""
        bars = [
            [bar.name, float(bar.value), float(bar.chance) if isfinite(bar.chance) else None, bar.note]
            for bar in self.bars[:MOST]
        ]
        return {"about": self.about, "bars": bars, "top": self.top, "tick": self.tick, "bar": self.bar}


def counted(about: str, counts: dict[str, int]) -> Chart:
    """How many there are of each, most first."""
    ranked = sorted(((name, count) for name, count in counts.items() if count), key=lambda one: -one[1])
    return Chart(about, [Bar(name, count) for name, count in ranked[:MOST]])


def bars_markup(bars: Sequence[Bar], number: str = "{:.2f}", top: float = 0.0, *, paired: bool = False) -> str:
    """Named bars on one scale, to `top` or to the largest of them, each with a tick, or a second bar, at its chance."""
    top = top or max([bar.value for bar in bars] + [bar.chance for bar in bars if isfinite(bar.chance)] + [1e-9])
    lines = []
    for bar in bars:
        own = [_shown(bar.value, number)]
        if paired:  # each number in the colour of its bar
            own = [f"<em>{own[0]}</em>", f"<em class=second>{_shown(bar.chance, number)}</em>"]
        note = f" <small>{html.escape(bar.note)}</small>" if bar.note else ""
        quiet = " class=below" if bar.below and not paired else ""
        drawn = f'<i{quiet} style="width:{100 * max(bar.value, 0) / top:.1f}%"></i>{_second(bar, top, paired)}'
        kind = " class=pair" if paired else ""
        lines.append(
            f"<dt>{html.escape(bar.name)}</dt><dd><span{kind}>{drawn}</span><b>{' · '.join(own)}{note}</b></dd>"
        )
    return f'<dl class="bars">{"".join(lines)}</dl>'


def _shown(value: float, number: str) -> str:
    return f"{value:,}" if isinstance(value, int) else number.format(value)


def _second(bar: Bar, top: float, paired: bool) -> str:
    """The tick of a bar, or the bar below it."""
    if not isfinite(bar.chance):
        return ""
    far = f"{100 * bar.chance / top:.1f}%"
    return f'<s style="width:{far}"></s>' if paired else f'<u style="left:{far}"></u>'


def chart_markup(chart: Chart) -> str:
    """The chart with the sentence that explains it, and what its marks are."""
    drawn = bars_markup(chart.bars, "{:.0%}" if chart.top == 1 else "{:.2f}", chart.top, paired=bool(chart.bar))
    return f'<div class="chart"><p class="quiet">{html.escape(chart.about)}</p>{_key(chart)}{drawn}</div>'


def _key(chart: Chart) -> str:
    if not chart.tick:
        return ""
    marks = [("i", chart.bar), ("s", chart.tick)] if chart.bar else [("u", chart.tick)]
    said = "".join(f"<span><{mark}></{mark}>{html.escape(name)}</span>" for mark, name in marks)
    return f'<p class="key quiet">{said}</p>'
