"""Evidence for an answer, for a terminal.

Enters: an `Evidence`. Leaves: rich renderables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from regard.ablation.evidence import Evidence, EvidenceSentence

SHOWN = 5  # sentences
_LENGTH = 64  # characters of a sentence


def evidence_report(found: Evidence, count: int = SHOWN, by: str | None = None) -> Iterator[Table | Text]:
    """The answer, the best sentences with their scores, and the heads that fetched them."""
    by = by or found.best_measure
    chance = sum(found.logs)
    yield Text.assemble(
        (found.model, "bold"), "  answer: ", (found.answer, "bold"), f"  (log probability {chance:.2f})"
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("sentence of the prompt")
    for name in ("attention", "contribution", "worth", "chance"):
        table.add_column(name, justify="right", style="" if name == by else "dim")
    table.add_column("fetched by")
    ranked = found.ranked(by)
    for one in ranked[:count]:
        table.add_row(_shortened(one.text), *_numbers(one), _fetched(one))
    yield table
    if len(ranked) > count:
        yield Text(f"{len(ranked) - count} more sentences of less {by}", style="dim")
    yield Text(
        "attention and contribution: shares of the sentences, chance their share of the tokens; worth: nats of the "
        "answer's log probability",
        style="dim",
    )
    for note in found.notes:
        yield Text(str(note), style="dim")


def _numbers(one: EvidenceSentence) -> list[str]:
    worth = "n/a" if one.worth is None else f"{one.worth:+.2f}"
    contribution = "n/a" if one.contribution is None else f"{one.contribution:.2f}"
    return [f"{one.attention:.2f}", contribution, worth, f"{one.chance:.2f}"]


def _fetched(one: EvidenceSentence) -> Text:
    named = (f"{head.name} {head.attention:.2f}" for head in one.heads)
    return Text(", ".join(named), style="dim")


def _shortened(text: str) -> Text:
    shown = " ".join(text.split())
    return Text(shown if len(shown) <= _LENGTH else f"{shown[: _LENGTH - 1]}…")
