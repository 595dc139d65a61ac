"""Pattern targets of a whole batch, padded: made once, used by every layer.

Enters: the tokens of a batch and what its mask lets each query see. Leaves: tensors of target keys and counted rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.record import Book
from regard.measures.bag import is_bag, own_targets
from regard.measures.distance import distances, uniform_distance
from regard.measures.reading import is_eligible, seen_keys
from regard.patterns.definitions import PATTERNS, Part, bag_missing
from regard.studies.atlas.carriers import Carried, carried_of
from regard.trace.places import Array, MapContext, context_between

if TYPE_CHECKING:
    from regard.models.related import Relation
    from regard.studies.base import Batch
    from regard.studies.taking import LayerView


@dataclass(eq=False)
class Tables:
    """For B inputs, P patterns, of which A can be asked of some input, Q queries and K keys.

    asked (A,) are places in `PATTERNS`; targets (B, Q, K, A + 2) are 0 or 1, the last but one as `own`, the last one
    |query - key|; counted (B, Q, A) is 0 or 1; rows and chances (B, P) are how many rows count and the sum of their
    chance levels; visible (B, Q, K); seen (B, Q) counts visible keys, 1 at least; choice (B, Q) is 1 where a row sees
    several; choices (B,) are how many do, uniform and far (B,) the sums of their entropies and distances under uniform
    attention; own (B, Q, K, 1) are the ordinary tokens of the query's own sentence where there are two, for the bag of
    words; size (B, Q) is how many, bag (B, Q) is 1 where such a row counts; carried are the rows of patterns whose
    score one word may carry.
    """

    asked: Array
    targets: torch.Tensor
    counted: torch.Tensor
    rows: Array
    chances: Array
    visible: torch.Tensor
    seen: torch.Tensor
    choice: torch.Tensor
    choices: Array
    uniform: Array
    far: Array
    own: torch.Tensor | None
    size: torch.Tensor
    bag: torch.Tensor
    carried: list[Carried]


def tables_of(inputs: Batch, view: LayerView) -> Tables:
    """Targets of every pattern for the inputs of a batch; what cannot be asked of an input counts no row."""
    visible, book = view.visible, inputs.book
    batch, queries, keys = visible.shape
    contexts = _contexts(book, view.query, view.key, view.causal, inputs.model._engine.relation())
    can = np.array([[not pattern.missing(context) for pattern in PATTERNS] for context in contexts])  # (B, P)
    asked = np.flatnonzero(can.any(axis=0))
    targets = np.zeros((batch, queries, keys, len(asked) + 2), np.float32)
    targets[..., -1] = distances(visible)
    counted = np.zeros((batch, queries, len(asked)), bool)
    own, bag = targets[..., -2:-1], np.zeros((batch, queries), bool)
    for number, context in enumerate(contexts):
        rows, columns = len(context.queries.words), len(context.keys.words)
        part = Part(context, context.queries, 0, visible[number, :rows, :columns])
        for place in np.flatnonzero(can[number, asked]):
            table, chosen = PATTERNS[asked[place]].targets(part)
            targets[number, :rows, :columns, place] = table & part.visible
            counted[number, :rows, place] = True if chosen is None else chosen
        if not bag_missing(context):
            own[number, :rows, :columns, 0] = _own(context) & part.visible
            bag[number, :rows] = context.queries.content
    seen = seen_keys(visible, visible).astype(np.float32)  # (B, Q)
    chance = targets[..., :-2].sum(axis=2) / seen[..., None]
    counted &= is_eligible(chance)
    size = own.sum(axis=(2, 3))
    bag &= is_bag(size)
    choice = (seen > 1) & book.keep[view.query]

    def tensor(array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(view.device)

    return Tables(
        asked,
        tensor(targets),
        tensor(counted.astype(np.float32)),
        of_all(asked, counted.sum(axis=1)),
        of_all(asked, (chance * counted).sum(axis=1)),
        tensor(visible),
        tensor(seen),
        tensor(choice.astype(np.float32)),
        choice.sum(axis=1),
        (np.log(seen) * choice).sum(axis=1),
        (uniform_distance(targets[..., -1], visible, seen) * choice).sum(axis=1),
        tensor(np.ascontiguousarray(own)) if own.any() else None,
        tensor(size),
        tensor(bag.astype(np.float32)),
        carried_of(inputs, view.query, contexts, asked, counted, chance, view.device),
    )


def of_all(asked: Array, values: Array) -> Array:
    """(..., P) numbers of every pattern from those that were asked (..., A); 0 for the others."""
    found = np.zeros((*values.shape[:-1], len(PATTERNS)), values.dtype)
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


def _own(context: MapContext) -> Array:
    """(queries, keys): ordinary tokens of the query's own sentence."""
    return np.asarray(own_targets(context.queries.segments, context.keys.segments, context.keys.content))
