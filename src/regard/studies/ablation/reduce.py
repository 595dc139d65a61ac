"""What passes over a task's corpus share: the task with its labels, heads, mean outputs, parts of a batch.

Enters: a corpus for a task. Leaves: sums that hold each example's numbers under its own name, so that runs can be
compared example by example; intervals and tests are computed from them at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.ablation.tasks import Task, TaskBatch, task_for
from regard.base.errors import UserError
from regard.capture import Means
from regard.capture.gates import gate_gradients
from regard.capture.prefix import Shared
from regard.corpus.batches import Item
from regard.corpus.identity import source_identity
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems, Source
from regard.corpus.sums import Array
from regard.studies.base import Pass
from regard.trace.heads import Head, all_heads

if TYPE_CHECKING:
    from regard.corpus.readers.source import Example
    from regard.models.model import Model

REFERENCE = 256  # examples over which mean outputs are taken
_UNEVEN = 1.25  # how much longer than its first input a part's inputs may be
_ENOUGH = 256  # padded tokens that keep a processor busy
SCORES, IMPORTANCE = "scores", "importance"  # sums are kept as scores/NUMBER and importance/NUMBER
Places = tuple[tuple[str, int], ...]  # (kind, layer)


@dataclass(eq=False)
class Prepared:
    """What a run over a model needs: the task with all labels seen, the heads, mean outputs, shared runs."""

    task: Task
    heads: tuple[Head, ...]
    means: Means | None
    shared: Shared
    clusters: Mapping[int, int]  # the cluster of each example, by number

    @property
    def layers(self) -> Places:
        return tuple(dict.fromkeys((head.kind, head.layer) for head in self.heads))


class AblationPass(Pass):
    """What a pass with heads switched off needs: the task, labels, mean outputs.

    Parameters
    ----------
    source
        The corpus: its labels are checked, and mean outputs computed, before anything runs.
    task, label
        The task (see `ablation_tasks`; what the model is made for unless given), and the column of the answers.
    reference
        A corpus for the mean outputs; the first examples of `source` unless given.
    share
        Compute once what lies below the switched-off layer; False to check that this changes nothing.
    """

    window: ClassVar[int] = 64  # examples per checkpoint of an interrupted run

    def __init__(
        self,
        *,
        source: Source | Mapping[str, Any],
        task: str | None = None,
        label: str | None = None,
        reference: Source | Mapping[str, Any] | None = None,
        seed: int = 0,
        share: bool = True,
    ) -> None:
        super().__init__(seed=seed)
        self.source = _source(source)
        self.task, self.label, self.share = task, label, share
        self.reference = None if reference is None else _source(reference)
        self._prepared: tuple[Any, Prepared] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        reference = self.source.name if self.reference is None else self.reference.name
        return {"seed": self.seed, "task": self.task, "label": self.label, "reference": reference}

    def holds(self) -> dict[str, Any]:
        return {} if self.reference is None else {"reference": source_identity(self.reference)}

    @property
    def arguments(self) -> dict[str, Any]:
        return self.common

    @property
    def common(self) -> dict[str, Any]:
        """The arguments of every pass over this corpus and task."""
        return {
            "seed": self.seed,
            "source": asdict(self.source),
            "task": self.task,
            "label": self.label,
            "reference": None if self.reference is None else asdict(self.reference),
            "share": self.share,
        }

    @property
    def means_needed(self) -> bool:
        """Whether some run replaces outputs with their means."""
        return False

    def prepared(self, model: Model) -> Prepared:
        """Task, heads and means for a model, computed once."""
        if self._prepared is None or self._prepared[0] is not model:
            task = task_for(model, self.task, self.label)
            problems = Problems()
            examples = list(read(self.source, problems))
            if not examples:
                why = f" ({problems.first[0]})" if problems.first else ""
                raise UserError(f"the corpus {self.source.name} has no examples{why}; check the file and its format")
            task.learn(examples)
            means = self._means(model, examples, task) if self.means_needed else None
            shared = Shared(
                model.module, model._engine.plan(), model._engine.places(), model._engine.run, share=self.share
            )
            clusters = {e.number: e.number if e.cluster is None else e.cluster for e in examples}
            self._prepared = model, Prepared(task, all_heads(model.layout()), means, shared, clusters)
        return self._prepared[1]

    def _means(self, model: Model, examples: list[Example], task: Task) -> Means:
        if self.reference is not None:
            examples = list(read(self.reference))
        texts, pairs = [e.text for e in examples[:REFERENCE]], [e.pair for e in examples[:REFERENCE]]
        if task.copies == 2:  # both sentences are read alone
            return model.head_means([text for text in (*texts, *pairs) if text])
        return model.head_means(texts, pairs)


def single_sets(ready: Prepared) -> list[tuple[Head, ...]]:
    """The heads switched off in each run: every head alone, then every layer."""
    heads: list[tuple[Head, ...]] = [(head,) for head in ready.heads]
    return heads + [tuple(h for h in ready.heads if (h.kind, h.layer) == place) for place in ready.layers]


def record(batch: TaskBatch, row: int, base: Array, runs: Array) -> Array:
    """An example's numbers: how many questions, the expected answer, the plain run, and each edited run."""
    expected = batch.expected[row] if batch.expected.ndim == 1 else 0.0
    return np.concatenate([[batch.counts[row], float(expected), base[row]], runs[row]])


def portions(items: list[Item], task: Task) -> Iterator[list[Item]]:
    """A batch in parts of few padded tokens and, if that leaves enough to keep a processor busy, of similar length.

    Each part runs hundreds of times, so padding costs more here than elsewhere. Items are sorted by length.
    """
    part: list[Item] = []
    for item in items:
        width = len(item.encoded.ids)
        if part:
            first, last = len(part[0].encoded.ids), len(part[-1].encoded.ids)
            uneven = width > _UNEVEN * first and len(part) * last >= _ENOUGH
            if uneven or (len(part) + 1) * width > task.tokens:
                yield part
                part = []
        part.append(item)
    yield part


def gradients(model: Model, ready: Prepared, batch: TaskBatch, count: int) -> Array:
    """(B, heads) |dL/dxi| of each example's own loss by a factor on each head's output."""
    inputs = model._engine.ready(batch.inputs)
    found = gate_gradients(
        model.module,
        model._engine.plan(),
        model._engine.places(),
        lambda: ready.task.losses(model.module(**inputs), batch),
    )
    by_layer = [found[place].reshape(ready.task.copies, count, -1).sum(0) for place in ready.layers]
    return np.concatenate([part.abs().double().cpu().numpy() for part in by_layer], axis=1)


def _source(given: Source | Mapping[str, Any]) -> Source:
    return given if isinstance(given, Source) else Source(**{**given, "keep": tuple(given.get("keep", ()))})
