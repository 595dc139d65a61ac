"""From the sums of `coref` to its tables, figures and sentences.

Enters: sums over a corpus. Leaves: a `Result`: a row per head, set of candidates and group of mentions; the best head's
held-out accuracy next to rules, chance and control; WinoBias' gap; a few examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between, ranged
from regard.studies.base import StudyContext
from regard.studies.controls import Controls
from regard.studies.coref.examples import example_table
from regard.studies.coref.questions import BASELINES
from regard.studies.coref.reduce import FATES, SETS
from regard.studies.coref.tallies import (
    OF_RULES,
    best_table,
    gap_table,
    head_table,
    rule_table,
    tallies_of,
)
from regard.studies.figures import bar_picture, heat_picture
from regard.studies.head_names import head_name
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.coref.study import Coref

_DRAWN = ("all", "pronoun", "proper", "nominal")
_BEST = "Best head, chosen on one half of the documents and scored on the other"
_RULES = "Rules and chance on the same mentions"
_GAP = "WinoBias: accuracy on pro minus anti sentences"
_RULE = (
    "Mentions are given by the corpus, and head words come from a rule, not a parser; a model that had to find "
    "mentions itself would do worse."
)
_SELECTION = (
    "Heads are chosen on one half of the documents; 'best on all' is what choosing on the test data would report."
)


def coref_result(sums: Sums, context: StudyContext, study: Coref) -> Result:
    """Tables and figures of which heads find antecedents."""
    every = tallies_of(sums)
    fates = _fates(sums)
    if not every:
        raise UserError(
            f"no mention in {context.source.name} has a right and a wrong candidate in its window, so there is nothing "
            "to ask; check the format, or allow longer windows (pieces)"
        )
    table, rules = head_table(every), rule_table(every)
    best, gaps = best_table(every, context.controls), gap_table(every)
    tables = {_BEST: best, _RULES: rules}
    if not gaps.empty:
        tables[_GAP] = gaps.sort_values("gap", key=abs, ascending=False, kind="stable", ignore_index=True)
    tables["What happened to the mentions"] = fates
    tables |= _examples(context, study, table)
    return Result(
        study="coref",
        title=f"Which heads of {context.model.name} know coreference",
        table=table,
        meta=context.meta(),
        drawers=_drawers(table, best, rules, gaps),
        findings=[*_counts(fates), *_findings(best), *_gap_findings(gaps, best, context.controls)],
        cautions=[*context.cautions(), _SELECTION, _RULE],
        tables=tables,
    )


def _fates(sums: Sums) -> pd.DataFrame:
    """What happened to the mentions, by kind of attention."""
    import pandas as pd

    rows = [
        (kind, name, int(count))
        for kind in ("encoder", "decoder")
        if f"{kind}/fates" in sums
        for name, count in zip(FATES, sums[f"{kind}/fates"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["kind", "mentions", "count"])


def _examples(context: StudyContext, study: Coref, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What the best head for all mentions chooses in the first inputs."""
    mine = table[(table["candidates"] == SETS[0]) & (table["mentions"] == "all")]
    best = mine.loc[mine["value"].idxmax()]
    found = example_table(context, study, best["kind"], int(best["layer"]), int(best["head"]))
    if found is None or found.empty:
        return {}
    return {f"What {best['kind']} head {head_name(best['layer'], best['head'])} chooses": found}


# -- figures ---------------------------------------------------------------------------------------------------


def _drawers(table: pd.DataFrame, best: pd.DataFrame, rules: pd.DataFrame, gaps: pd.DataFrame) -> dict[str, Any]:
    drawers: dict[str, Any] = {}
    for kind in dict.fromkeys(table["kind"]):
        drawers[f"{kind}-best"] = (
            f"{kind}: the best head, chosen on one half of the documents and scored on the other, with its chance; "
            "rules choose among mention heads (lines: 95% over documents).",
            lambda kind=kind: _bars(best[best["kind"] == kind], rules[rules["kind"] == kind]),
        )
        for name in SETS:
            for row in _DRAWN:
                mine = table[(table["kind"] == kind) & (table["candidates"] == name) & (table["mentions"] == row)]
                if not mine.empty and (row == "all" or mine["questions"].max() < table["questions"].max()):
                    drawers[f"{kind}-{name}-{row}".replace(" ", "-")] = (
                        f"{kind}: how often a head attends most to a right word among {name}; mentions: {row}.",
                        lambda mine=mine, name=name, row=row: heat_picture(
                            _grid(mine, "value"), title=f"{row} mentions, {name}", label="accuracy"
                        ),
                    )
            mine = gaps[(gaps["kind"] == kind) & (gaps["candidates"] == name)]
            if not mine.empty:
                drawers[f"{kind}-{name}-gap".replace(" ", "-")] = (
                    f"{kind}: accuracy on pro minus anti sentences among {name}.",
                    lambda mine=mine, name=name: heat_picture(
                        _grid(mine, "gap"), title=f"pro minus anti, {name}", label="gap", centre=0
                    ),
                )
    return drawers


def _grid(rows: pd.DataFrame, column: str) -> Array:
    """(layers, heads) of a column."""
    return np.asarray(rows.pivot(index="layer", columns="head", values=column))


def _bars(best: pd.DataFrame, rules: pd.DataFrame) -> Any:
    """Bars per group of mentions: the best head among all words, rules, and the best head among mention heads."""
    shown = [row for row in dict.fromkeys(best["mentions"]) if row in _DRAWN]
    series: dict[str, pd.DataFrame] = {}
    for number, name in enumerate(SETS):
        series |= {
            rule: rules[rules["rule"] == rule]
            for rule in (f"chance, {name}", *(BASELINES if number == OF_RULES else ()))
        }
        series[f"best head, {name}"] = best[best["candidates"] == name]
    bars = {name: rows.set_index("mentions").loc[shown, ["value", "low", "high"]] for name, rows in series.items()}
    return bar_picture(shown, {name: rows.to_numpy() for name, rows in bars.items()}, y="accuracy")


