"""Attention to special tokens and neighbours, and how wide it is: the general figures of Clark et al. (2019).

Enters: a corpus. Leaves: per head and input, the mean of each measure over all rows (special ones too). Inputs have
equal weight, however long they are; those without [SEP], or without . and ,, do not count for what goes there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.entropy import entropy_of, mixed_logs, renormalised
from regard.measures.offset import offset_cells, offset_rows
from regard.measures.reading import seen_keys
from regard.studies.taking import LayerView, Taker, uniform_of
from regard.trace.places import borders_of
from regard.trace.tokens import Side

if TYPE_CHECKING:
    from regard.capture import Layer

MARKS = (".", ",")
SHARES = ("itself", "next token", "previous token", "[CLS]", "[SEP]", ". and ,", "other to [SEP]", "[SEP] to [SEP]")
MEASURES = (*SHARES, "entropy", "entropy of [CLS]")


def measures_of(kind: str) -> tuple[str, ...]:
    """Names of the measures; a causal model has a first token in place of [CLS]."""
    if kind != "decoder":
        return MEASURES
    return tuple(name.replace("[CLS]", "the first token") for name in MEASURES)


@dataclass(eq=False)
class TokenRows:
    """Weights of the rows and keys of a batch.

    `classes` (B, K, 3) marks the keys [CLS] (or first), [SEP] and . or ,; `rows` (B, Q, 4) are weights that make sums
    over rows means over: all rows, those that are not [SEP], those that are, and the first row alone; `same` says
    whether offsets are meaningful; `counted` (B, 10) which measures exist for an input; `seen` (B, Q) counts
    visible keys.
    """

    classes: torch.Tensor
    rows: torch.Tensor
    same: bool
    counted: torch.Tensor
    seen: torch.Tensor
    chance: torch.Tensor | None = None


class TokensTaker(Taker["TokenRows"]):
    """One batch."""

    def make(self, view: LayerView) -> TokenRows:
        batch, queries, keys = view.visible.shape
        classes = np.zeros((batch, keys, 3), np.float32)
        groups = np.zeros((batch, queries, 4), np.float32)
        for number, sides in enumerate(self.batch.book.sides):
            border = borders_of(sides[view.key])
            opening = np.arange(len(border)) == 0
            marks = [token.text.strip() in MARKS for token in sides[view.key].tokens] & ~border
            first = opening if view.causal else opening & border
            classes[number, : len(border)] = np.stack([first, border & ~opening, marks], axis=-1)
            groups[number, : len(sides[view.query])] = _groups(sides[view.query])
        tables = TokenRows(
            view.tensor(classes),
            view.tensor(groups),
            view.same,
            view.tensor(_counted(classes, groups, view)),
            view.tensor(seen_keys(view.visible, view.visible).astype(np.float32)),
        )
        tables.chance = _numbers(uniform_of(view), tables)[:, 0]  # (B, 10)
        return tables

    def take(self, layer: Layer, attention: torch.Tensor, tables: TokenRows) -> None:
        assert tables.chance is not None
        sink = layer.named.operation.sink is not None
        self.add(layer, "means", _numbers(attention, tables, sink) * tables.counted[:, None])
        self.add(layer, "inputs", tables.counted)
        self.add(layer, "chance", tables.chance * tables.counted)


def _groups(side: Side) -> Array:
    """(Q, 4) weights of the rows of one input that make sums over rows means."""
    opening = np.arange(len(side)) == 0
    later = borders_of(side) & ~opening
    some = np.stack([np.ones_like(later), ~later, later, opening], axis=-1)
    return np.asarray(some / np.maximum(some.sum(axis=0), 1))


def _counted(classes: Array, groups: Array, view: LayerView) -> Array:
    """(B, 10) which measures an input has."""
    batch = len(classes)
    always, offsets = np.ones(batch, bool), np.full(batch, view.same)
    later = offsets & (not view.causal)
    first, closing, marks = (classes[..., n].any(axis=1) for n in range(3))
    other, separators = groups[..., 1].any(axis=1), groups[..., 2].any(axis=1)
    opened = first if view.same else np.zeros(batch, bool)
    names = (offsets, later, offsets, first, closing, marks, closing & other, closing & separators, always, opened)
    return np.stack(names, axis=-1).astype(np.float32)


def _numbers(attention: torch.Tensor, tables: TokenRows, sink: bool = False) -> torch.Tensor:
    """(B, H, 10) the measures of maps (B, H, Q, K), zero where they do not apply."""
    rows = tables.rows[:, None]  # (B, 1, Q, 4)
    to_class = rows.mT @ attention @ tables.classes[:, None]  # (B, H, 4, 3)
    lines = offset_rows(attention, offset_cells(attention, (0, 1, -1)))  # (B, H, 3, Q)
    offsets = (lines @ rows)[..., 0] * float(tables.same)
    seen = tables.seen[:, None]
    entropy = entropy_of(mixed_logs(renormalised(attention) if sink else attention, seen), seen)  # (B, H, Q)
    wide = (entropy[:, :, None] @ rows)[:, :, 0]  # (B, H, 4)
    parts = offsets, to_class[:, :, 0], to_class[:, :, 1:3, 1], wide[..., :1], wide[..., 3:]
    return torch.cat(parts, dim=-1)
