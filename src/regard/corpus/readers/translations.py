"""Translations: a sentence and its translation per line.

Enters: a file of `source TAB target` lines. Leaves: Examples whose pair is the translation and which know their line;
lines that do not fit are counted, with their place.
"""

from __future__ import annotations

from collections.abc import Iterator

from regard.corpus.readers.lines import lines_of
from regard.corpus.readers.source import Example, Problems, Source

LINE = "line"  # the field with the number of an example's line, from 1


def read_translations(source: Source, problems: Problems) -> Iterator[Example]:
    """The pairs of a file; further columns are passed over."""
    for number, line in lines_of(source, problems):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) < 2 or not parts[0] or not parts[1]:
            problems.add(f"{source.name} line {number}", "not `source TAB target`")
            continue
        yield Example(0, parts[0], parts[1], fields={LINE: number})
