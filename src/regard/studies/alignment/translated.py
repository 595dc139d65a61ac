"""A sentence and its translation through a translation model: which word each word of the translation is read from.

Enters: pairs of sentences and their links. Leaves: for every cross head, which words it links wrongly.

Cross attention is shifted by one: the row of a token is the one from which the next token is chosen. So the links of a
word are read in the rows before its tokens; those of the tokens themselves are kept beside, as a control.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.readers.translations import LINE
from regard.corpus.sums import Array
from regard.studies.alignment.links import Judged, Reference, words_of

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model
    from regard.trace.tokens import Side

Words = list[tuple[str, int, int]]


@dataclass(eq=False)
class Pair:
    """A pair of sentences, and the cross heads' maps between their words."""

    number: int
    judged: Judged
    source: Words
    target: Words
    shifted: list[Array]  # of each layer: (heads, words of the translation, words of the sentence)
    own: list[Array]  # the same, a row late

    def misses(self, sets: list[list[int]], *, shifted: bool = True) -> Array:
        """(sets, judged words) 1 where the mean map of some heads is largest at a word that is not linked."""
        maps = np.concatenate(self.shifted if shifted else self.own)
        best = np.stack([maps[heads].mean(axis=0).argmax(axis=-1) for heads in sets])  # (sets, target words)
        return self._wrong(best[:, self.judged.words])

    @property
    def diagonal(self) -> Array:
        """(judged words,) the same for the word at the same share of the sentence."""
        share = (np.array(self.judged.words) + 0.5) / len(self.target)
        return self._wrong(np.floor(share * len(self.source)).astype(int)[None])[0]

    def _wrong(self, best: Array) -> Array:
        right = [
            [(int(i), j) in self.judged.links for i, j in zip(row, self.judged.words, strict=True)] for row in best
        ]
        return np.asarray(1.0 - np.array(right, float))


def pairs_of(model: Model, items: list[Item], reference: Reference) -> Iterator[Pair]:
    """The pairs of a batch that can be judged, with their maps."""
    if not model.is_encoder_decoder:
        raise UserError(f"{model.name} does not translate; name an encoder-decoder model, such as translator")
    known = [(item, pair) for item in items if (pair := _asked(model, item, reference)) is not None]
    if not known:
        return
    inputs, book = model._engine.collate([item.encoded for item, _ in known], [item.example.pair for item, _ in known])
    joins = [_Joins(pair, sides) for (_, pair), sides in zip(known, book.sides, strict=True)]

    def take(layer: Layer) -> None:
        if layer.kind == "cross":
            for maps, join in zip(layer.attention().float().cpu().numpy(), joins, strict=True):
                join.add(maps)

    model._engine.stream(inputs, book, take)
    for _, pair in known:
        if not pair.shifted:
            raise UserError(f"{model.name} shows no cross attention")
        yield pair


def _asked(model: Model, item: Item, reference: Reference) -> Pair | None:
    """An input whose links are known, if model and decoder take all of it."""
    source, target = words_of(item.example.text), words_of(item.example.pair or "")
    line: Any = item.example.fields[LINE]
    judged = reference.judged([word for word, *_ in source], [word for word, *_ in target], line)
    if judged is None or item.encoded.cut:
        return None
    try:
        model._engine.target_row(item.example.pair or "")
    except UserError:  # too long for the decoder
        return None
    return Pair(item.number, judged, source, target, [], [])


class _Joins:
    """Joins the tokens of a pair into words: weights of a word are summed, its rows averaged."""

    def __init__(self, pair: Pair, sides: dict[str, Side]) -> None:
        self._pair = pair
        reads = next(side for name, side in sides.items() if name != "decoder")
        self._keys = _members(reads, pair.source)  # (words, tokens)
        rows = _members(sides["decoder"], pair.target)
        self._own = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
        self._shifted = np.roll(self._own, -1, axis=1)  # the first token is the start, of no word

    def add(self, maps: Array) -> None:
        """Add a layer's maps (heads, decoder tokens, encoder tokens), padded."""
        real = maps[:, : self._own.shape[1], : self._keys.shape[1]]
        self._pair.shifted.append(self._shifted @ real @ self._keys.T)
        self._pair.own.append(self._own @ real @ self._keys.T)


def _members(side: Side, words: Words) -> Array:
    """(words, tokens) 1 where a token belongs to a word."""
    starts = np.array([start for _, start, _ in words])
    found = np.zeros((len(words), len(side.tokens)))
    for place, token in enumerate(side.tokens):
        if token.end and not token.special:
            found[np.searchsorted(starts, token.end - 1, side="right") - 1, place] = 1
    return found
