"""Where attention rests in SmolLM2: which layers, how long keys and values are there, and the loss without these looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, side_by_side, span, table

SHOWN = (0, 1, 2, 3, 5, 10, 15, 20, 25, 28, 29)  # layers in the table; the figure has all
MODEL, CORPUS = "SmolLM2-135M-Instruct", "wikitext2/wiki.test-first-half.raw"


def measure(data: Path) -> dict[str, Any]:
    """The study over sentences of an encyclopaedia, and its figure."""
    from regard import study

    result = study.sinks(MODEL, data / CORPUS, unit="sentence", sample=300, cut=32)
    side_by_side([result.figure("decoder-heads"), result.figure("cuts")], "sinks.png")
    return {
        "inputs": result.meta["tally"]["inputs"],
        "layers": result.tables["By layer"].to_dict("records"),
        "lengths": result.tables["Lengths of keys and values"].to_dict("records"),
        "cuts": result.tables["Loss without sinks"].to_dict("records"),
        "findings": result.findings,
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """What the study says, and a table of some layers."""
    said = " ".join(found["findings"])
    opening = f"{MODEL}, {found['inputs']} sentences of `{CORPUS}`; cuts on {found['cuts'][0]['texts']} of them. {said}"
    columns = [
        "layer",
        "weight on the first token",
        "values, times as long",
        "keys",
        "loss: all rows",
        "light rows − random",
    ]
    rows = [_row(found, layer) for layer in SHOWN]
    return {"how-to/which-heads-retrieve.md": {"sinks": f"{opening}\n\n{table(columns, rows)}"}}


def _row(found: dict[str, Any], layer: int) -> list[str]:
    """Weight, lengths and cuts of one layer."""
    weight = next(
        row
        for row in found["layers"]
        if (row["layer"], row["measure"], row["quantity"]) == (layer, "first token", "weight")
    )
    length = {(row["vector"], row["measure"]): row["value"] for row in found["lengths"] if row["layer"] == layer}
    times = [length[name, "resting places"] / length[name, "other tokens"] for name in ("value", "key")]
    cut = {row["cut"]: row for row in found["cuts"] if row["layer"] == layer}
    whole, light = cut["all rows"], cut["light rows"]
    return [
        str(layer),
        span(weight["value"], weight["low"], weight["high"], 2),
        *(f"{one:.2f}" for one in times),
        span(whole["change"], whole["low"], whole["high"], 3),
        span(light["above_random"], light["above_low"], light["above_high"], 3),
    ]
