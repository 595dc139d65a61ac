"""From the scores of the probes to tables, figures and sentences.

Enters: sums of the test sentences. Leaves: a `Result`: a row per probe, measure and subject.

Long on purpose: every table of the report is a few lines here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.studies.controls import RANDOM, SHUFFLED
from regard.studies.probe.figures import bars, curves, heat
from regard.studies.probe.linear import TOLERANCE
from regard.studies.probe.pairs import ROOM
from regard.studies.probe.scores import ProbeScores, Value
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from regard.views.figures import Picture

# measure -> what it is in words
MEASURES = {
    "pairs/dependency": "is there a dependency (balanced pairs), accuracy",
    "pairs/relation": "which relation, accuracy",
    "selection/UAS": "the head of every word, UAS",
    "structural/UUAS": "edges of the tree from hidden states, UUAS",
    "structural/DSpr": "distances in the tree from hidden states, Spearman",
}
_TASK = "control task"
_OF = ("model", "one direction", RANDOM, SHUFFLED, "distance", "majority")
_ON_CONTROL = (_TASK, f"{_TASK}, distance", f"{_TASK}, majority")
_AGAINST = {  # name -> (one, other): how far one is above the other
    "selectivity": ("model", _TASK),
    "selectivity of distance": ("distance", f"{_TASK}, distance"),
    "above distance": ("model", "distance"),
    f"above {RANDOM}": ("model", RANDOM),
    f"above {SHUFFLED}": ("model", SHUFFLED),
}
_SELECTIVITY = ("selectivity", "selectivity of distance")
NO_SELECTIVITY = "attaching every word to the first or last one solves much of its control task without memory"
FEWEST_SEEDS = 3  # training runs that an interval needs
_NUMBERS = ("value", "low", "high", "spread", "runs", "count")
_COLUMNS = ("probe", "measure", "of", *_NUMBERS)


def probe_result(sums: Sums, meta: Mapping[str, Any]) -> Result:
    """Tables and figures of all probes."""
    scores = ProbeScores(sums=sums)
    measures = [name for name in MEASURES if f"{name}/model" in scores]
    tables = {
        "Against baselines and controls": _differences(scores, measures),
        "Recall by relation": _relations(scores),
        "Structural probe by layer": _by(scores, "layer"),
        "Structural probe by rank": _by(scores, "rank", meta),
    }
    drawers = _drawers(scores, measures, meta)
    return Result(
        study="probe",
        title=f"What probes can read from {meta['model']}",
        table=_table(scores, measures),
        meta={**meta, "layer": chosen_layer(scores) if "structural/UUAS/model" in scores else None},
        drawers=drawers,
        findings=_findings(scores, measures, meta),
        cautions=_cautions(scores, meta),
        tables={name: table for name, table in tables.items() if len(table)},
    )


def _row(place: str, of: str, value: Value) -> tuple[Any, ...]:
    probe, measure = place.split("/")
    return probe, measure, of, *astuple(value)


def _table(scores: ProbeScores, measures: Sequence[str]) -> pd.DataFrame:
    """Every measure of the model, its baselines and its controls."""
    import pandas as pd

    every = (*_OF, *_ON_CONTROL)
    rows = [_row(m, of, scores.value(f"{m}/{of}")) for m in measures for of in every if f"{m}/{of}" in scores]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _differences(scores: ProbeScores, measures: Sequence[str]) -> pd.DataFrame:
    """How far the model is above each baseline and control, on the same sentences."""
    import pandas as pd

    rows = [
        _row(m, name, _difference(scores, m, name, one, other))
        for m in measures
        for name, (one, other) in _AGAINST.items()
        if f"{m}/{one}" in scores and f"{m}/{other}" in scores
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _difference(scores: ProbeScores, measure: str, name: str, one: str, other: str) -> Value:
    """How far one is above the other; NaN where its name would be misleading."""
    found = scores.difference(f"{measure}/{one}", f"{measure}/{other}")
    if name in _SELECTIVITY and not _selective(measure):
        return replace(found, value=np.nan, low=np.nan, high=np.nan, spread=np.nan)
    return found


def _selective(measure: str) -> bool:
    """Whether the control task of a measure needs memory: that of trees is largely solved by one star."""
    return not measure.startswith("structural/")


def _relations(scores: ProbeScores) -> pd.DataFrame:
    import pandas as pd

    names = [name for name in scores.names() if name.startswith("relations/")]
    rows = [(name.split("/")[1], *astuple(scores.value(name))) for name in names]
    return pd.DataFrame(rows, columns=["relation", *_NUMBERS])


def _by(scores: ProbeScores, what: str, meta: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """UUAS and rank correlation by layer, or by rank at the chosen layer (the highest rank is the model's score)."""
    import pandas as pd

    rows = []
    for measure in ("UUAS", "DSpr"):
        place = f"structural/{measure}"
        names = [name for name in scores.names() if name.startswith(f"{place}/{what} ")]
        found = {int(name.rpartition(" ")[2]): name for name in names}
        if meta is not None and f"{place}/model" in scores:
            found[max(meta["settings"]["ranks"])] = f"{place}/model"
        rows += [(number, measure, *astuple(scores.value(name))) for number, name in found.items()]
    return pd.DataFrame(rows, columns=[what, "measure", *_NUMBERS])


def chosen_layer(scores: ProbeScores) -> int:
    """The layer with the best UUAS on the development sentences, on average over runs."""
    return int(np.argmax(scores.sums["structural/development/model"].mean(axis=0)))


# -- figures ---------------------------------------------------------------------------------------------------


def _drawers(scores: ProbeScores, measures: Sequence[str], meta: Mapping[str, Any]) -> dict[str, Any]:
    drawn = "documents" if meta["tally"]["documented"] else "sentences"
    basis = f"bars: 95% over test {drawn} and training runs"
    found: dict[str, tuple[str, Callable[[], Picture]]] = {
        "probes": (
            f"Every probe next to its baselines and controls ({basis}).",
            lambda: bars(_beside(scores, measures)),
        ),
    }
    if "selection/weights" in scores.sums:
        for n, name in enumerate(("from head to dependent", "from dependent to head")):
            caption = f"Weights of the head-selection probe, attention {name}; weights are not importances."
            weights = scores.sums["selection/weights"].mean(axis=0)[:, n]  # (heads,) over runs
            draw = heat(weights, scores.sums["selection/heads"][0], f"attention {name}")
            found[f"selection-weights-{name.replace(' ', '-')}"] = caption, draw
    if "structural/UUAS/model" in scores:
        for what in ("layer", "rank"):
            table = _by(scores, what, meta if what == "rank" else None)
            label = "layer (0: embeddings)" if what == "layer" else "rank of B"
            found[f"structural-by-{what}"] = f"The structural probe by {what} ({basis}).", curves(table, what, label)
    return found


def _beside(scores: ProbeScores, measures: Sequence[str]) -> dict[str, dict[str, Value]]:
    """Every measure in words: the model, its baselines and its controls."""
    every = (*_OF, *_ON_CONTROL)
    return {MEASURES[m]: {of: scores.value(f"{m}/{of}") for of in every if f"{m}/{of}" in scores} for m in measures}


# -- words -----------------------------------------------------------------------------------------------------


def _findings(scores: ProbeScores, measures: Sequence[str], meta: Mapping[str, Any]) -> list[str]:
    sentences = meta["sentences"]
    findings = [
        f"{sentences['test']:,} test sentences, held out by {sentences['split']}; trained on "
        f"{sentences['training']:,}, stopped by {sentences['development']:,} more; {meta['settings']['seeds']} runs, "
        "each with different sentences to stop by."
    ]

    def values(measure: str, names: Sequence[str]) -> str:
        there = [of for of in names if f"{measure}/{of}" in scores]
        return ", ".join(f"{of} {scores.value(f'{measure}/{of}').value:.3f}" for of in there)

    for measure in measures:
        value = scores.value(f"{measure}/model")
        where = f" (layer {chosen_layer(scores)}, rank {max(meta['settings']['ranks'])})" if "struct" in measure else ""
        findings.append(
            f"{MEASURES[measure]}{where}: {value.value:.3f}{between(value.low, value.high, '.3f')}; "
            f"{values(measure, _OF[1:])}. {values(measure, _ON_CONTROL).capitalize()}; "
            f"{_selectivity(scores, measure)}."
        )
    return findings


def _selectivity(scores: ProbeScores, measure: str) -> str:
    if not _selective(measure):
        return f"selectivity n/a: {NO_SELECTIVITY}"
    above = scores.difference(f"{measure}/model", f"{measure}/{_TASK}")
    return f"selectivity {above.value:.3f}{between(above.low, above.high, '.3f')}"


def _cautions(scores: ProbeScores, meta: Mapping[str, Any]) -> list[str]:
    """What a reader should know before drawing conclusions."""
    sentences = meta["sentences"]
    cautions = [
        "A probe shows that something can be read out, not that the model uses it; weights are not importances.",
        "A probe may remember words instead of reading structure: the control task gives every word type a random "
        "answer, which can only be remembered. Selectivity is the score minus that of the control task; it is "
        "meaningful where distance and majority are as low on the control task as on the task.",
        "Word order alone reveals a lot: compare with the baseline distance.",
    ]
    if sentences["split"] == "file" and meta["test"]["name"] == meta["corpus"]["name"]:
        cautions.append("Training and test treebank have the same name: test sentences must not be used for training.")
    if not meta["control"]:
        cautions.append("Random and shuffled weights were not probed (--no-control).")
    if meta["settings"]["seeds"] < FEWEST_SEEDS:
        cautions.append(f"Fewer than {FEWEST_SEEDS} training runs: intervals say little about how training varies.")
    cautions += _fits(scores)
    if "structural" in meta["settings"]["probes"] and "structural/UUAS/model" not in scores:
        cautions.append(f"The structural probe is n/a: {meta['model']} does not return its hidden states.")
    if "pairs/dependency/model" in scores and "pairs/relation/model" not in scores:
        cautions.append(
            f"The relation probe is n/a: fewer than two relations have {meta['settings']['least']} training instances."
        )
    if sentences["lost"]:
        cautions.append(f"{sentences['lost']:,} of {sentences['words']:,} words have no piece and were left out.")
    if meta["tally"]["skipped"] or sentences["short"]:
        cautions.append(
            f"Sentences left out: {meta['tally']['skipped']:,} longer than the model takes, {sentences['short']:,} "
            "with fewer than two words."
        )
    if meta["bad_lines"]["count"]:
        cautions.append(f"{meta['bad_lines']['count']:,} sentences could not be read: {meta['bad_lines']['first'][0]}.")
    return cautions


def _fits(scores: ProbeScores) -> list[str]:
    """Whether the pair classifiers converged, and whether there was room for all their training pairs."""
    found = {name: array for name, array in scores.sums.arrays.items() if name.endswith("/gradient")}
    if not found:
        return []
    steep = {name.removesuffix("/gradient"): float(array.max()) for name, array in found.items()}
    most = max(steep.values())
    notes = [f"Pair classifiers are fitted until the gradient is below {TOLERANCE:g}; the largest is {most:.1e}."]
    if late := [name for name, value in steep.items() if value > TOLERANCE]:
        notes.append(f"Not converged: {', '.join(late)}; their scores are lower bounds.")
    shares = [np.divide(*array.sum(axis=0)) for name, array in scores.sums.arrays.items() if name.endswith("/learned")]
    if min(shares) < 1:
        notes.append(
            f"Pair classifiers learned from {min(shares):.0%} or more of the training pairs, as many as fit into "
            f"{ROOM / 2**30:.0f} GiB."
        )
    return notes
