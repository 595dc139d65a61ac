"""From pieces back to text: the words that tokens form, when the original text is not available.

Enters: ids and a tokenizer, or only token texts. Leaves: sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regard.base.errors import UserError
from regard.trace.tokens import Segment, Side, Token, is_special, part_of_characters, word_indices

LOST = "\ufffd"  # shown for a character with missing bytes
_STARTS = ("Ġ", "▁", " ")  # what tokenizers put before a piece that begins a word
_INNER = "##"  # what WordPiece puts before one that does not
_END = "</w>"  # what CLIP's BPE puts after one that ends a word


def answer_side(tokenizer: Any, ids: list[int], name: str, prompt: Side | None = None) -> Side:
    """Tokens of generated ids, with spans into the generated text; after those of the prompt, if any."""
    special = set(tokenizer.all_special_ids)
    text, spans, broken = _decode(tokenizer, ids)
    plain = [
        None if token in special or text[slice(*span)] == LOST else span for token, span in zip(ids, spans, strict=True)
    ]
    words = word_indices(text, plain)
    before = prompt.tokens if prompt else ()
    offset = max((token.word for token in before if token.word is not None), default=-1) + 1
    seen: dict[int, int] = {}
    tokens = []
    for token, span, word, part in zip(ids, spans, words, broken, strict=True):
        shown, adds = part_of_characters(text, span, seen) if part else (text[slice(*span)], None)
        tokens.append(
            Token(
                shown or tokenizer.decode([token]),
                token,
                *span,
                word=None if word is None else word + offset,
                special=token in special,
                segment=len(prompt.segments) if prompt else 0,
                adds=adds,
            )
        )
    return Side(name, (*before, *tokens))


def _decode(tokenizer: Any, ids: list[int]) -> tuple[str, list[tuple[int, int]], list[bool]]:
    """The text of some ids, each token's span in it, and which tokens hold only parts of characters.

    A token that ends inside a character spans it too, as does the next: the text so far then ends in a lost character
    where the whole text has another.
    """
    texts = [tokenizer.decode(ids[: i + 1], skip_special_tokens=False) for i in range(len(ids))]
    whole = texts[-1] if texts else ""
    spans, broken = [], []
    done, inside = 0, False  # characters that are complete, and whether the next one has begun
    for text in texts:
        begun = text.endswith(LOST) and not whole.startswith(text)
        reached = max(done, len(text.rstrip(LOST))) if begun else len(text)
        spans.append((done, reached + begun))
        broken.append(begun or inside)
        done, inside = reached, begun
    return whole, spans, broken


def side_of_ids(tokenizer: Any, texts: Sequence[str], name: str) -> Side:
    """A side of tokens as a tokenizer writes them: words, special tokens and ids are the tokenizer's."""
    ids = tokenizer.convert_tokens_to_ids(list(texts))
    known = [None if token is None else tokenizer.convert_ids_to_tokens(token) for token in ids]
    strange = next((text for text, piece in zip(texts, known, strict=True) if text != piece), None)
    if strange is not None:
        raise UserError(
            f"the tokenizer does not know the token {strange!r}; pass tokens as returned by "
            "tokenizer.convert_ids_to_tokens(ids), or leave tokenizer out"
        )
    if any(text.startswith(_INNER) for text in texts):  # WordPiece marks words itself
        special = set(tokenizer.all_special_ids)
        plain = _side_of(texts, [token in special for token in ids], name).tokens
        tokens = [replace(token, id=number) for token, number in zip(plain, ids, strict=True)]
    else:
        answer = answer_side(tokenizer, ids, name).tokens
        tokens = [_as_written(token, text) for token, text in zip(answer, texts, strict=True)]
    return Side(name, tuple(tokens), (Segment("A", 0, len(tokens)),))


def _as_written(token: Token, text: str) -> Token:
    """The token with its text as the tokenizer writes it, unless that contains marks for spaces and bytes."""
    return replace(token, text=text) if token.special or token.text.strip() == text else token


def side_of_texts(texts: Sequence[str], name: str = "encoder") -> Side:
    """A side made of token texts alone. Words come from the tokenizer's marks; without marks, each token is a word."""
    texts = [str(text) for text in texts]
    return _side_of(texts, [is_special(text) for text in texts], name)


def _side_of(texts: Sequence[str], special: Sequence[bool], name: str) -> Side:
    plain = [text for text, mark in zip(texts, special, strict=True) if not mark]
    ended = any(text.endswith(_END) for text in plain)
    start = next((mark for mark in _STARTS if any(text.startswith(mark) and text != mark for text in plain)), None)
    if start is not None:
        texts = [text if mark else text.replace(start, " ") for text, mark in zip(texts, special, strict=True)]
        pieces = list(texts)
    elif ended:
        begins = [True, *(mark or text.endswith(_END) for text, mark in zip(texts, special, strict=True))]
        texts = [text if mark else text.removesuffix(_END) for text, mark in zip(texts, special, strict=True)]
        pieces = [f" {text}" if first else text for text, first in zip(texts, begins, strict=False)]
    else:
        pieces = [text.removeprefix(_INNER) if text.startswith(_INNER) else f" {text}" for text in texts]
    pieced = start is not None or ended or any(text.startswith(_INNER) for text in plain)
    words = _words_of(pieces, special) if pieced else list(range(len(texts)))
    tokens = tuple(Token(text, word=n, special=mark) for text, n, mark in zip(texts, words, special, strict=True))
    return Side(name, tokens, (Segment("A", 0, len(tokens)),))


def _words_of(pieces: Sequence[str], special: Sequence[bool]) -> list[int | None]:
    """Word numbers of pieces that have a space in front where a word begins."""
    text, spans = "", list[tuple[int, int] | None]()
    for piece, mark in zip(pieces, special, strict=True):
        text += f" {piece}" if mark else piece
        spans.append(None if mark else (len(text) - len(piece), len(text)))
    return word_indices(text, spans)
