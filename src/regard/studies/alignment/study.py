"""The study of alignment: which cross heads tell when each word of a sound begins.

Enters: utterances, then the errors of their onsets. Leaves: a `Result`: a row per way to tell, and one per head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.sums import Sums
from regard.studies.alignment.choosing import candidates, numbers, own_list
from regard.studies.alignment.reduce import KEPT, Heard, hear
from regard.studies.alignment.report import alignment_result
from regard.studies.base import Pass, Study, StudyContext

if TYPE_CHECKING:
    from regard.corpus.engine import Engine
    from regard.models.model import Model
    from regard.studies.result import Result


class Maps:
    """Utterances that were heard, as far as there is room; others are heard again."""

    def __init__(self) -> None:
        self._held: dict[int, Heard] = {}
        self._bytes = 0

    def of(self, model: Model, item: Item) -> Heard:
        """What heads make of an utterance."""
        if item.number in self._held:
            return self._held[item.number]
        heard = hear(model, item)
        if self._bytes + heard.maps.nbytes <= KEPT:
            self._held[item.number], self._bytes = heard, self._bytes + heard.maps.nbytes
        return heard


class Alignment(Study):
    """Errors of onsets by every single cross head; a second pass tries sets of the best ones."""

    name: ClassVar[str] = "alignment"
    window: ClassVar[int] = 16  # a sound takes as long as a hundred sentences

    def __init__(self, *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self._maps = Maps()

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the errors of each head alone, under the utterance's own name."""
        for item in items:
            heard = self._maps.of(model, item)
            sums.add(f"single/{item.number}", heard.errors([[head] for head in range(len(heard.maps))]))
            sums.add(f"gold/{item.number}", np.stack([heard.onsets, heard.line]))
            sums.add("layers", np.array([heard.layers]))

    def second(self, sums: Sums, model: Model, engine: Engine) -> Pass | None:
        """Sets of the heads that were best on one half, and the model's own list."""
        if len(numbers(sums)) < 2:
            raise UserError("heads are chosen on one half of the utterances and tested on the other; pass two or more")
        return HeadSets(candidates(sums, own_list(model)), maps=self._maps, seed=self.seed)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Onset errors of the chosen heads, the model's own list, the best head and a line."""
        assert context.second is not None
        return alignment_result(sums, context.second, own_list(context.model), context)


class HeadSets(Pass):
    """Errors of onsets by the mean map of each of some sets of heads."""

    name: ClassVar[str] = "alignment sets"
    window: ClassVar[int] = 16

    def __init__(self, sets: list[list[int]], *, maps: Maps | None = None, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.sets, self._maps = sets, maps or Maps()

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "sets": self.sets}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "sets": self.sets}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the errors of each set, under the utterance's own name."""
        for item in items:
            sums.add(f"sets/{item.number}", self._maps.of(model, item).errors(self.sets))
