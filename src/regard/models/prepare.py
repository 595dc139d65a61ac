"""From text to a model's inputs, and back: ids and tensors, and the token at each position.

Enters: texts and a tokenizer. Leaves: ids, sides, padded tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from regard.base.errors import TooLongError, UserError, WrongTypeError
from regard.models.common import common_ids
from regard.models.conversation import Turn
from regard.trace.site import Array
from regard.trace.tokens import Segment, Side, Token, part_of_characters, word_indices


@dataclass(eq=False)
class Encoded:
    """One text (or pair) as ids and tokens, or a picture as patches, and how it was made."""

    ids: list[int]
    types: list[int] | None
    side: Side
    joined: str | None = None
    cut: int = 0  # tokens that truncation removed
    chat: str | None = None  # how messages became a text: "template" or "plain"
    inputs: dict[str, Any] | None = None  # of a picture, in place of ids, of which there are then as many as patches

    @property
    def facts(self) -> dict[str, Any]:
        """How it was made, for the facts of a trace."""
        given = "as the tokenizer gives" if self.types and any(self.types) else "all 0"
        pair = {} if self.joined is None else {"pair": self.joined}
        chat = {} if self.chat is None else {"chat": self.chat}
        return {"truncated": self.cut, "segment_ids": "none" if self.types is None else given, **pair, **chat}


def encode(
    tokenizer: Any,
    text: str,
    pair: str | None = None,
    *,
    side: str = "text",
    limit: int | None = None,
    truncate: bool = False,
    segment_ids: bool = True,
    target: bool = False,
) -> Encoded:
    """Tokenize a text or a pair of texts, keeping where each token came from."""
    _check_text(text, "target" if target else "text")
    if pair is not None:
        _check_text(pair, "pair")
    joined, boundary = _how_joined(tokenizer, text, pair)
    if boundary is not None:
        text, pair = f"{text} {pair}", None
    batch = _tokenize(tokenizer, text, pair, target)
    length = len(batch["input_ids"])
    if limit is not None and length > limit:
        if target:
            raise UserError(f"the target has {length} tokens but the decoder takes at most {limit}; shorten it")
        if not truncate:
            raise TooLongError(
                f"the text has {length} tokens but the model takes at most {limit}; shorten it, or pass "
                "truncate=True (--truncate) to keep the beginning",
                length,
                limit,
            )
        batch = _tokenize(tokenizer, text, pair, target, max_length=limit)
    ids: list[int] = list(batch["input_ids"])
    if not ids:
        raise UserError("the text has no token that the model knows; pass another text")
    types = list(batch["token_type_ids"]) if "token_type_ids" in batch else None
    if types is not None and not segment_ids:
        types = [0] * len(types)
    tokens = _tokens(tokenizer, batch, ids, text, pair, boundary)
    return Encoded(ids, types, Side(side, tokens, _segments(tokens)), joined, max(0, length - len(ids)))


def encode_turns(tokenizer: Any, text: str, turns: Sequence[Turn], *, limit: int | None, plain: bool) -> Encoded:
    """Tokenize a conversation: a segment for each turn. A template writes special tokens itself; `plain` text has none.

    It is never cut: the last message, which the answer is to, stands at the end.
    """
    batch = _tokenize(tokenizer, text, None, False, special=plain)
    ids: list[int] = list(batch["input_ids"])
    if limit is not None and len(ids) > limit:
        raise TooLongError(
            f"the conversation has {len(ids)} tokens but the model takes at most {limit}; leave out its first messages",
            len(ids),
            limit,
        )
    tokens = _tokens(tokenizer, batch, ids, text, None, None)
    if getattr(tokenizer, "is_fast", False):
        starts = [int(start) for start, _ in batch["offset_mapping"]]
    else:  # special tokens have no place: they belong to what follows
        starts = [next((t.start for t in tokens[i:] if t.start is not None), len(text) - 1) for i in range(len(tokens))]
    last = len(turns) - 1
    found = [min(sum(turn.end <= start for turn in turns), last) for start in starts]
    numbers = list(accumulate(found, max))  # a special token that closes the text has no place of its own
    tokens = tuple(replace(token, segment=number) for token, number in zip(tokens, numbers, strict=True))
    bounds = [sum(number < turn for number in numbers) for turn in range(last + 2)]
    segments = tuple(Segment(turn.name, bounds[n], bounds[n + 1]) for n, turn in enumerate(turns))
    return Encoded(ids, None, Side("text", tokens, segments), chat="plain" if plain else "template")


def _check_text(text: Any, name: str) -> None:
    if not isinstance(text, str):
        raise WrongTypeError(f"{name} must be a string, not {type(text).__name__}")
    if not text.strip():
        raise UserError(f"the {name} is empty; pass at least one word")


def _tokenize(
    tokenizer: Any, text: str, pair: str | None, target: bool, max_length: int | None = None, special: bool = True
) -> Any:
    options: dict[str, Any] = {"verbose": False} | ({} if special else {"add_special_tokens": False})
    if max_length is not None:
        options |= {"truncation": True, "max_length": max_length}
    if getattr(tokenizer, "is_fast", False):
        options |= {"return_offsets_mapping": True}
    if target:
        return _call(tokenizer, text_target=text, **options)
    return _call(tokenizer, *((text,) if pair is None else (text, pair)), **options)


def _call(tokenizer: Any, *texts: str, **options: Any) -> Any:
    """The tokenizer's output for some texts; a failure is reported as the tokenizer's, not regard's."""
    try:
        return tokenizer(*texts, **options)
    except Exception as error:  # tokenizers are third-party code and may raise anything
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise UserError("the text is not valid UTF-8; save it as UTF-8, or leave out what is none") from error
        raise UserError(f"the model's tokenizer failed on this text: {type(error).__name__}: {error}") from error


