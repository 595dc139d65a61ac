"""What a study is: sums per batch that add up, and a report made from them.

Enters: batches of a corpus. Leaves: sums; at the end, a `Result`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from regard import __version__
from regard.capture.finite import NotFiniteError
from regard.corpus.batches import WINDOW, Item, Tally
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import DRAWS, FEWEST, GROUPS
from regard.models.looking import collate_pictures
from regard.trace.sentences import Message

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.corpus.checkpoint import Progress
    from regard.corpus.engine import Engine, Run
    from regard.models.model import Model
    from regard.studies.controls import Controls, Weights
    from regard.studies.result import Result
    from regard.studies.taking import Taker
    from regard.trace.trace import Trace


class Batch:
    """Some inputs of a corpus, ready to run: tensors, tokens, and which cluster each input belongs to."""

    def __init__(self, model: Model, items: list[Item]) -> None:
        self.model = model
        self.items = items
        rows = [item.encoded for item in items]
        targets = [item.example.pair for item in items] if model.is_encoder_decoder else None
        pictured = rows[0].inputs is not None
        self.inputs, self.book = collate_pictures(rows) if pictured else model._engine.collate(rows, targets)
        self.clusters = np.array([item.cluster for item in items])  # (B,)
        words = 0 if model.tokenizer is None else len(model.tokenizer)
        self.vocabulary = max(words, int(getattr(model.config, "vocab_size", None) or 0))
        self._held: dict[str, Array] = {}
        self._totals = Sums()
        self._rows: list[tuple[str, int, Array, Array]] = []

    def again(self) -> Batch:
        """The same inputs, with nothing recorded."""
        other = copy(self)
        other._held, other._totals, other._rows = {}, Sums(), []
        return other

    def add(self, name: str, values: torch.Tensor | Array) -> None:
        """Record values (B, ...) of the inputs under a name; values of the same name add up."""
        array = np.asarray(values.cpu().numpy() if isinstance(values, torch.Tensor) else values, np.float64)
        self._held[name] = self._held[name] + array if name in self._held else array

    def total(self, name: str, values: Array) -> None:
        """Record an array that is already a sum over the inputs and gets no interval."""
        self._totals.add(name, values)

    def total_at(self, name: str, size: int, places: Array, values: Array) -> None:
        """The same for values (..., n, F) of few of an array's `size` rows, at different `places` (n,)."""
        self._rows.append((name, size, places, values))

    def pour(self, sums: Sums, groups: int = GROUPS) -> None:
        """Add what was recorded: sums by group of clusters (groups, ...), and the totals."""
        for name, array in self._totals.arrays.items():
            sums.add(name, array)
        for row in self._rows:
            sums.add_at(*row)
        sums.add_all(self._held, self.clusters, groups)


class Pass(ABC):
    """One pass over a corpus, and what it adds up. Two runs can be added if their `settings` are equal."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # raised when the same settings begin to mean different sums
    window: ClassVar[int] = WINDOW  # examples that are summed together; an interrupted run resumes after them

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    @property
    def settings(self) -> dict[str, Any]:
        """What the sums depend on besides model and corpus."""
        return {"seed": self.seed, "groups": GROUPS}

    def holds(self) -> dict[str, Any]:
        """Identities of anything else that the sums depend on: another model or corpus."""
        return {}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that create this pass in another process."""
        return {"seed": self.seed}

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterable[Example]:
        """The examples as the model will read them; a study may cut long ones into parts."""
        return examples

    @abstractmethod
    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add one batch to the sums."""


class Study(Pass):
    """A question about a corpus: sums, and the report made from them."""

    reads_once: ClassVar[bool] = False  # keeps the examples, so that a control can run even on a pipe

    def sums_of(self, model: Model, run: Run, engine: Engine, weights: Weights) -> Progress:
        """The sums of a corpus on one set of weights: the model's own, or a control's."""
        return engine(self, model, run)

    def control_seed(self, draw: int) -> int:
        """The seed of a draw of random weights; weights are shuffled with the seed of the first."""
        return draw

    def permuted(self) -> Study | None:
        """The same study of the trained weights with permuted queries, if that can be a control of it."""
        return None

    def second(self, sums: Sums, model: Model, engine: Engine) -> Pass | None:
        """Another pass over the same corpus, if the findings call for one; its sums are in the context."""
        return None

    @abstractmethod
    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures from the sums of the corpus, and of its controls where they were run."""


