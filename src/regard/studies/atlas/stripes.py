"""Stripes over a corpus: what stays of the attention to kinds of words if queries are exchanged.

Enters: the tables of a batch, then its layers. Leaves: sums per input and head, (B, H, W) for the W kinds of words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.stripes import in_common, kept, partners
from regard.patterns.definitions import PATTERNS, WORDS
from regard.trace.places import MapContext


@dataclass(eq=False)
class Exchange:
    """Pairs of queries of a batch, M of each input at most: `first` and `second` (B, M) are their places.

    `free` (B, 1, M, K) is 1 where the first sees a key that it does not rest on; None if that is so of the second, too,
    as where every query sees all keys. `targets` (B, M K, W) are the words of each kind in the rows that count, 0 in
    padding. In memory all of one kind come after one another: products with so few columns take a third of the time.
    """

    first: torch.Tensor
    second: torch.Tensor
    free: torch.Tensor | None
    targets: torch.Tensor

    def sums(self, attention: torch.Tensor, awake: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, H, W) each, of maps (B, H, Q, K): what stays, and all that the first queries have on these words.

        `awake` (B, H, Q) is what rows have where they do not rest.
        """
        batch, heads, queries, keys = attention.shape
        rows = attention.view(-1, keys)
        starts = torch.arange(batch * heads, device=attention.device).view(batch, heads, 1) * queries
        first, second = ((starts + places[:, None]).flatten() for places in (self.first, self.second))
        mine, theirs = (rows.index_select(0, places).view(batch, heads, -1, keys) for places in (first, second))
        if self.free is None:
            sums = (awake.flatten().index_select(0, places).view(batch, heads, -1) for places in (first, second))
            same = in_common(mine, theirs, *sums)  # at the targets, all of which are free
        else:
            same = kept(mine, theirs, self.free)
        return same.flatten(2) @ self.targets, mine.flatten(2) @ self.targets


def exchange_of(
    contexts: list[MapContext], asked: Array, targets: Array, counted: Array, free: Array, device: torch.device
) -> Exchange | None:
    """The pairs of each input; targets (A + 1, B, Q, K), counted (B, Q, A + 1), free (B, Q, K). None without any."""
    kinds = {PATTERNS[number].name: place for place, number in enumerate(asked) if PATTERNS[number].words}
    pairs = [partners(context.queries.content) for context in contexts]
    most = max(len(first) for first, _ in pairs)
    if not kinds or not most:
        return None
    places = np.zeros((2, len(pairs), most), np.int64)
    there = np.zeros((len(pairs), most, 1), bool)
    for number, pair in enumerate(pairs):
        places[:, number, : len(pair[0])], there[number, : len(pair[0])] = pair, True
    rows = np.arange(len(pairs))[:, None], places[0]
    table = np.zeros((len(pairs), len(WORDS), most, targets.shape[-1]), np.float32)
    for number, name in enumerate(WORDS):
        if name in kinds:
            table[:, number] = targets[kinds[name]][rows] & counted[*rows, kinds[name], None] & there
    mine, others = free[rows] & there, free[rows[0], places[1]] & there
    seen = None if (mine == others).all() else torch.from_numpy(mine[:, None].astype(np.float32)).to(device)
    first, second, words = (torch.from_numpy(some).to(device) for some in (*places, table))
    return Exchange(first, second, seen, words.flatten(2).transpose(1, 2))
