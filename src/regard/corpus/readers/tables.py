"""Examples of tables: JSONL, TSV and CSV, and records of datasets.

Enters: lines, or records. Leaves: Examples; unreadable lines are counted, with their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from regard.base.errors import UserError
from regard.corpus.readers import delimited, prose
from regard.corpus.readers.lines import lines_of
from regard.corpus.readers.source import Example, Problems, Source

# Common column names, in order of preference.
_TEXT_NAMES = ("text", "sentence", "sentence1", "premise", "question", "question1", "source")
_PAIR_NAMES = ("pair", "sentence2", "hypothesis", "question2", "target")
_DOCUMENT_NAMES = ("document_id", "doc_id", "document", "article_id")


def read_jsonl(source: Source, problems: Problems) -> Iterator[Example]:
    """The records of a file with one JSON object per line."""
    for number, line in lines_of(source, problems):
        if not line.strip():
            continue
        place = f"{source.name} line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.add(place, f"not JSON ({_why_not(error)})")
            continue
        if not isinstance(record, dict):
            problems.add(place, "not a JSON object")
            continue
        yield from example_of(record, source, problems, place)


def _why_not(error: Exception) -> str:
    """Why a line is not JSON that can be read."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"


def table_reader(delimiter: str, quoting: int) -> Callable[[Source, Problems], Iterator[Example]]:
    """A reader of files with columns separated by this delimiter."""

    def examples(source: Source, problems: Problems) -> Iterator[Example]:
        def bad(number: int, reason: str) -> None:
            problems.add(f"{source.name} line {number}", reason)

        header: list[str] | None = None
        lines = lines_of(source, problems)
        for number, row in delimited.rows(lines, bad, delimiter=delimiter, quoting=quoting):
            if header is None:
                header = _header(row, source)
                if header == row:
                    continue
            record = dict(zip(header, row, strict=True))
            yield from example_of(record, source, problems, f"{source.name} line {number}")

    return examples


def _header(row: list[str], source: Source) -> list[str]:
    """Column names: the first line, or numbers if it contains no known or requested name."""
    wanted = [name for name in (source.text, source.pair, *source.keep) if name is not None]
    if set(row) & {*_TEXT_NAMES, *_PAIR_NAMES, *wanted}:
        return row
    return [str(i) for i in range(len(row))]


def example_of(record: Mapping[str, Any], source: Source, problems: Problems, place: str) -> Iterator[Example]:
    """The example of a record; a column missing from the first one is an error, later or empty ones are problems."""
    text_name = source.text or _first_of(_TEXT_NAMES, record) or ("0" if "0" in record else None)
    pair_name = source.pair or (_first_of(_PAIR_NAMES, record) if source.text is None else None)
    lacking = _lacking(record, text_name, source)
    if lacking and not problems.begun:
        raise UserError(f"{place} {lacking}")
    if lacking or text_name is None:
        problems.add(place, lacking)
        return
    text, pair = record[text_name], record[pair_name] if pair_name else None
    if not isinstance(text, str) or not text.strip() or (pair is not None and not str(pair).strip()):
        problems.add(place, "the text is empty or not text")
        return
    fields = {name: record[name] for name in source.keep}
    if not all(_is_text(value) for value in (text, pair, *fields.values())):
        problems.add(place, "half a character (a lone surrogate)")
        return
    problems.begun = True
    named = _first_of(_DOCUMENT_NAMES, record)
    document = None if named in (None, text_name) else str(record[named])
    text, pair = prose.strip_marks(text, problems), None if pair is None else prose.strip_marks(str(pair), problems)
    if text.strip() and (pair is None or pair.strip()):  # headings are counted there
        yield Example(0, text, pair, fields, document=document)


def _is_text(value: Any) -> bool:
    """Whether a value can be encoded; JSON can contain half a character."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _lacking(record: Mapping[str, Any], text_name: str | None, source: Source) -> str:
    """Which column a record lacks, in words; empty if it has all."""
    columns = ", ".join(map(str, record))
    if text_name is None:
        return f"has no column with a usual name for text; choose one of its columns: {columns}"
    wanted = (text_name, source.pair, *source.keep)
    name = next((name for name in wanted if name is not None and name not in record), None)
    return "" if name is None else f"has no column {name!r}; its columns are {columns}"


def _first_of(names: Sequence[str], record: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in record), None)
