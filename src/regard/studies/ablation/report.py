"""From the numbers of each example to maps of what heads are worth, with intervals and what chance would give.

Enters: sums of an ablation study. Leaves: a `Result`: a row per head and mode; layers, importance, agreement, curves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between
from regard.studies.ablation.curve import DRAWS, curve_findings, curve_table
from regard.studies.ablation.figures import CLEAR, curve_picture, map_picture
from regard.studies.ablation.importance import importance_of, normalised
from regard.studies.ablation.reduce import Prepared, single_sets
from regard.studies.ablation.scores import AblationScores, Chance, chance, held_out, row_correlations
from regard.studies.base import StudyContext
from regard.studies.chart import MOST, Bar, Chart
from regard.studies.figures import heat_picture
from regard.studies.head_names import head_name
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.ablation.study import AblationMap

CURVE = (
    "Score with more and more heads removed (mode zero) on odd examples; the orders were found on even ones. "
    f"Band: lowest to highest of {DRAWS} random orders. Points: all heads of a pattern."
)
WORDS = {"zero": "output removed", "uniform": "attention made uniform", "mean": "output replaced with its mean"}


def ablation_result(sums: Sums, context: StudyContext, study: AblationMap) -> Result:
    """Tables and figures of what heads are worth."""
    import pandas as pd

    ready = study.prepared(context.model)
    scores = AblationScores.of(sums, ready, study.seed)
    heads, layers, sentences = [], [], [_baseline(scores)]
    for mode, own in _by_mode(scores, study, ready):
        first = own.only(own.everyone, slice(len(ready.heads)))
        rest = own.only(own.everyone, slice(len(ready.heads), None))
        luck = chance(first)
        heads.append(_table(first, ready, mode, luck))
        layers.append(_table(rest, ready, mode, chance(rest)))
        sentences += _findings(mode, first, ready, luck)
    table, by_layer = pd.concat(heads, ignore_index=True), pd.concat(layers, ignore_index=True)
    weights = importance_of(sums, scores)
    importance, agreement = _importance(weights, scores, ready), _agreement(weights, scores, study, ready)
    sentences.append(_agreement_sentence(agreement))
    drawers = dict(_drawers(table, by_layer, importance, scores, context))
    tables = {"Whole layers": by_layer, "Importance": importance, "Agreement with importance": agreement}
    if context.second is not None and study.curved is not None:
        odd = AblationScores.of(context.second, ready, study.seed)
        curve = tables["Heads removed together"] = curve_table(odd, study.curved)
        sentences += curve_findings(curve, odd.baseline, ready.task)
        drawers["curve"] = (CURVE, _curve(curve, odd, context))
    return Result(
        study="ablation",
        title=f"What the heads of {context.model.name} are worth for {ready.task.name}",
        table=table,
        meta={**context.meta(), "task": ready.task.name, "shared runs": ready.shared.sharing},
        drawers=drawers,
        findings=sentences,
        chart=_chart(table, ready.task.score),
        cautions=_cautions(context),
        tables=tables,
        files={"scores": _examples(scores, study, ready)},
    )


def _chart(table: pd.DataFrame, score: str) -> Chart:
    """The heads whose loss costs most, in the first mode."""
    first = table[table["mode"] == table["mode"].iloc[0]].nsmallest(MOST, "change")
    bars = [Bar(head_name(row.layer, row.head), -float(row.change)) for row in first.itertuples() if row.change < 0]
    return Chart(f"What is lost without a head ({score}): the {len(bars)} heads that cost most.", bars)


def _by_mode(scores: AblationScores, study: AblationMap, ready: Prepared) -> Iterator[tuple[str, AblationScores]]:
    """The runs of each mode: heads, then layers."""
    runs = len(single_sets(ready))
    for number, mode in enumerate(study.modes):
        yield mode, scores.only(scores.everyone, slice(number * runs, (number + 1) * runs))


def _table(scores: AblationScores, ready: Prepared, mode: str, luck: Chance) -> pd.DataFrame:
    """A row per head, or per layer: the score without it, the change with its interval, and its p-values."""
    import pandas as pd

    low, high = scores.interval(scores.changes)
    one = scores.runs.shape[1] == len(ready.heads)
    places: dict[str, Any] = {"kind": [h.kind for h in ready.heads], "layer": [h.layer for h in ready.heads]}
    if one:
        places["head"] = [h.head for h in ready.heads]
    else:
        places = {"kind": [kind for kind, _ in ready.layers], "layer": [layer for _, layer in ready.layers]}
    return pd.DataFrame(
        {
            "mode": mode,
            **places,
            "score": scores.scores,
            "change": scores.changes[0],
            "low": low,
            "high": high,
            "better_p": luck.p_helps,
            "worse_p": luck.p_hurts,
        }
    )


# -- importance --------------------------------------------------------------------------------------------------


def _importance(weights: Array, scores: AblationScores, ready: Prepared) -> pd.DataFrame:
    import pandas as pd

    scaled = normalised(weights, ready)
    low, high = scores.interval(scaled)
    return pd.DataFrame(
        {
            "kind": [head.kind for head in ready.heads],
            "layer": [head.layer for head in ready.heads],
            "head": [head.head for head in ready.heads],
            "importance": scaled[0],
            "low": low,
            "high": high,
            "gradient": weights[0],
        }
    )


def _agreement(weights: Array, scores: AblationScores, study: AblationMap, ready: Prepared) -> pd.DataFrame:
    """Spearman's correlation, over heads, between importance and the loss in score without the head."""
    import pandas as pd

    rows = []
    for mode, own in _by_mode(scores, study, ready):
        lost = -own.gains[:, : len(ready.heads)]
        for name, values in (("by layer", normalised(weights, ready)), ("raw", weights)):
            found = row_correlations(values, lost)
            low, high = scores.interval(found[:, None])
            rows.append((mode, name, float(found[0]), float(low[0]), float(high[0])))
    return pd.DataFrame(rows, columns=["mode", "importance", "correlation", "low", "high"])


