"""Rows of a corpus that are kept as examples: the strongest ones of each head, and ordinary ones of each strength.

Enters: how strongly each row of a batch looks somewhere. Leaves: rows in the form that `regard.corpus.sums` keeps, so
that it does not matter in which order, or where, batches are read.

The strength of a row is its largest weight outside the resting places. `best_rows` keeps the strongest `BEST`;
`typical_rows` sorts rows into `BINS` of strength and keeps those of each bin whose hash of (seed, example, part, query)
is smallest: a sample that no batch, window or worker can change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regard.corpus.sums import ORDER, Array
from regard.studies.base import Batch

BEST = 64
BINS = 100
PER_BIN = 4
# Columns of a kept row; the first four order it.
COLUMNS = ("order", "example", "part", "query", "key", "strength", "query_id", "key_id")
_NO_ID = -1


@dataclass(frozen=True, eq=False)
class RowsOf:
    """The N rows of a batch that may be kept, in the order of the corpus.

    `places` (N,) are among the batch's B Q rows; `names` (N, 3) are example, part and query; `ids` (N,) the tokens that
    look, `keys` (B, K) those looked at; `by_hash` (N,) is the order of their `hashes` (N,), and `ranks` (N,) are their
    places in it.
    """

    places: torch.Tensor
    names: Array
    ids: Array
    keys: Array
    hashes: Array
    by_hash: Array
    ranks: Array
    width: int  # Q

    def chosen(self, values: torch.Tensor) -> torch.Tensor:
        """(H, N) of values (B, H, Q) of all rows."""
        return values.transpose(0, 1).flatten(1)[:, self.places]

    def looked_at(self, outside: torch.Tensor, heads: Array, rows: Array) -> Array:
        """The keys with the largest weights, of rows among N and of heads, (...) each."""
        batch, queries = np.divmod(self.places.cpu().numpy()[rows], self.width)
        places = (batch * outside.shape[1] + heads) * outside.shape[2] + queries
        every = outside.flatten(0, 2).index_select(0, torch.from_numpy(places.ravel()).to(outside.device))
        found: Array = every.argmax(dim=-1).cpu().numpy()
        return found.reshape(places.shape)

    def kept(self, order: Array, rows: Array, keys: Array, strengths: Array) -> Array:
        """(..., 8) kept rows from what orders them and their places (...) among N; keys and strengths alike."""
        queries = self.places.cpu().numpy()[rows]
        at = self.keys[queries // self.width, keys]
        return np.stack([order, *np.moveaxis(self.names[rows], -1, 0), keys, strengths, self.ids[rows], at], axis=-1)


def rows_of(batch: Batch, sides: tuple[str, str], counted: Array, seed: int, device: torch.device) -> RowsOf:
    """The rows of a batch that count (B, Q), from the query side to the key side."""
    number, query = np.nonzero(counted)
    names = np.array([(item.number, item.example.part) for item in batch.items], np.int64)[number]
    names = np.concatenate([names, query[:, None]], axis=1)  # (N, 3)
    order = np.lexsort(names.T[::-1])
    names, places = names[order], (number * counted.shape[1] + query)[order]
    hashes = hash_of(seed, names)
    by_hash = np.lexsort((*names.T[::-1], hashes))
    mine = _ids(batch, sides[0])
    theirs = mine if sides[0] == sides[1] else _ids(batch, sides[1])
    return RowsOf(
        places=torch.from_numpy(places).to(device),
        names=names.astype(np.float64),
        ids=mine.ravel()[places],
        keys=theirs,
        hashes=hashes,
        by_hash=by_hash,
        ranks=np.argsort(by_hash),
        width=counted.shape[1],
    )


def best_rows(outside: torch.Tensor, strengths: torch.Tensor, rows: RowsOf) -> Array:
    """(H, BEST, 8) the rows of maps with the largest strengths (H, N); of equals, the first in the corpus."""
    count = strengths.shape[1]
    last = torch.arange(count - 1, -1, -1, device=strengths.device)
    bits = strengths.view(torch.int32).long() << 32  # numbers that are not negative are ordered as their bits are
    chosen = (bits | last).topk(min(BEST, count), dim=1).values
    order = (count - 1 - (chosen & 0xFFFFFFFF)).cpu().numpy()
    heads = np.arange(len(order))[:, None].repeat(order.shape[1], axis=1)
    found = strengths.cpu().numpy()[heads, order]
    at = rows.looked_at(outside, heads, order)
    some = rows.kept(-found.astype(np.float64), order, at, found)
    return np.concatenate([some, np.full((len(some), BEST - some.shape[1], len(COLUMNS)), np.inf)], axis=1)


def bins_of(strengths: torch.Tensor) -> torch.Tensor:
    """The bin of each strength."""
    return (strengths * BINS).long().clamp_(0, BINS - 1)


def typical_rows(outside: torch.Tensor, strengths: torch.Tensor, bins: torch.Tensor, rows: RowsOf) -> Array:
    """(H, BINS, PER_BIN, 8) rows of maps with the smallest hashes of each bin, from strengths and bins (H, N)."""
    count = strengths.shape[1]
    order = np.sort(bins.cpu().numpy() * count + rows.ranks, axis=1)  # by bin, then by hash
    ordered = order // count
    starts = np.ones(order.shape, bool)  # where bins begin
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(count), 0), axis=1)
    rank = np.arange(count) - first
    head, at = np.nonzero(rank < PER_BIN)
    chosen = rows.by_hash[order[head, at] % count]
    found = strengths.cpu().numpy()[head, chosen]
    table = np.full((len(strengths), BINS, PER_BIN, len(COLUMNS)), np.inf)
    keys = rows.looked_at(outside, head, chosen)
    table[head, ordered[head, at], rank[head, at]] = rows.kept(rows.hashes[chosen], chosen, keys, found)
    return table


def hash_of(seed: int, names: Array) -> Array:
    """(N,) numbers from 0 to 1 that depend on seed and names (N, 3) alone (SplitMix64's finaliser)."""
    state = np.full(len(names), seed, np.uint64)
    with np.errstate(over="ignore"):
        for column in names.T.astype(np.uint64):
            state = state + column + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return (state >> np.uint64(11)).astype(np.float64) / 2.0**53


def is_row(rows: Array) -> Array:
    """Which of kept rows (..., 8) are there."""
    return np.asarray(np.isfinite(rows[..., 0]))


def _ids(batch: Batch, side: str) -> Array:
    """(B, n) ids of the tokens of a side, padded."""
    found = np.full(batch.book.keep[side].shape, _NO_ID, np.int64)
    for number, sides in enumerate(batch.book.sides):
        ids = [_NO_ID if token.id is None else token.id for token in sides[side].tokens]
        found[number, np.flatnonzero(batch.book.keep[side][number])[: len(ids)]] = ids
    return found


assert COLUMNS[:ORDER] == ("order", "example", "part", "query")
