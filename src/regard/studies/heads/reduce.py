"""Portraits of heads, batch by batch: what they do when awake, examples, who looks at whom, and how far.

Enters: layers of a batch. Leaves: sums and kept rows.

Everything is of rows of ordinary tokens, and of keys outside the resting places. What a name predicts is compared with
what a head does beyond looking evenly: A' = A - a u, where a is how awake a row is and u even attention over the keys
outside its resting places. A name predicts D - u, with D even over its targets, in the rows that have any, and nothing
elsewhere. Sums of squares and products by group of documents give their correlation on any half of them; sums over
distances and tokens, kept for two halves, give what these alone would predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import KEPT, Array
from regard.measures.intervals import GROUPS
from regard.patterns.definitions import PATTERNS
from regard.patterns.levels import MapRows
from regard.studies.atlas.awake import BagOfRows, arriving_of, awake_sums
from regard.studies.base import Batch, key
from regard.studies.heads.distances import distance_sums
from regard.studies.heads.grammar import WordGrammar
from regard.studies.heads.keeping import BINS, RowsOf, best_rows, bins_of, rows_of, typical_rows
from regard.studies.heads.vocabulary import Vocabulary
from regard.studies.tables import Tables, of_all, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer


@dataclass(eq=False)
class HeadTables:
    """What layers with one view share.

    `counted` (B, Q) is 1 in rows of ordinary tokens that see a key outside the resting places, `free` (B, Q, K) is 1 at
    these keys of these rows; `described` (B, Q K, A + 1) is what each name predicts, the bag of words last; `queries`
    (B Q,) and `keys` (B K,) are places of tokens in the vocabulary.
    """

    view: LayerView
    tables: Tables
    counted: torch.Tensor
    free: torch.Tensor
    even: torch.Tensor  # free, as shares of each row
    described: torch.Tensor
    common: torch.Tensor  # (B, Q, A + 1) what even attention has in common with that
    described_squares: Array  # (B, A + 1)
    halves: torch.Tensor  # (2, B) which half of the documents an input is in
    rows: RowsOf
    queries: torch.Tensor
    keys: torch.Tensor


class HeadsTaker(Taker[HeadTables]):
    """One batch."""

    def __init__(self, batch: Batch, vocabulary: Vocabulary, seed: int) -> None:
        super().__init__(batch)
        self.vocabulary, self.seed = vocabulary, seed
        self.grammar = WordGrammar.of(batch)

    def make(self, view: LayerView) -> HeadTables:
        tables = tables_of(self.batch, view)
        level = tables.levels["awake"]
        assert level.weights is not None  # of the level "awake" they always are
        outside = level.weights if level.weights.ndim == 3 else level.weights[:, None]
        counted = torch.zeros_like(tables.seen) if level.counted is None else level.counted
        free = outside * tables.visible * counted[..., None]
        seen = free.sum(dim=-1)
        counted = counted * (seen > 0)
        described, common, squares = _described(tables, seen)
        halves = (self.batch.clusters % GROUPS % 2)[None] == np.arange(2)[:, None]
        places = [np.zeros(self.batch.book.keep[side].shape, np.int64) for side in (view.query, view.key)]
        for number, sides in enumerate(self.batch.book.sides):
            for side, table in zip((view.query, view.key), places, strict=True):
                found = self.vocabulary.places(sides[side])
                table[number, : len(found)] = found
        return HeadTables(
            view=view,
            tables=tables,
            counted=counted,
            free=free,
            even=free / seen.clamp(min=1)[..., None],
            described=described,
            common=common,
            described_squares=squares,
            halves=view.tensor(halves.astype(np.float32)),
            rows=rows_of(self.batch, (view.query, view.key), counted.bool().cpu().numpy(), self.seed, view.device),
            queries=view.tensor(places[0]).flatten(),
            keys=view.tensor(places[1]).flatten(),
        )

    def take(self, layer: Layer, attention: torch.Tensor, ready: HeadTables) -> None:
        operation = layer.named.operation
        outside = attention * ready.free[:, None]
        awake = outside.sum(dim=-1)  # (B, H, Q)
        self._names(layer, attention, awake, operation.sink is not None or operation.maps is not None, ready)
        self._described(layer, attention, outside, awake, ready)
        self._examples(layer, outside, ready)
        self._tokens(layer, attention, outside, awake, ready)
        if self.grammar is not None and ready.view.same:
            self.grammar.take(layer, outside)
        norms = layer.norms()
        if norms is not None:
            arriving = arriving_of(attention, norms).mul_(ready.free[:, None])
            strengths, keys = ready.rows.strengths(arriving)
            self._keep(layer, "best_arriving", best_rows(strengths, keys, ready.rows))
            self.add(layer, "contributions_level", arriving.sum(dim=(2, 3)))
            self.add(layer, "contributions_level_rows", ready.counted.sum(dim=1))

    def _names(
        self, layer: Layer, attention: torch.Tensor, awake: torch.Tensor, loose: bool, ready: HeadTables
    ) -> None:
        """What heads do when awake, as the atlas has it."""
        tables = ready.tables
        bag = BagOfRows.of(MapRows(attention, tables.seen, loose), tables) if tables.has_bag else None
        sums = awake_sums(attention, awake, bag, tables)
        for name, values in sums.items():
            self.add(layer, f"weights_{name}", values)

    def _described(
        self, layer: Layer, attention: torch.Tensor, outside: torch.Tensor, awake: torch.Tensor, ready: HeadTables
    ) -> None:
        """Sums for the correlation of what heads do beyond looking evenly with what names and distances predict."""
        places = np.append(ready.tables.asked, len(PATTERNS))
        products = attention.flatten(2) @ ready.described - awake @ ready.common
        above = torch.addcmul(outside, awake[..., None], ready.even[:, None], value=-1)
        self.add(layer, "square", above.square().sum(dim=(2, 3)))
        self.add(layer, "described", of_all(places, products.cpu().numpy(), len(PATTERNS) + 1))
        self.add(layer, "described_square", of_all(places, ready.described_squares, len(PATTERNS) + 1))
        pairs = ready.free.sum(dim=(1, 2))
        self.batch.total(key(layer, "pairs"), (ready.halves @ pairs).cpu().numpy())
        if ready.view.same:
            halves = (ready.halves @ above.flatten(1)).view(2, *above.shape[1:])
            self.batch.total(key(layer, "distance"), distance_sums(halves).cpu().numpy())
            far = distance_sums((ready.halves @ ready.free.flatten(1)).view(2, *ready.free.shape[1:]))
            self.batch.total(key(layer, "distance_pairs"), far.cpu().numpy())
            whole = distance_sums(outside.sum(dim=0))
            self.batch.total(key(layer, "distance_mass"), whole.cpu().numpy())

    def _examples(self, layer: Layer, outside: torch.Tensor, ready: HeadTables) -> None:
        """The strongest rows, and a few of each strength."""
        strengths, keys = ready.rows.strengths(outside)
        self._keep(layer, "best", best_rows(strengths, keys, ready.rows))
        self._keep(layer, "typical", typical_rows(strengths, keys, ready.rows))
        bins = strengths.new_zeros(len(strengths), BINS)
        bins.scatter_add_(1, bins_of(strengths), torch.ones_like(strengths))
        self.batch.total(key(layer, "strengths"), bins.cpu().numpy())

    def _tokens(
        self, layer: Layer, attention: torch.Tensor, outside: torch.Tensor, awake: torch.Tensor, ready: HeadTables
    ) -> None:
        """Awake attention by the token that looks, and by the token looked at with its chance; rest by place."""
        received = outside.sum(dim=-2)  # (B, H, K)
        whole = (ready.counted[:, None, None] @ attention)[:, :, 0]  # (B, H, K)
        for name, values, places in (
            ("looking", awake, ready.queries),
            ("looking_rows", ready.counted[:, None], ready.queries),
            ("rested_on", whole - received, ready.keys),
        ):
            self.batch.total(key(layer, name), self._by_token(values, places))
        for name, values in (
            ("looked_at", received),
            ("looked_at_chance", awake @ ready.even),
            ("looked_at_pairs", ready.free.sum(dim=1)[:, None]),
        ):
            split = [self._by_token(values * half[:, None, None], ready.keys) for half in ready.halves]
            self.batch.total(key(layer, name), np.stack(split))

    def _by_token(self, values: torch.Tensor, places: torch.Tensor) -> Array:
        """(V, H) sums of values (B, H, n) by the token at places (B n,)."""
        flat = values.permute(0, 2, 1).flatten(0, 1)
        found: Array = flat.new_zeros(self.vocabulary.size, flat.shape[1]).index_add_(0, places, flat).cpu().numpy()
        return found

    def _keep(self, layer: Layer, name: str, rows: Array) -> None:
        self.batch.total(f"{KEPT}{key(layer, name)}", rows)


def _described(tables: Tables, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Array]:
    """What each name predicts of a batch's maps, of which rows see `seen` (B, Q) keys outside the resting places.

    (B, Q K, A + 1) even attention over the targets; (B, Q, A + 1) what even attention over all keys has in common with
    it; (B, A + 1) the sum of squares of their difference.
    """
    batch, queries, keys = tables.visible.shape
    targets = tables.awake.view(batch, queries, keys, -1)
    every = torch.cat([targets, (tables.own * tables.bag[..., None])[..., None]], dim=-1)
    count = every.sum(dim=2)  # (B, Q, A + 1)
    some = (count > 0).float()
    level = some / seen.clamp(min=1)[..., None]
    squares = (some / count.clamp(min=1) - level).sum(dim=1)
    return (every / count.clamp(min=1)[:, :, None]).flatten(1, 2), level, squares.cpu().numpy()
