"""Related words: which words of a text are close in a model's own input embedding.

Enters: a module with an input embedding, and its tokenizer. Leaves: a `Relation`, which marks the related words of a
side.

A word's vector is the mean of its pieces' rows of the embedding matrix, minus the mean of all rows. Two different words
(lower-cased) are related if the cosine of their vectors is at least tau, chosen so that 1 % of random pairs of
vocabulary words pass. A vocabulary word is a piece that begins a word and is a complete one: letters, perhaps digits,
no marks. 1,024 of them are drawn with a fixed seed, and all their pairs count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from regard.trace.places import Array, places_of
from regard.trace.tokens import Side, is_word

PASS = 0.01  # share of random pairs of vocabulary words that are related
DRAWN = 4096  # pieces looked at: enough if a quarter of the vocabulary are words
WORDS = 1024  # words whose pairs set tau: it moves by 1 % between seeds, and takes as long as one short text
FEWEST = 100  # with fewer words, 1 % of the pairs are too few to set tau
_BLOCK = 1024  # rows of the embedding, or of the table of cosines, that are held at once
_STARTS = ("Ġ", "▁")  # marks of pieces that begin a word, if a vocabulary has them; WordPiece marks the others


@dataclass(frozen=True, eq=False)
class Relation:
    """Words that are close in an embedding: its rows, their mean, and the lowest cosine of related words."""

    weight: torch.Tensor  # (vocabulary, d), the model's own
    version: int
    centre: torch.Tensor  # (d,)
    tau: float
    decoder: bool  # whether the decoder of an encoder-decoder model uses the same rows

    def relate(self, side: Side) -> Side:
        """The side with its related words; unchanged if its positions are not words of this embedding."""
        words = places_of(side, {}).words
        (table,) = self.tables([side], [words])
        if table is None:
            return side
        spoken = np.flatnonzero(words >= 0)
        firsts = spoken[np.unique(words[spoken], return_index=True)[1]]
        return replace(side, related=firsts[np.argwhere(np.triu(table))].astype(np.int32))

    @torch.no_grad()
    def tables(self, sides: Sequence[Side], words: Sequence[Array]) -> list[Array | None]:
        """(W + 1, W + 1) booleans for each side: whether its words 0 .. W - 1 are related; False for -1, the last.

        `words` numbers the word of each position. None if the positions are not words of this embedding.
        """
        ids = [np.array([-1 if token.id is None else token.id for token in side.tokens]) for side in sides]
        if any(side.name == "decoder" and not self.decoder for side in sides):
            return [None] * len(sides)
        highest = [int(some.max(initial=-1)) for some in ids]
        if min(highest) < 0 or max(highest) >= len(self.weight):
            return [None] * len(sides)
        ends = np.cumsum([int(some.max(initial=-1)) + 1 for some in words])
        starts = [0, *ends[:-1]]
        spoken = [(some >= 0) & (mine >= 0) for some, mine in zip(words, ids, strict=True)]
        numbers = [some[here] + start for some, here, start in zip(words, spoken, starts, strict=True)]
        pieces = np.concatenate([mine[here] for mine, here in zip(ids, spoken, strict=True)])
        vectors = self.vectors(pieces, np.concatenate(numbers), int(ends[-1]))
        return [self._table(vectors[start:end]) for start, end in zip(starts, ends, strict=True)]

    def _table(self, vectors: torch.Tensor) -> Array:
        count = len(vectors)
        table = np.zeros((count + 1, count + 1), dtype=bool)
        for start in range(0, count, _BLOCK):
            near = vectors[start : start + _BLOCK] @ vectors.T >= self.tau
            table[start : start + len(near), :count] = near.cpu().numpy()
        upper = np.triu(table, 1)
        return upper | upper.T  # a product need not be symmetric to the last bit

    def vectors(self, ids: Array, words: Array, count: int) -> torch.Tensor:
        """(count, d) vectors of length 1 of the words that pieces belong to; 0 for words without pieces."""
        rows = self.weight[torch.from_numpy(ids).to(self.weight.device)].float() - self.centre
        total = rows.new_zeros((count, rows.shape[1]))
        total.index_add_(0, torch.from_numpy(words).to(rows.device), rows)  # sum or mean: the same direction
        return torch.nn.functional.normalize(total, dim=1)


def with_related(sides: Mapping[str, Side], relation: Relation | None) -> Mapping[str, Side]:
    """Sides with their related words, if a relation is given."""
    return sides if relation is None else {name: relation.relate(side) for name, side in sides.items()}


def relation_of(module: torch.nn.Module, tokenizer: Any, known: Relation | None = None) -> Relation | None:
    """How the words of a model are related; None if it has no word embedding, or too few words.

    `known` is returned again as long as the weights are those it was made of.
    """
    weight = _weight(module)
    if weight is None or tokenizer is None:
        return None
    version = 0 if weight.is_inference() else weight._version
    if known is not None and known.weight is weight and known.version == version:
        return known
    words = vocabulary_words(tokenizer, len(weight))
    if len(words) < FEWEST:
        return None
    with torch.no_grad():
        relation = Relation(weight, version, _mean(weight), 0.0, _decoder_reads(module, weight))
        tau = quantile(relation.vectors(np.array(words), np.arange(len(words)), len(words)))
    return replace(relation, tau=tau) if tau > 0 else None  # an embedding in which all words are alike relates none


def vocabulary_words(tokenizer: Any, rows: int) -> list[int]:
    """Ids of up to `WORDS` random words among the pieces of a vocabulary with `rows` embedded pieces."""
    count = min(len(tokenizer), rows)
    drawn = np.random.default_rng(0).permutation(count)[:DRAWN].tolist()
    pieces = [piece if isinstance(piece, str) else "" for piece in tokenizer.convert_ids_to_tokens(drawn)]
    mark = next((mark for mark in _STARTS if sum(piece.startswith(mark) for piece in pieces) > len(pieces) // 10), None)
    found: dict[str, int] = {}
    for number, piece in zip(drawn, pieces, strict=True):
        if piece.startswith("##") if mark is None else not piece.startswith(mark):
            continue
        text = tokenizer.decode([number]).strip().lower()
        if is_word(text):
            found.setdefault(text, number)
        if len(found) == WORDS:
            break
    return list(found.values())


def quantile(vectors: torch.Tensor) -> float:
    """The cosine that `PASS` of all pairs of vectors reach."""
    cosines = (vectors @ vectors.T).cpu().numpy()[np.triu_indices(len(vectors), 1)]
    place = len(cosines) - max(1, round(PASS * len(cosines)))
    return float(np.partition(cosines, place)[place])


def _weight(module: torch.nn.Module) -> torch.Tensor | None:
    """(vocabulary, d) rows of a module's input embedding, if it has one."""
    try:
        weight = module.get_input_embeddings().weight  # type: ignore[operator]
    except (AttributeError, NotImplementedError):
        return None
    usable = isinstance(weight, torch.Tensor) and weight.ndim == 2 and weight.is_floating_point()
    return weight if usable and not weight.is_meta else None


def _mean(weight: torch.Tensor) -> torch.Tensor:
    """(d,) mean of all rows, a block at a time: all of them in float32 may not fit in memory."""
    total = torch.zeros(weight.shape[1], device=weight.device)
    for start in range(0, len(weight), _BLOCK):
        total += weight[start : start + _BLOCK].float().sum(0)
    return total / len(weight)


def _decoder_reads(module: Any, weight: torch.Tensor) -> bool:
    """Whether the decoder of an encoder-decoder model embeds its tokens with these rows."""
    if not getattr(getattr(module, "config", None), "is_encoder_decoder", False):
        return False
    try:
        own = module.get_decoder().get_input_embeddings().weight
    except (AttributeError, NotImplementedError):
        return False
    return bool(own.data_ptr() == weight.data_ptr())
