"""A task with each head, and each layer, switched off: one number per example and run; and Michel's importance.

Enters: a corpus for a task. Leaves: sums that hold each example's numbers under its own name, so that runs compare
example by example; intervals and tests are made of them at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.ablation.tasks import Task, TaskBatch, task_for
from regard.capture import Ablation, Means
from regard.capture.gates import gate_gradients
from regard.capture.prefix import Shared
from regard.corpus.batches import Item
from regard.corpus.identity import source_identity
from regard.corpus.readers.source import Problems, Source, read
from regard.corpus.sums import Array, Sums
from regard.errors import UserError
from regard.studies.base import Batch, Study, StudyContext, naming
from regard.trace.heads import MODES, Head, all_heads

if TYPE_CHECKING:
    from regard.corpus.readers.source import Example
    from regard.models.model import Model
    from regard.studies.ablation.curve import Curve
    from regard.studies.result import Result
    from regard.studies.taking import Taker

REFERENCE = 256  # examples over which mean outputs are taken
_UNEVEN = 1.25  # how much longer than the first an input of a part may be
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
    clusters: Mapping[int, int]  # by number, what examples are drawn with

    @property
    def layers(self) -> Places:
        return tuple(dict.fromkeys((head.kind, head.layer) for head in self.heads))


class AblationStudy(Study):
    """What a study of switched-off heads needs: the task, read labels, mean outputs.

    Parameters
    ----------
    source
        The corpus: its labels are looked at, and mean outputs taken, before anything runs.
    task, label
        What is asked (see `ablation_tasks`; what the model is made for unless given), and the column of the answer.
    reference
        A corpus for the mean outputs; the first examples of `source` unless given.
    share
        Compute once what lies below the switched-off layer; False to check that this changes nothing.
    """

    window: ClassVar[int] = 64  # examples after which an interrupted run goes on

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
        """What every study of this corpus and task is made with."""
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
        """Whether some run replaces outputs by their means."""
        return False

    def prepared(self, model: Model) -> Prepared:
        """Task, heads and means for a model, made once."""
        if self._prepared is None or self._prepared[0] is not model:
            task = task_for(model, self.task, self.label)
            problems = Problems()
            examples = list(read(self.source, problems))
            if not examples:
                why = f" ({problems.first[0]})" if problems.first else ""
                raise UserError(f"the corpus {self.source.name} gave no example{why}; check the file and its format")
            task.learn(examples)
            means = self._means(model, examples, task) if self.means_needed else None
            shared = Shared(model.module, model.plan, model.places, model.run, share=self.share)
            clusters = {e.number: e.number if e.cluster is None else e.cluster for e in examples}
            self._prepared = model, Prepared(task, all_heads(model.layout), means, shared, clusters)
        return self._prepared[1]

    def _means(self, model: Model, examples: list[Example], task: Task) -> Means:
        if self.reference is not None:
            examples = list(read(self.reference))
        texts, pairs = [e.text for e in examples[:REFERENCE]], [e.pair for e in examples[:REFERENCE]]
        if task.copies == 2:  # both sentences are read alone
            return model.head_means([text for text in (*texts, *pairs) if text])
        return model.head_means(texts, pairs)

    def taker(self, batch: Batch) -> Taker[Any]:
        """Unused: whole runs are counted, not layers."""
        raise NotImplementedError


class AblationMap(AblationStudy):
    """Every head and every layer switched off alone, in each mode; and every head's importance."""

    name: ClassVar[str] = "ablation"
    title: ClassVar[str] = "What heads are worth"

    def __init__(self, *, modes: Sequence[str] = MODES, curve: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.curve = curve
        self.curved: Curve | None = None  # the study of heads removed together, once it is known
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
        """Run a batch with every head off, one after the other, and note how each example went."""
        ready = self.prepared(model)
        for part in portions(items, ready.task):
            asked = ready.task.ask(model, part)
            with naming(part):
                base, runs = self._runs(ready, asked, len(part))
                importance = _importance(model, ready, asked, len(part))
            for row, item in enumerate(part):
                sums.add(f"{SCORES}/{item.number}", record(asked, row, base, runs))
                sums.add(f"{IMPORTANCE}/{item.number}", importance[row])

    def _runs(self, ready: Prepared, asked: TaskBatch, count: int) -> tuple[Array, Array]:
        """(B,) numbers of the model as it is, and (B, modes * runs) of those with a head, then with a layer off."""
        runs = ready.shared.batch(asked.inputs)
        base = ready.task.values(runs.plain, asked).numpy()
        sets = single_sets(ready)
        found = np.empty((count, len(self.modes), len(sets)))
        order = sorted(range(len(sets)), key=lambda n: sets[n][0].layer)  # runs of a layer share most
        for n in order:
            for m, mode in enumerate(self.modes):
                off = Ablation([sets[n]], mode, ready.means)
                output = runs.edited(off, off.layers)
                found[:, m, n] = ready.task.values(output, asked).numpy()
        return base, found.reshape(count, -1)

    def second(self, sums: Sums, model: Model) -> Study | None:
        """Heads removed together, in the orders that even examples tell."""
        if not self.curve:
            return None
        from regard.studies.ablation.curve import curve_of

        self.curved = curve_of(self, sums, model)
        return self.curved

    def result(self, sums: Sums, context: StudyContext) -> Result:
        from regard.studies.ablation.report import ablation_result

        return ablation_result(sums, context, self)


def single_sets(ready: Prepared) -> list[tuple[Head, ...]]:
    """What is switched off in each run: every head alone, then every layer."""
    heads: list[tuple[Head, ...]] = [(head,) for head in ready.heads]
    return heads + [tuple(h for h in ready.heads if (h.kind, h.layer) == place) for place in ready.layers]


def record(asked: TaskBatch, row: int, base: Array, runs: Array) -> Array:
    """An example's numbers: how many questions, what is expected, without an edit, and under each."""
    expected = asked.expected[row] if asked.expected.ndim == 1 else 0.0
    return np.concatenate([[asked.counts[row], float(expected), base[row]], runs[row]])


def portions(items: list[Item], task: Task) -> Iterator[list[Item]]:
    """A batch in parts of few padded tokens and, where that leaves enough to compute with, of similar length.

    Each part is run hundreds of times, so that padding costs more here than elsewhere. Items come sorted by length.
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


def _importance(model: Model, ready: Prepared, asked: TaskBatch, count: int) -> Array:
    """(B, heads) |dL/dxi| of each example's own loss by a factor at each head's output."""
    inputs = model.ready(asked.inputs)
    found = gate_gradients(
        model.module, model.plan, model.places, lambda: ready.task.losses(model.module(**inputs), asked)
    )
    by_layer = [found[place].reshape(ready.task.copies, count, -1).sum(0) for place in ready.layers]
    return np.concatenate([part.abs().double().cpu().numpy() for part in by_layer], axis=1)


def _source(given: Source | Mapping[str, Any]) -> Source:
    return given if isinstance(given, Source) else Source(**{**given, "keep": tuple(given.get("keep", ()))})
