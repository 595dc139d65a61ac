"""The study of what probes can read from a model.

Enters: one or two treebanks. Leaves: scores of every probe on the model and on its controls, a `Result`.

A probe is trained on all sentences at once, so the sums of one window mean nothing yet: `update` keeps features in
unnamed files, and probes are fitted when a set of weights has read everything. Finished probes are saved in a
checkpoint; a resumed run computes the features again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item, Tally, window_of, windows_of
from regard.corpus.checkpoint import Progress, save_checkpoint
from regard.corpus.engine import Engine, Run, begin, encoder_of, examples_of, identity, sum_window
from regard.corpus.identity import source_identity
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Source
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import GROUPS
from regard.models.fingerprint import digest
from regard.studies.base import Study, StudyContext
from regard.studies.controls import MODEL, Weights
from regard.studies.probe.features import OTHER, READ, Collected
from regard.studies.probe.fitting import SPLITS, ProbeSplit, fit, split_of
from regard.studies.probe.report import probe_result
from regard.studies.probe.scores import ProbeScores

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.studies.result import Result

PROBES = ("pairs", "selection", "structural")
COUNTS = ("training", "development", "test", "words", "lost", "short", "split")
_APART = 1000  # distance between the seeds of two runs, so that studies with other seeds share none
_NOT_MEANT = ("intervals", "control_seeds")  # facts of other studies: intervals are over test sentences, draws are runs

Report = Callable[[str, int | None, int | None], None]  # (what, done, total); None where it cannot be counted


class Probe(Study):
    """What is probed and how; without a `test` treebank the corpus is split."""

    name: ClassVar[str] = "probe"
    version: ClassVar[int] = 2
    reads_once: ClassVar[bool] = True

    def __init__(
        self,
        *,
        test: Source | None = None,
        probes: Sequence[str] = PROBES,
        ranks: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
        epochs: int = 12,
        least: int = 100,
        seeds: int = 3,
        seed: int = 0,
        report: Report | None = None,
    ) -> None:
        super().__init__(seed=seed)
        wrong = [name for name in probes if name not in PROBES]
        if wrong or not probes:
            raise UserError(f"there is no probe {', '.join(wrong) or 'chosen'}; choose from {', '.join(PROBES)}")
        if not ranks or min(ranks) < 1:
            raise UserError("ranks must be 1 or more, such as 1,4,16,64")
        if epochs < 1 or least < 1 or seeds < 1:
            raise UserError("epochs, seeds and least must be 1 or more")
        self.test = test
        self.probes = [name for name in PROBES if name in probes]
        self.ranks, self.epochs, self.least, self.seeds = sorted(set(ranks)), epochs, least, seeds
        self.show: Report = report or (lambda what, done, total: None)
        self._sentences: list[Example] | None = None
        self._collected: Collected | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "groups": GROUPS,
            "probes": self.probes,
            "ranks": self.ranks,
            "epochs": self.epochs,
            "least": self.least,
            "seeds": self.seeds,
        }

    def holds(self) -> dict[str, Any]:
        return {"test": None if self.test is None else source_identity(self.test)}

    def seed_of(self, run: int) -> int:
        """The seed of a training run."""
        return self.seed + _APART * run

    def control_seed(self, draw: int) -> int:
        return self.seed_of(draw)

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Keep the features of one batch."""
        assert self._collected is not None  # opened by `sums_of`
        self._collected.take(model, items, sums)

    def sums_of(self, model: Model, run: Run, engine: Engine, weights: Weights) -> Progress:
        """The scores of every probe on one set of weights; features stay on this machine, whatever the engine."""
        examples = self._read(run)
        mine = {} if run.checkpoint is None else identity(self, model, run) | {"sentences": digest(map(repr, examples))}
        progress = begin(run, mine)
        todo = self.probes[progress.windows :]
        if not todo:
            return progress
        with self._collecting(run, hidden="structural" in todo) as found:
            tally, sums = self._collect(model, examples, run, str(weights))
            parts = [split_of(found, self, number) for number in range(self.seeds)]
            for name in todo:
                scores = ProbeScores()
                fit(name, weights, found.features, parts, scores, self)
                first = not progress.windows
                if first and weights.kind == MODEL:
                    scores.sums.add("counts", _counts(sums[READ], parts[0]))
                progress = progress.plus(progress.windows, tally if first else Tally(), scores.sums)
                if run.checkpoint is not None:
                    save_checkpoint(run.checkpoint, progress, mine)
        return progress

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of all probes, with the controls' scores next to the model's."""
        whole = sums
        for control in () if context.controls is None else context.controls.named.values():
            whole = whole.plus(control)
        counts = dict(zip(COUNTS, sums["counts"].astype(int).tolist(), strict=True))
        facts = {name: value for name, value in context.meta().items() if name not in _NOT_MEANT}
        facts["sentences"] = {**counts, "split": SPLITS[counts["split"]]}
        if self.test is not None:
            facts["test"] = {"name": self.test.name, **asdict(self.test), "place": self.test.name}
        return probe_result(whole, facts)

    def _read(self, run: Run) -> list[Example]:
        """The sentences of the treebank, then those of the test treebank with separate numbers; read once."""
        if self._sentences is None:
            self._sentences = list(examples_of(run))
            for example in () if self.test is None else read(self.test, run.problems):
                self._sentences.append(replace(example, number=OTHER + example.number))
        return self._sentences

    @contextmanager
    def _collecting(self, run: Run, *, hidden: bool) -> Iterator[Collected]:
        """What `update` adds to, until the block ends."""
        folder = None if run.checkpoint is None else run.checkpoint.parent
        self._collected = Collected(hidden=hidden, folder=folder)
        try:
            yield self._collected
        finally:
            self._collected.features.close()
            self._collected = None

    def _collect(self, model: Model, examples: list[Example], run: Run, weights: str) -> tuple[Tally, Sums]:
        """Run a model over all sentences; returns their tally and sums."""
        tally, sums = Tally(), Sums()
        what = f"running {'the model' if weights == MODEL else weights}"
        for index, some in windows_of(iter(examples), size=self.window):
            window = window_of(index, some, encoder_of(model), long=run.long)
            sums = sums.plus(sum_window(self, model, window))
            tally = tally.plus(window.tally)
            self.show(what, tally.examples, len(examples))
        if self._collected is None or not self._collected.trees:
            raise UserError("no sentence has two words that the model can read; check the treebank and its language")
        return tally, sums


def _counts(read_: Array, parts: ProbeSplit) -> Array:
    """Numbers of sentences and words, in the order of COUNTS."""
    sizes = [len(part) for part in (parts.training, parts.development, parts.test)]
    return np.array([*sizes, *read_, SPLITS.index(parts.split)])
