"""What heads look at by grammar, where the corpus has trees: parts of speech, and relations both ways.

Enters: awake attention of a batch of sentences with trees. Leaves: sums over pairs of words, with what the distances
alone would give: the same attention, spread evenly over all pairs of words as far apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.aligning import WordMaps, have_pieces, word_pieces
from regard.corpus.readers.treebank import ROOT, Sentence, tree_of
from regard.corpus.sums import Array
from regard.studies.base import Batch, key
from regard.studies.heads.distances import DISTANCES, distance_sums, distance_table

if TYPE_CHECKING:
    from regard.capture import Layer

# Universal parts of speech (Universal Dependencies 2), and all that is none of them.
UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ"),
    *("SYM", "VERB", "X"),
)
# Relations of Universal Dependencies 2, without their subtypes.
RELATIONS = (
    *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod"),
    *("discourse", "aux", "cop", "mark", "nmod", "appos", "nummod", "acl", "amod", "det", "clf", "case", "conj", "cc"),
    *("fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith", "reparandum", "punct", "dep"),
)
_KINDS = {name: place for place, name in enumerate(UPOS)}
_LINKS = {name: place for place, name in enumerate(RELATIONS)}


class WordGrammar:
    """The trees of a batch; words without a piece of their own are left out."""

    def __init__(self, batch: Batch, sentences: list[Sentence]) -> None:
        self.batch = batch
        words = max(len(sentence.words) for sentence in sentences)
        self.kinds = np.zeros((len(sentences), words, len(UPOS)), np.float32)  # (B, W, U)
        self.heads = np.zeros((len(sentences), words), np.int64)  # (B, W), 0 for none
        self.links = np.zeros((len(sentences), words, len(RELATIONS)), np.float32)  # (B, W, R)
        self.pieces = []
        for number, (item, sentence) in enumerate(zip(batch.items, sentences, strict=True)):
            pieces = word_pieces(item.encoded.side.tokens, sentence.spans)
            self.pieces.append(pieces)
            self._note(number, sentence, have_pieces(pieces, len(sentence.words)))
        self.counts = [len(sentence.words) for sentence in sentences]
        self.present = np.asarray(self.kinds.any(axis=-1))  # (B, W)
        self._maps: WordMaps | None = None

    @classmethod
    def of(cls, batch: Batch) -> WordGrammar | None:
        """The grammar of a batch; None where its examples have no trees."""
        if any("tree" not in item.example.fields for item in batch.items):
            return None
        return cls(batch, [tree_of(item.example) for item in batch.items])

    def take(self, layer: Layer, outside: torch.Tensor) -> None:
        """Add a layer's awake attention (B, H, Q, K)."""
        if self._maps is None:
            self._maps = WordMaps(self.pieces, self.counts, outside.shape[-1], device=outside.device)
            self._note_pairs()
        words = self._maps(outside)  # (B, H, W, W)
        words.diagonal(dim1=-2, dim2=-1).zero_()
        words *= self._tensor(self.present[:, :, None] * self.present[:, None], words)[:, None]
        kinds = self._tensor(self.kinds, words)
        by_key = words @ kinds[:, None]  # (B, H, W, U)
        self._total(layer, "upos", torch.einsum("bhqk,bqu->huk", by_key, kinds))
        self._total(layer, "upos_distance", torch.einsum("bhqd,bqu->hud", _by_distance(words), kinds))
        links = self._tensor(self.links, words)
        heads = torch.from_numpy(self.heads).to(words.device)[:, None, :, None].expand(-1, words.shape[1], -1, 1)
        up = words.gather(3, heads)[..., 0]  # (B, H, W): from a word to its head
        down = words.transpose(2, 3).gather(3, heads)[..., 0]
        self._total(layer, "relation_up", torch.einsum("bhw,bwr->hr", up, links))
        self._total(layer, "relation_down", torch.einsum("bhw,bwr->hr", down, links))
        self._total(layer, "word_distance", distance_sums(words).sum(dim=0))

    def _note(self, number: int, sentence: Sentence, present: Array) -> None:
        for place, word in enumerate(sentence.words):
            if not present[place]:
                continue
            self.kinds[number, place, _KINDS.get(word.upos, _KINDS["X"])] = 1
            link = _LINKS.get(word.relation.partition(":")[0])
            if link is not None and word.head != ROOT and present[word.head]:
                self.heads[number, place] = word.head
                self.links[number, place, link] = 1

    def _note_pairs(self) -> None:
        """How many pairs there are, by distance: of parts of speech, of relations both ways, and of all words."""
        width = self.present.shape[1]
        far = distance_table(width, width)
        table = np.zeros((len(UPOS), len(DISTANCES), len(UPOS)))
        relations = np.zeros((2, len(RELATIONS), len(DISTANCES)))
        for kinds, heads, links in zip(self.kinds, self.heads, self.links, strict=True):
            there = np.flatnonzero(kinds.any(axis=-1))
            mine = kinds[there].argmax(axis=-1)
            pairs = np.ix_(there, there)
            apart = ~np.eye(len(there), dtype=bool)
            one, other = (np.broadcast_to(part, apart.shape)[apart] for part in (mine[:, None], mine[None]))
            np.add.at(table, (one, far[pairs][apart], other), 1)
            word, link = np.nonzero(links)
            np.add.at(relations[0], (link, far[word, heads[word]]), 1)
            np.add.at(relations[1], (link, far[heads[word], word]), 1)
        self.batch.total("grammar/upos_pairs", table)
        self.batch.total("grammar/relation_pairs", relations)

    def _total(self, layer: Layer, name: str, values: torch.Tensor) -> None:
        self.batch.total(key(layer, name), values.cpu().numpy())

    def _tensor(self, array: Array, like: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, np.float32)).to(like.device)


def _by_distance(words: torch.Tensor) -> torch.Tensor:
    """(B, H, W, 67) each row of maps (B, H, W, W) by distance."""
    width = words.shape[-1]
    places = torch.from_numpy(distance_table(width, width)).to(words.device)
    found = words.new_zeros(*words.shape[:-1], len(DISTANCES))
    return found.scatter_add_(-1, places.expand(words.shape), words)