# -- sentences -------------------------------------------------------------------------------------------------


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def _counts(fates: pd.DataFrame) -> list[str]:
    sentences = []
    for kind, rows in fates.groupby("kind", sort=False):
        parts = ", ".join(f"{count:,} {name}" for name, count in zip(rows["mentions"], rows["count"], strict=True))
        sentences.append(f"{kind}: {rows['count'].sum():,} mentions: {parts}.")
    return sentences


def _findings(best: pd.DataFrame) -> list[str]:
    """A sentence for all mentions and each type; a type that covers all mentions is not repeated."""
    sentences = []
    everything = best["questions"].max()
    for row in best.to_dict("records"):
        if row["mentions"] not in _DRAWN or (row["mentions"] != "all" and row["questions"] == everything):
            continue
        if np.isnan(row["value"]):
            sentences.append(
                f"{row['kind']}, {row['mentions']} mentions, {row['candidates']}: n/a, all are in one half of the "
                "documents, so no head can be chosen on the other; use more documents."
            )
            continue
        control = "" if np.isnan(row["control"]) else f", {_controlled(row)}"
        chosen = dict.fromkeys((row["chosen on even"], row["chosen on odd"]))
        heads, verb = f"head{'s' * (len(chosen) > 1)} {' / '.join(chosen)}", "is" if len(chosen) == 1 else "are"
        sentences.append(
            f"{row['kind']}, {row['mentions']} mentions, {row['candidates']}: {heads} {verb} right in "
            f"{_percent(row['value'])}{between(100 * row['low'], 100 * row['high'], '.1f', ' %')} of "
            f"{row['questions']:,}, chance {_percent(row['chance'])}{control}; {_beside_rule(row)}."
        )
    return sentences


def _beside_rule(row: Mapping[str, Any]) -> str:
    """A head and the best rule: compared if both choose among the same words, otherwise side by side."""
    rule = f"{row['best rule']}, {_percent(row['rule'])}"
    if np.isnan(row["difference"]):
        return f"the best rule, which chooses among mentions alone: {rule} (chance {_percent(row['rule chance'])})"
    if row["difference low"] > 0:
        beats = "better than"
    else:
        beats = "worse than" if row["difference high"] < 0 else "not clearly different from"
    return (
        f"{beats} the best rule ({rule}; difference {100 * row['difference']:+.1f} points"
        f"{_within(100 * row['difference low'], 100 * row['difference high'])})"
    )


def _within(low: float, high: float) -> str:
    """An interval inside brackets."""
    said = ranged(low, high, "+.1f")
    return f", {said}" if said else ""


def _gap_findings(gaps: pd.DataFrame, best: pd.DataFrame, controls: Controls | None) -> list[str]:
    """The largest gap, how many are clear, and the gap of the heads that were chosen for all mentions."""
    sentences = []
    for (kind, name), rows in gaps.groupby(["kind", "candidates"], sort=False):
        most = rows.loc[rows["gap"].abs().idxmax()]
        sentences.append(f"{kind}, pro minus anti, {name}: largest gap in head {_gap(most)}.")
        if rows["low"].notna().any():
            random = "" if controls is None else f"; {_random(controls, kind, name)}"
            sentences.append(
                f"{kind}, pro minus anti, {name}: {_clear(gaps, kind, name)} of {len(rows)} heads have an interval "
                f"that excludes 0 ({0.05 * len(rows):.0f} would by chance{random})."
            )
        chosen = best[(best["kind"] == kind) & (best["candidates"] == name) & (best["mentions"] == "all")].iloc[0]
        heads = dict.fromkeys((chosen["chosen on even"], chosen["chosen on odd"]))
        of = {head_name(row["layer"], row["head"]): row for row in rows.to_dict("records")}
        sentences.append(
            f"{kind}, pro minus anti, {name}: chosen above: {'; '.join(f'head {_gap(of[h])}' for h in heads)}."
        )
    return sentences


def _gap(row: Mapping[str, Any]) -> str:
    return (
        f"{head_name(row['layer'], row['head'])}, {100 * row['gap']:+.1f} points"
        f"{between(100 * row['low'], 100 * row['high'], '+.1f')}: pro {_percent(row['pro'])}, "
        f"anti {_percent(row['anti'])}"
    )


def _controlled(row: Mapping[str, Any]) -> str:
    """Random weights with the range over draws, and shuffled ones."""
    return (
        f"random weights {_percent(row['control'])} ({_percent(row['control lowest'])} to "
        f"{_percent(row['control highest'])}), shuffled weights {_percent(row['shuffled'])}"
    )


def _random(controls: Controls, kind: str, name: str) -> str:
    tables = {of: gap_table(tallies_of(sums)) for of, sums in controls.named.items()}
    most = {
        of: 100 * table[(table["kind"] == kind) & (table["candidates"] == name)]["gap"].abs().max()
        for of, table in tables.items()
    }
    return "; ".join(
        f"{of}: {_clear(table, kind, name)}, the largest {most[of]:.1f} points" for of, table in tables.items()
    )


def _clear(gaps: pd.DataFrame, kind: str, name: str) -> int:
    """How many heads have a gap whose interval excludes 0."""
    rows = gaps[(gaps["kind"] == kind) & (gaps["candidates"] == name)]
    return int(((rows["low"] > 0) | (rows["high"] < 0)).sum())
