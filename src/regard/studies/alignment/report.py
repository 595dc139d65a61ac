"""What was found of word times: errors on utterances that the heads were not chosen on.

Enters: errors of single heads and of sets, by utterance. Leaves: a `Result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between, draws, interval
from regard.studies.alignment.choosing import MOST, candidates, half_of, numbers, places, ranked
from regard.studies.base import StudyContext
from regard.studies.chart import Bar, Chart
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

CHOSEN, SINGLE, OWN, ALL, LINE = "chosen heads", "best single head", "the model's own list", "all heads", "a line"
Errors = dict[int, Array]  # of each utterance, (words,) seconds


@dataclass(frozen=True)
class Chosen:
    """Sets that were chosen on one half each, the other half's first."""

    sets: tuple[list[int], list[int]]

    def named(self, heads: list[tuple[int, int]]) -> str:
        """Both sets, or the one that both halves chose."""
        said = [", ".join(f"{heads[one][0]}.{heads[one][1]}" for one in sorted(chosen)) for chosen in self.sets]
        return said[0] if said[0] == said[1] else f"{said[0]} (chosen on even utterances); {said[1]} (on odd ones)"


def alignment_result(sums: Sums, sets: Sums, named: list[tuple[int, int]], context: StudyContext) -> Result:
    """The table of all ways to tell when a word begins, and that of single heads."""
    heads = places(sums)
    tried = candidates(sums, named)
    ways, chosen = _ways(sums, sets, tried, bool(named))
    table = _table(ways, chosen, heads, named)
    return Result(
        study="alignment",
        title=f"When words begin, by the cross heads of {context.model.name}",
        table=table,
        meta=context.meta(),
        findings=_findings(table, len(numbers(sums)), heads, chosen),
        chart=_chart(table),
        cautions=context.cautions()[2:],
        tables={"Heads": _heads(sums, heads, named)},
    )


def _ways(sums: Sums, sets: Sums, tried: list[list[int]], named: bool) -> tuple[dict[str, Errors], dict[str, Chosen]]:
    """Held-out errors of each way, and which heads were chosen."""
    errors: dict[str, Errors] = {CHOSEN: {}, SINGLE: {}, OWN: {}, ALL: {}, LINE: {}}
    picked: dict[str, list[list[int]]] = {CHOSEN: [], SINGLE: []}
    size = (len(tried) - 1 - named) // 2  # sets of each half
    for half in (0, 1):
        mine = range(size * half, size * (half + 1))
        known = np.concatenate([sets[f"sets/{n}"] for n in half_of(sums, half)], axis=1)
        best = min(mine, key=lambda one: float(np.median(np.abs(known[one]))))
        slope, start = _line(sums, half)
        picked[CHOSEN].append(tried[best])
        picked[SINGLE].append(ranked(sums, half)[:1])
        for n in half_of(sums, 1 - half):
            found, (onsets, line) = sets[f"sets/{n}"], sums[f"gold/{n}"]
            errors[CHOSEN][n], errors[SINGLE][n], errors[ALL][n] = found[best], found[mine[0]], found[2 * size]
            errors[LINE][n] = slope * line + start - onsets
            if named:
                errors[OWN][n] = found[2 * size + 1]
    return {name: found for name, found in errors.items() if found}, {
        name: Chosen((one, other)) for name, (one, other) in picked.items()
    }


def _line(sums: Sums, half: int) -> tuple[float, float]:
    """The line through text and sound that fits one half best (least squares): its slope and where it starts."""
    onsets, line = np.concatenate([sums[f"gold/{n}"] for n in half_of(sums, half)], axis=1)
    slope, start = np.polyfit(line, onsets, 1)
    return float(slope), float(start)


def _table(
    ways: Mapping[str, Errors], chosen: Mapping[str, Chosen], heads: list[tuple[int, int]], named: list[tuple[int, int]]
) -> pd.DataFrame:
    """A row per way: median and 90th percentile of the absolute error, with the median's interval."""
    import pandas as pd

    own = ", ".join(f"{layer}.{head}" for layer, head in named)
    said = {OWN: own, ALL: "all", LINE: "none"} | {name: one.named(heads) for name, one in chosen.items()}
    rows = []
    for name, errors in ways.items():
        values = np.abs(np.concatenate(list(errors.values())))
        low, high = _limits(errors)
        late = float(np.median(np.concatenate(list(errors.values()))))
        rows.append(
            (name, float(np.median(values)), low, high, float(np.quantile(values, 0.9)), late, len(values), said[name])
        )
    columns = ["way", "median", "low", "high", "90th percentile", "median of signed error", "words", "heads"]
    return pd.DataFrame(rows, columns=columns).sort_values("median", kind="stable", ignore_index=True)


def _limits(errors: Errors) -> tuple[float, float]:
    """The interval of the median error, over utterances."""
    values = np.abs(np.concatenate(list(errors.values())))
    order = np.argsort(values, kind="stable")
    owner = np.repeat(np.arange(len(errors)), [len(one) for one in errors.values()])[order]
    weights = draws(len(errors))[:, owner]  # (1 + draws, words): how often each word's utterance was drawn
    reached = np.cumsum(weights, axis=1)
    middle = (reached >= reached[:, -1:] / 2).argmax(axis=1)
    low, high = interval(values[order][middle], len(errors))
    return float(low), float(high)


def _heads(sums: Sums, heads: list[tuple[int, int]], named: list[tuple[int, int]]) -> pd.DataFrame:
    """A row per cross head: its errors alone, over all utterances; not held out."""
    import pandas as pd

    errors = np.abs(np.concatenate([sums[f"single/{n}"] for n in numbers(sums)], axis=1))
    table = pd.DataFrame(
        {
            "layer": [layer for layer, _ in heads],
            "head": [head for _, head in heads],
            "median": np.median(errors, axis=1),
            "90th percentile": np.quantile(errors, 0.9, axis=1),
            "on the model's list": [one in named for one in heads],
        }
    )
    return table.sort_values("median", kind="stable", ignore_index=True)


def _findings(
    table: pd.DataFrame, utterances: int, heads: list[tuple[int, int]], chosen: Mapping[str, Chosen]
) -> list[str]:
    rows = {row.way: row for row in table.itertuples()}
    first = table["way"][0]
    told = [
        f"{name}: median {1000 * row.median:.0f} ms{between(1000 * row.low, 1000 * row.high, '.0f')}, 90th percentile "
        f"{1000 * row._5:.0f} ms"
        for name, row in rows.items()
    ]
    sentences = [
        f"Onsets of {table['words'][0]:,} words in {utterances:,} utterances are told best by {first}: "
        + "; ".join(told)
        + "."
    ]
    if OWN in rows:
        mine, own = rows[CHOSEN], rows[OWN]
        apart = mine.high < own.low or own.high < mine.low
        verb = "beat" if mine.median < own.median else "do not beat"
        sure = "" if apart else ", though their intervals overlap"
        sentences.append(f"The chosen heads {verb} the model's own list{sure}.")
    sizes = [len(one) for one in chosen[CHOSEN].sets]
    sentences.append(
        f"Chosen on one half, {sizes[0]} and {sizes[1]} of {len(heads)} heads (at most {MOST}): "
        f"{chosen[CHOSEN].named(heads)}."
    )
    return sentences


def _chart(table: pd.DataFrame) -> Chart:
    bars = [Bar(row.way, float(row.median), note=f"90th percentile {row._5:.2f} s") for row in table.itertuples()]
    return Chart(
        "Median error of word onsets in seconds, on utterances that nothing was chosen on; shorter is better.", bars
    )
