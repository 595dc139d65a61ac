"""What `regard find` prints: the heads that follow a rule, best first, and texts in which the first one does it.

Enters: a `Result`. Leaves: rich renderables; the same as a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from regard.studies.find.study import EXAMPLES
from regard.studies.head_names import head_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.studies.result import Result

_NUMBERS = ("lift", "95 % interval", "ranked by", "held out", "share", "chance", "rows", "awake")


def found_report(found: Result, top: int) -> Iterator[RenderableType]:
    """The table of the first heads, what its numbers are, examples and cautions."""
    meta = found.meta
    name = f"{meta['tally']['inputs']:,} inputs from {meta['corpus']['name']}"
    yield Text.assemble((meta["settings"]["rule"], "bold"), (f"  {meta['model']}, {name}", "dim"))
    yield Text("")
    yield _heads(found, top)
    yield Text("")
    yield Text(
        "lift: share of the awake attention on target, between chance (0) and all (1). Heads are ranked by the lift on "
        f"one half of the {meta['intervals']['over']}; held out is that on the other half, where nothing was chosen.",
        style="dim",
    )
    yield from _examples(found)
    for text in (*found.findings[1:], *found.cautions):
        yield Text(f"note: {text}", style="dim")


def _heads(found: Result, top: int) -> Table:
    several = found.table["kind"].nunique() > 1
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("head")
    for name in _NUMBERS:
        table.add_column(name, justify="right")
    for row in found.table.head(top).to_dict("records"):
        head = head_name(row["layer"], row["head"])
        table.add_row(
            Text(f"{row['kind']} {head}" if several else head, style="bold"),
            _two(row["lift"]),
            "n/a" if isnan(row["low"]) else f"{row['low']:.2f} – {row['high']:.2f}",
            _two(row["chosen"]),
            _two(row["held_out"]),
            _two(row["share"]),
            f"{row['chance']:.2g}",
            f"{row['rows']:,}",
            _two(row["awake"]),
        )
    return table


def _two(number: float) -> str:
    return "n/a" if isnan(number) else f"{number:.2f}"


def _examples(found: Result) -> Iterator[Text]:
    if EXAMPLES not in found.tables or not len(found.tables[EXAMPLES]):
        return
    best = found.table.iloc[0]
    yield Text("")
    yield Text.assemble(
        (f"Head {head_name(best['layer'], best['head'])}", "bold"),
        f" does it most here (of {found.meta['looked_at']} inputs): attention from the [query] to its targets, "
        "above all to the «key»",
    )
    for row in found.tables[EXAMPLES].to_dict("records"):
        yield Text(f"  {row['attention']:.2f}  ").append_text(_marked(row))
    yield Text("")


def _marked(row: Mapping[str, Any]) -> Text:
    """A text with its query in brackets and its key in guillemets."""
    marks = [(*row["query_at"], "[", "]", "bold"), (*row["key_at"], "«", "»", "bold reverse")]
    if row["query_at"] == row["key_at"]:  # a token that looks at itself
        marks = [(*row["query_at"], "[«", "»]", "bold reverse")]
    text, done = Text(), 0
    for start, end, left, right, style in sorted(marks):
        text.append(row["text"][done:start]).append(f"{left}{row['text'][start:end]}{right}", style)
        done = end
    return text.append(row["text"][done:])


def as_record(found: Result, top: int) -> dict[str, Any]:
    """The same for a script."""
    meta = found.meta
    examples = found.tables[EXAMPLES].to_dict("records") if EXAMPLES in found.tables else []
    return {
        "rule": meta["settings"]["rule"],
        "model": meta["model"],
        "corpus": meta["corpus"]["name"],
        "inputs": meta["tally"]["inputs"],
        "heads": [_plain(row) for row in found.table.head(top).to_dict("records")],
        "examples": [_plain(row) for row in examples],
        "notes": [str(text) for text in (*found.findings[1:], *found.cautions)],
        "command": meta["command"],
        "regard": meta["regard"],
    }


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as JSON has them: nothing in place of NaN."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}
