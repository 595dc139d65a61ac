"""What was found of links between words: error rates on sentences that the heads were not chosen on.

Enters: misses of single heads and of sets, by pair of sentences. Leaves: a `Result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between, draws, interval
from regard.studies.alignment.choosing import MOST, Chosen, candidates, half_of, numbers, places, ranked
from regard.studies.alignment.links import DICTIONARY, GOLD, PARALLEL, Reference
from regard.studies.base import StudyContext
from regard.studies.chart import Bar, Chart
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

CHOSEN, SINGLE, ALL, LATE = "chosen heads", "best single head", "all heads", "best single head, a row late"
DIAGONAL, UNTRAINED = "the diagonal", "best single head"
Misses = dict[int, Array]  # of each pair, (judged words,) 1 where the link is wrong


def word_result(sums: Sums, sets: Sums, context: StudyContext, reference: Reference) -> Result:
    """The table of all ways to link words, and that of single heads."""
    heads = places(sums)
    ways, chosen = _ways(sums, sets)
    said = {name: one.named(heads, "sentences") for name, one in chosen.items()} | {ALL: "all", DIAGONAL: "none"}
    for name, other in (context.controls.named if context.controls else {}).items():
        ways[f"{UNTRAINED}, {name}"], one = _best_single(other, "single")
        said[f"{UNTRAINED}, {name}"] = one.named(heads, "sentences")
    table = _table(ways, sums, said)
    return Result(
        study="alignment",
        title=f"Which words belong together, by the cross heads of {context.model.name}",
        table=table,
        meta=context.meta(),
        findings=_findings(table, len(numbers(sums)), heads, chosen[CHOSEN], reference),
        chart=_chart(table),
        cautions=[one for one in context.cautions() if one.code in ("few", "unread", "uncontrolled")],
        tables={"Heads": _heads(sums, heads)},
    )


def _ways(sums: Sums, sets: Sums) -> tuple[dict[str, Misses], dict[str, Chosen]]:
    """Held-out misses of each way, and which heads were chosen."""
    tried = candidates(sums, [], np.mean)
    size = (len(tried) - 1) // 2  # sets of each half
    ways: dict[str, Misses] = {CHOSEN: {}, ALL: {}}
    picked = []
    for half in (0, 1):
        mine = range(size * half, size * (half + 1))
        known = np.concatenate([sets[f"sets/{n}"] for n in half_of(sums, half)], axis=1).mean(axis=1)
        best = mine[int(np.argmin(known[mine.start : mine.stop]))]
        picked.append(tried[best])
        for n in half_of(sums, 1 - half):
            ways[CHOSEN][n], ways[ALL][n] = sets[f"sets/{n}"][best], sets[f"sets/{n}"][2 * size]
    chosen = {CHOSEN: Chosen((picked[0], picked[1]))}
    for name, what in ((SINGLE, "single"), (LATE, "own")):
        ways[name], chosen[name] = _best_single(sums, what)
    ways[DIAGONAL] = {n: sums[f"diagonal/{n}"] for n in numbers(sums)}
    return ways, chosen


def _best_single(sums: Sums, what: str) -> tuple[Misses, Chosen]:
    """Held-out misses of the head that is best on the other half."""
    best = [ranked(sums, half, np.mean, what)[0] for half in (0, 1)]
    found = {n: sums[f"{what}/{n}"][best[half]] for half in (0, 1) for n in half_of(sums, 1 - half)}
    return found, Chosen(([best[0]], [best[1]]))


def _table(ways: Mapping[str, Misses], sums: Sums, said: Mapping[str, str]) -> pd.DataFrame:
    """A row per way: error rate with its interval over sentences, precision, recall.

    Every judged word has one link: precision is the share of these that are right, recall the share of the right links
    that are found, and the alignment error rate 1 - 2 |both| / (|found| + |right|) (Och & Ney 2003, all links sure).
    """
    import pandas as pd

    rows = []
    for name, misses in ways.items():
        counts = np.array([(len(one), len(one) - one.sum(), sums[f"links/{n}"].item()) for n, one in misses.items()])
        found, right, linked = (draws(len(counts)) @ counts).T
        with np.errstate(invalid="ignore"):
            rates = 1 - 2 * right / (found + linked)
        low, high = interval(rates, len(counts))
        numbers_ = [rates[0], float(low), float(high), right[0] / found[0], right[0] / linked[0]]
        rows.append((name, *map(float, numbers_), int(found[0]), said[name]))
    columns = ["way", "error rate", "low", "high", "precision", "recall", "words", "heads"]
    return pd.DataFrame(rows, columns=columns).sort_values("error rate", kind="stable", ignore_index=True)


def _heads(sums: Sums, heads: list[tuple[int, int]]) -> pd.DataFrame:
    """A row per cross head: its precision alone, over all sentences; not held out."""
    import pandas as pd

    def right(what: str) -> Array:
        return np.asarray(1 - np.concatenate([sums[f"{what}/{n}"] for n in numbers(sums)], axis=1).mean(axis=1))

    table = pd.DataFrame(
        {
            "layer": [layer for layer, _ in heads],
            "head": [head for _, head in heads],
            "precision": right("single"),
            "precision a row late": right("own"),
        }
    )
    return table.sort_values("precision", ascending=False, kind="stable", ignore_index=True)


def _findings(
    table: pd.DataFrame, sentences: int, heads: list[tuple[int, int]], chosen: Chosen, reference: Reference
) -> list[str]:
    rows = {row["way"]: row for row in table.to_dict("records")}
    told = [f"{name}: {row['error rate']:.1%}{_limits(row)}" for name, row in rows.items()]
    how = {GOLD: "links given in", DICTIONARY: "the dictionary", PARALLEL: "a dictionary learned from"}
    mine, line = rows[CHOSEN], rows[DIAGONAL]
    verdict = "do better than" if mine["high"] < line["low"] else "cannot be told from"
    if mine["low"] > line["high"]:
        verdict = "do worse than"
    sizes = [len(one) for one in chosen.sets]
    return [
        f"Error rate of the links of {table['words'][0]:,} words in {sentences:,} sentences, judged by "
        f"{how[reference.kind]} {reference.name}: " + "; ".join(told) + ".",
        f"The chosen heads {verdict} the diagonal. The row of a token is the one that chooses the next token; read a "
        f"row late, the best head has {rows[LATE]['error rate']:.1%}, in its place {rows[SINGLE]['error rate']:.1%}.",
        f"Chosen on one half, {sizes[0]} and {sizes[1]} of {len(heads)} heads (at most {MOST}): "
        f"{chosen.named(heads, 'sentences')}.",
    ]


def _limits(row: Mapping[str, float]) -> str:
    return between(100 * row["low"], 100 * row["high"], ".1f")


def _chart(table: pd.DataFrame) -> Chart:
    bars = [
        Bar(row["way"], float(row["error rate"]), note=f"precision {row['precision']:.2f}")
        for row in table.to_dict("records")
    ]
    return Chart("Alignment error rate, on sentences that nothing was chosen on; shorter is better.", bars)
