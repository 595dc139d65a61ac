"""Pattern targets of a whole batch, padded: made once, used by every layer.

Enters: the tokens of a batch and what its mask lets each query see. Leaves: tensors of target keys and counted rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regard.capture.record import Book
from regard.context import Array, Context, context_between
from regard.measures.reading import MOST_CHANCE
from regard.patterns.definitions import PATTERNS, Part, bag_missing


@dataclass(eq=False)
class Tables:
    """For B inputs, P patterns, Q queries and K keys.

    targets (B, Q, K, P + 1) are 0 or 1, the last one |query - key|; counted (B, Q, P) is 0 or 1; rows and chances
    (B, P) are how many rows count and the sum of their chance levels; visible (B, Q, K); seen (B, Q) counts visible
    keys, 1 at least; choice (B, Q) is 1 where a row sees several; choices and uniform (B,) are how many do and the sum
    of their uniform entropies; own (B, Q, K) are the ordinary tokens of the query's own sentence where there are two,
    for the bag of words.
    """

    targets: torch.Tensor
    counted: torch.Tensor
    rows: Array
    chances: Array
    visible: torch.Tensor
    seen: torch.Tensor
    choice: torch.Tensor
    choices: Array
    uniform: Array
    own: torch.Tensor | None


def tables_of(book: Book, query_side: str, key_side: str, visible: Array, causal: bool, device: torch.device) -> Tables:
    """Targets of every pattern for the inputs of a batch; what cannot be asked of an input counts no row."""
    batch, queries, keys = visible.shape
    targets = np.zeros((batch, queries, keys, len(PATTERNS) + 1), np.float32)
    targets[..., -1] = np.abs(np.arange(keys)[None, :] - np.arange(queries)[:, None])
    counted = np.zeros((batch, queries, len(PATTERNS)), bool)
    own = np.zeros((batch, queries, keys), np.float32)
    bags = False
    for number, sides in enumerate(book.sides):
        context = context_between(sides[query_side], sides[key_side], query_side == key_side, causal)
        rows, columns = len(sides[query_side]), len(sides[key_side])
        part = Part(context, context.queries, 0, visible[number, :rows, :columns])
        for place, pattern in enumerate(PATTERNS):
            if pattern.missing(context):
                continue
            table, chosen = pattern.targets(part)
            targets[number, :rows, :columns, place] = table & part.visible
            counted[number, :rows, place] = True if chosen is None else chosen
        if not bag_missing(context):
            bags = True
            own[number, :rows, :columns] = _own(context)
    seen = np.maximum(visible.sum(axis=-1), 1).astype(np.float32)  # (B, Q)
    chance = targets[..., :-1].sum(axis=2) / seen[..., None]
    counted &= (chance > 0) & (chance < MOST_CHANCE)
    choice = (seen > 1) & book.keep[query_side]

    def tensor(array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(device)

    return Tables(
        tensor(targets),
        tensor(counted.astype(np.float32)),
        counted.sum(axis=1),
        (chance * counted).sum(axis=1),
        tensor(visible),
        tensor(seen),
        tensor(choice.astype(np.float32)),
        choice.sum(axis=1),
        (np.log(seen) * choice).sum(axis=1),
        tensor(own) if bags else None,
    )


def _own(context: Context) -> Array:
    """(queries, keys): ordinary tokens of the query's own sentence."""
    same = context.queries.segments[:, None] == context.keys.segments[None, :]
    return np.asarray(same & context.queries.content[:, None] & context.keys.content[None, :])
