"""What made the keys of induction heads: `regard why` on random words, written twice."""

from __future__ import annotations

import random
from collections import Counter
from io import StringIO
from pathlib import Path
from statistics import median
from typing import Any

from blocks import Blocks, table

DECODER = "SmolLM2-135M-Instruct"
INDUCTION = ("18.6", "17.3", "17.4")  # they look at what followed the query's word before
TEXTS, WORDS = 100, 20
REMOVED = 20  # texts of which parts are also removed for real
SHOWN = "The cat sat on the mat. The cat sat"


def measure(_: Path) -> dict[str, Any]:
    """What is printed for one text, and the first source of the keys of three heads over many."""
    from regard import load

    model = load(DECODER)
    found: dict[str, Any] = {"printed": _printed(model)}
    rows: dict[str, list[dict[str, Any]]] = {head: [] for head in INDUCTION}
    for seed in range(TEXTS):
        for head, look in looks(model, seed, check=seed < REMOVED).items():
            rows[head].append(_row(look))
    return {**found, "heads": {head: _summary(some) for head, some in rows.items()}}


def looks(model: Any, seed: int, check: bool = False) -> dict[str, Any]:
    """Each head's look from a word in the second half of the repetition to what followed it before."""
    from regard.models.why import whys

    chooser, known = random.Random(seed), model.tokenizer.convert_ids_to_tokens(range(1_000, 20_000))
    words = [piece[1:] for piece in known if piece[0] == "Ġ" and piece[1:].isalpha() and piece[1:].isascii()]
    text = " " + " ".join(2 * chooser.sample(words, WORDS))
    query = WORDS + chooser.randrange(WORDS // 2, WORDS - 1)
    return {look.name: look for look in whys(model, text, INDUCTION, query, query - WORDS + 1, check=check)}


def _row(look: Any) -> dict[str, Any]:
    first, second = look.key.components[:2]
    return {
        "first": first.name,
        "share": first.centred,
        "second": abs(second.centred),
        "before": bool(first.sources) and first.sources[0].position == look.key.position - 1,
        "error": look.error,
        **(_removed(look) if look.key.agreement else {}),
    }


def _removed(look: Any) -> dict[str, Any]:
    key, query = look.key.agreement, look.query.agreement
    return {"removed": key.first.name, "fall": key.fall, "spearman": {"key": key.spearman, "query": query.spearman}}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    first, times = Counter(row["first"] for row in rows).most_common(1)[0]
    of_first = [row for row in rows if row["first"] == first]
    return {
        "first": first,
        "times": times,
        "texts": len(rows),
        "before": sum(row["before"] for row in of_first),
        "share": median(row["share"] for row in of_first),
        "second": median(row["second"] for row in of_first),
        "error": max(row["error"] for row in rows),
        "patched": _patched([row for row in rows if "removed" in row], first),
    }


def _patched(rows: list[dict[str, Any]], first: str) -> dict[str, Any]:
    """What removing parts for real says: how often the score falls most without the first source, and ranks."""
    return {
        "texts": len(rows),
        "removed": sum(row["removed"] == first for row in rows),
        "fall": median(row["fall"] for row in rows if row["removed"] == first),
        "spearman": {side: _range([row["spearman"][side] for row in rows]) for side in ("key", "query")},
    }


def _range(values: list[float]) -> list[float]:
    """The median, the least and the largest."""
    return [median(values), min(values), max(values)]


def _printed(model: Any) -> str:
    from rich.console import Console

    from regard.printing.split import why_report

    console = Console(file=StringIO(), width=110, highlight=False)
    for part in why_report(model.why(SHOWN, "18.6"), 5):
        console.print(part)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    return "\n".join(lines).strip()


def blocks(found: dict[str, Any]) -> Blocks:
    """The parts of the page."""
    printed = f'```text\n$ regard why "{SHOWN}" --model {DECODER} --head 18.6 -n 5\n{found["printed"]}\n```'
    rows = [
        [
            head,
            one["first"],
            f"{one['times']} of {one['texts']}",
            f"{one['before']} of {one['times']}",
            f"{one['share']:.1f}",
            f"{one['second']:.1f}",
            f"{one['error']:.0e}",
        ]
        for head, one in found["heads"].items()
    ]
    columns = ["head", "first source of the key", "in", "read from the word before", "share", "second source"]
    columns += ["sum differs by"]
    patched = [
        [
            head,
            f"{found['heads'][head]['first']} in {one['removed']} of {one['texts']}",
            f"{one['fall']:.1f}",
            *(_told(one["spearman"][side]) for side in ("key", "query")),
        ]
        for head, one in ((head, one["patched"]) for head, one in found["heads"].items())
    ]
    titles = ["head", "falls most without", "by", "rank correlation, key", "rank correlation, query"]
    page = {"printed": printed, "induction": table(columns, rows), "patched": table(titles, patched)}
    return {"how-to/why-does-it-look-there.md": page}


def _told(values: list[float]) -> str:
    """A median and its range."""
    middle, low, high = (f"{value:.2f}".replace("-", "−") for value in values)
    return f"{middle} ({low} to {high})"
