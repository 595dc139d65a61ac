"""Pattern targets of a whole batch, padded: made once, used by every layer.

Enters: the tokens of a batch and what its mask lets each query see. Leaves: tensors of target keys and counted rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.record import Book
from regard.measures.awake import AwakeLevel, awake_level, awake_rows
from regard.measures.bag import is_bag
from regard.measures.reading import is_eligible, seen_keys
from regard.patterns.definitions import PATTERNS, Part, bag_missing
from regard.patterns.levels import LEVELS, WEIGHED
from regard.studies.atlas.carriers import Carried, carried_of
from regard.studies.atlas.stripes import Exchange, exchange_of
from regard.trace.places import Array, MapContext, Places, context_between

if TYPE_CHECKING:
    from regard.models.related import Relation
    from regard.studies.base import Batch
    from regard.studies.find.reduce import RuleTables
    from regard.studies.taking import LayerView


@dataclass(eq=False)
class LevelRows:
    """Which rows count for a level: `counted` (B, Q) 0 or 1, their `rows` (B,), and `chance` (B,) the sum of what
    uniform attention would give; `counted` is None where no input is asked. `weights` are what attention is weighed
    with, (B, Q, K), or (B, K) where that does not depend on the query; `all_count` says that there is nothing to weigh
    in rows that do not count.
    """

    counted: torch.Tensor | None
    rows: Array
    chance: Array
    weights: torch.Tensor | None = None
    all_count: bool = False

    @cached_property
    def table(self) -> torch.Tensor:
        """(B, 1, Q, K) the weights in the rows that count."""
        assert self.weights is not None and self.counted is not None
        weights = self.weights if self.weights.ndim == 3 else self.weights[:, None]
        return (weights * self.counted[..., None])[:, None]

    def by_key(self, attention: torch.Tensor) -> torch.Tensor:
        """(B, H, K) the sum over the rows that count of maps (B, H, Q, K), weighed."""
        return (attention * self.table).sum(dim=-2)

    def weigh(self, attention: torch.Tensor) -> torch.Tensor:
        """(B, H, Q) the level of each row of maps (B, H, Q, K)."""
        assert self.weights is not None
        weights = self.weights[:, None] if self.weights.ndim == 3 else self.weights[:, None, None]
        return (attention * weights).sum(dim=-1)  # a product with a matrix of one column would take three times as long


@dataclass(eq=False)
class Tables:
    """For B inputs, P patterns, of which A can be asked of some input, Q queries and K keys.

    asked (A,) are places in `PATTERNS`. targets (B, Q, K, A) are those of the patterns. whole (B, Q K, A) is the
    same, 0 in rows that do not count, so that one product with the maps sums over keys and rows; rows and chances (B,
    P) are how many rows count and the sum of their chance levels. awake (B, Q K, A) is whole outside the resting
    places, and differs (D,) are the patterns for which the two are not the same; awake_level is of those rows, and
    awake_chance (B, Q, A + 1) their chance, the bag of words last. own (B, Q, K) are
    the ordinary tokens of the query's own sentence where there are two, for the bag of words; size (B, Q) is how many
    they are, bag (B, Q) is 1 where such a row counts, has_bag whether any does. visible (B, Q, K); seen (B, Q) counts
    visible keys, 1 at least; levels are by name; carried are the rows of patterns whose score one word may carry,
    exchange the pairs of queries that are exchanged. What not every study needs is made when it is asked for.
    """

    asked: Array
    make_whole: Callable[[], torch.Tensor]
    make_targets: Callable[[], torch.Tensor]
    rows: Array
    chances: Array
    make_awake: Callable[[], torch.Tensor]
    differs: torch.Tensor
    awake_chance: torch.Tensor
    awake_counted: torch.Tensor
    own: torch.Tensor
    size: torch.Tensor
    bag: torch.Tensor
    has_bag: bool
    visible: torch.Tensor
    seen: torch.Tensor
    levels: dict[str, LevelRows]
    make_carried: Callable[[], list[Carried]]
    exchange: Exchange | None
    ruled: tuple[RuleTables, ...] = ()  # those of saved rules

    @cached_property
    def whole(self) -> torch.Tensor:
        return self.make_whole()

    @cached_property
    def awake(self) -> torch.Tensor:
        return self.make_awake() if len(self.differs) else self.whole

    @cached_property
    def awake_level(self) -> AwakeLevel:
        return awake_level(self.awake_chance, self.awake_counted)

    @cached_property
    def differing(self) -> torch.Tensor:
        """(B, Q K, D) what awake has for the patterns for which it is not whole."""
        return self.awake[..., self.differs]

    @cached_property
    def targets(self) -> torch.Tensor:
        return self.make_targets()

    @cached_property
    def carried(self) -> list[Carried]:
        return self.make_carried()


@dataclass(eq=False)
class _Rows:
    """What is known of a batch row by row: targets (A + 1, B, Q, K) and counted (B, Q, A + 1), the bag of words last;
    weights (B, Q, K) of the W levels that are weighed, which rows count for each level (L, B, Q), rests (B, Q, K).
    """

    targets: Array
    counted: Array
    weights: list[Array]
    levels: Array
    rests: Array


def tables_of(inputs: Batch, view: LayerView, *, resting: bool = True, related: bool = True) -> Tables:
    """Targets of every pattern for the inputs of a batch, or of those alone whose targets are no resting places.

    What cannot be asked of an input counts no row; without `related`, neither do words related by embedding.
    """
    visible = view.visible
    relation = inputs.model._engine.relation() if related else None
    contexts = _contexts(inputs.book, view.query, view.key, view.causal, relation)
    can = np.array([[not pattern.missing(context) for pattern in PATTERNS] for context in contexts])  # (B, P)
    asked = np.flatnonzero(can.any(axis=0) & np.array([resting or not pattern.rests for pattern in PATTERNS]))
    found = _rows(contexts, visible, asked, can)
    seen = np.asarray(seen_keys(visible, visible)).astype(np.float32)  # (B, Q)
    sizes = np.moveaxis(found.targets.sum(axis=-1, dtype=np.float32), 0, -1)  # (B, Q, A + 1)
    size, chance = sizes[..., -1], sizes / seen[..., None]
    counted = found.counted
    counted[..., :-1] &= is_eligible(chance[..., :-1])
    counted[..., -1] &= is_bag(size)
    awake_chance, some = awake_rows(chance, visible, found.rests)
    some[..., -1] = awake_chance[..., -1] < 1  # a sentence may well be half of the words
    awake = counted & some

    def tensor(array: Array) -> torch.Tensor:
        return torch.from_numpy(array.astype(np.float32)).to(view.device)  # in the order of memory that it has

    def folded(rows: Array) -> torch.Tensor:
        """(B, Q K, A) targets of the patterns in the rows (B, Q, A + 1) that count."""
        chosen = found.targets[:-1] & np.moveaxis(rows, -1, 0)[:-1, ..., None]
        by_cell = np.ascontiguousarray(chosen.reshape(len(asked), -1).T).astype(np.float32)  # its rows are looked up
        return torch.from_numpy(by_cell.reshape(len(visible), -1, len(asked))).to(view.device)

    return Tables(
        asked=asked,
        make_whole=lambda: folded(counted),
        make_targets=lambda: tensor(np.moveaxis(found.targets[:-1], 0, -1)),
        rows=of_all(asked, counted[..., :-1].sum(axis=1)),
        chances=of_all(asked, (chance * counted)[..., :-1].sum(axis=1, dtype=np.float64)),
        make_awake=lambda: folded(awake),
        differs=torch.from_numpy(np.flatnonzero((counted != awake)[..., :-1].any(axis=(0, 1)))).to(view.device),
        awake_chance=tensor(awake_chance),
        awake_counted=tensor(awake),
        own=tensor(found.targets[-1]),
        size=tensor(size),
        bag=tensor(counted[..., -1]),
        has_bag=bool(counted[..., -1].any()),
        visible=torch.from_numpy(visible).to(view.device),
        seen=tensor(seen),
        levels=_levels(found.levels, found.weights, visible, seen, tensor),
        make_carried=lambda: carried_of(
            inputs, view.query, contexts, asked, found.targets, counted, chance, view.device
        ),
        exchange=exchange_of(contexts, asked, found.targets, awake, visible & ~found.rests, view.device),
    )


def _rows(contexts: list[MapContext], visible: Array, asked: Array, can: Array) -> _Rows:
    """The tables of each input, padded; `can` (B, P) says what can be asked of it."""
    context = _joined(contexts, visible.shape[1:])
    part = Part(context, context.queries, 0, visible)
    targets = np.empty((len(asked) + 1, *visible.shape), bool)  # by pattern, so that each is written in one go
    counted = np.empty((len(asked) + 1, *visible.shape[:2]), bool)
    for place, number in enumerate(asked):
        found, rows = PATTERNS[number].targets(part)
        np.logical_and(found, can[:, number, None, None], out=targets[place])
        counted[place] = rows & can[:, number, None]
    bag = np.array([not bag_missing(one) for one in contexts])
    np.logical_and(part.own & visible, bag[:, None, None], out=targets[-1])
    counted[-1] = context.queries.content & bag[:, None]
    weights = [np.broadcast_to(level.weights(part), visible.shape).astype(np.float32) for level in WEIGHED]  # type: ignore[misc]
    possible = np.array([[level.possible(one) for one in contexts] for level in LEVELS])
    levels = np.stack([level.counted(part) for level in LEVELS]) & possible[..., None]
    return _Rows(targets, np.moveaxis(counted, 0, -1), weights, levels, part.rests)


def _joined(contexts: list[MapContext], shape: tuple[int, int]) -> MapContext:
    """The contexts of inputs as one of their padded maps (queries, keys), for targets: places and related words."""
    first = contexts[0]
    keys = Places.padded([context.keys for context in contexts], shape[1])
    queries = keys if first.same else Places.padded([context.queries for context in contexts], shape[0])
    known = [np.zeros((1, 1), bool) if context.related is None else context.related for context in contexts]
    most = max(len(table) for table in known)
    related = np.zeros((len(contexts), most, most), bool)
    for row, table in zip(related, known, strict=True):
        row[: len(table), : len(table)] = table
    return replace(first, queries=queries, keys=keys, related=related)


def _levels(
    counted: Array, weights: list[Array], visible: Array, seen: Array, tensor: Callable[[Array], torch.Tensor]
) -> dict[str, LevelRows]:
    """The rows of each level, from which count (L, B, Q), and the weights (B, Q, K) of those that are weighed."""
    means = dict(zip([level.name for level in WEIGHED], weights, strict=True))
    found = {}
    for level, rows in zip(LEVELS, counted, strict=True):
        mine, every = None, False
        if level.name in means:
            weighed = (means[level.name] * visible).sum(axis=-1)
            chance, every = weighed / seen, not weighed[~rows].any()
            mine = tensor(_by_key(means[level.name], visible))
        else:
            chance = np.full(seen.shape, np.nan) if level.uniform is None else level.uniform(seen)
        total = np.where(rows, chance, 0.0).sum(axis=1)
        found[level.name] = LevelRows(tensor(rows) if rows.any() else None, rows.sum(axis=1), total, mine, every)
    return found


def _by_key(weights: Array, visible: Array) -> Array:
    """Weights (B, Q, K) as (B, K) where all queries have the same for the keys they see."""
    columns = weights.max(axis=1)
    same = (weights * visible == columns[:, None] * visible).all()
    return np.asarray(columns if same else weights)


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
