"""Where examples come from, what they are, and what could not be read.

Enters: a place and how it is to be read. Leaves: `Source`, `Example`, `Problems`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from regard.base.errors import UserError

_KEPT = 20  # problems shown in full; all are counted
_SHOWN = 300  # characters of a reason


@dataclass(frozen=True, slots=True)
class Example:
    """One input of a corpus; `number` counts the examples from 0, `fields` keeps other requested columns.

    `part` counts the parts of an example that a study reads in several. `document` is the corpus' name for the text it
    is from, if it has one; `cluster` numbers documents, and examples without one, in reading order.
    """

    number: int
    text: str
    pair: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    part: int = 0
    document: str | None = None
    cluster: int | None = None


@dataclass
class Problems:
    """Lines that could not be read: how many, and the first of them with their numbers; what WikiText left behind."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    strict: bool = False
    begun: bool = False  # an example has been read: from then on a record without its column is just a bad line
    headings: int = 0  # of WikiText, left out
    unknown: int = 0  # words that WikiText has replaced with <unk>
    what: str = "lines"  # what is counted: a folder has files

    def add(self, place: str, reason: str) -> None:
        """Record a bad line; raise in strict mode."""
        reason = reason if len(reason) <= _SHOWN else f"{reason[:_SHOWN]} ..."
        if self.strict:
            raise UserError(f"{place}: {reason}")
        self.count += 1
        if len(self.first) < _KEPT:
            self.first.append(f"{place}: {reason}")


@dataclass(frozen=True)
class Source:
    """Where examples come from and how they are read.

    Parameters
    ----------
    place
        A file (also .gz), "-" for standard input, or with format "dataset" a Hugging Face dataset: `name`,
        `name:configuration`, or a folder; any other folder is one of images.
    format
        One of text, jsonl, tsv, csv, conllu, treebank (CoNLL-U with its trees), gap, conll, winobias (coreference),
        utterances (JSONL of sounds with onsets), images (a folder), dataset; by the file's ending unless given.
    unit
        What an example of plain text is: a line, a paragraph (up to an empty line) or a sentence.
    text, pair
        Columns of the text and the second sentence; found by their usual names unless given.
    keep
        Further columns to keep with each example.
    more
        Further files of the same format that belong to the corpus.
    limit, sample, seed
        Only the first `limit` examples; `sample` of them at random.
    """

    place: str
    format: str | None = None
    unit: str = "line"
    text: str | None = None
    pair: str | None = None
    keep: tuple[str, ...] = ()
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    split: str = "train"
    more: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        if self.more:
            return f"{Path(self.place).name} and {len(self.more)} more"
        return "standard input" if self.place == "-" else Path(self.place).name

    @property
    def once(self) -> bool:
        """Whether it can be read only once: standard input, a pipe, a process substitution."""
        named = [] if self.format == "dataset" else [self.place, *self.more]
        return any(place == "-" or (Path(place).exists() and not _keeps(Path(place))) for place in named)

    @property
    def each(self) -> list[Source]:
        """A source for each file."""
        return [replace(self, place=place, more=()) for place in (self.place, *self.more)]


def _keeps(path: Path) -> bool:
    return path.is_file() or path.is_dir()
