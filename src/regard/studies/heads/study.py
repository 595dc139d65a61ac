"""The study that draws a portrait of every head.

Enters: a corpus. Leaves: a `Result` with a page per head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.models.fingerprint import digest
from regard.patterns.definitions import PATTERNS
from regard.studies.base import Batch, MapStudy, StudyContext
from regard.studies.heads.choosing import shown_rows
from regard.studies.heads.predicting import INPUTS
from regard.studies.heads.reduce import HeadsTaker
from regard.studies.heads.report import heads_result
from regard.studies.heads.sample import POSITIONS
from regard.studies.heads.shown import ShownRows
from regard.studies.heads.vocabulary import Vocabulary

if TYPE_CHECKING:
    from regard.corpus.engine import Engine
    from regard.models.model import Model
    from regard.studies.result import Result


class Heads(MapStudy):
    """What every head does when awake, with examples; `tokens` are those that are counted one by one.

    The report asks the model which words predict which for the first `predictive` inputs, and keeps q and k of a sample
    of up to `vectors` positions.
    """

    name: ClassVar[str] = "heads"
    version: ClassVar[int] = 2  # names predict in every row that has targets

    def __init__(
        self, tokens: Sequence[int], *, seed: int = 0, predictive: int = INPUTS, vectors: int = POSITIONS
    ) -> None:
        super().__init__(seed=seed)
        self.vocabulary = Vocabulary(tokens)
        self.predictive = predictive
        self.vectors = vectors

    @property
    def settings(self) -> dict[str, Any]:
        own = {"patterns": [pattern.name for pattern in PATTERNS], "tokens": digest(map(str, self.vocabulary.ids))}
        return {**super().settings, **own, "vectors": self.vectors}

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments,
            "tokens": self.vocabulary.ids,
            "predictive": self.predictive,
            "vectors": self.vectors,
        }

    def taker(self, batch: Batch) -> HeadsTaker:
        """Reduce each layer to sums and kept rows."""
        return HeadsTaker(batch, self.vocabulary, self.seed, self.vectors)

    def second(self, sums: Sums, model: Model, engine: Engine) -> ShownRows:
        """The examples again, for where exactly they look."""
        return ShownRows(shown_rows(sums), seed=self.seed)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and pages."""
        return heads_result(sums, context)
