"""How many heads have a portrait's sentence that holds on new text, before and after the split, and the controls."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from blocks import Blocks, table
from corpora import EWT, MODELS, WIKITEXT
from corpora import _before as named_before

SENTENCES, PARAGRAPHS, FEWEST, MOST = 1500, 400, 20, 160
WEIGHTS = ("model", "random weights", "shuffled weights")


def measure(data: Path) -> dict[str, Any]:
    """Descriptions of the heads of both models over both corpora, and of the controls."""
    return {
        name: {
            corpus: {weights: measure_one(name, corpus, weights, data) for weights in WEIGHTS}
            for corpus in (EWT, WIKITEXT)
        }
        for name in MODELS
    }


def measure_one(name: str, corpus: str, weights: str, data: Path) -> dict[str, Any]:
    """What portraits say of the heads of a model, or of its shape with other weights; of its own also names before."""
    from regard import load
    from regard.corpus.engine import Run, run_local
    from regard.studies.atlas.study import Atlas
    from regard.studies.atlas.table import atlas_table
    from regard.studies.controls import random_model, shuffled_model
    from regard.studies.heads.describing import describe
    from regard.studies.heads.study import Heads
    from regard.studies.heads.vocabulary import frequent_tokens

    trained = load(name)
    model = {
        "model": lambda: trained,
        "random weights": lambda: random_model(trained),
        "shuffled weights": lambda: shuffled_model(trained),
    }[weights]()
    with tempfile.TemporaryDirectory() as folder:
        source = _source(trained, corpus, data, Path(folder))
        done = run_local(Heads(frequent_tokens(trained, source, "truncate")), model, Run(source))
        before = atlas_table(run_local(Atlas(), model, Run(source)).sums) if weights == "model" else None
    found = describe(done.sums)
    names = Counter(one.name for one in found.values() if one.verified)
    return {
        "inputs": done.tally.inputs,
        "tokens": done.tally.tokens,
        "documents": done.tally.clusters,
        "heads": len(found),
        "names": dict(names),
        **({} if before is None else {"before": named_before(before)}),
    }


def _source(model: Any, corpus: str, data: Path, folder: Path) -> Any:
    """Sentences with their documents, or paragraphs of `FEWEST` to `MOST` tokens, drawn at random."""
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source

    if corpus == EWT:
        return Source(str(data / "ud_english_ewt" / "en_ewt-ud-dev.conllu"), limit=SENTENCES)
    whole = list(read(Source(str(data / "wikitext2" / "wiki.test-first-half.raw"), unit="line")))
    lengths = [len(model._engine.encode(example.text, None, truncate=True).ids) for example in whole]
    fit = [example for example, length in zip(whole, lengths, strict=True) if FEWEST <= length <= MOST]
    lines = [{"text": one.text, "document": one.document} for one in Random(0).sample(fit, PARAGRAPHS)]
    path = folder / "paragraphs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return Source(str(path))


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of the page on portraits."""
    rows = []
    for name, of in found.items():
        for corpus, one in of.items():
            mine = one["model"]
            heads, (sure, resting) = mine["heads"], _counts(mine)
            controls = [_control(one.get(weights)) for weights in WEIGHTS[1:]]
            rows.append(
                [
                    *(name, corpus, f"{mine['inputs']:,} ({mine['documents']})"),
                    f"{mine['before']['named']} of {heads}",
                    *(str(sure), str(resting), f"{(sure + resting) / heads:.0%}"),
                    *controls,
                ]
            )
    columns = [
        "model",
        "corpus",
        "inputs (documents)",
        "before the split",
        "a sentence that holds",
        "always rest",
        "together",
    ]
    return {
        "how-to/portrait-of-a-head.md": {
            "sentences": f"""
{SENTENCES:,} sentences of the English Web Treebank, and {PARAGRAPHS} paragraphs of WikiText-2 of {FEWEST} to {MOST} tokens. "Before the split" counts heads
whose pattern of the highest lift among all their attention, resting places included, is more than where they rest.

{table([*columns, "random weights", "shuffled weights"], rows)}

{_kinds(found)}
"""
        }
    }


def _control(one: dict[str, Any] | None) -> str:
    """How many heads of untrained weights get a sentence or always rest, if that was measured."""
    if one is None:
        return "not measured"
    count = sum(_counts(one))
    return f"{count} ({count / one['heads']:.1%})"


def _counts(one: dict[str, Any]) -> tuple[int, int]:
    """How many heads have a sentence that holds, and how many always rest."""
    from regard.patterns.definitions import ALWAYS

    resting = one["names"].get(ALWAYS, 0)
    return sum(one["names"].values()) - resting, resting


def _kinds(found: dict[str, Any]) -> str:
    """What the sentences say, most frequent first."""
    lines = []
    for name, of in found.items():
        for corpus, one in of.items():
            names = sorted(one["model"]["names"].items(), key=lambda row: (-row[1], row[0]))
            lines.append(f"- {name}, {corpus}: {', '.join(f'{what} {count}' for what, count in names)}")
    return "What the sentences are about:\n\n" + "\n".join(lines)
