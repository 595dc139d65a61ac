"""What `regard patterns` prints: the layer x head map, the strongest heads in words, and the same as JSON or CSV.

Enters: `Patterns`. Leaves: rich renderables, records and text.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from regard.measures.types import TYPES
from regard.patterns.cautions import warnings_for
from regard.patterns.definitions import ALWAYS
from regard.patterns.entries import LETTERS, PATTERN_COLOURS, rank_of
from regard.patterns.findings import head_report
from regard.patterns.table import Finding, Patterns, SiteMeasures
from regard.printing.gains import gains_record

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from regard.trace.trace import Trace

_BLOCKS = "▂▄▆█"
NOUNS = {"weights": "attention", "contributions": "contributions"}
_NAME_ROOM = 11  # columns per head above which patterns are written out


@dataclass(frozen=True)
class _Signs:
    """How names are told apart: by colours, or by letters; saved rules by digits."""

    coloured: bool
    colours: dict[str, str]
    letters: dict[str, str]

    @classmethod
    def of(cls, found: Patterns, coloured: bool) -> _Signs:
        own = {rule.name: rule.colour for rule in found.rules}
        digits = {name: str(number) if number < 10 else "+" for number, name in enumerate(own, 1)}
        return cls(coloured, PATTERN_COLOURS | own, LETTERS | digits)


def report(found: Patterns, console: Console | None = None, *, count: int = 3) -> Iterator[RenderableType]:
    """The map, the strongest heads of each pattern, the types, what is not available, and cautions."""
    coloured = console is None or console.color_system is not None
    name = found.facts.get("model", "attention maps")
    yield Text.assemble((f"{name}", "bold"), (f"  {_summary(found)}", "dim"))
    for kind, sites in groupby(found.measured, key=lambda site: site.kind):
        yield Text("")
        yield from _map(found, kind, list(sites), coloured, 80 if console is None else console.width)
    yield Text("")
    yield _legend(found, coloured)
    if len(found):
        yield Text("")
        yield _strongest(found, count)
    yield Text("")
    yield Text(_types(found), style="dim")
    for line in _missing(found):
        yield Text(line, style="dim")
    yield _cautions(found)


def _summary(found: Patterns) -> str:
    """How many heads have a name for what they do, and how much the heads rest."""
    named = len({(f.kind, f.layer, f.part, f.head) for f in found if f.pattern != ALWAYS})
    shares = np.concatenate([site.rest for site in found.measured])
    text = f"{named} of {found.heads} heads do something that has a name when awake, in this input"
    return (
        text
        if np.isnan(shares).all()
        else f"{text}; the median head rests with {np.nanmedian(shares):.2f} of its {NOUNS[found.by]}"
    )


def _map(found: Patterns, kind: str, sites: list[SiteMeasures], coloured: bool, width: int) -> Iterator[Text]:
    """One line per layer, one cell per head: its most specific name if there is room, or a block whose
    colour is the pattern and whose height the score; heads that do not fit the width come below."""
    best: dict[tuple[int, int, int], Finding] = {}
    for finding in sorted(found.findings, key=lambda f: -rank_of(f.pattern)):  # the most specific is written last
        if finding.kind == kind:
            best[finding.layer, finding.part, finding.head] = finding
    label, signs = max(len(kind), 8), _Signs.of(found, coloured)
    room = max(1, width - label - 2)
    heads = range(max(max(site.heads) for site in sites) + 1)
    for shown in (heads[start : start + room] for start in range(0, len(heads), room)):
        wide = _cell_width(room // len(shown), len(heads), found.names)
        numbers = "".join(f"{str(head)[-wide + 1 :] if wide > 1 else head % 10:<{wide}}" for head in shown)
        yield Text(f"{kind:<{label}}  {numbers}", "dim")
        for site in sites:
            line = Text().append(f"{_layer(site):>{label}}  ", "dim")
            for head in shown:
                line.append_text(_cell(best.get((site.layer, site.part, head)), head in site.heads, wide, signs))
            yield line


def _cell_width(room: int, heads: int, names: Sequence[str]) -> int:
    """Columns per head: enough for names from 11 on, otherwise for a symbol."""
    if room >= _NAME_ROOM:
        return min(room, max(map(len, names)) + 1)
    return min(room, 3 if heads <= 20 else 2)


def _layer(site: SiteMeasures) -> str:
    return f"layer {site.layer}" + (f".{site.part}" if site.part else "")


def _cell(finding: Finding | None, there: bool, wide: int, signs: _Signs) -> Text:
    if finding is None:
        return Text(("·" if there else "").ljust(wide), style="dim")
    style = signs.colours[finding.pattern] if signs.coloured else ""
    if wide >= _NAME_ROOM:
        name = finding.pattern
        return Text((name if len(name) < wide else name[: wide - 2] + "…").ljust(wide), style=style)
    if not signs.coloured:
        return Text(signs.letters[finding.pattern].ljust(wide))
    block = _BLOCKS[min(3, int(finding.score * 4))]
    return Text((block * max(1, wide - 1)).ljust(wide), style=style)


def _legend(found: Patterns, coloured: bool) -> Text:
    counts = Counter(finding.pattern for finding in found)
    text, signs = Text(), _Signs.of(found, coloured)
    for name in found.names:
        if counts[name]:
            sign = ("█ ", signs.colours[name]) if coloured else (f"{signs.letters[name]} = ", "")
            text.append(*sign)
            text.append(f"{name} {counts[name]}   ")
    text.append("· none", style="dim")
    return text


def _strongest(found: Patterns, count: int) -> Table:
    """The strongest heads of each pattern, with their sentences."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title, justify in (("pattern", "left"), ("head", "left"), ("score", "right"), ("evidence", "left")):
        table.add_column(title, justify=justify, no_wrap=title in ("head", "score"))  # type: ignore[arg-type]
    several = len({site.kind for site in found.measured}) > 1
    colours = _Signs.of(found, True).colours
    for name in found.names:
        for number, finding in enumerate(found.strongest(name, count)):
            where = f"{finding.kind} " if several else ""
            table.add_row(
                Text(name if number == 0 else "", style=colours[name]),
                f"{where}{finding.layer}.{finding.head}",
                f"{finding.score:.2f}",
                finding.sentence,
            )
    return table


