"""Related and same words over sentences and pairs: the default model and SmolLM2-135M."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, span

NAMES = ("related word", "related word in the other sentence", "same word")
SENTENCES, OF_DECODER = 500, 300  # drawn from all articles: an interval needs documents


def measure(data: Path) -> dict[str, Any]:
    """The best head of each pattern over each corpus, and how common related words are."""
    from regard import load, study

    model = load()
    wiki = data / "wikitext2" / "wiki.valid.tokens"
    return {
        "sentences": _best(study.atlas(model, wiki, unit="sentence", sample=SENTENCES)),
        "captions": _best(study.atlas(model, data / "sts_captions" / "sts-captions-dev.tsv")),
        "decoder": _best(study.atlas("SmolLM2-135M-Instruct", wiki, unit="sentence", sample=OF_DECODER)),
        "share": _share(model, wiki),
    }


def _best(result: Any) -> dict[str, Any]:
    """The best head of each pattern, and over how many inputs."""
    found: dict[str, Any] = {"inputs": result.meta["tally"]["inputs"]}
    for name in NAMES:
        rows = result.table[(result.table["measure"] == name) & result.table["value"].notna()]
        if not rows.empty:
            found[name] = rows.loc[rows["value"].idxmax()].to_dict()
    return found


def _share(model: Any, wiki: Path) -> dict[str, float]:
    """Of the different words of a sentence: the share of pairs that are related, and of words that have a related one."""
    from regard.corpus.readers.source import Source, read
    from regard.trace.places import places_of

    pairs = related = words = befriended = 0
    for example in read(Source(str(wiki), unit="sentence", sample=SENTENCES)):
        side = model.trace(example.text, truncate=True).side()
        count = int(places_of(side, {}).words.max()) + 1
        pairs += count * (count - 1) // 2
        related += len(side.related)
        words += count
        befriended += len(set(side.related.ravel().tolist()))
    return {"pairs": related / pairs, "words": befriended / words}


def blocks(found: dict[str, Any]) -> Blocks:
    """What to expect of related words."""
    sentences, captions, decoder = found["sentences"], found["captions"], found["decoder"]
    markdown = f"""
What to expect: 1 % is of the vocabulary, and text is not drawn from it evenly. In {sentences["inputs"]:,} sentences of WikiText-2
{100 * found["share"]["pairs"]:.0f} % of the pairs of different words are related by the default model's embedding, the commonest of them short ones
(*of* and *the*), and {100 * found["share"]["words"]:.0f} % of the words have one. Chance is counted row by row from what is there. **No head of the default
model is a related-word head**: over these sentences the best has a lift of {_said(sentences["related word"])}; a name takes 0.3, and
"same word" reaches {_said(sentences["same word"])}. Over {captions["inputs"]:,} pairs of image captions the best is {_said(captions["related word"])}
here, and in the other sentence {_said(captions["related word in the other sentence"])}. Nor is one of SmolLM2-135M: the best over
{decoder["inputs"]:,} sentences has {_said(decoder["related word"])}.
"""
    return {"explanation/reading-patterns.md": {"related": markdown}}


def _said(row: dict[str, Any]) -> str:
    """A lift with its interval and its head; of 0, which all heads may share, no head."""
    lift = span(row["value"], row["low"], row["high"], 2)
    return f"{lift} (head {row['layer']}.{row['head']})" if round(row["value"], 2) else "0.00, for every head"
