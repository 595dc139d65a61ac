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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import KEPT, Array
from regard.measures.intervals import GROUPS
from regard.patterns.definitions import PATTERNS
from regard.patterns.levels import MapRows
from regard.studies.atlas.awake import BagOfRows, awake_sums
from regard.studies.atlas.copying import Copying
from regard.studies.base import Batch, key
from regard.studies.heads.distances import distance_sums
from regard.studies.heads.grammar import WordGrammar
from regard.studies.heads.keeping import BINS, RowsOf, best_rows, bins_of, rows_of, typical_rows
from regard.studies.heads.sample import keep_inputs
from regard.studies.heads.vocabulary import Vocabulary
from regard.studies.tables import Tables, of_all, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer


@dataclass(frozen=True, eq=False)
class TokensOf:
    """The U different tokens of one side of a batch: their places in the vocabulary (U,).

    `rows` (B n,) is for each token of each input which of `parts` x U it is.
    """

    places: Array
    rows: torch.Tensor
    parts: int

    @classmethod
    def of(cls, table: Array, view: LayerView, part: Array | None = None) -> TokensOf:
        """From places (B, n) in the vocabulary, and which of two parts (B,) each input is in, if there are two."""
        places, rows = np.unique(table, return_inverse=True)
        rows = rows.reshape(table.shape)
        if part is not None:
            rows = rows + part[:, None] * len(places)
        return cls(places, view.tensor(rows.ravel()), 1 if part is None else 2)

    def sums(self, *values: torch.Tensor) -> Array:
        """(parts, U, F) sums by token of values (B, F', n) side by side."""
        flat = torch.cat(values, dim=1).transpose(1, 2).flatten(0, 1)
        found = flat.new_zeros(self.parts * len(self.places), flat.shape[1]).index_add_(0, self.rows, flat)
        return found.view(self.parts, len(self.places), -1).cpu().double().numpy()


@dataclass(eq=False)
class HeadTables:
    """What layers with one view share.

    `counted` (B, Q) is 1 in rows of ordinary tokens that see a key outside the resting places, `free` (B, Q, K) is 1 at
    these keys of these rows; `asked` (B, Q K, 2 A + 1) are the targets of each name, and then what it predicts, the bag
    of words last; `queries` and `keys` are the tokens that look and are looked at, the latter by half of the documents.
    """

    view: LayerView
    tables: Tables
    counted: torch.Tensor
    free: torch.Tensor
    even: torch.Tensor  # free, as shares of each row
    asked: torch.Tensor
    common: torch.Tensor  # (B, Q, A + 1) what even attention has in common with what is predicted
    described_squares: Array  # (B, A + 1)
    halves: torch.Tensor  # (2, B) which half of the documents an input is in
    rows: RowsOf
    queries: TokensOf
    keys: TokensOf

    @cached_property
    def pairs(self) -> Array:
        """(2,) pairs of a query and a key outside its resting places, by half of the documents."""
        found: Array = (self.halves @ self.free.sum(dim=(1, 2))).cpu().numpy()
        return found

    @cached_property
    def far(self) -> Array:
        """(2, 67) the same by distance."""
        found: Array = distance_sums((self.halves @ self.free.flatten(1)).view(2, *self.free.shape[1:])).cpu().numpy()
        return found


