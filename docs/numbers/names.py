"""Names that untrained models get on the article's sentences, and which words the default model relates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks

ARTICLE = ("I went to the store.", "At the store, I bought fresh strawberries.")
NEAR = ("Dogs chase cats.", "Puppies hunt kittens.")
PAIRS = (("went", "go"), ("cat", "dog"), ("paris", "london"), ("mat", "rug"), ("bought", "store"))
TEXTS = (
    ARTICLE,
    (
        "When Mary and John went to the store, John gave a drink to Mary. When Tom and Anna went to the store, Tom gave a drink to Anna.",
    ),
    (
        "Transformers process all words of a sentence at once, and attention tells each word which other words matter for its "
        "meaning. The heads of early layers look at neighbours; the heads of later layers look for meaning.",
    ),
)
SEEDS, OF_DECODER = 10, 2
_RESTING = ("always rests", "fixed words")


def measure(data: Path) -> dict[str, Any]:
    """Names of random weights, the threshold of related words with some cosines, and a head that comes near."""
    from regard import load

    model = load()
    return {
        "random": _named(model, SEEDS, False),
        "trained embedding": _named(model, SEEDS, True),
        "decoder": _named(load("SmolLM2-135M-Instruct"), OF_DECODER, False),
        "tau": float(model._engine.relation().tau),
        "cosines": {" ".join(pair): _cosine(model, *pair) for pair in PAIRS},
        "near": _near(model),
        "awake": {name: _awake(load(name)) for name in ("all-MiniLM-L6-v2", "SmolLM2-135M-Instruct")},
    }


def _awake(model: Any) -> list[dict[str, Any]]:
    """How many heads have a name beyond resting on some texts, and how much the median head rests."""
    import numpy as np

    rows = []
    for text in TEXTS:
        trace = model.trace(*text)
        row: dict[str, Any] = {"tokens": len(trace.tokens)}
        for by in ("weights", "contributions"):
            found = trace.patterns(by=by)
            named = {(f.kind, f.layer, f.head) for f in found if f.pattern not in _RESTING}
            rests = np.concatenate([site.rest for site in found.measured])
            row |= {"heads": found.heads, by: len(named), f"{by} rest": float(np.median(rests))}
        rows.append(row)
    return rows


def _named(model: Any, seeds: int, embedding: bool) -> list[int]:
    """How many heads of random weights get a name, and of how many."""
    from regard.studies.controls import random_model

    named = heads = 0
    for seed in range(seeds):
        other = random_model(model, seed)
        if embedding:
            trained = model.module.get_input_embeddings().state_dict()
            other.module.get_input_embeddings().load_state_dict(trained)
        found = other.trace(*ARTICLE).patterns()
        named += len({(finding.layer, finding.head) for finding in found if finding.pattern != "always rests"})
        heads += found.heads
    return [named, heads]


def _cosine(model: Any, one: str, other: str) -> float:
    """Of the vectors of two words of one piece each."""
    import numpy as np
    import torch

    ids = np.array(model.tokenizer.convert_tokens_to_ids([one, other]))
    with torch.no_grad():
        vectors = model._engine.relation().vectors(ids, np.arange(2), 2)
    return float((vectors[0] * vectors[1]).sum())


def _near(model: Any) -> dict[str, Any]:
    """The best related-word head on two sentences, and whether it has the name."""
    found = model.trace(*NEAR).patterns()
    rows = [
        {"layer": site.layer, "head": head, "lift": float(reading.lift[n]), "rows": int(reading.rows[n])}
        for site in found.measured
        for name, reading in site.awake.items()
        if name in ("related word", "related word in the other sentence")
        for n, head in enumerate(site.heads)
    ]
    best = max(rows, key=lambda row: row["lift"])
    named = any((f.layer, f.head) == (best["layer"], best["head"]) and "related" in f.pattern for f in found)
    return {**best, "named": named}


def blocks(found: dict[str, Any]) -> Blocks:
    """Three sentences of the page on patterns."""
    return {
        "explanation/reading-patterns.md": {
            "names": _names(found),
            "tau": _tau(found),
            "near": _come_near(found),
            "awake": _told_awake(found),
        }
    }


def _told_awake(found: dict[str, Any]) -> str:
    lines = [
        "| model | tokens of the text | heads with a name | by contributions | median head rests | by contributions |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in found["awake"].items():
        lines += [
            f"| {name} | {row['tokens']} | {row['weights']} of {row['heads']} | {row['contributions']} | "
            f"{row['weights rest']:.2f} | {row['contributions rest']:.2f} |"
            for row in rows
        ]
    table = "\n".join(lines)
    return f"""
How many heads have a name beyond resting on three texts: the article's, one with repetitions, and a longer one.

{table}
"""


def _names(found: dict[str, Any]) -> str:
    (plain, heads), (embedded, _), (decoder, others) = (found[n] for n in ("random", "trained embedding", "decoder"))
    return f"""
How many heads of untrained models of the same shape get a name on the article's sentences: {plain} of {heads:,} of the default model's
shape over {SEEDS} seeds, {embedded} with its trained word embedding; {decoder} of {others:,} of SmolLM2's over {OF_DECODER}.
"""


def _tau(found: dict[str, Any]) -> str:
    tau = found["tau"]
    said = {pair: f"*{pair.replace(' ', '* and *')}* ({cosine:.2f})" for pair, cosine in found["cosines"].items()}
    told = [said[pair] for pair, cosine in found["cosines"].items() if cosine >= tau]
    not_told = [said[pair] for pair, cosine in found["cosines"].items() if cosine < tau]
    return f"""
τ of the default model is {tau:.3f}. No lemmas and no word lists: {", ".join(told)} are related;
{", ".join(not_told)} are not.
"""


def _come_near(found: dict[str, Any]) -> str:
    near = found["near"]
    return f"""
On some sentences a head comes near: for "{NEAR[0]}" and "{NEAR[1]}" head {near["layer"]}.{near["head"]} has {near["lift"]:.2f} over {near["rows"]} rows, and
{"the name, too" if near["named"] else "no name, since they are too unlike"}: what one sentence shows is no habit.
"""
