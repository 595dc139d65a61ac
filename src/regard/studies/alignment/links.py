"""Which words of a sentence and of its translation belong together: by hand, by a dictionary, or by a learned one.

Enters: a file. Leaves: for a pair of sentences, its links, and the words of the translation that are judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard.base.errors import UserError
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.studies.alignment.lexicon import learned

GOLD, DICTIONARY, PARALLEL = "gold", "dictionary", "parallel"
Link = tuple[int, int]  # words of the sentence and of its translation, from 0, as spaces divide them
_LINK = re.compile(r"(\d+)-(\d+)")


def words_of(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as spaces divide it, with where they begin and end."""
    return [(match.group(), match.start(), match.end()) for match in re.finditer(r"\S+", text)]


def plain(word: str) -> str:
    """A word as a dictionary has it: without punctuation, in small letters; empty for punctuation alone."""
    return re.sub(r"^\W+|\W+$", "", word).lower()


@dataclass(frozen=True)
class Judged:
    """What is known of a pair of sentences."""

    links: frozenset[Link]
    words: list[int]  # of the translation, that are judged


@dataclass(frozen=True, eq=False)
class Reference:
    """What links are right: `lines` have their own, or words have translations."""

    kind: str
    name: str
    lines: Mapping[int, frozenset[Link]] = field(default_factory=dict)  # by the number of the line, from 1
    words: Mapping[str, set[str]] = field(default_factory=dict)

    def judged(self, source: Sequence[str], target: Sequence[str], line: int) -> Judged | None:
        """The links of a pair of sentences; None where nothing is known of it.

        With links by hand every word of the translation is judged; a dictionary judges the words it has a link for.
        """
        if self.kind == GOLD:
            links = self.lines.get(line, frozenset())
            if any(one >= len(source) or other >= len(target) for one, other in links):
                raise UserError(f"line {line} of {self.name} links words that its sentences do not have")
            return Judged(links, list(range(len(target)))) if links else None
        known = [self.words.get(plain(word), set()) for word in source]
        links = frozenset(
            (i, j) for j, word in enumerate(target) for i, found in enumerate(known) if plain(word) in found
        )
        return Judged(links, sorted({j for _, j in links})) if links else None


def reference(kind: str, place: str, corpus: str) -> Reference:
    """Read a reference; one that is learned from sentence pairs leaves out those of the corpus."""
    path = Path(place)
    if not path.is_file():
        raise UserError(f"there is no file {place}; name one with links, words or sentence pairs")
    if kind == GOLD:
        return Reference(kind, path.name, lines=_lines(path))
    found = _dictionary(path) if kind == DICTIONARY else _learned(path, corpus)
    if not found:
        raise UserError(f"{path.name} gives no pairs of words; a word needs a few sentences, or a line `word TAB word`")
    return Reference(kind, path.name, words=found)


def _lines(path: Path) -> dict[int, frozenset[Link]]:
    """Links of each line in Pharaoh format: 0-0 1-2, words from 0."""
    found = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        matches = [_LINK.fullmatch(link) for link in line.split()]
        if None in matches:
            raise UserError(f"line {number} of {path.name} is not in Pharaoh format: links like 0-0 1-2, words from 0")
        found[number] = frozenset((int(match[1]), int(match[2])) for match in matches if match)
    return found


def _dictionary(path: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        parts = [plain(part) for part in line.split("\t")]
        if not line.strip():
            continue
        if len(parts) < 2 or not parts[0] or not parts[1]:
            raise UserError(f"line {number} of {path.name} is not `word TAB word`")
        found.setdefault(parts[0], set()).add(parts[1])
    return found


def _learned(path: Path, corpus: str) -> dict[str, set[str]]:
    """A dictionary from sentence pairs that are not in the corpus."""
    tested = {(one.text, one.pair) for one in read(Source(corpus, format="translations"))}
    pairs = (one for one in read(Source(str(path), format="translations")) if (one.text, one.pair) not in tested)

    def plains(text: str) -> list[str]:
        return [word for word in (plain(part) for part in text.split()) if word]

    return learned((plains(one.text), plains(one.pair or "")) for one in pairs)
