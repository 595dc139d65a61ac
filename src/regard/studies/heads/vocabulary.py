"""The tokens that a portrait counts one by one: the most frequent ones of a corpus' first window.

Enters: a corpus. Leaves: ids of tokens, and the place of any token among them; all others share the last place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.batches import WINDOW, window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems, Source
from regard.corpus.sums import Array
from regard.studies.base import Batch

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.trace.tokens import Side

MOST = 4096


def frequent_tokens(model: Model, source: Source, long: str) -> list[int]:
    """Ids of the tokens of the first window, the most frequent first."""
    examples = list(islice(read(source, Problems()), WINDOW))
    window = window_of(0, examples, encoder_of(model), long=long)
    counts = Counter(
        token.id
        for batch in window.batches
        for sides in Batch(model, batch).book.sides
        for side in sides.values()
        for token in side.tokens
        if token.id is not None
    )
    return [token for token, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST]]


class Vocabulary:
    """Tokens by their ids; `size` counts the place of all others."""

    def __init__(self, ids: Sequence[int]) -> None:
        self.ids = list(ids)
        self._places = {token: place for place, token in enumerate(self.ids)}

    @property
    def size(self) -> int:
        return len(self.ids) + 1

    def places(self, side: Side) -> Array:
        """(n,) the place of each token of a side."""
        other = len(self.ids)
        return np.array([self._places.get(token.id, other) for token in side.tokens], np.int64)  # type: ignore[arg-type]