# -- words ---------------------------------------------------------------------------------------------------


def _baseline(scores: AblationScores) -> str:
    low, high = scores.baseline_interval
    return (
        f"The model as it is: {scores.task.score} {scores.baseline:.3f}{between(low, high, '.3f')} over "
        f"{len(scores.numbers):,} examples."
    )


def _findings(mode: str, scores: AblationScores, ready: Prepared, luck: Chance) -> list[str]:
    """What one mode showed, in sentences: how many heads help, what chance gives, which are clear, held-out gains."""
    names = [head_name(head.layer, head.head) for head in ready.heads]
    count = len(names)
    sentences = [
        f"{mode} ({WORDS[mode]}): without one head the {scores.task.score} is {scores.scores.min():.3f} to "
        f"{scores.scores.max():.3f}; {luck.helping} of {count} heads score better when off; chance alone gives "
        f"{luck.expected:.0f} [{luck.low:.0f}, {luck.high:.0f}], and as many with p = {_p(luck.p)}."
    ]
    for word, p in (("better", luck.p_helps), ("worse", luck.p_hurts)):
        clear = [name for name, one in zip(names, p, strict=True) if one < CLEAR]
        listed = f": heads {', '.join(clear[:12])}{' ...' if len(clear) > 12 else ''}" if clear else ""
        sentences.append(
            f"{mode}: {len(clear)} heads score clearly {word} when off (p < {CLEAR}, corrected for all {count})"
            f"{listed}."
        )
    for half, found in zip(("even", "odd"), held_out(scores), strict=False):
        other = "odd" if half == "even" else "even"
        sentences.append(
            f"{mode}: the best head to remove on {half} examples, head {names[found.run]} ({found.chosen:+.4f}), gains "
            f"{found.gain:+.4f}{between(found.low, found.high, '+.4f')} on {other} ones."
        )
    return sentences


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "less than 0.001"


def _agreement_sentence(agreement: pd.DataFrame) -> str:
    parts = [
        f"{row.correlation:.2f}{between(row.low, row.high)} with {row.mode}"
        for row in agreement[agreement["importance"] == "by layer"].itertuples()
    ]
    return f"Rank correlation of importance (gradients) with the loss in score without a head: {'; '.join(parts)}."


def _cautions(context: StudyContext) -> list[str]:
    cautions = [
        "One fine-tuned model is a single draw: heads that help here need not help with another seed; use several.",
        "zero, uniform and mean answer different questions; a head can matter in one and not in another.",
        "A head that can be removed alone may be needed when its substitutes are gone too; see the curve (--curve).",
    ]
    return cautions + [one for one in context.cautions() if one.code in ("long", "unread")]


def _examples(scores: AblationScores, study: AblationMap, ready: Prepared) -> pd.DataFrame:
    """A row per example: its number in the plain run, and in each edited run."""
    import pandas as pd

    names = [*map(str, ready.heads), *(f"{kind}:{layer}.*" for kind, layer in ready.layers)]
    columns = [f"{mode} {name}" for mode in study.modes for name in names]
    facts = pd.DataFrame(
        {"example": scores.numbers, "questions": scores.counts, "expected": scores.expected, "baseline": scores.base}
    )
    return pd.concat([facts, pd.DataFrame(scores.runs, columns=columns)], axis=1)


def _drawers(
    table: pd.DataFrame, layers: pd.DataFrame, importance: pd.DataFrame, scores: AblationScores, context: StudyContext
) -> Iterator[tuple[str, Any]]:
    task, baseline = scores.task, scores.baseline
    for mode in dict.fromkeys(table["mode"]):
        mine, whole = table[table["mode"] == mode], layers[layers["mode"] == mode]
        title = f"{context.model.name}: {task.score} without each head, {mode}"
        caption = (
            f"{task.score} with one head off, {mode}; the middle colour is the baseline {baseline:.3f}. + and −: "
            f"better or worse than chance explains, corrected for all heads (p < {CLEAR}). Right: the whole layer off."
        )
        yield mode, (caption, _map(mine, whole, baseline, task, title))
    grid = np.asarray(importance.pivot(index="layer", columns="head", values="importance"))
    caption = "Importance: mean |∂L/∂ξ| over examples, each layer scaled to length 1 (Michel et al. 2019)."
    yield (
        "importance",
        (caption, lambda: heat_picture(grid, title=f"{context.model.name}: importance", label="|∂L/∂ξ|, by layer")),
    )


def _map(mine: pd.DataFrame, whole: pd.DataFrame, baseline: float, task: Any, title: str) -> Any:
    return lambda: map_picture(mine, whole, baseline, task, title)


def _curve(curve: pd.DataFrame, odd: AblationScores, context: StudyContext) -> Any:
    return lambda: curve_picture(curve, odd.baseline, odd.task, f"{context.model.name}: heads removed together")
