"""From counts of right and wrong answers to accuracies, heads chosen on one half and scored on the other, and gaps.

Enters: the sums of `coref`. Leaves: tables with intervals over documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.readers.mentions import TYPES
from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import clusters_of, interval
from regard.studies.base import layers_of
from regard.studies.controls import Controls, Ranged
from regard.studies.coref.questions import BASELINES, GROUPS
from regard.studies.coref.reduce import SETS
from regard.studies.head_names import head_name
from regard.studies.held_out import Choice, choose, limits

if TYPE_CHECKING:
    import pandas as pd

# The rows of the tables: all mentions, those of a type, and the further groups a corpus may have.
ROWS = {"all": range(len(TYPES)), **{name: range(n, n + 1) for n, name in enumerate(GROUPS)}}
HEADS = ("kind", "layer", "head", "candidates", "mentions", "value", "low", "high", "chance", "questions")
BEST = (
    "kind", "candidates", "mentions", "chosen on even", "chosen on odd", "value", "low", "high", "chance", "best rule",
    "rule", "rule chance", "difference", "difference low", "difference high", "control", "control lowest",
    "control highest", "shuffled", "best on all", "questions",
)  # fmt: skip
OF_RULES = SETS.index("mention heads")  # what rules choose among
GAPS = ("kind", "candidates", "layer", "head", "pro", "anti", "gap", "low", "high", "questions")


@dataclass(eq=False)
class Tallies:
    """Counts of one kind of attention, R times: over all clusters, then over resampled ones. N heads of all layers.

    `correct` is (R, N, 2 sets, G, 2 halves of the documents), `asked` (R, G, 2), `rules` (R, 3, G, 2) and `chance`
    (R, 2, G, 2); `of` leaves out the G axis. `by_cluster` (clusters' groups, G, 2) is what was asked in each.
    """

    kind: str
    places: list[tuple[int, int]]
    correct: Array
    asked: Array
    rules: Array
    chance: Array
    by_cluster: Array

    def of(self, row: str) -> Tallies:
        """The counts of one row of the tables."""
        some = list(ROWS[row])
        every = (self.correct, self.asked, self.rules, self.chance, self.by_cluster)
        correct, asked, rules, chance, by_cluster = (array[..., some, :].sum(axis=-2) for array in every)
        return Tallies(self.kind, self.places, correct, asked, rules, chance, by_cluster)

    @property
    def clusters(self) -> float:
        """The effective number of clusters behind the counts of a row of the tables."""
        return float(clusters_of(self.by_cluster.sum(axis=-1)))

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return int(self.asked[0].sum())

    @property
    def accuracies(self) -> Array:
        """(R, N, 2) of each head in either set."""
        return ratio(self.correct.sum(axis=-1), self.asked.sum(axis=-1)[:, None, None])

    def choice(self, s: int) -> Choice:
        """The best head in a set, chosen on one half of the documents and scored on the other."""
        return choose(self.correct[:, :, s].swapaxes(1, 2), self.asked, self.clusters)


def tallies_of(sums: Sums) -> list[Tallies]:
    """The counts of each kind of attention that was asked something."""
    found = []
    for kind, layers in layers_of(sums, "correct").items():
        arrays = [sums.resampled(f"{kind}/{layer}/correct") for layer in layers]
        places = [(layer, head) for layer, array in zip(layers, arrays, strict=True) for head in range(array.shape[1])]
        asked, rules, chance = (sums.resampled(f"{kind}/{name}") for name in ("asked", "baselines", "chance"))
        correct = np.concatenate(arrays, axis=1)
        found.append(Tallies(kind, places, correct, asked, rules, chance, sums[f"{kind}/asked"]))
    return found


def rows_of(tallies: Tallies) -> dict[str, Tallies]:
    """The rows that any question belongs to, with their counts."""
    every = {row: tallies.of(row) for row in ROWS}
    return {row: mine for row, mine in every.items() if mine.questions}


def head_table(every: list[Tallies]) -> pd.DataFrame:
    """A row per head, set of candidates and group of mentions: how often the head attends most to a right word."""
    import pandas as pd

    rows = []
    for tallies in every:
        for row, mine in rows_of(tallies).items():
            values = mine.accuracies
            low, high = interval(values, mine.clusters)
            chance = ratio(mine.chance[0].sum(axis=-1), mine.asked[0].sum())
            for s, name in enumerate(SETS):
                for n, place in enumerate(mine.places):
                    numbers = (values[0, n, s], low[n, s], high[n, s], chance[s])
                    rows.append((mine.kind, *place, name, row, *map(float, numbers), mine.questions))
    return pd.DataFrame(rows, columns=list(HEADS))


def rule_table(every: list[Tallies]) -> pd.DataFrame:
    """What each rule, and chance in either set, gets right."""
    import pandas as pd

    rows = []
    for tallies in every:
        for row, mine in rows_of(tallies).items():
            counts = np.concatenate([mine.rules, mine.chance], axis=1).sum(axis=-1)  # (R, 5)
            values = ratio(counts, mine.asked.sum(axis=-1)[:, None])
            low, high = interval(values, mine.clusters)
            for n, name in enumerate((*BASELINES, *(f"chance, {name}" for name in SETS))):
                rows.append((mine.kind, row, name, float(values[0, n]), float(low[n]), float(high[n]), mine.questions))
    return pd.DataFrame(rows, columns=["kind", "mentions", "rule", "value", "low", "high", "questions"])


def best_table(every: list[Tallies], controls: Controls | None = None) -> pd.DataFrame:
    """A row per set of candidates and group of mentions: the head chosen on one half, scored on the other."""
    import pandas as pd

    rows = []
    for tallies in every:
        for s, name in enumerate(SETS):
            for row, mine in rows_of(tallies).items():
                others = _controlled(controls, mine.kind, row, s)
                rows.append((mine.kind, name, row, *_best(mine, s), *others, _on_all(mine, s), mine.questions))
    return pd.DataFrame(rows, columns=list(BEST))


def _controlled(controls: Controls | None, kind: str, row: str, s: int) -> tuple[float, ...]:
    """Held-out accuracy of random weights, the mean over draws, lowest and highest, and of shuffled ones."""
    if controls is None:
        return (float("nan"),) * len(Ranged.COLUMNS)

    def accuracy(sums: Sums) -> float:
        return next(tallies for tallies in tallies_of(sums) if tallies.kind == kind).of(row).choice(s).value

    return tuple(controls.values(accuracy).row.values())


def _best(mine: Tallies, s: int) -> tuple[Any, ...]:
    """The chosen heads, their accuracy and chance, the best rule's, the difference; NaN if a half asks nothing.

    Rules choose among mentions: a head that chooses among all words is listed next to them, without a difference.
    """
    choice = mine.choice(s)
    asked = mine.asked.sum(axis=-1)  # (R,)
    rules = ratio(mine.rules.sum(axis=-1), asked[:, None])  # (R, 3)
    best = int(rules[0].argmax())
    difference = choice.held_out - rules[:, best] if s == OF_RULES else np.full(len(asked), np.nan)
    chance = ratio(mine.chance[0].sum(axis=-1), asked[0])  # (2,)
    return (
        head_name(*mine.places[choice.even]),
        head_name(*mine.places[choice.odd]),
        choice.value,
        *choice.limits,
        float(chance[s]),
        BASELINES[best],
        float(rules[0, best]),
        float(chance[OF_RULES]),
        float(difference[0]),
        *limits(difference, mine.clusters),
    )


def _on_all(mine: Tallies, s: int) -> float:
    return float(mine.accuracies[0, :, s].max())


def gap_table(every: list[Tallies]) -> pd.DataFrame:
    """Each head's accuracy on WinoBias' pro minus anti sentences; empty unless there are both."""
    import pandas as pd

    rows = []
    for tallies in every:
        pro, anti = tallies.of("pro"), tallies.of("anti")
        if not (pro.questions and anti.questions):
            continue
        one, other = pro.accuracies, anti.accuracies  # (R, N, 2)
        low, high = interval(one - other, min(pro.clusters, anti.clusters))
        for s, name in enumerate(SETS):
            for n, place in enumerate(tallies.places):
                numbers = (one[0, n, s], other[0, n, s], one[0, n, s] - other[0, n, s], low[n, s], high[n, s])
                rows.append((tallies.kind, name, *place, *map(float, numbers), pro.questions + anti.questions))
    return pd.DataFrame(rows, columns=list(GAPS))
