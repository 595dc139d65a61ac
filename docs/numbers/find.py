"""Heads found by rules: what `regard find` prints, and the first head of several rules."""

from __future__ import annotations

import random
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

SHOWN = ("key is head of query by obj", "query is PRON and key is NOUN and offset < 0")
RULES = (
    "offset = -1",
    "offset = 1",
    "same word and not same position",
    "key is punctuation and offset > 0",
    "key is head of query by det",
    "key is head of query by nsubj",
    "relation is amod",
    "key is VERB and query is not VERB",
)
INPUTS, LINES, WORDS = 500, 24, 25
DECODER = "SmolLM2-135M-Instruct"


def measure(data: Path) -> dict[str, Any]:
    """What is printed for two rules, and the first heads of others."""
    from regard import find, load

    model, trees = load(), data / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
    decoder = load(DECODER)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "repeated.txt"
        place.write_text("\n".join(_repeated(decoder)), "utf-8")
        induction = find("induction", place, decoder).table.head(5).to_dict("records")
    return {
        "printed": {rule: printed(find(rule, trees, model, limit=INPUTS)) for rule in SHOWN},
        "first": {rule: find(rule, trees, model, limit=INPUTS).table.iloc[0].to_dict() for rule in RULES},
        "induction": induction,
    }


def printed(found: Any) -> str:
    """What the command prints."""
    from rich.console import Console

    from regard.printing.found import found_report

    console = Console(file=StringIO(), width=110, highlight=False)
    for part in found_report(found, 5):
        console.print(part)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    return "\n".join(lines).strip()


def _repeated(model: Any) -> list[str]:
    """Lines of random words, each twice: nothing but its first half says what comes next."""
    chooser = random.Random(0)
    texts = [model.tokenizer.decode([token]).strip() for token in range(1_000, 20_000)]
    known = [text for text in texts if text.isalpha()]
    return [" ".join(2 * chooser.sample(known, WORDS)) for _ in range(LINES)]


def blocks(found: dict[str, Any]) -> Blocks:
    """The parts of the page."""
    parts = {}
    for name, rule in zip(("objects", "pronouns"), SHOWN, strict=True):
        parts[name] = (
            f"```text\n$ regard find '{rule}' en_ewt-ud-dev.conllu --limit {INPUTS} --top 5\n{found['printed'][rule]}\n```"
        )
    rows = [
        [
            f"`{rule}`",
            f"{row['layer']}.{row['head']}",
            span(row["lift"], row["low"], row["high"], 2),
            *(f"{row[name]:.2f}" for name in ("held_out", "share")),
            f"{row['chance']:.2g}",
            f"{row['rows']:,}",
        ]
        for rule, row in ((rule, found["first"][rule]) for rule in RULES)
    ]
    columns = ["rule", "first head", "lift", "held out", "share", "chance", "rows"]
    parts["first"] = table(columns, rows)
    heads = ", ".join(f"{row['layer']}.{row['head']} ({row['held_out']:.2f})" for row in found["induction"])
    parts["induction"] = (
        f"Over {LINES} lines of {WORDS} random words, each written twice, `induction` finds in {DECODER}, with "
        f"held-out lifts: {heads}."
    )
    return {"how-to/find-heads.md": parts}
