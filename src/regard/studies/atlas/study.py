"""The study of what every head does.

Enters: a corpus. Leaves: the atlas, a `Result`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.patterns.definitions import PATTERNS
from regard.patterns.saved import named_rule
from regard.studies.atlas.copying import Copying
from regard.studies.atlas.permuting import Permuting
from regard.studies.atlas.reduce import AtlasTaker
from regard.studies.atlas.report import atlas_result
from regard.studies.base import Batch, MapStudy, StudyContext

if TYPE_CHECKING:
    from regard.studies.result import Result


class Atlas(MapStudy):
    """Every measure and pattern of every head; saved rules, given as records, are patterns too."""

    name: ClassVar[str] = "atlas"
    version: ClassVar[int] = 4

    def __init__(self, *, seed: int = 0, permuted: bool = False, rules: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(seed=seed)
        self.rules = tuple(named_rule(rule["name"], rule["rule"], rule["colour"]) for rule in rules)
        self._permuted = permuted  # whether queries are permuted, for the control

    @property
    def settings(self) -> dict[str, Any]:
        own: dict[str, Any] = {"patterns": [pattern.name for pattern in PATTERNS]}
        if self.rules:
            own["rules"] = {rule.name: rule.text for rule in self.rules}
        return {**super().settings, **own, **({"queries": "permuted"} if self._permuted else {})}

    @property
    def arguments(self) -> dict[str, Any]:
        own = {"rules": self._records} if self.rules else {}
        return {**super().arguments, **own, **({"permuted": True} if self._permuted else {})}

    @property
    def _records(self) -> list[dict[str, str]]:
        return [rule.record for rule in self.rules]

    def permuted(self) -> Atlas:
        """The same study with the queries of each input permuted."""
        return Atlas(seed=self.seed, permuted=True, rules=self._records)

    def taker(self, batch: Batch) -> AtlasTaker:
        """Reduce each layer to numbers per input."""
        if self._permuted:
            return AtlasTaker(batch, Permuting(batch, self.seed), rules=self.rules)
        return AtlasTaker(batch, copying=Copying(batch), rules=self.rules)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables, figures and page of the atlas."""
        return atlas_result(sums, context, self.rules)
