"""Which ranking of tokens finds those that matter: the study of deletion on both models that come with regard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

MODELS = ("all-MiniLM-L6-v2", "SmolLM2-135M-Instruct")
TEXTS = 30  # sentences drawn from WikiText-2


def measure(data: Path) -> dict[str, Any]:
    """A row per ranking and model."""
    from regard import study

    found = {}
    corpus = data / "wikitext2" / "wiki.test-first-half.raw"
    for model in MODELS:
        result = study.deletion(model, corpus, unit="sentence", sample=TEXTS)
        last = result.findings[-1]
        found[model] = {
            "about": result.meta["about"],
            "texts": int(last.split(" texts.")[0].replace(",", "")),
            "rankings": result.table.to_dict("records"),
        }
    return found


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of rankings, and which are best."""
    names = [row["ranking"] for row in next(iter(found.values()))["rankings"]]
    rows = [[name, *(_area(one["rankings"], name) for one in found.values())] for name in names]
    counted = " and ".join(f"{one['texts']} ({model})" for model, one in found.items())
    text = f"""
{table(["ranking", *found], rows)}

Mean fall of what is judged with 10 % to 50 % of the tokens removed, with 95 % intervals over documents, on sentences of WikiText-2:
{counted}. For MiniLM that is the cosine of the mean hidden state, for SmolLM2 the probability of its own next word. {" ".join(_best(model, one["rankings"]) for model, one in found.items())}
"""
    return {"how-to/why-does-it-look-there.md": {"deletion": text}}


def _area(rankings: list[dict[str, Any]], name: str) -> str:
    row = next((row for row in rankings if row["ranking"] == name), None)
    return "n/a" if row is None else span(row["area"], row["low"], row["high"], 3)


def _best(model: str, rankings: list[dict[str, Any]]) -> str:
    """The best ranking, and which others its interval does not leave behind."""
    best, *rest = rankings
    near = [row["ranking"] for row in rest if row["high"] >= best["low"]]
    beside = f"; the intervals of {', '.join(near)} reach its own" if near else ", its interval above all others"
    return f"Best for {model}: {best['ranking']}{beside}."
