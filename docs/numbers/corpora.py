"""How many heads have a name over a corpus: by all attention, by what does not rest, by what arrives; and the controls."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from blocks import Blocks, table

MODELS = ("all-MiniLM-L6-v2", "SmolLM2-135M-Instruct")
PARAGRAPHS, FEWEST, TOKENS, SENTENCES = 120, 20, 128, 200
WIKITEXT, EWT = "WikiText-2", "EWT"
RESTING = ("delimiter", "[CLS]", "[SEP]", "first token (sink)")
BY = ("weights", "contributions")
PASSES = ("model", "random weights", "shuffled weights", "permuted queries")
DRAWS = {"all-MiniLM-L6-v2": 3, "SmolLM2-135M-Instruct": 1}  # of random weights


def measure(data: Path) -> dict[str, Any]:
    """Names of the heads of both models over both corpora."""
    from regard import load

    found: dict[str, Any] = {}
    for name in MODELS:
        model = load(name)
        for corpus in (WIKITEXT, EWT):
            found.setdefault(name, {})[corpus] = _names(model, corpus, data)
            print(f"{name}, {corpus}: {found[name][corpus]['model']}", flush=True)
    return found


def _names(model: Any, corpus: str, data: Path) -> dict[str, Any]:
    """The names of a model's heads over a corpus, and of the controls."""
    from regard.corpus.engine import Run, run_local
    from regard.studies.atlas.study import Atlas
    from regard.studies.controls import random_model, shuffled_model

    with tempfile.TemporaryDirectory() as folder:
        run = Run(_source(model, corpus, data, Path(folder)))
        progress = run_local(Atlas(), model, run)
        random = [run_local(Atlas(), random_model(model, n), run).sums for n in range(DRAWS[model.name])]
        shuffled = run_local(Atlas(), shuffled_model(model), run).sums
        permuted = run_local(Atlas(permuted=True), model, run).sums
    return {
        "inputs": progress.tally.inputs,
        "tokens": progress.tally.tokens,
        "model": _counts(progress.sums),
        "random weights": [_counts(sums) for sums in random],
        "shuffled weights": [_counts(shuffled)],
        "permuted queries": [_counts(permuted)],
    }


def _source(model: Any, corpus: str, data: Path, folder: Path) -> Any:
    """Paragraphs of up to `TOKENS` tokens, drawn at random, or sentences with their documents."""
    from regard.corpus.readers.reading import read
    from regard.corpus.readers.source import Source

    if corpus == EWT:
        return Source(str(data / "ud_english_ewt" / "en_ewt-ud-dev.conllu"), sample=SENTENCES)
    place = str(data / "wikitext2" / "wiki.test-first-half.raw")
    whole = list(read(Source(place, unit="line")))
    lengths = [len(model._engine.encode(example.text, None, truncate=True).ids) for example in whole]
    fit = [example for example, length in zip(whole, lengths, strict=True) if FEWEST <= length <= TOKENS]
    lines = [{"text": one.text, "document": one.document} for one in Random(0).sample(fit, PARAGRAPHS)]
    path = folder / "paragraphs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return Source(str(path))


def _counts(sums: Any) -> dict[str, Any]:
    """How many heads have which name: before the split, by weights and by contributions."""
    from regard.studies.atlas.names import awake_table, named_heads
    from regard.studies.atlas.table import atlas_table

    found: dict[str, Any] = {"before": _before(atlas_table(sums))}
    for by in BY:
        awake = awake_table(sums, by)
        named = named_heads(awake)
        heads = ["kind", "layer", "head"]
        said = named[~named["measure"].isin(["always rests", "fixed words"])]
        striped = named[named["measure"] == "fixed words"]
        level = awake.loc[awake["measure"] == "awake", "value"]
        found[by] = {
            "heads": len(awake[heads].drop_duplicates()),
            "named": len(said[heads].drop_duplicates()),
            "striped": len(striped[heads].drop_duplicates()),
            "either": len(named.loc[named["measure"] != "always rests", heads].drop_duplicates()),
            "asleep": int((named["measure"] == "always rests").sum()),
            "rest": float(1 - level.median()),
            "names": {str(name): int(count) for name, count in named["measure"].value_counts().items()},
        }
    return found


def _before(whole: Any) -> dict[str, int]:
    """Heads by the pattern of the highest lift of all attention, if that is a name: how many rest, how many do not."""
    from regard.patterns.definitions import BAG, PATTERNS
    from regard.patterns.naming import FLOOR

    names = {pattern.name for pattern in PATTERNS if pattern.rests or pattern.threshold is not None} | {BAG}
    rows = whole[whole["measure"].isin(names) & ~whole["measure"].isin(["[CLS]", "[SEP]"])]
    best = rows.sort_values("value", ascending=False, kind="stable").drop_duplicates(["kind", "layer", "head"])
    best = best[(best["value"] >= 0.3) & (best["low"] >= FLOOR)]
    rests = int(best["measure"].isin(RESTING).sum())
    return {"rests": rests, "named": len(best) - rests}


def blocks(found: dict[str, Any]) -> Blocks:
    """A table of the page on patterns."""
    return {"explanation/reading-patterns.md": {"corpora": _told(found)}}


def _told(found: dict[str, Any]) -> str:
    rows, controls = [], []
    for name, of in found.items():
        for corpus, one in of.items():
            mine = one["model"]
            by, arriving = (mine[by] for by in BY)
            rows.append(
                [
                    *(name, corpus, f"{one['inputs']:,}"),
                    f"{mine['before']['named']} of {by['heads']} ({mine['before']['rests']} rest)",
                    *(f"{some['named']} + {some['striped']}" for some in (by, arriving)),
                    *(f"{some['rest']:.2f}" for some in (by, arriving)),
                ]
            )
            of_controls = [
                " to ".join(dict.fromkeys(str(f([c[b]["either"] for c in one[p]])) for f in (min, max)))
                for p in PASSES[1:3]
                for b in BY
            ]
            permuted = one["permuted queries"][0]
            of_permuted = [f"{permuted[b]['named']} + {permuted[b]['striped']}" for b in BY]
            controls.append([name, corpus, *of_controls, *of_permuted])
    first = table(
        [
            "model",
            "corpus",
            "inputs",
            "before the split",
            "weights",
            "contributions",
            "median rests",
            "by contributions",
        ],
        rows,
    )
    second = table(
        [
            "control",
            "corpus",
            "random",
            "by contributions",
            "shuffled",
            "by contributions",
            "permuted",
            "by contributions",
        ],
        controls,
    )
    return f"""
Over a corpus: {PARAGRAPHS} paragraphs of WikiText-2 of {FEWEST} to {TOKENS} tokens, and {SENTENCES} sentences of the English Web Treebank. "Before the
split" a head has the name of the pattern of its highest lift among all its attention, resting places included. After it,
how many heads have a name of their own, + how many look at fixed words.

{first}

The same for untrained weights, where any name counts, and for the trained weights with permuted queries.

{second}
"""
