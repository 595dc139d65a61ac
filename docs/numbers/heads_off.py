"""Heads switched off and pruned: what SmolLM2 says without some, and how far the default model's embeddings turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, table

TEXT = "The capital of France is"
KEEP = (0.8, 0.6, 0.4)
DRAWS = 5
RUNS, BATCH, LENGTH = 41, 8, 64  # of the timing


def measure(data: Path) -> dict[str, Any]:
    """Both tables."""
    return {"paris": _paris(), "kept": {str(share): _kept(data, share) for share in KEEP}, "faster": _faster(data)}


def _paris() -> dict[str, Any]:
    """What the model says after the text without layer 2, and without layer 2 and head 5.4."""
    from regard import load
    from regard.ablation.effects import effect

    model = load("SmolLM2-135M-Instruct")
    found = {name: effect(model, TEXT, heads=heads) for name, heads in (("2.*", "2.*"), ("2.* 5.4", ["2.*", "5.4"]))}
    return {name: made.as_record() for name, made in found.items()}


def _kept(data: Path, share: float) -> dict[str, Any]:
    """Mean cosine of sentence embeddings before and after, on lines that did not choose the heads."""
    import random

    from regard import load
    from regard.ablation.importance import _by_layer, least, lengths
    from regard.ablation.pruning import prune
    from regard.corpus.readers.source import Source, read

    model = load()
    lines = list(read(Source(str(data / "wikitext2" / "wiki.valid.tokens"), unit="paragraph", limit=112)))
    choosing, judging = lines[:64], [line.text for line in lines[64:]]
    scores = lengths(model, choosing)
    rng = random.Random(0)
    drawn = [least({head: rng.random() for head in scores}, share) for _ in range(DRAWS)]
    before = _embedded(model, judging)

    def cosine(heads: Any) -> float:
        return float((before * _embedded(prune(model, heads), judging)).sum(-1).mean())

    pruned = prune(model, least(_by_layer(scores), share))
    return {
        "scaled": cosine(least(_by_layer(scores), share)),
        "plain": cosine(least(scores, share)),
        "random": [cosine(heads) for heads in drawn],
        "heads": [len(least(scores, share)), len(scores)],
        "parameters": [model.parameters, pruned.parameters],
    }


def _faster(data: Path) -> dict[str, Any]:
    """How long a run takes before and after pruning: medians of runs in turn, on one thread."""
    from regard import load
    from regard.ablation.importance import _by_layer, least, lengths
    from regard.ablation.pruning import prune, speed
    from regard.corpus.readers.source import Source, read

    model = load()
    lines = list(read(Source(str(data / "wikitext2" / "wiki.valid.tokens"), unit="paragraph", limit=64)))
    pruned = prune(model, least(_by_layer(lengths(model, lines)), 0.6))
    before, after = speed(model, pruned, runs=RUNS, batch=BATCH, length=LENGTH)
    return {"before": before, "after": after}


def _embedded(model: Any, texts: list[str]) -> Any:
    """(texts, d) mean-pooled last hidden states of length 1."""
    import torch

    rows = []
    for text in texts:
        inputs = model.tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
        with torch.no_grad():
            rows.append(torch.nn.functional.normalize(model.module(**inputs).last_hidden_state[0].mean(0), dim=0))
    return torch.stack(rows)


def blocks(found: dict[str, Any]) -> Blocks:
    """The example of the page on switching heads off, its table of pruning, and the sentence that quotes it."""
    return {
        "how-to/switch-heads-off.md": {"paris": _table(found["paris"]["2.*"]), "kept": _pruned(found)},
        "explanation/what-attention-tells.md": {"paris": _sentence(found["paris"]["2.* 5.4"])},
    }


def _table(record: dict[str, Any]) -> str:
    modes = record["modes"]
    rows = [
        [f"`{row['name']}`", _chance(row["before"]), *(_chance(row["after"][mode]) for mode in modes)]
        for row in record["rows"]
    ]
    rows.append(["KL(before ‖ after), nats", "", *(f"{record['kl'][mode]:.3f}" for mode in modes)])
    listed = table(["after *is*", "before", *modes], rows)
    return f"{listed}\n\nThe mean outputs are those over {record['reference']}."


def _chance(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _sentence(record: dict[str, Any]) -> str:
    paris = next(row for row in record["rows"] if row["name"].strip("␣ Ġ") == "Paris")
    after = paris["after"]
    return f"""
**Taking heads away is an experiment, not a proof.** It is the nearest thing to a cause. But `zero` also removes a constant that later
layers count on, `uniform` only the choice of keys, `mean` all but a constant, and they disagree: "{TEXT}" in SmolLM2-135M without
layer 2 and head 5.4 gives "Paris" {paris["before"]:.3f} → {after["zero"]:.3f} with zero and {after["uniform"]:.3f} with uniform
([switch heads off](../how-to/switch-heads-off.md)).
"""


def _pruned(found: dict[str, Any]) -> str:
    rows = []
    kept, times = found["kept"], found["faster"]
    for share in map(str, KEEP):
        one = kept[share]
        random = one["random"]
        spread = f"{sum(random) / len(random):.3f} ({min(random):.3f} to {max(random):.3f})"
        rows.append([share, f"{one['scaled']:.3f}", f"{one['plain']:.3f}", spread])
    gone, heads = kept["0.6"]["heads"]
    before, after = kept["0.6"]["parameters"]
    columns = ["heads kept", "by ‖out W_O‖, each layer to length 1", "without that scaling"]
    return f"""
With `--keep 0.6` the built-in model loses {gone} of {heads} heads and {before - after:,} of {before:,} parameters ({100 * (1 - after / before):.1f} %: most
are word embeddings and feed-forward layers); a run over {BATCH} x {LENGTH} tokens on one thread is {times["before"] / times["after"]:.2f} times as fast
(medians of {RUNS} runs of each, in turn). How far its sentence embeddings turn, as the mean cosine between before and after over 48
paragraphs of WikiText-2 that were not used to choose (64 others were):

{table([*columns, f"at random ({DRAWS} draws, lowest to highest)"], rows)}
"""
