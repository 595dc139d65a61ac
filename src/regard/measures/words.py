"""Attention to the same word (here and elsewhere, in the other sentence, its other pieces) and to related words.

Words are integers, one a token: equal numbers are the same word (lower-cased); negative ones take no part
(special tokens, punctuation).
"""

from __future__ import annotations

from regard.measures.library import array_namespace
from regard.measures.reading import Array, Reading, positions, read


def same_word(
    attention: Array,
    words: Array,
    *,
    key_words: Array | None = None,
    itself: Array | None = None,
    visible: Array | None = None,
    rows: Array | None = None,
) -> Reading:
    """Attention to all occurrences of the query's word: m_i = sum of A_ij over word_j = word_i.

    Rows count where the word has at least two places. `itself` (queries, keys) marks the pairs that are the same
    place (`offset_targets(attention, 0)`, or all pairs of pieces of one word): given, they are not targets, which
    shows whether a head looks for the word elsewhere or only at itself.

    Source: Vig (2019), "Deconstructing BERT", pattern 3 (identical words).
    """
    others = words if key_words is None else key_words
    twice = repeated(words, others)
    targets = word_targets(words, others, itself=itself)
    return read(attention, targets, visible=visible, rows=twice if rows is None else twice & rows)


def same_word_in_other_segment(
    attention: Array,
    words: Array,
    segments: Array,
    *,
    visible: Array | None = None,
    rows: Array | None = None,
) -> Reading:
    """Attention to the query's word in the other sentence.

    Source: Vig (2019), "Deconstructing BERT", pattern 4.
    """
    return read(attention, word_targets(words, words, segments=segments), visible=visible, rows=rows)


def related_word(
    attention: Array,
    words: Array,
    related: Array,
    *,
    segments: Array | None = None,
    visible: Array | None = None,
    rows: Array | None = None,
) -> Reading:
    """Attention to words related to the query's: m_i = sum of A_ij over related[word_i, word_j].

    `related` is (W + 1, W + 1) booleans for words 0 .. W - 1; its diagonal is False, and its last row and column are,
    for tokens that are no word. With `segments`, words of the other sentence only.

    Source: Vig (2019), "Deconstructing BERT", patterns 3 and 4 (related words).
    """
    targets = related_targets(words, words, related)
    if segments is not None:
        targets = targets & (segments[:, None] != segments[None, :])
    return read(attention, targets, visible=visible, rows=rows)


def other_pieces(
    attention: Array, pieces: Array, *, visible: Array | None = None, rows: Array | None = None
) -> Reading:
    """Attention to the other pieces of the query's own word: m_i = sum of A_ij over piece_j = piece_i, j != i.

    `pieces` numbers the words along the text, so that two occurrences of a word differ. The cheap stand-in for
    predictive words. Source: Vig (2019), pattern 5.
    """
    return read(attention, piece_targets(pieces, pieces), visible=visible, rows=rows)


def word_targets(
    words: Array, key_words: Array, *, itself: Array | None = None, segments: Array | None = None
) -> Array:
    """(queries, keys) booleans: the same word; not at `itself`, or only across `segments`, where given."""
    targets = (words[..., :, None] == key_words[..., None, :]) & (words[..., :, None] >= 0)
    if itself is not None:
        targets = targets & ~itself
    return targets if segments is None else targets & (segments[..., :, None] != segments[..., None, :])


def related_targets(words: Array, key_words: Array, related: Array) -> Array:
    """(..., queries, keys) booleans: a related word, by tables (..., W + 1, W + 1)."""
    xp = array_namespace(words)
    last = related.shape[-1] - 1  # where -1 is looked up
    query, key = (xp.where(some < 0, xp.full_like(some, last), some) for some in (words, key_words))
    rows = xp.take_along_axis(related, query[..., :, None], axis=-2)  # (..., Q, W + 1)
    return xp.take_along_axis(rows, key[..., None, :], axis=-1)


def repeated(words: Array, key_words: Array) -> Array:
    """(queries,) booleans: the query's word has at least two places among the keys."""
    xp = array_namespace(words)
    return xp.sum(xp.astype(word_targets(words, key_words), xp.int64), axis=-1) >= 2


def piece_targets(pieces: Array, key_pieces: Array, *, start: int = 0) -> Array:
    """(queries, keys) booleans: another piece of the same word, for queries that begin at `start`."""
    query = positions(pieces, pieces.shape[-1])[:, None] + start
    key = positions(pieces, key_pieces.shape[-1])[None, :]
    same = pieces[..., :, None] == key_pieces[..., None, :]
    return same & (pieces[..., :, None] >= 0) & (query != key)
