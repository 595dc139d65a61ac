"""What resting places get: shares of weight, of contributions and of worth by layer, on both models that come with regard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, side_by_side, span, table

RUNS = {
    "all-MiniLM-L6-v2": ("encoder", "paws_wiki_en/dev-first.tsv", {"limit": 400}),
    "SmolLM2-135M-Instruct": ("decoder", "wikitext2/wiki.test-first-half.raw", {"unit": "sentence", "sample": 300}),
}
QUANTITIES = ("weight", "contribution", "worth", "worth of equal weights")


def measure(data: Path) -> dict[str, Any]:
    """The study of worth on each model, and the figure of both."""
    from regard import study

    found, figures = {}, []
    for model, (kind, corpus, options) in RUNS.items():
        result = study.worth(model, data / corpus, **options)
        layers = result.tables["By layer"]
        resting = layers[layers["to"] == "resting place"]
        found[model] = {"texts": result.meta["tally"]["inputs"], "layers": resting.to_dict("records")}
        figures.append(result.figure(f"{kind}-resting"))
    side_by_side(figures, "resting.png")
    return found


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of layers for each model, and what they come to."""
    parts = [_said(model, found[model]["layers"]) for model in RUNS]
    for model, (_, corpus, _) in RUNS.items():
        texts = f"**{model}**, {found[model]['texts']} texts of `{corpus}`; 95 % intervals in brackets"
        parts += [texts, table(["layer", *QUANTITIES], _rows(found[model]["layers"]))]
    return {
        "how-to/does-this-look-matter.md": {"resting": "\n\n".join(parts)},
        "explanation/what-attention-tells.md": {"resting": _tells(found)},
    }


def _tells(found: dict[str, Any]) -> str:
    """What the explanation says of it."""
    shares = {model: _means(found[model]["layers"]) for model in RUNS}
    parts = " and ".join(
        f"{100 * one['weight']:.0f} % of the weight and {100 * one['worth']:.0f} % of the worth in {model}"
        for model, one in shares.items()
    )
    controls = " and ".join(f"{100 * one[QUANTITIES[-1]]:.0f} %" for one in shares.values())
    return f"""
**A large weight may be worth little.** [CLS], [SEP] and a causal model's first token, on which heads rest, get {parts}
(means over layers). With the worth of random lines of the same weight it would be {controls}
([layer by layer](../how-to/does-this-look-matter.md#over-a-corpus)).
"""


def _means(layers: list[dict[str, Any]]) -> dict[str, float]:
    """The mean over layers of each quantity."""
    values = {name: [row["value"] for row in layers if row["quantity"] == name] for name in QUANTITIES}
    return {name: sum(some) / len(some) for name, some in values.items()}


def _rows(layers: list[dict[str, Any]]) -> list[list[str]]:
    """A row per layer, with intervals."""
    at = {(row["layer"], row["quantity"]): row for row in layers}
    return [
        [str(layer), *(span(*(at[layer, name][part] for part in ("value", "low", "high")), 2) for name in QUANTITIES)]
        for layer in sorted({row["layer"] for row in layers})
    ]


def _said(model: str, layers: list[dict[str, Any]]) -> str:
    """The mean over layers, and in how many of them worth is below weight, and below its control."""
    at = {(row["layer"], row["quantity"]): row for row in layers}
    numbers = sorted({row["layer"] for row in layers})
    means = _means(layers)
    under = {
        name: sum(at[n, "worth"]["high"] < at[n, name]["low"] for n in numbers) for name in ("weight", QUANTITIES[-1])
    }
    return (
        f"In {model} resting places get {means['weight']:.2f} of the weight, {means['contribution']:.2f} of the contributions "
        f"and {means['worth']:.2f} of the worth (means over layers); with the worth of random lines of equal weight it would be "
        f"{means[QUANTITIES[-1]]:.2f}. Worth is clearly below weight (intervals apart) in {under['weight']} of {len(numbers)} "
        f"layers, and clearly below that control in {under[QUANTITIES[-1]]}."
    )
