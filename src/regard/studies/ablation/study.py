"""The study of what heads are worth: a task with each head, and each layer, switched off; and Michel's importance.

Enters: a corpus for a task. Leaves: one number per example and run, and a `Result` of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.ablation.tasks import TaskBatch
from regard.base.errors import UserError
from regard.capture import Ablation
from regard.corpus.batches import Item
from regard.corpus.engine import Run
from regard.corpus.sums import Array, Sums
from regard.studies.ablation.curve import Curve, removals_of
from regard.studies.ablation.reduce import (
    IMPORTANCE,
    SCORES,
    AblationPass,
    Prepared,
    gradients,
    portions,
    record,
    single_sets,
)
from regard.studies.ablation.report import ablation_result
from regard.studies.atlas.names import awake_table, named_heads
from regard.studies.atlas.study import Atlas
from regard.studies.base import Study, StudyContext, naming
from regard.trace.heads import MODES, Head

if TYPE_CHECKING:
    from regard.corpus.engine import Engine
    from regard.models.model import Model
    from regard.studies.result import Result

_ATLAS = 256  # examples on which heads are named by their pattern


class AblationMap(AblationPass, Study):
    """Every head and every layer switched off alone, in each mode; and every head's importance."""

    name: ClassVar[str] = "ablation"

    def __init__(self, *, modes: Sequence[str] = MODES, curve: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.curve = curve
        self.curved: Curve | None = None  # the pass with heads removed together, once it is known
        self.modes = tuple(dict.fromkeys(modes))
        strange = [mode for mode in self.modes if mode not in MODES]
        if strange or not self.modes:
            raise UserError(f"there is no mode {', '.join(strange)!r}; choose from {', '.join(MODES)}")

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "modes": list(self.modes)}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "modes": list(self.modes)}

    @property
    def means_needed(self) -> bool:
        return "mean" in self.modes

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Run a batch with every head off, one after another, and record how each example went."""
        ready = self.prepared(model)
        for part in portions(items, ready.task):
            batch = ready.task.ask(model, part)
            with naming(part):
                base, runs = self._runs(ready, batch, len(part))
                importance = gradients(model, ready, batch, len(part))
            for row, item in enumerate(part):
                sums.add(f"{SCORES}/{item.number}", record(batch, row, base, runs))
                sums.add(f"{IMPORTANCE}/{item.number}", importance[row])

    def _runs(self, ready: Prepared, batch: TaskBatch, count: int) -> tuple[Array, Array]:
        """(B,) numbers of the unchanged model, and (B, modes * runs) of runs with a head off, then with a layer off."""
        runs = ready.shared.batch(batch.inputs)
        base = ready.task.values(runs.plain, batch).numpy()
        sets = single_sets(ready)
        found = np.empty((count, len(self.modes), len(sets)))
        order = sorted(range(len(sets)), key=lambda n: sets[n][0].layer)  # runs of a layer share most
        for n in order:
            for m, mode in enumerate(self.modes):
                off = Ablation([sets[n]], mode, ready.means)
                output = runs.run_edited(off, off.layers)
                found[:, m, n] = ready.task.values(output, batch).numpy()
        return base, found.reshape(count, -1)

    def second(self, sums: Sums, model: Model, engine: Engine) -> Curve | None:
        """Heads removed together, in the orders found on even examples."""
        if self.curve:
            self.curved = Curve(removals=removals_of(self, sums, model, self._patterns(model, engine)), **self.common)
        return self.curved

    def _patterns(self, model: Model, engine: Engine) -> dict[str, set[Head]]:
        """The heads of each pattern, as named by the atlas over some examples."""
        source = replace(self.source, limit=min(_ATLAS, self.source.limit or _ATLAS))
        named = named_heads(awake_table(engine(Atlas(seed=self.seed), model, Run(source)).sums))
        return {
            str(pattern): {Head(row.kind, int(row.layer), int(row.head)) for row in group.itertuples()}
            for pattern, group in named.groupby("measure", sort=True)
        }

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of what heads are worth."""
        return ablation_result(sums, context, self)
