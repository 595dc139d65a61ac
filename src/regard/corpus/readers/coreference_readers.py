"""Reading coreference: GAP, CoNLL-2012 (OntoNotes, LitBank, WinoBias) and WinoBias' bracketed sentences.

Enters: numbered lines of a file. Leaves: Documents; unreadable lines are counted, with the reason.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.corpus.readers.coreference import Document
from regard.corpus.readers.mentions import Mention, head_word, mention_type
from regard.corpus.readers.prose import SENTENCE

if TYPE_CHECKING:
    from regard.corpus.readers.source import Problems

Lines = Iterable[tuple[int, str]]  # numbers from 1 and texts

_WORD = re.compile(r"['’]s\b|\w+(?:-\w+)*|[^\w\s]")
_GAP = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
_NONE = ("", "-", "_", "*")  # a last column without brackets
_BRACKET = re.compile(r"(\()?(\d{1,18})(\))?")
# The 40 occupations of Zhao et al. (2018): who else the pronoun of a WinoBias sentence could refer to.
_OCCUPATIONS = set(
    "accountant analyst assistant attendant auditor baker carpenter cashier ceo chief cleaner clerk cook counselor "
    "designer developer driver editor farmer guard hairdresser housekeeper janitor laborer lawyer librarian manager "
    "mechanic mover nurse physician receptionist salesperson secretary sheriff supervisor tailor teacher worker "
    "writer".split()
)
_SIDE = re.compile(r"(anti|not|pro)?[_-]?stereotype")
_TYPE = re.compile(r"type[_-]?(\d)")
_APART = 1_000_000  # between the numbers of sentences of different WinoBias types


# -- GAP -------------------------------------------------------------------------------------------------------


def read_gap(lines: Lines, problems: Problems, name: str) -> Iterator[Document]:
    """A document per row: the pronoun, and the two names it may refer to."""
    header: list[str] | None = None
    for number, line in lines:
        cells = line.split("\t")
        if header is None:
            header = cells
            missing = [column for column in _GAP if column not in header]
            if missing:
                raise UserError(f"{name} has no column {missing[0]!r}; GAP files begin with the line {' '.join(_GAP)}")
        elif line.strip():
            try:
                yield _gap_document(cells, header)
            except ValueError as error:
                problems.add(f"{name} line {number}", str(error))


def _gap_document(cells: list[str], header: list[str]) -> Document:
    if len(cells) != len(header):
        raise UserError(f"{len(cells)} columns where the first line has {len(header)}")
    row = dict(zip(header, cells, strict=True))
    clusters = {"Pronoun": 0, "A": _cluster(row, "A", 1), "B": _cluster(row, "B", 2)}
    spans = [(*_span(row, column), cluster) for column, cluster in clusters.items()]
    document = _tokenized(row["ID"], row["Text"], spans)
    return replace(document, starts=_sentences(document, spans))


def _sentences(document: Document, marked: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    """The first word of each sentence, by punctuation; none begins inside a mention ("Dr. Smith")."""
    ends = (match.end() for match in SENTENCE.finditer(document.text))
    free = [end for end in ends if not any(start < end < stop for start, stop, _ in marked)]
    begins = [bisect_left(document.spans, (end,)) for end in free]
    return tuple(sorted({0, *(word for word in begins if word < len(document.words))}))


def _span(row: dict[str, str], column: str) -> tuple[int, int]:
    """The span of a name, checked against the text."""
    name, offset = row[column], row[f"{column}-offset"]
    if not re.fullmatch(r"\d{1,18}", offset):
        raise UserError(f"{column}-offset is {offset!r}, not a number")
    start, end = int(offset), int(offset) + len(name)
    if not name or row["Text"][start:end] != name:
        raise UserError(f"{column} {name!r} is not at offset {offset} of the text, {row['Text'][start:end]!r} is")
    return start, end


def _cluster(row: dict[str, str], column: str, own: int) -> int:
    answer = row[f"{column}-coref"].upper()
    if answer not in ("TRUE", "FALSE"):
        raise UserError(f"{column}-coref is {row[f'{column}-coref']!r}, not TRUE or FALSE")
    return 0 if answer == "TRUE" else own


def _tokenized(name: str, text: str, marked: Sequence[tuple[int, int, int]], **more: Any) -> Document:
    """A document of one sentence from characters `(start, end, cluster)`."""
    edges = {edge for start, end, _ in marked for edge in (start, end)}
    spans = tuple(span for match in _WORD.finditer(text) for span in _cut(match.span(), edges))
    words = tuple(text[start:end] for start, end in spans)
    mentions = []
    for start, end, cluster in marked:
        inside = [place for place, (one, other) in enumerate(spans) if one < end and other > start]
        if not inside:
            raise UserError(f"{text[start:end]!r} is not a word")
        mentions.append(_mention(words, inside[0], inside[-1] + 1, cluster))
    return Document(name, text, words, spans, (0,), tuple(mentions), pronouns=True, **more)


def _cut(span: tuple[int, int], edges: set[int]) -> Iterator[tuple[int, int]]:
    """A word, cut where a mention begins or ends inside it ("his-and-hers")."""
    places = [span[0], *sorted(edge for edge in edges if span[0] < edge < span[1]), span[1]]
    return pairwise(places)


def _mention(words: Sequence[str], start: int, end: int, cluster: int, tag: str = "", certain: bool = True) -> Mention:
    head = head_word(words, start, end)
    return Mention(start, end, head, mention_type(words, start, end, head, tag=tag, certain=certain), cluster)


# -- WinoBias ----------------------------------------------------------------------------------------------------


def read_winobias(lines: Lines, problems: Problems, name: str) -> Iterator[Document]:
    """A document per line `N sentence` in which [brackets] mark who is who; other occupations are candidates, too."""
    for number, line in lines:
        if not line.strip():
            continue
        match = re.fullmatch(r"(\d{1,18})\s+(\S.*)", line.strip())
        try:
            if match is None:
                raise UserError("not a number and a sentence")
            text, spans = _unbracketed(match[2])
            place = f"{name} {match[1]}"
            yield with_occupations(_tokenized(place, text, spans, **_origin(place, int(match[1]) - 1)))
        except ValueError as error:
            problems.add(f"{name} line {number}", str(error))


def _unbracketed(line: str) -> tuple[str, list[tuple[int, int, int]]]:
    """The sentence without brackets, and where they were."""
    text, spans, opened = "", [], None
    for part in re.split(r"([][])", line):
        if part == "[" and opened is None:
            opened = len(text)
        elif part == "]" and opened is not None:
            spans.append((opened, len(text), 0))
            opened = None
        elif part in ("[", "]"):
            raise UserError("the brackets do not match")
        else:
            text += part
    if opened is not None:
        raise UserError("the brackets do not match")
    if len(spans) < 2:
        raise UserError("fewer than two mentions in [brackets]")
    return text, spans


def _origin(name: str, number: int) -> dict[str, Any]:
    """Side and kin of a WinoBias sentence, from its name and its number from 0; nothing for other names."""
    side, type_ = _SIDE.search(name), _TYPE.search(name)
    if side is None:
        return {}
    return {
        "side": "anti" if side[1] in ("anti", "not") else "pro",
        "kin": number // 2 + _APART * (int(type_[1]) if type_ else 0),
    }


def with_occupations(document: Document) -> Document:
    """The document with a mention for each occupation before the first pronoun that has none yet."""
    first = min((m.start for m in document.mentions if m.type == "pronoun"), default=0)
    taken = {place for m in document.mentions for place in range(m.start, m.end)}
    others = [
        Mention(place, place + 1, place, "nominal", 1 + max(m.cluster for m in document.mentions) + place)
        for place in range(first)
        if document.words[place].lower() in _OCCUPATIONS and place not in taken
    ]
    return Document(**{**vars(document), "mentions": (*document.mentions, *others), "pronouns": True})


# -- CoNLL-2012 --------------------------------------------------------------------------------------------------


def read_conll(lines: Lines, problems: Problems, name: str) -> Iterator[Document]:
    """A document per part; the word is the fourth column, brackets the last, a tag (where there is one) the fifth."""
    reading = _Reading()
    for number, line in lines:
        place = f"{name} line {number}"
        if line.startswith("#"):
            yield from reading.close(problems, place)
            reading = _Reading()
        elif line.strip():
            reading.add(line, problems, place)
        else:
            reading.ended = True
    yield from reading.close(problems, f"the end of {name}")


class _Reading:
    """The document being read."""

    def __init__(self) -> None:
        self.name = ""
        self.words: list[str] = []
        self.tags: list[str] = []
        self.starts: list[int] = []
        self.ended = True  # the next word begins a sentence
        self._open: dict[int, list[int]] = {}
        self._found: list[tuple[int, int, int]] = []

    def add(self, line: str, problems: Problems, place: str) -> None:
        """One word."""
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) < 5:
            problems.add(place, f"{len(cells)} columns; CoNLL-2012 has the word in the fourth and brackets in the last")
            return
        if self.ended:
            self.starts.append(len(self.words))
            self.ended = False
        self.name = self.name or f"{cells[0]} part {cells[1]}"
        self.words.append(cells[3])
        self.tags.append(cells[4].strip("-_*") if len(cells) > 5 else "")
        for bracket in cells[-1].strip().split("|"):
            self._bracket(bracket, problems, place)

    def _bracket(self, bracket: str, problems: Problems, place: str) -> None:
        match = _BRACKET.fullmatch(bracket)
        if bracket in _NONE:
            return
        if match is None or not (match[1] or match[3]):
            problems.add(place, f"{bracket!r} in the last column is not a coreference bracket")
            return
        cluster, here = int(match[2]), len(self.words) - 1
        if match[1]:
            self._open.setdefault(cluster, []).append(here)
        if match[3]:
            if not self._open.get(cluster):
                problems.add(place, f"{bracket!r} closes a mention that was not opened")
                return
            self._found.append((self._open[cluster].pop(), here + 1, cluster))

    def close(self, problems: Problems, place: str) -> Iterator[Document]:
        """The document, if there is one."""
        for cluster, starts in self._open.items():
            if starts:
                problems.add(place, f"a mention of cluster {cluster} is still open where its document ends")
        if self.words:
            yield self._document()

    def _document(self) -> Document:
        ends: list[int] = []
        for word in self.words:
            ends.append((ends[-1] + 1 if ends else 0) + len(word))
        spans = tuple((end - len(word), end) for word, end in zip(self.words, ends, strict=True))
        lower, starts = set(self.words), set(self.starts)
        mentions = []
        for start, end, cluster in sorted(self._found):
            head = head_word(self.words, start, end)
            certain = head not in starts or self.words[head].lower() not in lower
            mentions.append(_mention(self.words, start, end, cluster, self.tags[head], certain))
        number = re.search(r"//(\d{1,18})", self.name)
        document = Document(
            self.name,
            " ".join(self.words),
            tuple(self.words),
            spans,
            tuple(self.starts),
            tuple(mentions),
            **(_origin(self.name, int(number[1])) if number else {}),
        )
        return document if document.side is None else with_occupations(document)
