"""Treebanks in CoNLL-U: sentences as trees of words, each word with its place in the text.

Enters: numbered lines. Leaves: Sentences; a broken one is reported with its line number and reason, and
reading continues.

Ranges (multiword tokens, "1-2 don't") and empty nodes ("8.1") are not words. Words of a range share its surface: cut
by length where the lengths add up ("do" + "n't"), whole otherwise (French "du" is "de" and "le").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from regard.corpus.readers.source import Example, Problems

ROOT = -1
_COLUMNS = 10


class Word(NamedTuple):
    """A syntactic word. `head` counts the sentence's words from 0, `ROOT` is -1."""

    form: str
    upos: str
    head: int
    relation: str
    start: int  # characters of the sentence's text
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def punctuation(self) -> bool:
        """Whether it is punctuation by its tag or its relation; treebanks without tags have only the relation."""
        return self.upos == "PUNCT" or self.relation.partition(":")[0] == "punct"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its tree; `number` counts the readable sentences from 0; `document` is its document, if known."""

    number: int
    id: str
    text: str
    words: tuple[Word, ...]
    document: str | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        return [word.span for word in self.words]


def tree_of(example: Example) -> Sentence:
    """The tree of an example of the format "treebank"."""
    record: Mapping[str, Any] = example.fields["tree"]
    words = tuple(Word(*word) for word in record["words"])
    return Sentence(example.number, record["id"], example.text, words, example.document)


def tree_field(sentence: Sentence) -> dict[str, Any]:
    """What `tree_of` reads: plain values that can be sent to another process as JSON."""
    return {"id": sentence.id, "words": [list(word) for word in sentence.words]}


# -- sentences -----------------------------------------------------------------------------------------------


class _BrokenError(ValueError):
    """Why a sentence cannot be read, and where."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class _Row(NamedTuple):
    line: int
    cells: list[str]

    @property
    def spaced(self) -> bool:
        return "SpaceAfter=No" not in self.cells[9].split("|")


class _Surface(NamedTuple):
    """A stretch of the text as it is written: a range or a word outside any range; with the indices of its words."""

    row: _Row
    first: int
    last: int


@dataclass
class Block:
    """The lines of one sentence: comments, words, and the surfaces they are written in."""

    line: int
    document: str | None = None  # by the last "newdoc" before it
    comments: dict[str, str] = field(default_factory=dict)
    words: list[_Row] = field(default_factory=list)
    surfaces: list[_Surface] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text given, or the surfaces with the spaces between them."""
        joined = "".join(row.cells[1] + " " * row.spaced for row, _, _ in self.surfaces)
        return self.comments.get("text") or joined.strip()


def blocks(lines: Iterable[tuple[int, str]], name: str, problems: Problems) -> Iterator[Block]:
    """The sentences of a file, broken ones left out; heads may be missing."""
    document: str | None = None
    for held in _held(lines):
        document = _opened(held, name) or document
        try:
            block = _block(held)
            block.document = document
        except _BrokenError as broken:
            problems.add(f"{name} line {broken.line}", str(broken))
            continue
        if block.words:
            yield block


def trees(lines: Iterable[tuple[int, str]], name: str, problems: Problems) -> Iterator[Sentence]:
    """The sentences of a file as trees, broken ones left out."""
    number = 0
    for block in blocks(lines, name, problems):
        try:
            sentence = _tree(block, number)
        except _BrokenError as broken:
            problems.add(f"{name} line {broken.line}", str(broken))
            continue
        yield sentence
        number += 1


def _held(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Runs of lines between empty ones."""
    held: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            held.append((number, line))
        elif held:
            yield held
            held = []
    if held:
        yield held


def _opened(lines: Sequence[tuple[int, str]], name: str) -> str | None:
    """The document that begins with these lines ("# newdoc", with or without an id), if one does."""
    found = next(
        (number for number, line in lines if line.startswith("#") and line[1:].split()[:1] == ["newdoc"]), None
    )
    return None if found is None else f"{name} line {found}"


