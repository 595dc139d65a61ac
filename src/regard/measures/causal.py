"""Patterns of causal models: repeated tokens and induction. (Previous token: `offset`; sink: `places.to_first`.)

Tokens are integers (vocabulary ids); negative ones take no part.
"""

from __future__ import annotations

from regard.measures.library import array_namespace
from regard.measures.reading import Array, Reading, positions, read


def duplicate_token(
    attention: Array, tokens: Array, *, visible: Array | None = None, rows: Array | None = None
) -> Reading:
    """Attention to earlier occurrences of the query's token: m_i = sum of A_ij over j < i, token_j = token_i.

    Source: Wang et al. (2022), "Interpretability in the wild" (duplicate token heads).
    """
    return read(attention, duplicate_targets(tokens, tokens), visible=visible, rows=rows)


def induction(attention: Array, tokens: Array, *, visible: Array | None = None, rows: Array | None = None) -> Reading:
    """Attention to what followed the query's token before: m_i = sum of A_ij over 0 < j < i, token_(j-1) = token_i.

    Keys that hold the query's own token are left out: in a run of one token, induction and repetition are the same.

    Source: Elhage et al. (2021) and Olsson et al. (2022), "In-context learning and induction heads".
    """
    return read(attention, induction_targets(tokens, tokens), visible=visible, rows=rows)


def duplicate_targets(tokens: Array, key_tokens: Array, *, start: int = 0) -> Array:
    """(queries, keys) booleans: an earlier place of the same token, for queries that begin at `start`."""
    same = (tokens[..., :, None] == key_tokens[..., None, :]) & (tokens[..., :, None] >= 0)
    return same & _earlier(tokens, key_tokens, start)


def induction_targets(tokens: Array, key_tokens: Array, *, start: int = 0) -> Array:
    """(queries, keys) booleans: the place after an earlier one of the same token, where another token stands there."""
    earlier = _earlier(tokens, key_tokens, start)
    before = array_namespace(key_tokens).roll(key_tokens, 1, axis=-1)  # token_(j-1); the first one wraps round
    same = (tokens[..., :, None] == before[..., None, :]) & (tokens[..., :, None] >= 0)
    other = tokens[..., :, None] != key_tokens[..., None, :]
    first = positions(key_tokens, key_tokens.shape[-1])[None, :] == 0
    return same & other & earlier & ~first


def _earlier(tokens: Array, key_tokens: Array, start: int) -> Array:
    query = positions(tokens, tokens.shape[-1])[:, None] + start
    return positions(tokens, key_tokens.shape[-1])[None, :] < query
