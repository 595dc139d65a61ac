"""Texts with coreference: words, mentions and who is who; long texts in windows of whole sentences.

Enters: files in one of three formats (`coreference_readers`). Leaves: Documents that travel with their examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import MissingFileError, UserError
from regard.corpus.readers.mentions import Mention

if TYPE_CHECKING:
    from regard.corpus.readers.source import Example, Source

FORMATS = ("gap", "conll", "winobias")


@dataclass(frozen=True)
class Document:
    """A text with its mentions.

    `spans` are the words' characters, `starts` the first word of each sentence. `pronouns` says that only pronouns
    are asked about, with candidate names on either side (GAP, WinoBias). `side` is pro or anti for a sentence of
    WinoBias, and `kin` a number it shares with the sentences made from the same words: sentences 1 and 2 (3 and 4, ...)
    differ in who is meant, and each has a pro and an anti version.
    """

    name: str
    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    mentions: tuple[Mention, ...]
    pronouns: bool = False
    side: str | None = None
    kin: int | None = None

    @property
    def origin(self) -> str:
        """What it is resampled with: the document it is part of, or the sentences made from the same words."""
        return re.sub(r" part \d+$", "", self.name) if self.kin is None else f"kin {self.kin}"

    def record(self) -> dict[str, Any]:
        """What `document_of` reads: plain values that can be sent to another process as JSON."""
        return {**vars(self), "mentions": tuple(asdict(mention) for mention in self.mentions)}

    def part(self, first: int, last: int) -> Document:
        """Sentences `[first, last)` as a separate document; mentions that cross its ends are left out."""
        edges = (*self.starts, len(self.words))
        start, end = edges[first], edges[last]
        base, stop = self.spans[start][0], self.spans[end - 1][1]
        mentions = tuple(
            Mention(m.start - start, m.end - start, m.head - start, m.type, m.cluster)
            for m in self.mentions
            if start <= m.start and m.end <= end
        )
        return Document(
            self.name,
            self.text[base:stop],
            self.words[start:end],
            tuple((one - base, other - base) for one, other in self.spans[start:end]),
            tuple(place - start for place in self.starts[first:last]),
            mentions,
            self.pronouns,
            self.side,
            self.kin,
        )


def document_of(example: Example) -> Document:
    """The document that an example of one of these formats carries."""
    record: Mapping[str, Any] = example.fields["document"]
    spans = tuple((start, end) for start, end in record["spans"])
    mentions = tuple(Mention(**mention) for mention in record["mentions"])
    sequences = {name: tuple(record[name]) for name in ("words", "starts")}
    return Document(**{**record, **sequences, "spans": spans, "mentions": mentions})


def windows(document: Document, pieces: Callable[[str], int], most: int) -> Iterator[Document]:
    """A document in parts of whole sentences with at most `most` pieces; a longer sentence stands alone."""
    edges = (*document.starts, len(document.words))
    first, held = 0, 0
    for sentence in range(len(document.starts)):
        span = document.spans[edges[sentence]][0], document.spans[edges[sentence + 1] - 1][1]
        count = pieces(document.text[slice(*span)])
        if held and held + count > most:
            yield document.part(first, sentence)
            first, held = sentence, 0
        held += count
    if len(document.starts):
        yield document.part(first, len(document.starts))


def format_of(place: str) -> str:
    """The format that a file's name suggests: .tsv is GAP, conll endings are CoNLL-2012, anything else WinoBias."""
    name = Path(place).name.lower().removesuffix(".gz")
    return "gap" if name.endswith(".tsv") else "conll" if name.endswith("conll") else "winobias"


def corpus_of(places: Sequence[str], **options: Any) -> Source:
    """One corpus from several files and all files in folders; the first name decides the format."""
    from regard.corpus.readers.source import Source

    files = [file for place in places for file in _files(place)]
    if not files:
        raise MissingFileError(f"there are no files in {', '.join(places)}; name files with coreference")
    formats = {format_of(file) for file in files}
    if options.get("format") is None and len(formats) > 1:
        raise UserError(f"the files have different formats ({', '.join(sorted(formats))}); study each separately")
    return Source(files[0], **{**options, "format": options.get("format") or formats.pop()}, more=tuple(files[1:]))


def _files(place: str) -> list[str]:
    folder = Path(place)
    return sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else [place]
