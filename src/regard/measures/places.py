"""Attention to chosen positions: the first token, [CLS], [SEP], punctuation, or any set of keys."""

from __future__ import annotations

from regard.measures.library import array_namespace
from regard.measures.reading import Array, Reading, positions, read


def to_places(attention: Array, chosen: Array, *, visible: Array | None = None, rows: Array | None = None) -> Reading:
    """Attention to a class of keys: m_i = sum of A_ij over the chosen j.

    `chosen` is (keys,) booleans: the [CLS] token, the [SEP] tokens, all special tokens, punctuation. Clark et al.
    (2019) count all rows; the delimiter pattern counts rows of ordinary tokens (pass `rows`).

    Source: Clark et al. (2019) for classes; Vig (2019), "Deconstructing BERT", pattern 6 (delimiters).
    """
    return read(attention, place_targets(attention, chosen), visible=visible, rows=rows)


def to_first(attention: Array, *, visible: Array | None = None, rows: Array | None = None) -> Reading:
    """Attention to the first position, where causal models drop what they do not need (a sink): m_i = A[i, 0].

    Source: Xiao et al. (2023), "Efficient streaming language models with attention sinks", for the name.
    """
    return to_places(attention, positions(attention, attention.shape[-1]) == 0, visible=visible, rows=rows)


def place_targets(attention: Array, chosen: Array) -> Array:
    """(..., queries, keys) booleans with the same keys, `chosen` (..., keys), in every row."""
    shape = (*chosen.shape[:-1], *attention.shape[-2:])
    return array_namespace(attention).broadcast_to(chosen[..., None, :], shape)
