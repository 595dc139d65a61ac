"""Heads removed together: by importance, by what each is worth alone, at random, and all heads of a pattern.

Enters: the sums of single heads. Leaves: a pass with sets of heads off, over examples that were not used to
choose them, and its table. Orders come from even examples, scores from odd ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.ablation.tasks import Task
from regard.base.errors import UserError
from regard.capture import Ablation
from regard.corpus.batches import Item
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import between
from regard.studies.ablation.importance import importance_of, normalised
from regard.studies.ablation.reduce import AblationPass, Prepared, portions, record, single_sets
from regard.studies.ablation.scores import AblationScores
from regard.studies.base import naming
from regard.trace.heads import Head

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model
    from regard.studies.ablation.study import AblationMap

SHARES = tuple(n / 10 for n in range(1, 10))
DRAWS = 5  # random orders
MODE = "zero"


@dataclass(frozen=True)
class Removal:
    """Heads removed together: the order they come from, its draw, and their share of all heads."""

    order: str
    draw: int
    share: float
    heads: tuple[Head, ...]

    @property
    def label(self) -> str:
        return f"{self.order} {self.draw}: {' '.join(map(str, self.heads))}"


class Curve(AblationPass):
    """Sets of heads removed together, over odd examples."""

    name: ClassVar[str] = "ablation curve"

    def __init__(self, *, removals: list[Removal], **options: Any) -> None:
        super().__init__(**options)
        self.removals = removals

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "removals": [removal.label for removal in self.removals]}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "removals": self.removals}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Run the odd examples of a batch without each set of heads."""
        ready = self.prepared(model)
        odd = [item for item in items if item.number % 2]
        for part in portions(odd, ready.task) if odd else ():
            batch = ready.task.ask(model, part)
            runs = ready.shared.batch(batch.inputs)
            found = np.empty((len(part), len(self.removals)))
            with naming(part):
                base = ready.task.values(runs.plain, batch).numpy()
                for n, removal in enumerate(self.removals):
                    off = Ablation([removal.heads], MODE)
                    found[:, n] = ready.task.values(runs.run_edited(off, off.layers), batch).numpy()
            for row, item in enumerate(part):
                sums.add(f"scores/{item.number}", record(batch, row, base, found))


def removals_of(study: AblationMap, sums: Sums, model: Model, patterns: Mapping[str, set[Head]]) -> list[Removal]:
    """Which heads are removed together: orders found on even examples, and all heads of each pattern."""
    ready = study.prepared(model)
    scores = AblationScores.of(sums, ready, study.seed)
    even = scores.numbers % 2 == 0
    if len(ready.heads) < 2:
        raise UserError(f"{model.name} has only one head; there is nothing to remove together")
    if even.all() or not even.any():
        raise UserError("a curve needs even and odd examples: one half decides the order, the other gives the scores")
    found = _ordered("importance", 0, np.argsort(normalised(importance_of(sums, scores, even)[0], ready)), ready)
    mode = study.modes.index(MODE) if MODE in study.modes else 0
    start = mode * len(single_sets(ready))
    gains = scores.only(even, slice(start, start + len(ready.heads))).gains[0]
    found += _ordered("ablation", 0, np.argsort(-gains, kind="stable"), ready)
    for draw in range(DRAWS):
        order = np.random.default_rng([study.seed, draw]).permutation(len(ready.heads))
        found += _ordered("random", draw, order, ready)
    return found + [removal for name, heads in patterns.items() for removal in _patterned(name, heads, ready)]


def _ordered(name: str, draw: int, order: Array, ready: Prepared) -> list[Removal]:
    """The first heads of an order, more and more of them."""
    count = len(ready.heads)
    sizes = sorted({round(share * count) for share in SHARES} - {0, count})
    return [Removal(name, draw, n / count, tuple(ready.heads[i] for i in sorted(order[:n].tolist()))) for n in sizes]


def _patterned(name: str, heads: set[Head], ready: Prepared) -> Iterator[Removal]:
    """All heads of a pattern, unless these are none or all of the model's."""
    if 0 < len(heads) < len(ready.heads):
        chosen = tuple(head for head in ready.heads if head in heads)
        yield Removal(f"pattern: {name}", 0, len(chosen) / len(ready.heads), chosen)


def curve_table(scores: AblationScores, curve: Curve) -> pd.DataFrame:
    """A row per set of heads: its score, the change with its interval over odd examples."""
    import pandas as pd

    low, high = scores.interval(scores.changes)
    return pd.DataFrame(
        {
            "order": [removal.order for removal in curve.removals],
            "draw": [removal.draw for removal in curve.removals],
            "share": [removal.share for removal in curve.removals],
            "removed": [len(removal.heads) for removal in curve.removals],
            "score": scores.scores,
            "change": scores.changes[0],
            "low": low,
            "high": high,
            "heads": [" ".join(f"{head.layer}.{head.head}" for head in removal.heads) for removal in curve.removals],
        }
    )


def curve_findings(curve: pd.DataFrame, baseline: float, task: Task) -> list[str]:
    """How many heads can be removed at once, and what patterns are worth, in sentences."""
    sentences = []
    for name in ("importance", "ablation"):
        mine = curve[curve["order"] == name].sort_values("share")
        safe = 0.0
        for row in mine.itertuples():
            if (row.high if task.sign > 0 else -row.low) < 0:  # the interval of the gain lies below 0
                break
            safe = row.share
        sentences.append(
            f"Removed together by {name}: up to {safe:.0%} of the heads before the {task.score} is clearly worse than "
            f"{baseline:.3f} (odd examples)."
        )
    chance = curve[curve["order"] == "random"].groupby("share")["score"].mean()
    for row in curve[curve["order"].str.startswith("pattern")].itertuples():
        random = float(np.interp(row.share, [0.0, *chance.index], [baseline, *chance]))
        sentences.append(
            f"Without the heads of the {row.order} ({row.removed}): {row.score:.3f}, a change of {row.change:+.3f}"
            f"{between(row.low, row.high, '+.3f')}; the same number at random: about {random:.3f}."
        )
    return sentences
