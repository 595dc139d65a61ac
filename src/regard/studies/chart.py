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


@dataclass(frozen=True)
class Chart:
    """Bars, the largest first, and the sentence that says what they are.

    `top` is where their scale ends: 1 for shares, and 0 for the largest of them.
    """

    about: str
    bars: Sequence[Bar]
    top: float = 0.0

    @property
    def record(self) -> dict[str, Any]:
        """As JSON, for lists of studies."""
        bars = [
            [bar.name, float(bar.value), float(bar.chance) if isfinite(bar.chance) else None, bar.note]
            for bar in self.bars[:MOST]
        ]
        return {"about": self.about, "bars": bars, "top": self.top}


def counted(about: str, counts: dict[str, int]) -> Chart:
    """How many there are of each, most first."""
    ranked = sorted(((name, count) for name, count in counts.items() if count), key=lambda one: -one[1])
    return Chart(about, [Bar(name, count) for name, count in ranked[:MOST]])


def bars_markup(bars: Sequence[Bar], number: str = "{:.2f}", top: float = 0.0) -> str:
    """Named bars on one scale, to `top` or to the largest of them, each with a tick at its chance level."""
    top = top or max([bar.value for bar in bars] + [bar.chance for bar in bars if isfinite(bar.chance)] + [1e-9])
    lines = []
    for bar in bars:
        tick = f'<u style="left:{100 * bar.chance / top:.1f}%"></u>' if isfinite(bar.chance) else ""
        shown = f"{bar.value:,}" if isinstance(bar.value, int) else number.format(bar.value)
        note = f" <small>{html.escape(bar.note)}</small>" if bar.note else ""
        long = f'<i style="width:{100 * max(bar.value, 0) / top:.1f}%"></i>'
        lines.append(f"<dt>{html.escape(bar.name)}</dt><dd><span>{long}{tick}</span><b>{shown}{note}</b></dd>")
    return f'<dl class="bars">{"".join(lines)}</dl>'


def chart_markup(chart: Chart) -> str:
    """The chart with the sentence that explains it."""
    drawn = bars_markup(chart.bars, top=chart.top)
    return f'<div class="chart"><p class="quiet">{html.escape(chart.about)}</p>{drawn}</div>'
