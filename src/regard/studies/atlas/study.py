"""The study of what every head does.

Enters: a corpus. Leaves: the atlas, a `Result`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.patterns.definitions import PATTERNS
from regard.studies.atlas.reduce import AtlasTaker
from regard.studies.atlas.report import atlas_result
from regard.studies.base import Batch, MapStudy, StudyContext

if TYPE_CHECKING:
    from regard.studies.result import Result


class Atlas(MapStudy):
    """Every measure and pattern of every head."""

    name: ClassVar[str] = "atlas"
    version: ClassVar[int] = 2

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "patterns": [pattern.name for pattern in PATTERNS]}

    def taker(self, batch: Batch) -> AtlasTaker:
        """Reduce each layer to numbers per input."""
        return AtlasTaker(batch)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables, figures and page of the atlas."""
        return atlas_result(sums, context)
