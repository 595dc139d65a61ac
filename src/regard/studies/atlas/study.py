"""The study of what every head does.

Enters: a corpus. Leaves: the atlas, a `Result`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.patterns.definitions import PATTERNS
from regard.studies.atlas.permuting import Permuting
from regard.studies.atlas.reduce import AtlasTaker
from regard.studies.atlas.report import atlas_result
from regard.studies.base import Batch, MapStudy, StudyContext

if TYPE_CHECKING:
    from regard.studies.result import Result


class Atlas(MapStudy):
    """Every measure and pattern of every head."""

    name: ClassVar[str] = "atlas"
    version: ClassVar[int] = 3

    def __init__(self, *, seed: int = 0, permuted: bool = False) -> None:
        super().__init__(seed=seed)
        self._permuted = permuted  # whether queries are permuted, for the control

    @property
    def settings(self) -> dict[str, Any]:
        own = {"patterns": [pattern.name for pattern in PATTERNS]}
        return {**super().settings, **own, **({"queries": "permuted"} if self._permuted else {})}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, **({"permuted": True} if self._permuted else {})}

    def permuted(self) -> Atlas:
        """The same study with the queries of each input permuted."""
        return Atlas(seed=self.seed, permuted=True)

    def taker(self, batch: Batch) -> AtlasTaker:
        """Reduce each layer to numbers per input."""
        return AtlasTaker(batch, Permuting(batch, self.seed) if self._permuted else None)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables, figures and page of the atlas."""
        return atlas_result(sums, context)
