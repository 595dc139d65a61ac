"""Which cross heads of the built-in translator link words, judged by a dictionary learned from other sentence pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

MODEL = "translator"


def measure(data: Path) -> dict[str, Any]:
    """A row per way to link words, and one per head."""
    from regard import study

    pairs = data / "tatoeba_eng_spa"
    result = study.alignment(MODEL, pairs / "dev.tsv", parallel=pairs / "train.tsv", control=True)
    return {
        "ways": result.table.to_dict("records"),
        "heads": result.tables["Heads"].to_dict("records"),
        "sentences": result.meta["tally"]["examples"],
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of all ways to link words, and what it says."""
    ways = {row["way"]: row for row in found["ways"]}
    rows = [
        [
            name,
            span(100 * row["error rate"], 100 * row["low"], 100 * row["high"], 1),
            f"{row['precision']:.2f}",
            f"{row['recall']:.2f}",
        ]
        for name, row in ways.items()
    ]
    mine, diagonal, late = ways["chosen heads"], ways["the diagonal"], ways["best single head, a row late"]
    apart = mine["high"] < diagonal["low"]
    untrained = min(row["error rate"] for name, row in ways.items() if "weights" in name)
    best = found["heads"][0]
    text = f"""
{table(["", "error rate, %", "precision", "recall"], rows)}

{mine["words"]:,} words of {found["sentences"]:,} sentences of Tatoeba, English to Spanish, that the built-in translator was not trained on, with 95 % intervals over sentences; right links
come from a dictionary that IBM's first model learned from 40,000 other pairs, which is no gold standard. The chosen heads ({mine["heads"]}) have {100 * mine["error rate"]:.1f} %, the diagonal
{100 * diagonal["error rate"]:.1f} %{"" if apart else ", and the intervals overlap"}; the best head of untrained weights has {100 * untrained:.1f} % or more. Alone, {best["layer"]}.{best["head"]} links {100 * best["precision"]:.0f} % of the words rightly; a row late,
the best head has an error rate of {100 * late["error rate"]:.1f} %.
"""
    return {"how-to/which-heads-link-words.md": {"links": text}}