def _how_joined(tokenizer: Any, text: str, pair: str | None) -> tuple[str | None, int | None]:
    """How a pair becomes one input; the boundary in characters if it has to be joined as plain text."""
    if pair is None:
        return None, None
    batch = _call(tokenizer, text, pair, verbose=False)
    ids = batch["input_ids"]
    special = set(tokenizer.all_special_ids)
    first = len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    start = next((i for i, token in enumerate(ids) if token not in special), 0)
    between = [token for token in ids[start + first : start + first + 3] if token in special]
    if not between:
        return "joined by a space: the model's tokenizer has no separator for pairs", len(text) + 1
    separator = " ".join(tokenizer.convert_ids_to_tokens(between))
    if "token_type_ids" in batch and any(batch["token_type_ids"]):
        return f"joined by {separator} with segment ids 0 and 1", None
    return f"joined by {separator}, without segment ids", None


def _tokens(
    tokenizer: Any, batch: Any, ids: list[int], text: str, pair: str | None, boundary: int | None
) -> tuple[Token, ...]:
    pieces: list[str] = tokenizer.convert_ids_to_tokens(ids)
    special, common = set(tokenizer.all_special_ids), common_ids(tokenizer)
    spans, sequences = _spans(tokenizer, batch, ids, pieces, special, text)
    if boundary is not None:
        sequences = [None if s is None else int(s[0] >= boundary - 1) for s in spans]
    words = _words(spans, sequences, text, pair)
    segments = _fill(sequences)
    tokens: list[Token] = []
    seen: dict[Any, dict[int, int]] = {}
    for i, piece in enumerate(pieces):
        source = pair if pair is not None and sequences[i] == 1 else text
        shown, adds = piece if ids[i] in special else _shown(tokenizer, piece), None
        span = spans[i]
        if "\ufffd" in shown and span is not None:  # bytes that are not characters
            shown, adds = part_of_characters(source, span, seen.setdefault(sequences[i], {}))
        start, end = span if span is not None else (None, None)
        own = shown, ids[i], start, end, words[i], ids[i] in special, segments[i]
        tokens.append(Token(*own, adds=adds, common=ids[i] in common))
    return tuple(tokens)