def _types(found: Patterns) -> str:
    """How many maps have each type, and how many have none."""
    known = [site.types[~np.isnan(site.types).any(axis=-1)] for site in found.measured if site.types is not None]
    counts = Counter(TYPES[number] for types in known for number in types.argmax(axis=-1))
    if not counts:
        return f"types: n/a ({found.missing.get('type', 'the maps are too small')})"
    untyped = found.heads - counts.total()
    parts = [f"{name} {counts[name]}" for name in TYPES if counts[name]] + [f"n/a {untyped}"] * bool(untyped)
    return "types: " + ", ".join(parts)


def _missing(found: Patterns) -> Iterator[str]:
    """Patterns that are not available for any head, one line per reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in found.worth_saying.items():
        if name in found.names:
            by_reason.setdefault(reason, []).append(name)
    for why, names in by_reason.items():
        yield f"n/a: {', '.join(names)} ({why})"


def _cautions(found: Patterns) -> Table:
    """Cautions, one bullet per sentence."""
    table = Table.grid(padding=(0, 1))
    for sentence in warnings_for(found, facts=found.facts, heads=found.heads):
        table.add_row(Text("·", style="dim"), Text(sentence, style="dim italic"))
    return table


def as_record(trace: Trace, found: Patterns) -> dict[str, Any]:
    """Everything, for JSON."""
    return {
        "facts": dict(found.facts),
        "tokens": {name: side.texts for name, side in trace.sides.items()},
        "findings": found.rows(),
        "heads": head_report(trace, found),
        "gains": gains_record(trace),
        "missing": found.missing,
        "warnings": warnings_for(found, facts=found.facts, heads=found.heads),
    }


def as_csv(found: Patterns) -> str:
    """The findings as CSV; evidence rows as query>key pairs."""
    text = io.StringIO()
    columns = list(Finding.__dataclass_fields__)
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in found.rows():
        writer.writerow(row | {"evidence": " ".join(f"{query}>{key}" for query, key, _ in row["evidence"])})
    return text.getvalue()