class HeadsTaker(Taker[HeadTables]):
    """One batch."""

    def __init__(self, batch: Batch, vocabulary: Vocabulary, seed: int, vectors: int) -> None:
        super().__init__(batch)
        self.vocabulary, self.seed, self.vectors = vocabulary, seed, vectors
        self.grammar = WordGrammar.of(batch)
        self.copying = Copying(batch)

    def make(self, view: LayerView) -> HeadTables:
        tables = tables_of(self.batch, view, resting=False)
        level = tables.levels["awake"]
        assert level.weights is not None  # of the level "awake" they always are
        outside = level.weights if level.weights.ndim == 3 else level.weights[:, None]
        counted = torch.zeros_like(tables.seen) if level.counted is None else level.counted
        free = outside * tables.visible * counted[..., None]
        seen = free.sum(dim=-1)
        counted = counted * (seen > 0)
        described, common, squares = _described(tables, free, seen)
        halves = (self.batch.clusters % GROUPS % 2)[None] == np.arange(2)[:, None]
        queries = self._places(view.query)
        keys = queries if view.same else self._places(view.key)
        return HeadTables(
            view=view,
            tables=tables,
            counted=counted,
            free=free,
            even=free / seen.clamp(min=1)[..., None],
            asked=torch.cat([tables.awake, described], dim=-1),
            common=common,
            described_squares=squares,
            halves=view.tensor(halves.astype(np.float32)),
            rows=rows_of(self.batch, (view.query, view.key), counted.bool().cpu().numpy(), self.seed, view.device),
            queries=TokensOf.of(queries, view),
            keys=TokensOf.of(keys, view, halves[1].astype(np.int64)),
        )

    def _places(self, side: str) -> Array:
        """(B, n) the places of a side's tokens in the vocabulary, padded."""
        table = np.zeros(self.batch.book.keep[side].shape, np.int64)
        for number, sides in enumerate(self.batch.book.sides):
            found = self.vocabulary.places(sides[side])
            table[number, : len(found)] = found
        return table

    def take(self, layer: Layer, attention: torch.Tensor, ready: HeadTables) -> None:
        operation = layer.named.operation
        outside = attention * ready.free[:, None]
        awake = outside.sum(dim=-1)  # (B, H, Q)
        loose = operation.sink is not None or operation.maps is not None
        names = len(ready.tables.asked)
        sums = attention.flatten(2) @ ready.asked  # (B, H, Q K) @ (B, Q K, 2 A + 1) -> (B, H, 2 A + 1)
        mass, products = sums[..., :names], sums[..., names:]
        self._names(layer, MapRows(attention, ready.tables.seen, loose), awake, mass, ready)
        self._described(layer, outside, awake, products, ready)
        self._examples(layer, outside, ready)
        self._tokens(layer, attention, outside, awake, ready)
        if self.grammar is not None and ready.view.same:
            self.grammar.take(layer, outside)
        self.copying.take(layer, attention)
        norms = layer.norms()
        if norms is not None:
            self._arriving(layer, attention, norms, ready)

    def finish(self) -> None:
        keep_inputs(self.batch, self.vectors, self.seed)

    def _names(self, layer: Layer, rows: MapRows, awake: torch.Tensor, mass: torch.Tensor, ready: HeadTables) -> None:
        """What heads do when awake, as the atlas has it."""
        tables = ready.tables
        bag = BagOfRows.of(rows, tables) if tables.has_bag else None
        sums = awake_sums(rows.attention, awake, bag, tables, mass)
        for name, values in sums.items():
            self.add(layer, f"weights_{name}", values)

    def _described(
        self, layer: Layer, outside: torch.Tensor, awake: torch.Tensor, products: torch.Tensor, ready: HeadTables
    ) -> None:
        """Sums for the correlation of what heads do beyond looking evenly with what names and distances predict."""
        places = np.append(ready.tables.asked, len(PATTERNS))
        products = products - awake @ ready.common
        above = torch.addcmul(outside, awake[..., None], ready.even[:, None], value=-1)
        self.add(layer, "square", torch.linalg.vector_norm(above, dim=(2, 3)).square())
        self.add(layer, "described", of_all(places, products.cpu().numpy(), len(PATTERNS) + 1))
        self.add(layer, "described_square", of_all(places, ready.described_squares, len(PATTERNS) + 1))
        self.batch.total(key(layer, "pairs"), ready.pairs)
        if ready.view.same:
            halves = (ready.halves @ above.flatten(1)).view(2, *above.shape[1:])
            far = distance_sums(torch.cat([halves, outside.sum(dim=0, keepdim=True)])).cpu().numpy()
            self.batch.total(key(layer, "distance"), far[:2])
            self.batch.total(key(layer, "distance_pairs"), ready.far)
            self.batch.total(key(layer, "distance_mass"), far[2])

    def _examples(self, layer: Layer, outside: torch.Tensor, ready: HeadTables) -> None:
        """The strongest rows, and a few of each strength."""
        strengths = ready.rows.chosen(outside.amax(dim=-1))
        bins = bins_of(strengths)
        self._keep(layer, "best", best_rows(outside, strengths, ready.rows))
        self._keep(layer, "typical", typical_rows(outside, strengths, bins, ready.rows))
        counts = strengths.new_zeros(len(strengths), BINS).scatter_add_(1, bins, torch.ones_like(strengths))
        self.batch.total(key(layer, "strengths"), counts.cpu().numpy())

    def _arriving(self, layer: Layer, attention: torch.Tensor, norms: torch.Tensor, ready: HeadTables) -> None:
        """The strongest rows by what arrives, ||alpha f(x)|| as shares of each row, and how awake heads are by it."""
        arriving = attention * norms[:, :, None]  # in rows, shares times their total; norms are (B, H, K)
        total = arriving.sum(dim=-1)  # (B, H, Q); a product with a matrix of one column would take longer
        total = torch.where(total > 0, total, 1)
        arriving *= ready.free[:, None]
        strengths = ready.rows.chosen(arriving.amax(dim=-1).div_(total))
        self._keep(layer, "best_arriving", best_rows(arriving, strengths, ready.rows))
        self.add(layer, "contributions_level", arriving.sum(dim=-1).div_(total).sum(dim=2))
        self.add(layer, "contributions_level_rows", ready.counted.sum(dim=1))

    def _tokens(
        self, layer: Layer, attention: torch.Tensor, outside: torch.Tensor, awake: torch.Tensor, ready: HeadTables
    ) -> None:
        """Awake attention by the token that looks, and by the token looked at with its chance; rest by place."""
        heads = awake.shape[1]
        received = outside.sum(dim=-2)  # (B, H, K)
        whole = (ready.counted[:, None, None] @ attention)[:, :, 0]  # (B, H, K)
        looking = ready.queries.sums(awake, ready.counted[:, None])
        looked = ready.keys.sums(received, awake @ ready.even, whole - received, ready.free.sum(dim=1)[:, None])
        for name, tokens, values in (
            ("looking", ready.queries, looking[0, :, :heads]),
            ("looking_rows", ready.queries, looking[0, :, heads:]),
            ("looked_at", ready.keys, looked[..., :heads]),
            ("looked_at_chance", ready.keys, looked[..., heads : 2 * heads]),
            ("rested_on", ready.keys, looked[..., 2 * heads : 3 * heads].sum(axis=0)),
            ("looked_at_pairs", ready.keys, looked[..., 3 * heads :]),
        ):
            self.batch.total_at(key(layer, name), self.vocabulary.size, tokens.places, values)

    def _keep(self, layer: Layer, name: str, rows: Array) -> None:
        self.batch.total(f"{KEPT}{key(layer, name)}", rows)


def _described(tables: Tables, free: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Array]:
    """What each name predicts of a batch's maps, of which rows see `seen` (B, Q) keys that are `free` (B, Q, K).

    A row that does not count for a name may have targets: "the same word" in one that has no second occurrence is the
    token itself. (B, Q K, A + 1) even attention over the targets; (B, Q, A + 1) what even attention over all keys has
    in common with it; (B, A + 1) the sum of squares of their difference.
    """
    bag = tables.own * tables.bag[..., None]
    every = torch.cat([tables.targets * free[..., None], bag[..., None]], dim=-1)
    count = every.sum(dim=2)  # (B, Q, A + 1)
    some = (count > 0).float()
    level = some / seen.clamp(min=1)[..., None]
    squares = (some / count.clamp(min=1) - level).sum(dim=1)
    return (every / count.clamp(min=1)[:, :, None]).flatten(1, 2), level, squares.cpu().numpy()
