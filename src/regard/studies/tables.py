"""Pattern targets of a whole batch, padded: made once, used by every layer.

Enters: the tokens of a batch and what its mask lets each query see. Leaves: tensors of target keys and counted rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.record import Book
from regard.measures.awake import awake_rows
from regard.measures.bag import is_bag
from regard.measures.reading import is_eligible, seen_keys
from regard.patterns.definitions import PATTERNS, Part, bag_missing
from regard.patterns.levels import LEVELS, WEIGHED
from regard.studies.atlas.carriers import Carried, carried_of
from regard.trace.places import Array, MapContext, context_between

if TYPE_CHECKING:
    from regard.models.related import Relation
    from regard.studies.base import Batch
    from regard.studies.taking import LayerView


@dataclass(eq=False)
class LevelRows:
    """Which rows count for a level: `counted` (B, Q) 0 or 1, their `rows` (B,), and `chance` (B,) the sum of what
    uniform attention would give; `counted` is None where no input is asked.
    """

    counted: torch.Tensor | None
    rows: Array
    chance: Array


@dataclass(eq=False)
class Tables:
    """For B inputs, P patterns, of which A can be asked of some input, W weighed levels, Q queries and K keys.

    asked (A,) are places in `PATTERNS`; weights (B, Q, K, A + 1 + W) are what attention is weighed with: the targets of
    the patterns, 0 or 1; the ordinary tokens of the query's own sentence where there are two, for the bag of words; the
    levels. counted (B, Q, A) is 0 or 1; rows and chances (B, P) are how many rows count and the sum of their chance
    levels. awake_chance and awake_counted (B, Q, A + 1) are the same outside the resting places, the bag last. visible
    (B, Q, K); seen (B, Q) counts visible keys, 1 at least; size (B, Q) is how many words the own sentence has, bag
    (B, Q) is 1 where such a row counts, has_bag whether any does; levels are by name; carried are the rows of patterns
    whose score one word may carry.
    """

    asked: Array
    weights: torch.Tensor
    counted: torch.Tensor
    rows: Array
    chances: Array
    awake_chance: torch.Tensor
    awake_counted: torch.Tensor
    visible: torch.Tensor
    seen: torch.Tensor
    size: torch.Tensor
    bag: torch.Tensor
    has_bag: bool
    levels: dict[str, LevelRows]
    carried: list[Carried]

    @property
    def targets(self) -> torch.Tensor:
        """(B, Q, K, A + 1) those of the patterns, and of the bag of words."""
        return self.weights[..., : len(self.asked) + 1]


def tables_of(inputs: Batch, view: LayerView) -> Tables:
    """Targets of every pattern for the inputs of a batch; what cannot be asked of an input counts no row."""
    visible, book = view.visible, inputs.book
    batch, queries, keys = visible.shape
    contexts = _contexts(book, view.query, view.key, view.causal, inputs.model._engine.relation())
    can = np.array([[not pattern.missing(context) for pattern in PATTERNS] for context in contexts])  # (B, P)
    asked = np.flatnonzero(can.any(axis=0))
    first = len(asked) + 1  # of the levels
    weights = np.zeros((batch, queries, keys, first + len(WEIGHED)), np.float32)
    counted = np.zeros((batch, queries, first), bool)
    rests = np.zeros(visible.shape, bool)
    of_levels = np.zeros((len(LEVELS), batch, queries), bool)
    for number, context in enumerate(contexts):
        rows, columns = len(context.queries.words), len(context.keys.words)
        part = Part(context, context.queries, 0, visible[number, :rows, :columns])
        mine = weights[number, :rows, :columns]
        rests[number, :rows, :columns] = part.rests
        for place in np.flatnonzero(can[number, asked]):
            mine[..., place], counted[number, :rows, place] = PATTERNS[asked[place]].targets(part)
        if not bag_missing(context):
            mine[..., first - 1] = part.own & part.visible
            counted[number, :rows, first - 1] = context.queries.content
        for column, level in enumerate(WEIGHED, first):
            mine[..., column] = level.weights(part)  # type: ignore[misc]
        for row, level in enumerate(LEVELS):
            of_levels[row, number, :rows] = level.counted(part) & level.possible(context)
    seen = np.asarray(seen_keys(visible, visible)).astype(np.float32)  # (B, Q)
    size = weights[..., first - 1].sum(axis=2)
    chance = weights[..., :first].sum(axis=2) / seen[..., None]
    counted[..., :-1] &= is_eligible(chance[..., :-1])
    counted[..., -1] &= is_bag(size)
    awake_chance, awake = awake_rows(chance, visible, rests)
    awake[..., -1] = awake_chance[..., -1] < 1  # a sentence may well be half of the words

    def tensor(array: Array) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(view.device)

    return Tables(
        asked=asked,
        weights=tensor(weights),
        counted=tensor(counted[..., :-1]),
        rows=of_all(asked, counted[..., :-1].sum(axis=1)),
        chances=of_all(asked, (chance * counted)[..., :-1].sum(axis=1)),
        awake_chance=tensor(awake_chance),
        awake_counted=tensor(counted & awake),
        visible=torch.from_numpy(visible).to(view.device),
        seen=tensor(seen),
        size=tensor(size),
        bag=tensor(counted[..., -1]),
        has_bag=bool(counted[..., -1].any()),
        levels=_levels(of_levels, weights[..., first:], visible, seen, tensor),
        carried=carried_of(inputs, view.query, contexts, asked, counted[..., :-1], chance[..., :-1], view.device),
    )


def _levels(
    counted: Array, weights: Array, visible: Array, seen: Array, tensor: Callable[[Array], torch.Tensor]
) -> dict[str, LevelRows]:
    """The rows of each level, from which count (L, B, Q), and the weights (B, Q, K, W) of those that are weighed."""
    means = dict(zip([level.name for level in WEIGHED], np.moveaxis(weights, -1, 0), strict=True))
    found = {}
    for level, rows in zip(LEVELS, counted, strict=True):
        if level.name in means:
            chance = (means[level.name] * visible).sum(axis=-1) / seen
        else:
            chance = np.full(seen.shape, np.nan) if level.uniform is None else level.uniform(seen)
        total = np.where(rows, chance, 0.0).sum(axis=1)
        found[level.name] = LevelRows(tensor(rows) if rows.any() else None, rows.sum(axis=1), total)
    return found


def of_all(asked: Array, values: Array, patterns: int = len(PATTERNS)) -> Array:
    """(..., P) numbers of every pattern from those that were asked (..., A); 0 for the others."""
    found = np.zeros((*values.shape[:-1], patterns), values.dtype)
    found[..., asked] = values
    return found


def _contexts(book: Book, query_side: str, key_side: str, causal: bool, relation: Relation | None) -> list[MapContext]:
    """The context of each input, with its related words where they are known."""
    same = query_side == key_side
    contexts = [context_between(sides[query_side], sides[key_side], same, causal) for sides in book.sides]
    if relation is None or not same:
        return contexts
    near = relation.tables([sides[key_side] for sides in book.sides], [context.keys.words for context in contexts])
    return [replace(context, related=table) for context, table in zip(contexts, near, strict=True)]
