"""Plain text: sentences, paragraphs, and the marks that WikiText leaves in it.

Enters: lines. Leaves: texts; WikiText's joins are undone, its headings left out, its unknown words counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regard.corpus.readers.source import Problems

# A sentence ends at . ! ? (closing quotes included) before white space and something that can begin one.
SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])")
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
