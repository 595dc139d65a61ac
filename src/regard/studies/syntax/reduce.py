"""Which heads find syntactic heads: Clark et al. (2019), section 4.2, over a treebank.

Enters: sentences with their trees. Leaves: for every head, direction, relation and half of the sentences, how often the
word with most attention is the syntactic head; the same for fixed offsets; true edges of each head's spanning tree.

Attention between words: summed over the pieces of the attended word, averaged over those of the attending one. The
syntactic head of a word is guessed in two directions: the word it attends to most, and the word that attends to it
most. The word itself and special tokens are not candidates; the root has no head among the words and counts as wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.aligning import WordMaps, have_pieces, word_pieces
from regard.corpus.batches import Item
from regard.corpus.readers.treebank import ROOT, Sentence, tree_of
from regard.corpus.sums import Array
from regard.studies.base import Batch
from regard.studies.spanning import spanning_hits
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer

DIRECTIONS = ("dependent to head", "head to dependent")
OFFSETS = tuple(offset for offset in range(-5, 6) if offset)
NOWHERE = -1  # no word gets attention: no guess
_UNKNOWN = -2  # the head of roots and of words that are left out: no guess is right


class Parsed:
    """An input with its tree: which token is a piece of which word, and which words can be judged."""

    def __init__(self, item: Item) -> None:
        self.sentence: Sentence = tree_of(item.example)
        self.pieces = word_pieces(item.encoded.side.tokens, self.sentence.spans)
        self.heads = np.array([word.head for word in self.sentence.words])
        self.relations = [word.relation for word in self.sentence.words]
        self.present = have_pieces(self.pieces, len(self.heads))
        self.counted = self.present & ((self.heads == ROOT) | self.present[self.heads])
        marks = np.array([word.punctuation for word in self.sentence.words])
        self.joined = self.present & ~marks  # nodes of the spanning tree
        dependents = np.flatnonzero(self.joined & (self.heads != ROOT))
        self.edges = dependents[self.joined[self.heads[dependents]]]  # dependents of the edges between them

    def offset_hits(self) -> Array:
        """(words, 1 + offsets): whether the word counts; whether its head is at each offset."""
        distance = np.where(self.heads == ROOT, 0, self.heads - np.arange(len(self.heads)))
        right = distance[:, None] == np.array(OFFSETS)
        return np.concatenate([self.counted[:, None], right & self.counted[:, None]], axis=1)

    def chain_hits(self) -> int:
        """True edges between neighbours: the spanning tree that joins each word to the next."""
        order = np.cumsum(self.joined)
        return int((np.abs(order[self.edges] - order[self.heads[self.edges]]) == 1).sum())


@dataclass(eq=False)
class Trees:
    """The trees of a batch on the model's device.

    `heads` (B, W) are the words' heads; `of` (B, W, R) says which relation a counted word is an instance of; `nodes`
    (B, W) and `edges` (B, W, W) are of the undirected trees without punctuation.
    """

    maps: WordMaps
    heads: torch.Tensor
    of: torch.Tensor
    nodes: torch.Tensor
    edges: torch.Tensor


class SyntaxTaker(Taker["Trees | None"]):
    """One batch."""

    def __init__(self, batch: Batch, rows: str) -> None:
        super().__init__(batch)
        self.rows = rows
        self.parsed = [Parsed(item) for item in batch.items]
        self.relations = sorted({relation for one in self.parsed for relation in one.relations})
        self.half = np.array([item.number % 2 for item in batch.items])
        self._note_offsets()

    def make(self, view: LayerView) -> Trees | None:
        """The batch's trees; None for a decoder's own words and for cross attention."""
        if not view.same or view.query != self.batch.items[0].encoded.side.name:
            return None
        shape = len(self.parsed), max(len(one.heads) for one in self.parsed)
        heads = np.full(shape, _UNKNOWN)
        of = np.zeros((*shape, len(self.relations)), np.float32)
        nodes, edges = np.zeros(shape, bool), np.zeros((*shape, shape[1]), bool)
        column = {relation: number for number, relation in enumerate(self.relations)}
        for number, one in enumerate(self.parsed):
            words = len(one.heads)
            heads[number, :words] = np.where(one.counted & (one.heads != ROOT), one.heads, _UNKNOWN)
            places = np.flatnonzero(one.counted)
            of[number, places, [column[one.relations[place]] for place in places]] = 1
            nodes[number, :words] = one.joined
            edges[number, one.edges, one.heads[one.edges]] = edges[number, one.heads[one.edges], one.edges] = True
        maps = WordMaps(
            [one.pieces for one in self.parsed],
            [len(one.heads) for one in self.parsed],
            view.visible.shape[-1],
            rows=self.rows,
            device=view.device,
        )
        return Trees(maps, *(view.tensor(array) for array in (heads, of, nodes, edges)))

    def take(self, layer: Layer, attention: torch.Tensor, trees: Trees | None) -> None:
        assert trees is not None  # layers without trees are skipped
        words = trees.maps(attention)
        right = guesses(words) == trees.heads[:, None, None]  # (B, 2, H, W)
        batch, directions, heads, _ = right.shape
        hits = right.reshape(batch, directions * heads, -1).float() @ trees.of  # (B, 2H, W) @ (B, W, R)
        split = self._by_half(hits.reshape(batch, directions, heads, -1).cpu().numpy())
        for number, relation in enumerate(self.relations):
            self.add(layer, f"hits/{relation}", split[..., number])
        joined = spanning_hits(words + words.transpose(-1, -2), trees.nodes, trees.edges)  # (B, H)
        self.add(layer, "tree", self._by_half(joined.cpu().numpy()))

    def _note_offsets(self) -> None:
        """What is the same for all heads: instances, fixed offsets, edges, and words that are left out."""
        counts = np.zeros((len(self.parsed), len(self.relations), 1 + len(OFFSETS)))
        column = {relation: number for number, relation in enumerate(self.relations)}
        for one, mine in zip(self.parsed, counts, strict=True):
            np.add.at(mine, [column[relation] for relation in one.relations], one.offset_hits())
        split = self._by_half(counts)
        for number, relation in enumerate(self.relations):
            self.batch.add(f"relation/{relation}", split[:, :, number])
        edges = np.array([(len(one.edges), one.chain_hits()) for one in self.parsed])
        self.batch.add("edges", self._by_half(edges))
        self.batch.total("words", sum(_words(one) for one in self.parsed))  # type: ignore[arg-type]

    def _by_half(self, values: Array) -> Array:
        """(B, 2, ...): the values (B, ...) of an input in the place of its half, zero in the other."""
        split = np.zeros((len(values), 2, *values.shape[1:]))
        split[np.arange(len(values)), self.half] = values
        return split


def guesses(words: torch.Tensor) -> torch.Tensor:
    """(B, 2, H, W) the guessed head of each word in both directions of maps (B, H, W, W); `NOWHERE` without any.

    The maps' diagonals are set to zero: a word is not its own head.
    """
    words.diagonal(dim1=-2, dim2=-1).zero_()
    most = [words.max(dim=-1), words.max(dim=-2)]
    return torch.stack([torch.where(value > 0, place, NOWHERE) for value, place in most], dim=1)


def _words(one: Parsed) -> Array:
    """Words; those without their own piece; those whose head has none."""
    return np.array([len(one.heads), (~one.present).sum(), (one.present & ~one.counted).sum()], float)
