"""Lines of a file, also compressed, from standard input or a pipe; those that are not UTF-8 are counted.

Enters: a source. Leaves: its lines with their numbers; its format.
"""

from __future__ import annotations

import codecs
import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from regard.base.errors import UserError
from regard.corpus.readers.source import Problems, Source

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv", ".conllu": "conllu"}
_NAMED = ("tsv", "csv", "gap")  # whose first line names the columns


def format_of(source: Source) -> str:
    """The format of a source: as given, or by the file's ending."""
    if source.format is not None:
        return source.format
    if Path(source.place).is_dir():
        return "images"
    endings = [ending for ending in Path(source.place).suffixes if ending != ".gz"]
    return _ENDINGS.get(endings[-1].lower() if endings else "", "text")


@contextmanager
def open_bytes(place: str) -> Iterator[IO[bytes]]:
    """A file, or standard input, as bytes."""
    if place == "-":
        yield sys.stdin.buffer
        return
    with gzip.open(place, "rb") if place.endswith(".gz") else Path(place).open("rb") as file:
        yield file  # type: ignore[misc]


def lines_of(source: Source, problems: Problems) -> Iterator[tuple[int, str]]:
    """(line number from 1, text) of every line that is UTF-8."""
    with open_bytes(source.place) as file:
        lines = enumerate(file, 1)
        while True:
            try:
                number, raw = next(lines)
            except StopIteration:
                return
            except (OSError, EOFError) as error:
                raise OSError(f"{source.name} could not be read to its end: {error}") from None
            if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise UserError(f"{source.name} is UTF-16, not UTF-8; save it as UTF-8")
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                reason = f"not UTF-8 (line {number}, byte {error.start + 1}: 0x{raw[error.start]:02x})"
                if number == 1 and format_of(source) in _NAMED:
                    raise UserError(f"{source.name} is {reason}; save it as UTF-8") from None
                problems.add(f"{source.name} line {number}", reason)
