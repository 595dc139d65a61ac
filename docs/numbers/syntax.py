"""Which heads know grammar: English EWT and Chinese GSD with the default model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

SHOWN = "obj aux nsubj det nmod:poss ccomp advmod mark amod compound acl".split()
CLARK = {
    "obj": "86.8 / 40.0",
    "aux": "81.1 / 71.5",
    "nsubj": "58.5 / 45.5",
    "det": "94.3 / 51.7",
    "nmod:poss": "80.5 / 47.7",
    "ccomp": "48.8 / 12.4",
    "advmod": "48.8 / 40.2",
    "mark": "50.7 / 14.5",
    "amod": "75.6 / 68.3",
    "compound": "70.4 / 70.2",
    "all": "34.5 / 26.3",
}  # Clark et al. (2019), Table 1: best head / best offset, BERT-base on the Penn Treebank


def measure(data: Path) -> dict[str, Any]:
    """Both treebanks, with control."""
    return {
        "english": _study(data / "ud_english_ewt" / "en_ewt-ud-dev.conllu", "images/syntax-relations.png"),
        "chinese": _study(data / "ud_chinese_gsdsimp" / "zh_gsdsimp-ud-dev.conllu", None),
    }


def _study(path: Path, picture: str | None) -> dict[str, Any]:
    import blocks

    from regard import study

    result = study.syntax(None, path, control=True)
    if picture:
        result.figure("relations").save(blocks.DOCS / picture, dpi=150)
    return {
        "relations": result.tables["Best head of each relation"].to_dict("records"),
        "trees": result.tables["Undirected trees"].to_dict("records"),
        "findings": list(result.findings),
        "cautions": list(result.cautions),
        "sentences": result.meta["tally"]["inputs"],
    }


def blocks(found: dict[str, Any]) -> Blocks:
    """The table of relations, and the sentences of other pages that quote it."""
    english, chinese = found["english"], found["chinese"]
    return {
        "how-to/which-heads-know-grammar.md": {"english": _english(english), "chinese": _chinese(chinese)},
        "tutorials/what-does-bert-look-at.md": {"syntax": _tutorial(english)},
        "explanation/what-attention-tells.md": {"position": _position(english), "many": _many(english)},
    }


def _english(found: dict[str, Any]) -> str:
    rows = _rows(found)
    beaten, control = _beaten(found), _control_beaten(found)
    lines = [
        [name, rows[name]["Stanford"], _head(rows[name]), *_figures(rows[name]), CLARK.get(name, "–")] for name in SHOWN
    ]
    tree, random = found["trees"][:2]
    shuffled = found["trees"][-1]
    lines.append(["**all**", "", _head(rows["all"]), *_figures(rows["all"]), CLARK["all"]])
    lines.append(
        [
            "**UUAS**",
            "",
            tree["head"],
            span(tree["UUAS"], tree["low"], tree["high"]),
            f"{tree['chain of neighbours']:.1f} (neighbours)",
            "",
            f"{random['UUAS']:.1f}; {shuffled['UUAS']:.1f}",
            "–",
        ]
    )
    columns = ["relation", "Stanford", "head (from 0)", "accuracy, %", "best offset, %", "gain, points"]
    columns += ["random; shuffled weights, %", "Clark: BERT-base, PTB"]
    lost = ", ".join(name for name, row in rows.items() if name != "all" and row["beats it"] == "no")
    worse = ", ".join(name for name, row in rows.items() if name != "all" and row["gain high"] < 0)
    directions = {row["head"].partition(" ")[2] for name, row in rows.items() if name in SHOWN}
    return f"""
{found["sentences"]:,} sentences, {rows["all"]["instances"]:,} words, {len(rows) - 1} relations; {_without(found)}. **{beaten} of {len(rows) - 1} have a head that
beats the best fixed offset by more than the interval; of random and shuffled weights, {control}.**

{table(columns, lines)}

Directions of the heads in this table: {", ".join(sorted(directions))}. Relations where no head beats the offset are as much part of the
answer: {lost}. By its interval the best head is worse than the offset for {worse or "none"}.
"""


def _chinese(found: dict[str, Any]) -> str:
    every, tree = _rows(found)["all"], found["trees"][0]
    return f"""