def _spans(
    tokenizer: Any, batch: Any, ids: list[int], pieces: list[str], special: set[int], text: str
) -> tuple[list[tuple[int, int] | None], list[int | None]]:
    """Character spans and the text (0, 1) of each token; None for special tokens."""
    if getattr(tokenizer, "is_fast", False):
        sequences = batch.sequence_ids(0)
        offsets = batch["offset_mapping"]
        return [
            (int(o[0]), int(o[1])) if s is not None and ids[i] not in special else None
            for i, (o, s) in enumerate(zip(offsets, sequences, strict=True))
        ], list(sequences)
    spans: list[tuple[int, int] | None] = []
    position = 0
    for token, piece in zip(ids, pieces, strict=True):  # a slow tokenizer: look for each piece in the text
        surface = piece.replace("▁", "").replace("Ġ", "").removeprefix("##")
        found = -1 if token in special or not surface else text.lower().find(surface.lower(), position)
        spans.append(None if found < 0 else (found, found + len(surface)))
        position = position if found < 0 else found + len(surface)
    return spans, [None if span is None else 0 for span in spans]


def _words(
    spans: list[tuple[int, int] | None],
    sequences: list[int | None],
    text: str,
    pair: str | None,
) -> list[int | None]:
    """Word numbers over the whole input."""
    first = word_indices(text, [s if pair is None or n == 0 else None for s, n in zip(spans, sequences, strict=True)])
    if pair is None:
        return first
    second = word_indices(pair, [s if n == 1 else None for s, n in zip(spans, sequences, strict=True)])
    offset = 1 + max((w for w in first if w is not None), default=-1)
    return [a if b is None else b + offset for a, b in zip(first, second, strict=True)]


def _fill(sequences: list[int | None]) -> list[int]:
    """Give special tokens the segment of the text they close."""
    current, filled = 0, []
    for sequence in sequences:
        current = current if sequence is None else sequence
        filled.append(current)
    return filled


def _segments(tokens: tuple[Token, ...]) -> tuple[Segment, ...]:
    found = []
    for number, name in ((0, "A"), (1, "B")):
        positions = [i for i, token in enumerate(tokens) if token.segment == number]
        if positions:
            found.append(Segment(name, positions[0], positions[-1] + 1))
    return tuple(found)


def _shown(tokenizer: Any, piece: str) -> str:
    """A piece as people read it: without byte-level and SentencePiece marks, but with WordPiece's ##."""
    if piece.startswith("##"):
        return piece
    if "▁" in piece:
        return piece.replace("▁", " ")
    text: str = tokenizer.convert_tokens_to_string([piece])
    return text or piece


def shift_right(encoded: Encoded, start: int, name: str, end: int | None) -> Encoded:
    """Decoder input for a target: the start token first, the closing one left out."""
    ids, tokens = encoded.ids, encoded.side.tokens
    if end is not None and len(ids) > 1 and ids[-1] == end:
        ids, tokens = ids[:-1], tokens[:-1]
    if ids and ids[0] == start and tokens[0].special:
        return Encoded(ids, None, Side("decoder", tokens, _segments(tokens)))
    moved = (Token(name, start, special=True), *tokens)
    return Encoded([start, *ids], None, Side("decoder", moved, _segments(moved)))


def as_prompt(side: Side) -> Side:
    """All of a side as one segment, whatever sentences it has."""
    tokens = tuple(replace(token, segment=0) for token in side.tokens)
    return replace(side, tokens=tokens, segments=(Segment("prompt", 0, len(side)),))


def pad(rows: Sequence[Sequence[int]], value: int) -> tuple[torch.Tensor, Array]:
    """(rows, longest) tensor padded on the right, and which of its positions are real."""
    longest = max(len(row) for row in rows)
    tensor = torch.full((len(rows), longest), value, dtype=torch.long)
    real = np.zeros((len(rows), longest), dtype=bool)
    for i, row in enumerate(rows):
        tensor[i, : len(row)] = torch.tensor(row)
        real[i, : len(row)] = True
    return tensor, real
