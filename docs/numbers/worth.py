"""Worth of lines against exact cuts: how far the estimate of one backward pass agrees, per model, task and way to cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, table

TEXTS = 50
WORDS = 8  # of the beginning of a paragraph, of which the last is the one to predict
LINES = 64  # half of them with the largest estimates, half drawn from those of weight above 0.1
HOW = ("mask", "zero")
ASKED = {"random": 0.9, "strongest": 0.7}  # the least correlation to be content with
RELIABLE = 0.5  # the least for a picture not to warn


def measure(data: Path) -> dict[str, Any]:
    """Both tables."""
    return {"next word": _next_words(data), "similarity": _pairs(data)}


def _next_words(data: Path) -> dict[str, Any]:
    """SmolLM2: the log probability of the last word of a beginning."""
    from regard import load
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source

    lines = read(Source(str(data / "wikitext2" / "wiki.valid.tokens"), unit="paragraph", limit=4 * TEXTS))
    starts = [
        " ".join(line.text.split()[:WORDS])
        for line in lines
        if len(line.text.split()) > 2 * WORDS and line.text[0] != "="
    ]
    model = load("SmolLM2-135M-Instruct")
    return _checked(model, [(text, None) for text in starts[:TEXTS]], -2)


def _pairs(data: Path) -> dict[str, Any]:
    """The default model: the similarity of two captions."""
    from regard import load

    lines = (data / "sts_captions" / "sts-captions-dev.tsv").read_text("utf-8").splitlines()[1:]
    return _checked(load(), [tuple(line.split("\t")[5:7]) for line in lines[:TEXTS]], None)


def _checked(model: Any, texts: list[Any], position: int | None) -> dict[str, Any]:
    """How the estimate agrees with exact cuts on each text, by way to cut."""
    from regard.models.worth import AskedWorth, check_worth, run_worth

    found: dict[str, Any] = {how: [] for how in HOW}
    for text, pair in texts:
        engine = model._engine
        trace, run = run_worth(engine, engine.encode(text, pair), None, AskedWorth(position=position))
        for how in HOW:
            found[how].append({"text": text, **check_worth(engine, trace, run, how, LINES)})
    return {"model": model.name, "texts": len(texts), **found}


def blocks(found: dict[str, Any]) -> Blocks:
    """The table of the page, and the sentence that quotes it."""
    rows = []
    for task, one in found.items():
        for how in HOW:
            rows.append([one["model"], task, how, *(_spread(one[how], part) for part in ("random", "strongest"))])
    columns = ["model", "judged by", "cut", "random lines", "largest estimates"]
    low = sum(check["spearman"] < RELIABLE for one in found.values() for how in HOW for check in one[how])
    total = sum(len(one[how]) for one in found.values() for how in HOW)
    text = f"""
{table(columns, rows)}

Means of Spearman's correlation with exact cuts over {" and ".join(str(one["texts"]) for one in found.values())} texts, with the lowest and the highest, and how many texts are below {ASKED["random"]}
or {ASKED["strongest"]}; "next word" is the last word of the beginnings of paragraphs (WikiText-2), "similarity" that of two captions (STS).
Where it fails most on the largest estimates: {_failures(found)}. On all {LINES} lines together, the estimate was below {RELIABLE}, and called not
reliable, in {low} of {total} checks.
"""
    return {"how-to/does-this-look-matter.md": {"worth": text}}


def _failures(found: dict[str, Any], count: int = 3) -> str:
    """The texts on which the largest estimates agree least with exact cuts."""
    checks = [(check["strongest"], how, check["text"]) for one in found.values() for how in HOW for check in one[how]]
    return ", ".join(f"`{text}` ({how}, {value:.2f})" for value, how, text in sorted(checks)[:count])


def _spread(checks: list[dict[str, Any]], part: str) -> str:
    values = [check[part] for check in checks if check[part] is not None]
    spread = f"{sum(values) / len(values):.2f} ({min(values):.2f} to {max(values):.2f})".replace("-", "−")
    return f"{spread}; {sum(value < ASKED[part] for value in values)} of {len(values)} below"
