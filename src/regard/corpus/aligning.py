"""From the tokens of a model to the words of a corpus: which token is a piece of which word, and maps over words.

Enters: tokens with character spans, spans of words, maps over tokens. Leaves: a word's index for every token, maps
over words.

A word's map (Clark et al. 2019, section 4.1): attention to a word is the sum over its pieces, attention from a word
the mean over its pieces, so that row sums do not change. Tokens that belong to no word (special ones) are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.trace.tokens import Token

if TYPE_CHECKING:
    import torch

Array = np.ndarray[Any, Any]
NONE = -1
ROWS = ("mean", "first")


def check_rows(rows: str) -> str:
    """Check how the pieces of an attending word are to be read."""
    if rows not in ROWS:
        raise UserError(f"rows must be {' or '.join(ROWS)}, not {rows!r}")
    return rows


def word_pieces(tokens: Sequence[Token], spans: Sequence[tuple[int, int]], *, segment: int = 0) -> Array:
    """(tokens,) index of the word each token is a piece of, `NONE` for tokens of no word.

    A token belongs to the word it shares most characters with, the earlier of two; if words have the same
    characters, to the first. `segment` says which text the spans refer to, in an input of two.
    """
    end = max((span[1] for span in spans), default=0)
    owner = [NONE] * end
    for index, (start, stop) in enumerate(spans):
        for place in range(start, stop):
            if owner[place] == NONE:
                owner[place] = index
    found = np.full(len(tokens), NONE, np.int64)
    for position, token in enumerate(tokens):
        if token.start is None or token.end is None or token.segment != segment:
            continue
        covered = [index for index in owner[token.start : token.end] if index != NONE]
        if covered:
            found[position] = max(sorted(set(covered)), key=covered.count)
    return found


def have_pieces(pieces: Array, words: int) -> Array:
    """(words,) booleans: the word has at least one piece."""
    return np.bincount(pieces[pieces != NONE], minlength=words)[:words] > 0


class WordMaps:
    """Maps over the tokens of a batch to maps over its words.

    Parameters
    ----------
    pieces
        For each input, the result of `word_pieces`.
    words
        For each input, its number of words.
    length
        Number of tokens of the batch, padding included.
    rows
        "mean" over the pieces of the attending word, or "first": its first piece alone.
    device
        Where the maps are.
    """

    def __init__(
        self, pieces: Sequence[Array], words: Sequence[int], length: int, *, rows: str = "mean", device: Any = None
    ) -> None:
        import torch

        check_rows(rows)
        belongs = np.zeros((len(pieces), length, max(words, default=0)), np.float32)  # (B, T, W)
        for number, mine in enumerate(pieces):
            places = np.flatnonzero(mine != NONE)
            belongs[number, places, mine[places]] = 1
        self.present = np.asarray(belongs.any(axis=1))  # (B, W): the word has a piece
        weights = belongs if rows == "mean" else belongs * (np.cumsum(belongs, axis=1) == 1)
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)
        self.summing = torch.from_numpy(belongs).to(device)  # (B, T, W)
        self.averaging = torch.from_numpy(np.ascontiguousarray(weights.transpose(0, 2, 1))).to(device)  # (B, W, T)

    def __call__(self, attention: torch.Tensor) -> torch.Tensor:
        """(B, H, T, T) to (B, H, W, W); rows and columns of words without a piece are zero."""
        batch, heads, queries, keys = attention.shape
        words = self.summing.shape[-1]
        summed = attention.reshape(batch, heads * queries, keys) @ self.summing  # (B, HT, T) @ (B, T, W)
        by_query = summed.reshape(batch, heads, queries, words).transpose(1, 2).reshape(batch, queries, heads * words)
        averaged = self.averaging @ by_query  # (B, W, T) @ (B, T, HW)
        return averaged.reshape(batch, words, heads, words).transpose(1, 2)
