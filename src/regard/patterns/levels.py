"""Numbers of a head beside its patterns: how wide it looks, how far, how awake it is.

Enters: rows of maps, as arrays or tensors. Leaves: `LEVELS`, a list that traces, the atlas, tables and pages loop over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regard.measures.entropy import entropy_of, mixed_logs, renormalised, sink_rows
from regard.measures.library import array_namespace
from regard.patterns.definitions import Part
from regard.trace.places import Array, MapContext


@dataclass(frozen=True, eq=False)
class MapRows:
    """Rows of maps (..., H, Q, K) whose queries see `seen` (..., Q) keys; `loose` where rows may sum to less than 1."""

    attention: Any
    seen: Any
    loose: bool

    @cached_property
    def logs(self) -> Any:
        """(..., H, Q, K) p ln p of the rows as they are."""
        return mixed_logs(self.attention, self.seen[..., None, :])

    def entropies(self) -> Any:
        """(..., H, Q) entropies of the rows, without a sink's part."""
        seen = self.seen[..., None, :]
        return entropy_of(mixed_logs(renormalised(self.attention), seen) if self.loose else self.logs, seen)


@dataclass(frozen=True)
class LevelMeasure:
    """A number of each row, and what uniform attention over the visible keys would give.

    It is a sum of attention times `weights` (Q, K), or `rows` (..., H, Q) of maps with `uniform` (..., Q) beside it.
    """

    name: str
    weights: Callable[[Part], Array] | None = None
    rows: Callable[[MapRows], Any] | None = None
    uniform: Callable[[Any], Any] | None = None  # of how many keys the rows see; none for what chance says nothing of
    counted: Callable[[Part], Array] = lambda part: part.visible.sum(axis=-1) > 1  # rows that have a choice
    possible: Callable[[MapContext], bool] = lambda _: True
    loose: bool = False  # whether it is asked only where rows may sum to less than 1

    def asked(self, context: MapContext, loose: bool) -> bool:
        """Whether maps in a context have this number."""
        return self.possible(context) and (loose or not self.loose)


def _content(part: Part) -> Array:
    return np.asarray(part.queries.content & (part.visible.sum(axis=-1) > 1))


LEVELS = (
    LevelMeasure("entropy", rows=MapRows.entropies, uniform=lambda seen: array_namespace(seen).log(seen)),
    LevelMeasure(
        "distance",
        weights=lambda part: np.abs(part.gap),
        possible=lambda context: context.same,
    ),
    LevelMeasure("awake", weights=lambda part: part.free, counted=_content),
    LevelMeasure("sink", rows=lambda rows: sink_rows(rows.attention), loose=True),
)
WEIGHED = tuple(level for level in LEVELS if level.weights is not None)
AWAKE = WEIGHED.index(next(level for level in WEIGHED if level.name == "awake"))