def _block(lines: Sequence[tuple[int, str]]) -> Block:
    block = Block(lines[0][0])
    covered = 0  # words that an earlier range has taken
    for number, line in lines:
        if line.startswith("#"):
            name, equals, value = line[1:].partition("=")
            if equals:
                block.comments[name.strip()] = value.strip()
            continue
        row = _Row(number, line.split("\t"))
        if len(row.cells) != _COLUMNS:
            raise _BrokenError(number, f"{len(row.cells)} columns instead of CoNLL-U's {_COLUMNS}")
        first, dash, last = row.cells[0].partition("-")
        if dash:
            covered = _range(block, row, first, last, covered)
        elif row.cells[0].isdecimal():
            _word(block, row, covered)
        elif not row.cells[0].replace(".", "", 1).isdecimal():
            raise _BrokenError(number, f"{row.cells[0]!r} is not a word number")
    if covered > len(block.words):
        raise _BrokenError(block.surfaces[-1].row.line, f"the range ends at word {covered} of {len(block.words)}")
    return block


def _range(block: Block, row: _Row, first: str, last: str, covered: int) -> int:
    """Record a range of words; returns the word it ends at."""
    begins = len(block.words) + 1
    numbers = _number(first), _number(last)
    if numbers[0] != begins or numbers[1] < begins or covered >= begins:
        raise _BrokenError(row.line, f"the range {row.cells[0]} does not begin at the next word, {begins}")
    block.surfaces.append(_Surface(row, begins - 1, numbers[1]))
    return numbers[1]


def _number(text: str) -> int:
    """A word's number, -1 if it is not one: no sentence has a word number of twenty digits."""
    return int(text) if text.isdecimal() and len(text) < 20 else -1


def _word(block: Block, row: _Row, covered: int) -> None:
    """Record a word; outside a range it is its own surface."""
    expected = len(block.words) + 1
    if _number(row.cells[0]) != expected:
        raise _BrokenError(row.line, f"word {row.cells[0]} where word {expected} was expected")
    if not row.cells[1]:
        raise _BrokenError(row.line, "the word is empty")
    block.words.append(row)
    if expected > covered:
        block.surfaces.append(_Surface(row, expected - 1, expected))


# -- trees ---------------------------------------------------------------------------------------------------


def _tree(block: Block, number: int) -> Sentence:
    heads = _heads(block)
    spans = _spans(block)
    words = tuple(
        Word(row.cells[1], row.cells[3], head, row.cells[7], start, end)
        for row, head, (start, end) in zip(block.words, heads, spans, strict=True)
    )
    return Sentence(number, block.comments.get("sent_id", str(number)), block.text, words, block.document)


def _heads(block: Block) -> list[int]:
    """Heads from 0, ROOT for the root; one root, and every word under it."""
    heads = [_head(row, len(block.words)) for row in block.words]
    for index, (row, head) in enumerate(zip(block.words, heads, strict=True)):
        if head == index:
            raise _BrokenError(row.line, f"word {index + 1} is its own head")
    roots = [row for row, head in zip(block.words, heads, strict=True) if head == ROOT]
    if not roots:
        raise _BrokenError(block.words[0].line, "no word of the sentence is its root")
    if len(roots) > 1:
        raise _BrokenError(roots[1].line, "a second root; a tree has one")
    under = [head == ROOT for head in heads]
    for index in range(len(heads)):
        path: list[int] = []
        while not under[index]:
            if index in path:
                raise _BrokenError(block.words[min(path)].line, f"a cycle: word {min(path) + 1} is its own ancestor")
            path.append(index)
            index = heads[index]
        for passed in path:
            under[passed] = True
    return heads


def _head(row: _Row, words: int) -> int:
    head, relation = row.cells[6:8]
    number = _number(head)
    if number < 0:
        raise _BrokenError(row.line, f"the head {head!r} is not a word number")
    if number > words:
        raise _BrokenError(row.line, f"the head {head} is beyond the sentence's {words} words")
    if relation in ("", "_"):
        raise _BrokenError(row.line, "the relation is missing")
    return number - 1


def _spans(block: Block) -> list[tuple[int, int]]:
    """Where each word stands in the text."""
    text, place = block.text, 0
    spans: list[tuple[int, int]] = []
    for row, first, last in block.surfaces:
        while place < len(text) and text[place].isspace():
            place += 1
        form = row.cells[1]
        if not text.startswith(form, place):
            raise _BrokenError(row.line, f"the word {form!r} is not where the text has {text[place : place + 12]!r}")
        spans += _shared(place, form, [word.cells[1] for word in block.words[first:last]])
        place += len(form)
    return spans


def _shared(place: int, form: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Spans of the words of one surface: one after the other where their lengths add up to it, the whole otherwise."""
    if sum(map(len, words)) != len(form):
        return [(place, place + len(form))] * len(words)
    ends = [place + sum(map(len, words[: n + 1])) for n in range(len(words))]
    return list(zip([place, *ends], ends, strict=False))