class MapStudy(Study):
    """A study of maps: each layer is reduced to numbers inside the forward pass."""

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add one batch to the sums, layer by layer as the model runs."""
        batch = Batch(model, items)
        taker = self.taker(batch)
        with naming(items):
            model._engine.stream(batch.inputs, batch.book, taker, maps=taker.maps)
        taker.finish()
        batch.pour(sums)

    @abstractmethod
    def taker(self, batch: Batch) -> Taker[Any]:
        """What reduces each layer of a batch to numbers per input."""


@dataclass(eq=False)
class StudyContext:
    """The context of every number in a result: model, corpus, tally of its examples, versions."""

    study: Study
    model: Model
    source: Source
    tally: Tally
    problems: Problems
    long: str = "truncate"  # what was done with long examples
    example: Trace | None = None  # a first input, for the interactive atlas
    controls: Controls | None = None  # the same study on the same shape with weights that learned nothing
    second: Sums | None = None  # from the second pass, if there was one

    def meta(self) -> dict[str, Any]:
        """The facts to record with every figure."""
        return {
            "study": self.study.name,
            "settings": self.study.settings,
            **self.model.facts,
            "corpus": {
                "name": self.source.name,
                **asdict(self.source),
                "place": self.source.name,
                "more": [Path(place).name for place in self.source.more],
            },
            "tally": asdict(self.tally),
            "intervals": {"over": self.tally.clustered, "clusters": self.tally.clusters, "draws": DRAWS},
            "bad_lines": {"count": self.problems.count, "first": self.problems.first},
            "control": self.controls is not None,
            "control_seeds": 0 if self.controls is None else len(self.controls.random),
            "regard": __version__,
        }

    def cautions(self) -> list[Message]:
        """What a reader should know before drawing conclusions, each with a code."""
        cautions = {
            "explanation": "Attention is not explanation: a head that attends somewhere need not move the prediction.",
            "resting": (
                "Weights on special tokens and punctuation may contribute nothing; compare them with the study norms."
            ),
        }
        if self.controls is None:
            cautions["uncontrolled"] = (
                "No control was run; --control repeats the study on the same shape with random and shuffled weights."
            )
        if self.tally.clusters < FEWEST:
            cautions["few"] = (
                f"The corpus has {self.tally.clusters} of the {FEWEST} {self.tally.clustered} that intervals need, and "
                "names, which need intervals."
            )
        if self.tally.truncated or self.tally.skipped or self.tally.split:
            cautions["long"] = (
                f"Long examples: {self.tally.truncated:,} truncated, {self.tally.split:,} split, "
                f"{self.tally.skipped:,} left out."
            )
        if self.problems.count:
            cautions["unread"] = (
                f"{self.problems.count:,} {self.problems.what} could not be read, the first: {self.problems.first[0]}."
            )
        if self.problems.headings:
            cautions["headings"] = f"WikiText: {self.problems.headings:,} headings (= ... =) were left out."
        if self.problems.unknown:
            cautions["unknown"] = (
                f"WikiText: {self.problems.unknown:,} words are <unk>, which stands for many words and counts as none; "
                "the raw version has the words themselves."
            )
        return [Message(text, code) for code, text in cautions.items()]


@contextmanager
def naming(items: Sequence[Item]) -> Iterator[None]:
    """If attention is not finite in a batch, name the example of the corpus."""
    try:
        yield
    except NotFiniteError as error:
        raise error.among([item.number for item in items]) from None


def key(layer: Layer, name: str) -> str:
    """The key of a layer's numbers in the sums."""
    return f"{layer.kind}/{layer.layer}/{name}"


def layers_of(sums: Sums, name: str) -> dict[str, list[int]]:
    """Layers, by kind of attention, that have sums of this name."""
    found: dict[str, list[int]] = {}
    for place in sums.arrays:
        kind, _, rest = place.partition("/")
        number, _, what = rest.partition("/")
        if what == name and number.isdigit():
            found.setdefault(kind, []).append(int(number))
    return {kind: sorted(numbers) for kind, numbers in found.items()}
