"""Plain text: sentences, paragraphs, and the marks that WikiText leaves in it.

Enters: lines. Leaves: texts; WikiText's joins are undone, its headings left out, its unknown words counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.corpus.readers.source import Problems

# A sentence ends at . ! ? (closing quotes included) before white space and something that can begin one.
SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])")
_UNSPACED = re.compile(r"(?<=[。！？])[”’」』）]*")  # ends of sentences in scripts without spaces
_LINE = re.compile(r"\n\s*")
_JOINED = re.compile(r" @([-,.])@ ")  # "well @-@ known", "1 @,@ 000", "0 @.@ 7"
_TITLE = re.compile(r"\s*= [^=]+ =\s*")  # of an article
_HEADING = re.compile(r"((?:= )+)(.*?\S)((?: =)+)")  # "= Title =", "= = Section = ="


def strip_marks(text: str, problems: Problems) -> str:
    """A text without WikiText's marks, empty for a heading; counts headings and unknown words."""
    heading = _HEADING.fullmatch(text.strip()) if "=" in text else None
    if heading and len(heading[1]) == len(heading[3]):
        problems.headings += 1
        return ""
    problems.unknown += text.count("<unk>")
    return _JOINED.sub(r"\1", text)


def articles(lines: Iterable[str]) -> Iterator[tuple[int, Iterator[str]]]:
    """Runs of lines from one title (" = Title = ") to the next, counted; 0 is what comes before any."""
    count = 0

    def article(line: str) -> int:
        nonlocal count
        count += _TITLE.fullmatch(line) is not None
        return count

    return groupby(lines, key=article)


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Runs of lines between empty ones, joined by spaces."""
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line.strip())
        elif held:
            yield " ".join(held)
            held = []
    if held:
        yield " ".join(held)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where sentences begin and end, in characters, without the white space around them; a new line ends one."""
    ends = {0, len(text)}
    ends |= {found.end() for rule in (SENTENCE, _UNSPACED, _LINE) for found in rule.finditer(text)}
    bounds = sorted(ends)
    spans = []
    for start, end in pairwise(bounds):
        part = text[start:end]
        begin = start + len(part) - len(part.lstrip())
        if part.strip():
            spans.append((begin, begin + len(part.strip())))
    return spans