On {found["sentences"]:,} Chinese sentences {_without(found)}, and so are the words that depend on them. Of the {every["instances"]:,} that are left, all relations together come to
{span(every["accuracy"], every["low"], every["high"])} % against {every["baseline"]:.1f} % for the best offset and {every["control"]:.1f} % for random
weights; the undirected trees have {tree["UUAS"]:.1f} % of the true edges, the chain of neighbours {tree["chain of neighbours"]:.1f} %.
"""


def _without(found: dict[str, Any]) -> str:
    """How many words have no piece of their own."""
    told = next(text for text in found["cautions"] if "no piece of their own" in text)
    words = re.match(r"([0-9,]+ of [0-9,]+ words)", told)
    assert words is not None
    return f"{words[1]} have no piece of their own and are left out"


def _tutorial(found: dict[str, Any]) -> str:
    rows = _rows(found)
    lines = [[name, *_short(rows[name]), CLARK[name]] for name in ("obj", "det", "nsubj", "compound")]
    compound, subject = rows["compound"], rows["nsubj"]
    listed = table(["relation", "best head", "best offset", "random weights", "Clark, BERT-base: head / offset"], lines)
    return f"""
{listed}

{_beaten(found)} of {len(rows) - 1} relations have a head that beats the offset by more than the interval, of random and shuffled
weights {_control_beaten(found)}. Look at *compound*: {compound["accuracy"]:.0f} % sounds better than nsubj's {subject["accuracy"]:.0f} %, and is nothing,
since the next word gives {compound["baseline"]:.1f} %.
"""


def _position(found: dict[str, Any]) -> str:
    compound, objects = _rows(found)["compound"], _rows(found)["obj"]
    return f"""
**A good guess may be position.** The head that is best at compounds finds {compound["accuracy"]:.1f} % of them; the rule "the next word" finds
{compound["baseline"]:.1f} %. For objects it is {objects["accuracy"]:.1f} against {objects["baseline"]:.1f} ([grammar](../how-to/which-heads-know-grammar.md)). English
puts related words side by side; read the gain over the best fixed offset, not the accuracy.
"""


def _many(found: dict[str, Any]) -> str:
    relations = len(_rows(found)) - 1
    return f"""
**The best of many is always good.** With 72 heads, two directions and {relations} relations something will look remarkable. Heads here
are chosen on one half of a corpus and scored on the other, intervals are over documents, and the same shape with random weights
is chosen from in the same way: it beats the offset in {_control_beaten(found)} of {relations} relations, the trained model in {_beaten(found)}.
"""


def _rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["relation"]: row for row in found["relations"]}


def _beaten(found: dict[str, Any]) -> int:
    return sum(row["beats it"] == "yes" for name, row in _rows(found).items() if name != "all")


def _control_beaten(found: dict[str, Any]) -> str:
    """In how many relations the controls beat the offset, fewest to most."""
    told = [re.match(r"Control, .+?: (\d+) of", text) for text in found["findings"]]
    counts = [int(match[1]) for match in told if match]
    return " to ".join(dict.fromkeys((str(min(counts)), str(max(counts)))))


def _head(row: dict[str, Any]) -> str:
    return row["head"].partition(" ")[0] + ("" if row["halves agree"] == "yes" else ", one half another")


def _figures(row: dict[str, Any]) -> list[str]:
    return [
        span(row["accuracy"], row["low"], row["high"]),
        f"{row['baseline']:.1f} ({row['offset']})".replace("-", "−"),
        span(row["gain"], row["gain low"], row["gain high"]),
        f"{row['control']:.1f}; {row['shuffled']:.1f}",
    ]


def _short(row: dict[str, Any]) -> list[str]:
    return [f"{span(row['accuracy'], row['low'], row['high'])} %".replace(" [", " % [", 1).removesuffix(" %")] + [
        f"{row[name]:.1f}" for name in ("baseline", "control")
    ]
