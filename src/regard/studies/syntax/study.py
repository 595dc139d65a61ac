"""The study of which heads find syntactic heads.

Enters: a treebank. Leaves: accuracies of heads, relations and directions, a `Result`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.aligning import check_rows
from regard.corpus.sums import Sums
from regard.studies.base import Batch, MapStudy, StudyContext
from regard.studies.syntax.reduce import SyntaxTaker
from regard.studies.syntax.report import syntax_result

if TYPE_CHECKING:
    from regard.studies.result import Result

LEAST = 100


class Syntax(MapStudy):
    """Accuracy of every head for every relation; relations with fewer than `least` instances get no row."""

    name: ClassVar[str] = "syntax"

    def __init__(self, *, seed: int = 0, rows: str = "mean", least: int = LEAST) -> None:
        super().__init__(seed=seed)
        self.rows, self.least = check_rows(rows), least

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "rows": self.rows}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "rows": self.rows, "least": self.least}

    def taker(self, batch: Batch) -> SyntaxTaker:
        """Count the right guesses of each layer."""
        return SyntaxTaker(batch, self.rows)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables, figures and examples of the heads that find syntactic heads."""
        return syntax_result(sums, context, self.least)
