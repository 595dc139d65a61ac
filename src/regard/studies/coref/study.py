"""The study of which heads find antecedents.

Enters: texts with coreference. Leaves: accuracies of heads, sets and groups of mentions, a `Result`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.aligning import check_rows
from regard.corpus.readers.coreference import document_of, windows
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums
from regard.studies.base import Batch, MapStudy, StudyContext
from regard.studies.coref.reduce import Finder
from regard.studies.coref.report import coref_result

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.studies.result import Result

PIECES = 128  # per window, as in the paper


class Coref(MapStudy):
    """Which heads find antecedents."""

    name: ClassVar[str] = "coref"
    version: ClassVar[int] = 2

    def __init__(self, *, seed: int = 0, pieces: int = PIECES, rows: str = "mean") -> None:
        super().__init__(seed=seed)
        self.pieces, self.rows = pieces, check_rows(rows)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "pieces": self.pieces, "rows": self.rows}

    @property
    def arguments(self) -> dict[str, Any]:
        return {"seed": self.seed, "pieces": self.pieces, "rows": self.rows}

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterator[Example]:
        """Documents in windows of whole sentences that fit.

        Windows of a document share its number, and so do WinoBias sentences made from the same words: they are in the
        same half and resampled together. (By their own numbers, the first name would be the answer in one half and
        the second in the other.)
        """
        special = sum(token.special for token in model._engine.encode("a").side.tokens)
        most = min(self.pieces, model.limit or self.pieces) - special

        def pieces(text: str) -> int:
            encoded = model._engine.encode(text, truncate=True)
            return len(encoded.ids) + encoded.cut - special

        for example in examples:
            document = document_of(example)
            number = example.number if document.kin is None else document.kin
            for part, window in enumerate(windows(document, pieces, most)):
                yield replace(example, number=number, text=window.text, fields={"document": window.record()}, part=part)

    def taker(self, batch: Batch) -> Finder:
        """Count how often each head finds a right word."""
        return Finder(batch, self.rows)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables, figures and examples of which heads find antecedents."""
        return coref_result(sums, context, self)
