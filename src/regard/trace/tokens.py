"""Tokens, segments and sides: what the positions of an attention map stand for.

Enters: token ids, texts and character spans from a tokenizer. Leaves: frozen records, and the words they form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.trace.medium import Medium, joined_spans

# A word is a run of word characters (with inner apostrophes) or one punctuation mark; in scripts written without
# spaces each character is a word, as in BERT's pre-tokenizer.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’](?:(?![{_UNSPACED}])\w)+)*|[^\w\s]")

UNASKED = "unasked"  # the code of why there are no gains: nobody asked

# Special tokens that stand for a word, not a boundary; not <pad>: decoders of T5 and Marian begin with it.
_STAND_IN = re.compile(r"mask|unk", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """One position of the model's input.

    `text` is how it is shown, `id` its number in the vocabulary, `special` whether the tokenizer put it there ([CLS],
    </s>), `segment` the number of its segment. `start` and `end` are character offsets into the text it came from
    (None for special tokens and for inputs that are not text), `word` counts words from 0 along its side, `row` and
    `column` place an image patch. `adds` is what it adds to the text of its word where that is not its own: a later
    piece of a character ("界₂") adds nothing. `common` is whether it is one of the words that its tokenizer learned
    first.
    """

    text: str
    id: int | None = None
    start: int | None = None
    end: int | None = None
    word: int | None = None
    special: bool = False
    segment: int = 0
    row: int | None = None
    column: int | None = None
    adds: str | None = None
    common: bool = False

    @property
    def border(self) -> bool:
        """Whether it is a special token that marks a boundary, not one that stands for a word."""
        return self.special and not _STAND_IN.search(self.text)


@dataclass(frozen=True, slots=True)
class Segment:
    """A labelled range of tokens, from `start` to before `end`.

    Its `name` is A or B (sentences), prompt or answer, or whose turn of a conversation it is: system, user, user 2.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Side:
    """One list of positions that maps are over; an encoder-decoder model has two.

    It has a `name`, its `tokens` and their `segments`. `related` has the (m, 2) first positions of related words, None
    if unknown. `gains` are (n, n) nats by which tokens help to predict others, NaN where that is not asked; without
    them, `no_gains` is the code of why. `medium` is the sound or picture that the tokens are pieces of, and `spans`
    says where each one lies in it: (n, 2) seconds from and to, or (n, 4) left, top, right and bottom as shares of the
    width and height; NaN for tokens of no place, such as [CLS].
    """

    name: str
    tokens: tuple[Token, ...]
    segments: tuple[Segment, ...] = ()
    related: np.ndarray | None = None
    gains: np.ndarray | None = None
    no_gains: str = UNASKED
    medium: Medium | None = None
    spans: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def texts(self) -> list[str]:
        """The texts of its tokens."""
        return [token.text for token in self.tokens]


def text_of(side: Side) -> str:
    """What was read, as it is written: without special tokens; parts, such as two sentences, by " / "."""
    spaced = any(token.text.startswith(" ") for token in side.tokens)  # the tokens have their own spaces
    names = {number: segment.name for number, segment in enumerate(side.segments)}
    text, before = "", None
    for token in side.tokens:
        if token.border:
            continue
        if before and token.segment != before.segment and names.get(token.segment) != "answer":
            text += " / "
        elif before and not spaced and not _joined(before, token):
            text += " "
        text += (token.text if token.adds is None else token.adds).removeprefix("##")
        before = token
    return re.sub(r" +", " ", text).strip()


def _joined(before: Token, token: Token) -> bool:
    """Whether nothing is between two tokens of a text."""
    if token.start is None or before.end is None:
        return token.text.startswith("##") or not is_word(token.text)
    return token.start <= before.end


def is_special(text: str) -> bool:
    """Whether a token text looks like a special token of a known tokenizer ([CLS], </s>, <|endoftext|>)."""
    return re.fullmatch(r"\[[A-Z]+\]|</?s>|<(?:pad|unk|mask|eos|bos|cls|sep)>|<\|[^|]*\|>", text) is not None


