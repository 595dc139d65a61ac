"""The study of alignment of translation models: which cross heads link a word to the word it translates.

Enters: pairs of sentences. Leaves: a `Result`: a row per way to link words, and one per head.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.sums import Sums
from regard.models.fingerprint import file_digest
from regard.studies.alignment.choosing import candidates, numbers
from regard.studies.alignment.links import Reference, reference
from regard.studies.alignment.translated import pairs_of
from regard.studies.alignment.word_report import word_result
from regard.studies.base import Pass, Study, StudyContext

if TYPE_CHECKING:
    from regard.corpus.engine import Engine
    from regard.models.model import Model
    from regard.studies.result import Result


class _Judging(Pass):
    """A pass over pairs of sentences whose links are known."""

    def __init__(self, *, kind: str, place: str, corpus: str, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self._asked = {"kind": kind, "place": place, "corpus": corpus}

    @cached_property
    def reference(self) -> Reference:
        """What links are right."""
        return reference(**self._asked)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "links": self._asked["kind"], "from": Path(self._asked["place"]).name}

    def holds(self) -> dict[str, Any]:
        return {"links": file_digest(Path(self._asked["place"]))}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, **self._asked}


class WordAlignment(_Judging, Study):
    """Which words every single cross head links wrongly; a second pass tries sets of the best ones."""

    name: ClassVar[str] = "alignment"

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the misses of each head alone, under the pair's own name."""
        for pair in pairs_of(model, items, self.reference):
            alone = [[head] for head in range(sum(map(len, pair.shifted)))]
            sums.add(f"single/{pair.number}", pair.misses(alone))
            sums.add(f"own/{pair.number}", pair.misses(alone, shifted=False))
            sums.add(f"diagonal/{pair.number}", pair.diagonal)
            sums.add(f"links/{pair.number}", np.array([len(pair.judged.links)]))
            sums.add("layers", np.array([len(pair.shifted)]))

    def second(self, sums: Sums, model: Model, engine: Engine) -> Pass | None:
        """Sets of the heads that were best on one half."""
        if len(numbers(sums)) < 2:
            raise UserError(
                "heads are chosen on one half of the sentences and tested on the other, and "
                f"{len(numbers(sums))} can be judged; pass more sentences, or links for them"
            )
        return LinkSets(candidates(sums, [], np.mean), **self._asked, seed=self.seed)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Error rates of the chosen heads, the best head, all heads, the diagonal and untrained weights."""
        assert context.second is not None
        return word_result(sums, context.second, context, self.reference)


class LinkSets(_Judging):
    """Which words the mean map of each of some sets of heads links wrongly."""

    name: ClassVar[str] = "alignment sets"

    def __init__(self, sets: list[list[int]], **asked: Any) -> None:
        super().__init__(**asked)
        self.sets = sets

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "sets": self.sets}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "sets": self.sets}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the misses of each set, under the pair's own name."""
        for pair in pairs_of(model, items, self.reference):
            sums.add(f"sets/{pair.number}", pair.misses(self.sets))
