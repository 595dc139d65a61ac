"""Weights alpha and contributions ||alpha f(x)|| (Kobayashi et al. 2020).

Enters: a corpus. Leaves: shares of both for [CLS], [SEP], punctuation and the rest by head; of the heads' vector sum by
layer; and the mean ||f(x)|| of every token of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.capture.rebuild import output_weight
from regard.corpus.sums import Array
from regard.measures.share import class_rows, row_shares
from regard.studies.base import key
from regard.studies.taking import LayerView, Taker, places_in

if TYPE_CHECKING:
    from regard.capture import Layer

CLASSES = ("[CLS]", "[SEP]", "punctuation", "other")
VOCABULARY = "vocabulary"
_AT_ONCE = 4_000_000  # numbers of f(x) held at a time


@dataclass(eq=False)
class Classes:
    """For the inputs of a batch: `keys` (B, K, 4) the class of each key, `rows` (B, Q) weights that make sums over rows
    means, `counted` (B, 4) which classes an input has, `ids` (B, K) the tokens' numbers in the vocabulary, -1 for
    special tokens and padding.
    """

    keys: torch.Tensor
    rows: torch.Tensor
    counted: torch.Tensor
    ids: Array


class NormsTaker(Taker[Classes]):
    """One batch."""

    def make(self, view: LayerView) -> Classes:
        batch, queries, keys = view.visible.shape
        classes = np.zeros((batch, keys, len(CLASSES)), np.float32)
        rows = np.zeros((batch, queries), np.float32)
        ids = np.full((batch, keys), -1)
        for number, (query, places) in enumerate(places_in(self.batch, view)):
            first = np.arange(len(places.content)) == 0 if view.causal else places.first
            closing, marks = places.later & ~first, places.punctuation & ~first
            classes[number, : len(first)] = np.stack([first, closing, marks, ~(first | closing | marks)], axis=-1)
            rows[number, : len(query.content)] = 1 / len(query.content)
            tokens = self.batch.book.sides[number][view.key].tokens
            ids[number, : len(first)] = [-1 if t.special or t.id is None else t.id for t in tokens]
        counted = np.asarray(classes.any(axis=1), np.float32)
        return Classes(view.tensor(classes), view.tensor(rows), view.tensor(counted), ids)

    def take(self, layer: Layer, attention: torch.Tensor, classes: Classes) -> None:
        counted = classes.counted[:, None]
        norms = layer.norms()
        members = classes.keys[:, None]  # (B, 1, K, 4)
        known = torch.ones_like(attention[:, :, 0]) if norms is None else norms
        weights, contributions, shares = class_rows(attention, known, members)
        self.add(layer, "weights", _over_rows(weights, classes.rows) * counted)
        self.add(layer, "inputs", classes.counted)
        if norms is None:
            return
        self._add_lengths(layer, "norms", contributions, shares, classes)
        sums = vector_sums(layer, attention)[:, None]  # (B, 1, Q, K)
        together = sums @ members
        self._add_lengths(layer, "sums", together, row_shares(together, together.sum(-1, keepdim=True)), classes)
        self._vocabulary(layer, norms, classes.ids)

    def _add_lengths(
        self, layer: Layer, name: str, lengths: torch.Tensor, shares: torch.Tensor, classes: Classes
    ) -> None:
        """Record lengths (B, H, Q, 4) as they are, and as shares of each row's total."""
        counted = classes.counted[:, None]
        self.add(layer, f"{name}_raw", _over_rows(lengths, classes.rows) * counted)
        self.add(layer, f"{name}_share", _over_rows(shares, classes.rows) * counted)

    def _vocabulary(self, layer: Layer, norms: torch.Tensor, ids: Array) -> None:
        """Add ||f(x)||, the mean over heads, to the sums of the tokens' ids."""
        chosen = ids >= 0
        means = norms.mean(dim=1).cpu().numpy()  # (B, K)
        size = self.batch.vocabulary
        totals = np.bincount(ids[chosen], weights=means[chosen].astype(np.float64), minlength=size)
        self.batch.total(key(layer, f"{VOCABULARY}_norms"), totals)
        self.batch.total(key(layer, f"{VOCABULARY}_counts"), np.bincount(ids[chosen], minlength=size))


def _over_rows(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """(B, H, C) means over rows of values (B, H, Q, C)."""
    return torch.einsum("bhqc,bq->bhc", values, rows)


def vector_sums(layer: Layer, attention: torch.Tensor) -> torch.Tensor:
    """(B, Q, K) lengths ||sum over heads of alpha f(x)||.

    No vector of the output's width is made for each pair of positions: with the f of the heads at key j as rows of F_j,
    the square is a' (F_j F_j') a for the weights a of the heads, an H x H matrix per key.
    """
    assert not isinstance(layer.projection, str)
    values = layer.values()  # (B, H, K, e)
    batch, heads, keys, width = values.shape
    weight = output_weight(layer.projection).reshape(heads, width, -1)  # (H, e, d)
    step = max(1, _AT_ONCE // (batch * heads * weight.shape[-1]))
    found = attention.new_empty((batch, attention.shape[2], keys))
    for start in range(0, keys, step):
        part = slice(start, start + step)
        outputs = (values[:, :, part] @ weight).transpose(1, 2)  # (B, k, H, d)
        gram = outputs @ outputs.transpose(-1, -2)  # (B, k, H, H)
        alpha = attention[..., part].permute(0, 3, 2, 1)  # (B, k, Q, H)
        squares = ((alpha @ gram) * alpha).sum(-1)  # (B, k, Q)
        found[..., part] = squares.clamp(min=0).sqrt().transpose(1, 2)
    return found
