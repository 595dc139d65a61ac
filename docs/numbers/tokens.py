"""Where the attention goes, and which heads are alike: the default model on 400 pairs of PAWS-Wiki."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

MEASURES = ("previous token", "next token", "[CLS]", "[SEP]", ". and ,")


def measure(data: Path) -> dict[str, Any]:
    """The studies of tokens and of similarity."""
    from regard import study

    corpus = data / "paws_wiki_en" / "dev-first.tsv"
    tokens = study.tokens(None, corpus, limit=400, control=True)
    similarity = study.similarity(None, corpus, limit=400, control=True)
    control = next(rows for title, rows in tokens.tables.items() if title.startswith("Control"))
    heads = tokens.table[tokens.table["measure"].isin(MEASURES)]
    layers = tokens.tables["All layers and measures"]
    return {
        "heads": heads.to_dict("records"),
        "layers": layers[layers["measure"].isin(MEASURES)].to_dict("records"),
        "control": control[control["measure"].isin(MEASURES)].to_dict("records"),
        "similarity": list(similarity.findings),
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """The tutorial's first two answers."""
    lines = [_line(found, name) for name in MEASURES]
    columns = [
        "to",
        "most in layer (mean of its heads)",
        "strongest head",
        "uniform attention",
        "random weights, any layer",
        "shuffled weights",
    ]
    alike = "\n".join(f"- {text}" for text in found["similarity"])
    return {"tutorials/what-does-bert-look-at.md": {"tokens": table(columns, lines), "similarity": alike}}


def _line(found: dict[str, Any], name: str) -> list[str]:
    layer, head = (
        max((row for row in found[rows] if row["measure"] == name), key=lambda row: row["value"])
        for rows in ("layers", "heads")
    )
    control = [row for row in found["control"] if row["measure"] == name]
    random = [f"{edge(row[end] for row in control):.3f}" for edge, end in ((min, "lowest"), (max, "highest"))]
    shuffled = [f"{edge(row['shuffled weights'] for row in control):.3f}" for edge in (min, max)]
    return [
        name,
        f"{layer['layer']}: {span(layer['value'], layer['low'], layer['high'], 3)}",
        f"{head['layer']}.{head['head']}: {head['value']:.2f}",
        f"{layer['chance']:.3f}",
        *(" to ".join(dict.fromkeys(span)) for span in (random, shuffled)),
    ]
