"""Heads removed together: by importance, by what each is worth alone, at random, and all heads of a pattern.

Enters: the sums of single heads. Leaves: a study of sets of heads over examples that did not help to choose them, and
its table. Orders come from even examples, scores from odd ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.ablation.tasks import Task
from regard.capture import Ablation
from regard.corpus.batches import Item
from regard.corpus.sums import Array, Sums
from regard.errors import UserError
from regard.measures.intervals import between
from regard.studies.ablation.reduce import AblationMap, AblationStudy, Prepared, portions, record, single_sets
from regard.studies.ablation.scores import AblationScores
from regard.studies.base import StudyContext, naming
from regard.trace.heads import Head

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model
    from regard.studies.result import Result

SHARES = tuple(n / 10 for n in range(1, 10))
DRAWS = 5  # random orders
MODE = "zero"
_ATLAS = 256  # examples over which heads are named by their pattern


@dataclass(frozen=True)
class Removal:
    """Heads removed together: why these, which random order, and which share of all heads they are."""

    order: str
    draw: int
    share: float
    heads: tuple[Head, ...]

    @property
    def label(self) -> str:
        return f"{self.order} {self.draw}: {' '.join(map(str, self.heads))}"


class Curve(AblationStudy):
    """Sets of heads removed together, over odd examples."""

    name: ClassVar[str] = "ablation curve"
    title: ClassVar[str] = "Heads removed together"

    def __init__(self, *, removals: list[Removal], **options: Any) -> None:
        super().__init__(**options)
        self.removals = removals

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "removals": [removal.label for removal in self.removals]}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Run the odd examples of a batch without each set of heads."""
        ready = self.prepared(model)
        odd = [item for item in items if item.number % 2]
        for part in portions(odd, ready.task) if odd else ():
            asked = ready.task.ask(model, part)
            runs = ready.shared.batch(asked.inputs)
            found = np.empty((len(part), len(self.removals)))
            with naming(part):
                base = ready.task.values(runs.plain, asked).numpy()
                for n, removal in enumerate(self.removals):
                    off = Ablation([removal.heads], MODE)
                    found[:, n] = ready.task.values(runs.edited(off, off.layers), asked).numpy()
            for row, item in enumerate(part):
                sums.add(f"scores/{item.number}", record(asked, row, base, found))

    def result(self, sums: Sums, context: StudyContext) -> Result:
        raise NotImplementedError("the curve is part of the result of the study of single heads")


def curve_of(study: AblationMap, sums: Sums, model: Model) -> Curve:
    """The study of heads removed together that belongs to a map of single heads."""
    return Curve(removals=removals_of(study, sums, model), **study.common)


def removals_of(study: AblationMap, sums: Sums, model: Model) -> list[Removal]:
    """Which heads are removed together, found over even examples."""
    from regard.studies.ablation.report import importance_of, normalised

    ready = study.prepared(model)
    scores = AblationScores.of(sums, ready, study.seed)
    even = scores.numbers % 2 == 0
    if len(ready.heads) < 2:
        raise UserError(f"{model.name} has one head only; there is nothing to remove together")
    if even.all() or not even.any():
        raise UserError("a curve needs even and odd examples: one half tells the order, the other the scores")
    found = _ordered("importance", 0, np.argsort(normalised(importance_of(sums, scores, even)[0], ready)), ready)
    mode = study.modes.index(MODE) if MODE in study.modes else 0
    start = mode * len(single_sets(ready))
    gains = scores.only(even, slice(start, start + len(ready.heads))).gains[0]
    found += _ordered("ablation", 0, np.argsort(-gains, kind="stable"), ready)
    for draw in range(DRAWS):
        order = np.random.default_rng([study.seed, draw]).permutation(len(ready.heads))
        found += _ordered("random", draw, order, ready)
    return found + _patterns(study, model, ready)


def _ordered(name: str, draw: int, order: Array, ready: Prepared) -> list[Removal]:
    """The first heads of an order, more and more of them."""
    count = len(ready.heads)
    sizes = sorted({round(share * count) for share in SHARES} - {0, count})
    return [Removal(name, draw, n / count, tuple(ready.heads[i] for i in sorted(order[:n].tolist()))) for n in sizes]


def _patterns(study: AblationMap, model: Model, ready: Prepared) -> list[Removal]:
    """All heads of each pattern, as the atlas of some examples names them."""
    from regard.corpus.engine import Run, run_local
    from regard.studies.atlas.reduce import Atlas
    from regard.studies.atlas.report import atlas_table, named_heads

    source = replace(study.source, limit=min(_ATLAS, study.source.limit or _ATLAS))
    named = named_heads(atlas_table(run_local(Atlas(seed=study.seed), model, Run(source)).sums))
    found = []
    for pattern, group in named.groupby("measure", sort=True):
        heads = {Head(row.kind, int(row.layer), int(row.head)) for row in group.itertuples()}
        if 0 < len(heads) < len(ready.heads):
            chosen = tuple(head for head in ready.heads if head in heads)
            found.append(Removal(f"pattern: {pattern}", 0, len(chosen) / len(ready.heads), chosen))
    return found


def curve_table(scores: AblationScores, study: Curve) -> pd.DataFrame:
    """A row per set of heads: its score, the change with its interval over odd examples."""
    import pandas as pd

    low, high = scores.interval(scores.changes)
    return pd.DataFrame(
        {
            "order": [removal.order for removal in study.removals],
            "draw": [removal.draw for removal in study.removals],
            "share": [removal.share for removal in study.removals],
            "removed": [len(removal.heads) for removal in study.removals],
            "score": scores.scores,
            "change": scores.changes[0],
            "low": low,
            "high": high,
            "heads": [" ".join(f"{head.layer}.{head.head}" for head in removal.heads) for removal in study.removals],
        }
    )


def curve_findings(curve: pd.DataFrame, baseline: float, task: Task) -> list[str]:
    """How many heads can go at once, and what patterns are worth, in sentences."""
    said = []
    for name in ("importance", "ablation"):
        mine = curve[curve["order"] == name].sort_values("share")
        safe = 0.0
        for row in mine.itertuples():
            if (row.high if task.sign > 0 else -row.low) < 0:  # the interval of the gain lies below 0
                break
            safe = row.share
        said.append(
            f"Removed together by {name}: up to {safe:.0%} of the heads before the {task.score} is clearly worse than "
            f"{baseline:.3f} (odd examples)."
        )
    chance = curve[curve["order"] == "random"].groupby("share")["score"].mean()
    for row in curve[curve["order"].str.startswith("pattern")].itertuples():
        random = float(np.interp(row.share, [0.0, *chance.index], [baseline, *chance]))
        said.append(
            f"Without the heads of the {row.order} ({row.removed}): {row.score:.3f} (change {row.change:+.3f}"
            f"{between(row.low, row.high, '+.3f')}); as many at random: about {random:.3f}."
        )
    return said
