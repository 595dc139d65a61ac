"""What was found of word times: errors on utterances that the heads were not chosen on.

Enters: errors of single heads and of sets, by utterance. Leaves: a `Result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between, draws, interval
from regard.studies.alignment.choosing import MOST, Chosen, candidates, half_of, numbers, places, ranked
from regard.studies.base import StudyContext
from regard.studies.chart import Bar, Chart
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

CHOSEN, SINGLE, OWN, ALL, LINE = "chosen heads", "best single head", "the model's own list", "all heads", "a line"
UTTERANCES = "utterances"
Errors = dict[int, Array]  # of each utterance, (words,) seconds


def alignment_result(sums: Sums, sets: Sums, named: list[tuple[int, int]], context: StudyContext) -> Result:
    """The table of all ways to tell when a word begins, and that of single heads."""
    heads = places(sums)
    tried = candidates(sums, named)
    ways, chosen, late = _ways(sums, sets, tried, bool(named))
    table = _table(ways, chosen, late, heads, named)
    return Result(
        study="alignment",
        title=f"When words begin, by the cross heads of {context.model.name}",
        table=table,
        meta=context.meta(),
        findings=_findings(table, len(numbers(sums)), heads, chosen),
        chart=_chart(table),
        cautions=[one for one in context.cautions() if one.code in ("few", "unread")],
        tables={"Heads": _heads(sums, heads, named)},
        files={"Words": _words(ways)},
    )


def _ways(
    sums: Sums, sets: Sums, tried: list[list[int]], named: bool
) -> tuple[dict[str, Errors], dict[str, Chosen], dict[str, Errors]]:
    """Held-out errors of each way, which heads were chosen, and how late each was on the half it was chosen on."""
    errors: dict[str, Errors] = {CHOSEN: {}, SINGLE: {}, OWN: {}, ALL: {}, LINE: {}}
    late: dict[str, Errors] = {name: {} for name in errors}
    picked: dict[str, list[list[int]]] = {CHOSEN: [], SINGLE: []}
    size = (len(tried) - 1 - named) // 2  # sets of each half
    for half in (0, 1):
        mine = range(size * half, size * (half + 1))
        known = np.concatenate([sets[f"sets/{n}"] for n in half_of(sums, half)], axis=1)
        best = min(mine, key=lambda one: float(np.median(np.abs(known[one]))))
        picked[CHOSEN].append(tried[best])
        picked[SINGLE].append(ranked(sums, half)[:1])
        rows = {CHOSEN: best, SINGLE: mine[0], ALL: 2 * size} | ({OWN: 2 * size + 1} if named else {})
        slope, start = _line(sums, half)
        for n in half_of(sums, 1 - half):
            onsets, line = sums[f"gold/{n}"]
            for name, row in rows.items():
                errors[name][n], late[name][n] = sets[f"sets/{n}"][row], np.median(known[row])
            errors[LINE][n], late[LINE][n] = slope * line + start - onsets, np.zeros(())
    chosen = {name: Chosen((one, other)) for name, (one, other) in picked.items()}
    return {name: found for name, found in errors.items() if found}, chosen, late


def _line(sums: Sums, half: int) -> tuple[float, float]:
    """The line through text and sound that fits one half best (least squares): its slope and where it starts."""
    onsets, line = np.concatenate([sums[f"gold/{n}"] for n in half_of(sums, half)], axis=1)
    slope, start = np.polyfit(line, onsets, 1)
    return float(slope), float(start)


def _table(
    ways: Mapping[str, Errors],
    chosen: Mapping[str, Chosen],
    late: Mapping[str, Errors],
    heads: list[tuple[int, int]],
    named: list[tuple[int, int]],
) -> pd.DataFrame:
    """A row per way: median and 90th percentile of the absolute error, with the median's interval.

    `late` is the median of the error with its sign, `shifted` the median error if that, as known from the other half,
    is taken off.
    """
    import pandas as pd

    own = ", ".join(f"{layer}.{head}" for layer, head in named)
    said = {OWN: own, ALL: "all", LINE: "none"} | {name: one.named(heads, UTTERANCES) for name, one in chosen.items()}
    rows = []
    for name, errors in ways.items():
        signed = np.concatenate(list(errors.values()))
        values, (low, high) = np.abs(signed), _limits(errors)
        shifted = np.abs(np.concatenate([one - late[name][n] for n, one in errors.items()]))
        numbers_ = [float(np.median(values)), low, high, float(np.quantile(values, 0.9)), float(np.median(signed))]
        rows.append((name, *numbers_, float(np.median(shifted)), len(values), said[name]))
    columns = ["way", "median", "low", "high", "ninetieth", "late", "shifted", "words", "heads"]
    return pd.DataFrame(rows, columns=columns).sort_values("median", kind="stable", ignore_index=True)


def _words(ways: Mapping[str, Errors]) -> pd.DataFrame:
    """A row per word: its utterance, and by how many seconds each way misses its onset."""
    import pandas as pd

    first = next(iter(ways.values()))
    utterances = np.concatenate([np.full(len(one), n) for n, one in first.items()])
    return pd.DataFrame(
        {"utterance": utterances} | {name: np.concatenate([found[n] for n in first]) for name, found in ways.items()}
    )


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
        f"{1000 * row.ninetieth:.0f} ms"
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
        sentences.append(
            f"The chosen heads {verb} the model's own list{sure}. That list is {abs(1000 * own.late):.0f} ms "
            f"{'late' if own.late > 0 else 'early'} on the whole; with such a shift taken off, as known from the other "
            f"half, its median is {1000 * own.shifted:.0f} ms, that of the chosen heads {1000 * mine.shifted:.0f} ms."
        )
    sizes = [len(one) for one in chosen[CHOSEN].sets]
    sentences.append(
        f"Chosen on one half, {sizes[0]} and {sizes[1]} of {len(heads)} heads (at most {MOST}): "
        f"{chosen[CHOSEN].named(heads, UTTERANCES)}."
    )
    return sentences


def _chart(table: pd.DataFrame) -> Chart:
    bars = [
        Bar(row.way, float(row.median), note=f"90th percentile {row.ninetieth:.2f} s") for row in table.itertuples()
    ]
    return Chart(
        "Median error of word onsets in seconds, on utterances that nothing was chosen on; shorter is better.", bars
    )
