"""How often heads get the name "predictive word": of a trained decoder, and of its shape with random and shuffled weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, table

DECODER = "SmolLM2-135M-Instruct"
TEXTS, FEWEST, MOST = 24, 16, 32  # sentences, and their tokens
WEIGHTS = ("trained", "random", "shuffled")


def measure(data: Path) -> dict[str, Any]:
    """Names on single sentences and over all of them."""
    from regard import load

    model = load(DECODER)
    texts = _texts(model, data)
    return {weights: measure_one(model, weights, texts) for weights in WEIGHTS}


def measure_one(trained: Any, weights: str, texts: list[str]) -> dict[str, Any]:
    """Of heads times sentences how many are named, and of heads how many reach a name over all sentences."""
    import numpy as np

    from regard.patterns import patterns
    from regard.patterns.definitions import PREDICTIVE
    from regard.patterns.naming import FLOOR
    from regard.studies.controls import random_model, shuffled_model
    from regard.studies.heads.predicting import _read, _sums

    model = {
        "trained": lambda: trained,
        "random": lambda: random_model(trained),
        "shuffled": lambda: shuffled_model(trained),
    }[weights]()
    named, sums = [], []
    for text in texts:
        trace = model.trace(text, predictive=True)
        named.append(sum(finding.pattern == PREDICTIVE.name for finding in patterns(trace, rules=())))
        if found := _sums(trace):
            sums.append(found)
    heads = [
        one
        for place in sums[0]
        for one in _read(place, [some[place] for some in sums], list(range(len(sums)))).values()
    ]
    own = np.array([one.lift for one in heads if one.own])
    return {
        "texts": len(texts),
        "asked": len(sums),
        "heads": len(heads),
        "named": sum(named),
        "with_one": sum(count > 0 for count in named),
        "over_all": sum(one.own and one.lift >= (PREDICTIVE.threshold or 0) and one.low >= FLOOR for one in heads),
        "largest": float(own.max(initial=0.0)),
    }


def _texts(model: Any, data: Path) -> list[str]:
    """Sentences of the treebank, drawn at random among those of some length."""
    from random import Random

    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source

    whole = [one.text for one in read(Source(str(data / "ud_english_ewt" / "en_ewt-ud-dev.conllu")))]
    fit = [text for text in whole if FEWEST <= len(model._engine.encode(text, None, truncate=True).ids) <= MOST]
    return Random(0).sample(fit, TEXTS)


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of the page on patterns."""
    rows = [
        [
            weights,
            f"{one['named']} of {one['heads'] * one['texts']:,} ({one['named'] / (one['heads'] * one['texts']):.2%})",
            f"{one['with_one']} of {one['texts']}",
            f"{one['over_all']} of {one['heads']}",
            f"{one['largest']:.2f}",
        ]
        for weights, one in ((name, found[name]) for name in WEIGHTS)
    ]
    columns = [
        "weights",
        "heads named on one sentence",
        "sentences with such a head",
        "heads named over all",
        "largest lift over all",
    ]
    told = f"""
How often is the name given by luck? {DECODER} on {TEXTS} sentences of the English Web Treebank of {FEWEST} to {MOST} tokens, drawn at random, and the same
shape with weights that learned nothing. The last two columns are over all sentences together; the lift is of heads that do nothing simpler.

{table(columns, rows)}
"""
    return {"explanation/reading-patterns.md": {"predictive": told}}
