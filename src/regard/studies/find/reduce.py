"""What heads do with a rule, over a corpus: sums of awake attention on its targets.

Enters: batches. Leaves: the sums of `AwakeSums`, for one pattern, and why a rule could not be asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.aligning import word_pieces
from regard.corpus.batches import Item
from regard.corpus.readers.treebank import tree_of
from regard.corpus.sums import Array
from regard.measures.awake import AwakeLevel, AwakeSums, awake_level, awake_rows, weigh_awake
from regard.measures.reading import is_eligible, seen_keys
from regard.patterns.definitions import Part
from regard.patterns.rules import Rule
from regard.studies.base import Batch
from regard.studies.taking import LayerView, Taker
from regard.trace.places import Grammar, MapContext, context_between

if TYPE_CHECKING:
    from regard.capture import Layer


@dataclass(eq=False)
class RuleTables:
    """For B inputs: targets (B, Q, K) in rows that count, free (B, Q, K) keys where attention does not rest.

    `level` is of the rows that count. rows (B, 2) are how many rows have a target, and in how many of them half or more
    of the keys are targets, which do not count. reasons are codes why inputs could not be asked.
    """

    targets: torch.Tensor
    free: torch.Tensor
    level: AwakeLevel
    rows: Array
    reasons: list[str]

    def sums(self, attention: torch.Tensor) -> AwakeSums:
        """Sums of awake attention on the targets, (B, H, 1) each, from maps (B, H, Q, K)."""
        mass = attention.flatten(2) @ self.targets.flatten(1)[..., None]  # (B, H, Q K) @ (B, Q K, 1)
        awake = (attention * self.free[:, None]).sum(dim=-1)  # (B, H, Q)
        return weigh_awake(mass, awake, self.level)


class RuleTaker(Taker[RuleTables]):
    """One batch: sums of awake attention on the targets of a rule, for every head."""

    def __init__(self, batch: Batch, rule: Rule) -> None:
        super().__init__(batch)
        self.rule = rule

    def make(self, view: LayerView) -> RuleTables:
        return rule_tables(self.batch, view, self.rule)

    def take(self, layer: Layer, attention: torch.Tensor, tables: RuleTables) -> None:
        for name, total in tables.sums(attention)._asdict().items():
            self.add(layer, name, total)
        self.add(layer, "asked", tables.rows)
        for code in set(tables.reasons):
            self.batch.total(f"{layer.kind}/missing/{code}", np.array([tables.reasons.count(code)]))


def rule_tables(batch: Batch, view: LayerView, rule: Rule) -> RuleTables:
    """What a rule means for the inputs of a batch, in layers with one view."""
    targets, rests = np.zeros(view.visible.shape, bool), np.zeros(view.visible.shape, bool)
    counted = np.zeros(view.visible.shape[:2], bool)
    reasons = []
    for number, context in enumerate(_contexts(batch, view)):
        rows, keys = len(context.queries.words), len(context.keys.words)
        part = Part(context, context.queries, 0, view.visible[number, :rows, :keys])
        rests[number, :rows, :keys] = part.rests
        reason = rule.missing(context)
        if reason:
            reasons.append(reason)
        else:
            targets[number, :rows, :keys], counted[number, :rows] = rule.targets(part)
    some = counted & targets.any(axis=-1)
    chance = (targets.sum(axis=-1) / seen_keys(view.visible, view.visible))[..., None]
    awake_chance, few = awake_rows(chance, view.visible, rests)
    counts = some[..., None] & is_eligible(chance) & few
    broad = some & ~counts[..., 0]
    return RuleTables(
        targets=view.tensor((targets & counts).astype(np.float32)),
        free=view.tensor((view.visible & ~rests).astype(np.float32)),
        level=awake_level(*(view.tensor(array.astype(np.float32)) for array in (awake_chance, counts))),
        rows=np.stack([some.sum(axis=1), broad.sum(axis=1)], axis=1),
        reasons=reasons,
    )


def _contexts(batch: Batch, view: LayerView) -> Iterator[MapContext]:
    """The context of each input, with its grammar if its corpus has trees."""
    for item, sides in zip(batch.items, batch.book.sides, strict=True):
        context = context_between(sides[view.query], sides[view.key], view.same, view.causal)
        known = "tree" in item.example.fields and view.same and view.query == item.encoded.side.name
        yield replace(context, grammar=grammar_of(item)) if known else context


def grammar_of(item: Item) -> Grammar:
    """Tags and dependencies of an input from a treebank, by its tokens."""
    sentence = tree_of(item.example)
    tags, heads, relations = ([getattr(w, name) for w in sentence.words] for name in ("upos", "head", "relation"))
    pieces = word_pieces(item.encoded.side.tokens, sentence.spans)
    return Grammar(pieces, np.array(tags), np.array(heads, np.int64), np.array(relations))