def is_word(text: str) -> bool:
    """Whether a text is one word, with a letter in it."""
    return _WORD.fullmatch(text) is not None and any(character.isalpha() for character in text)


def is_spaced(text: str) -> bool:
    """Whether a text has no character of a script that is written without spaces."""
    return re.search(f"[{_UNSPACED}]", text) is None


def word_indices(text: str, spans: Sequence[tuple[int, int] | None]) -> list[int | None]:
    """Number the words that tokens with these character spans belong to.

    A token that covers parts of several words joins them: a word is never smaller than a token.
    Tokens without a span (special ones) and tokens of white space only have no word.
    """
    words = list(_WORD.finditer(text))
    word_of = [-1] * len(text)
    for index, match in enumerate(words):
        word_of[match.start() : match.end()] = [index] * (match.end() - match.start())
    joined = list(range(len(words)))
    found: list[int | None] = []
    for span in spans:
        inside = [] if span is None else [word for word in word_of[span[0] : span[1]] if word >= 0]
        if not inside:
            found.append(None)
            continue
        first, last = inside[0], inside[-1]  # words are counted along the text
        if first != last:
            joined[first : last + 1] = [joined[first]] * (last + 1 - first)
        found.append(first)
    roots = [None if word is None else joined[word] for word in found]
    order = {root: i for i, root in enumerate(sorted({root for root in roots if root is not None}))}
    return [None if root is None else order[root] for root in roots]


def word_groups(side: Side) -> list[list[int]]:
    """Token positions grouped into words, in order; a token without a word stands alone."""
    groups: list[list[int]] = []
    last: object = object()
    for position, token in enumerate(side.tokens):
        key = (token.segment, token.word)
        if token.word is None or key != last:
            groups.append([position])
        else:
            groups[-1].append(position)
        last = object() if token.word is None else key
    return groups


def word_text(tokens: Sequence[Token]) -> str:
    """The text of a word, put together from its tokens."""
    first, *later = tokens
    if not later:
        return first.text if first.adds is None else first.adds
    parts = (token.text.removeprefix("##") if token.adds is None else token.adds for token in later)
    return "".join((first.text if first.adds is None else first.adds, *parts))


def part_of_characters(text: str, span: tuple[int, int], seen: dict[int, int]) -> tuple[str, str | None]:
    """How a token with parts of characters is shown, and what it adds to its word.

    It is shown as the characters it has a part of, with the number of the piece from the second one on. `seen` counts
    the pieces of each character so far.
    """
    start, end = span
    fresh = next((place for place in range(start, end) if place not in seen), end)
    for place in range(start, end):
        seen[place] = seen.get(place, 0) + 1
    if seen.get(start, 1) == 1:
        return text[start:end], None
    return text[start:end] + subscript(seen[start]), text[fresh:end]


def subscript(number: int) -> str:
    """A number in small digits below the line."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def merge_words(side: Side, groups: list[list[int]]) -> Side:
    """The side whose tokens are the words of `groups`."""

    def word(group: list[int]) -> Token:
        first, last = side.tokens[group[0]], side.tokens[group[-1]]
        return Token(
            text=word_text([side.tokens[i] for i in group]),
            id=first.id if len(group) == 1 else None,
            start=first.start,
            end=last.end,
            word=first.word,
            special=first.special,
            segment=first.segment,
            row=first.row,
            column=first.column,
            common=len(group) == 1 and first.common,
        )

    owner = {position: index for index, group in enumerate(groups) for position in group}
    segments = tuple(Segment(s.name, owner[s.start], owner[s.end - 1] + 1) for s in side.segments if s.end > s.start)
    related = None if side.related is None else np.array([owner[i] for i in range(len(side))])[side.related]
    no_gains = side.no_gains or "merged_gains"
    spans = None if side.spans is None else joined_spans(side.spans, groups)
    words = tuple(map(word, groups))
    return Side(side.name, words, segments, related, None, no_gains, side.medium, spans)
