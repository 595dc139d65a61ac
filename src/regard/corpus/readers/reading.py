"""Reading corpora: text, JSONL, TSV/CSV, CoNLL-U, Hugging Face datasets; streaming, gzip, standard input.

Enters: a file, a folder, a dataset name or "-". Leaves: Examples, one after the other; bad lines are counted and shown.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from regard.corpus.readers import coreference, coreference_readers, delimited, prose, treebank
from regard.corpus.readers.source import Example, Problems, Source
from regard.errors import MissingFileError, MissingPackageError, UserError

FORMATS = ("text", "jsonl", "tsv", "csv", "conllu", "treebank", *coreference.FORMATS, "dataset")
UNITS = ("line", "paragraph", "sentence")
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv", ".conllu": "conllu"}
# What columns are called in the corpora people have, in order of preference.
_TEXT_NAMES = ("text", "sentence", "sentence1", "premise", "question", "question1", "source")
_PAIR_NAMES = ("pair", "sentence2", "hypothesis", "question2", "target")
_DOCUMENT_NAMES = ("document_id", "doc_id", "document", "article_id")
_NAMED = ("tsv", "csv", "gap")  # whose first line names the columns

_Reader = Callable[[Source, Problems], Iterator[Example]]


def read(source: Source, problems: Problems | None = None) -> Iterator[Example]:
    """The examples of a source, numbered in order."""
    problems = problems if problems is not None else Problems()
    check(source)
    files = (_READERS[_format(one)](one, problems) for one in source.each)
    examples = islice(_numbered(chain.from_iterable(files)), source.limit)
    return _clustered(examples if source.sample is None else iter(_sampled(examples, source.sample, source.seed)))


def check(source: Source) -> None:
    """Raise, in one sentence, where a source cannot be read as it is asked for."""
    for one in source.each:
        _check(one)


def _check(source: Source) -> None:
    if source.unit not in UNITS:
        raise UserError(f"there is no unit {source.unit!r}; choose from {', '.join(UNITS)}")
    if source.format is not None and source.format not in FORMATS:
        raise UserError(f"there is no format {source.format!r}; choose from {', '.join(FORMATS)}")
    path = Path(source.place)
    if source.place != "-" and _format(source) != "dataset" and (path.is_dir() or not path.exists()):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise MissingFileError(f"the corpus {source.place} {what}; name a file, or - for standard input")


def _format(source: Source) -> str:
    if source.format is not None:
        return source.format
    endings = [ending for ending in Path(source.place).suffixes if ending != ".gz"]
    return _ENDINGS.get(endings[-1].lower() if endings else "", "text")


def _numbered(examples: Iterable[Example]) -> Iterator[Example]:
    for number, example in enumerate(examples):
        yield replace(example, number=number)


def _clustered(examples: Iterable[Example]) -> Iterator[Example]:
    """Number documents, and examples without one, in reading order."""
    known: dict[str, int] = {}
    count = 0
    for example in examples:
        place = count if example.document is None else known.setdefault(example.document, count)
        count += place == count
        yield replace(example, cluster=place)


def _sampled(examples: Iterable[Example], count: int, seed: int) -> list[Example]:
    """A uniform sample in reading order (reservoir sampling: one pass, `count` examples in memory)."""
    chooser = random.Random(seed)  # noqa: S311 (sampling, not secrets)
    kept: list[Example] = []
    for seen, example in enumerate(examples):
        if seen < count:
            kept.append(example)
        elif (place := chooser.randint(0, seen)) < count:
            kept[place] = example
    return sorted(kept, key=lambda example: example.number)


# -- lines ---------------------------------------------------------------------------------------------------


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    if place == "-":
        yield sys.stdin.buffer
        return
    with gzip.open(place, "rb") if place.endswith(".gz") else Path(place).open("rb") as file:
        yield file  # type: ignore[misc]


def _lines(source: Source, problems: Problems) -> Iterator[tuple[int, str]]:
    """(line number from 1, text) of every line that is UTF-8."""
    with _opened(source.place) as file:
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
                if number == 1 and _format(source) in _NAMED:
                    raise UserError(f"{source.name} is {reason}; save it as UTF-8") from None
                problems.add(f"{source.name} line {number}", reason)


def _text_units(source: Source, problems: Problems) -> Iterator[Example]:
    """Lines, paragraphs or sentences; of one document are those of an article, or the sentences of a paragraph."""
    lines = (line for _, line in _lines(source, problems))
    for article, marked in prose.articles(lines):
        some = (prose.undone(line, problems) for line in marked)
        texts = enumerate(some if source.unit == "line" else prose.paragraphs(some))
        opening = list(islice(texts, 2))
        several = source.unit == "sentence" and len(opening) == 2  # one paragraph may be a file without empty lines
        for number, text in chain(opening, texts):
            document = f"{source.place} {article}" if article else f"{source.place} {number}" if several else None
            for part in prose.SENTENCE.split(text) if source.unit == "sentence" else (text,):
                if part.strip():
                    yield Example(0, part.strip(), document=document)


# -- tables --------------------------------------------------------------------------------------------------


def _jsonl(source: Source, problems: Problems) -> Iterator[Example]:
    for number, line in _lines(source, problems):
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
        yield from _example(record, source, problems, place)


def _why_not(error: Exception) -> str:
    """Why a line is not JSON that can be read."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"


def _table(delimiter: str, quoting: int) -> Callable[[Source, Problems], Iterator[Example]]:
    def examples(source: Source, problems: Problems) -> Iterator[Example]:
        def bad(number: int, reason: str) -> None:
            problems.add(f"{source.name} line {number}", reason)

        header: list[str] | None = None
        lines = _lines(source, problems)
        for number, row in delimited.rows(lines, bad, delimiter=delimiter, quoting=quoting):
            if header is None:
                header = _header(row, source)
                if header == row:
                    continue
            record = dict(zip(header, row, strict=True))
            yield from _example(record, source, problems, f"{source.name} line {number}")

    return examples


def _header(row: list[str], source: Source) -> list[str]:
    """Column names: the first line's, or numbers where it holds no known or asked-for name."""
    asked = [name for name in (source.text, source.pair, *source.keep) if name is not None]
    if set(row) & {*_TEXT_NAMES, *_PAIR_NAMES, *asked}:
        return row
    return [str(i) for i in range(len(row))]


def _example(record: Mapping[str, Any], source: Source, problems: Problems, place: str) -> Iterator[Example]:
    """The example of a record; a column that the first one lacks is an error, later or empty ones are problems."""
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
    kept = {name: record[name] for name in source.keep}
    if not all(_is_text(value) for value in (text, pair, *kept.values())):
        problems.add(place, "half a character (a lone surrogate)")
        return
    problems.begun = True
    named = _first_of(_DOCUMENT_NAMES, record)
    document = None if named in (None, text_name) else str(record[named])
    text, pair = prose.undone(text, problems), None if pair is None else prose.undone(str(pair), problems)
    if text.strip() and (pair is None or pair.strip()):  # headings are counted there
        yield Example(0, text, pair, kept, document=document)


def _is_text(value: Any) -> bool:
    """Whether a value can be written down; JSON can hold halves of characters."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _lacking(record: Mapping[str, Any], text_name: str | None, source: Source) -> str:
    """Which column a record lacks, in words; nothing where it has all."""
    columns = ", ".join(map(str, record))
    if text_name is None:
        return f"has no column with a usual name for text; choose one of its columns: {columns}"
    asked = (text_name, source.pair, *source.keep)
    name = next((name for name in asked if name is not None and name not in record), None)
    return "" if name is None else f"has no column {name!r}; its columns are {columns}"


def _first_of(names: Sequence[str], record: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in record), None)


# -- treebanks and datasets ------------------------------------------------------------------------------------


def _conllu(source: Source, problems: Problems) -> Iterator[Example]:
    """The sentences of a treebank as plain text; heads and relations may be missing."""
    for block in treebank.blocks(_lines(source, problems), source.name, problems):
        yield Example(0, block.text, document=block.document)


def _treebank(source: Source, problems: Problems) -> Iterator[Example]:
    """The sentences of a treebank with their trees, which `treebank.tree_of` gives."""
    for sentence in treebank.trees(_lines(source, problems), source.name, problems):
        tree = treebank.tree_field(sentence)
        yield Example(0, sentence.text, fields={"tree": tree}, document=sentence.document)


def _coreference(read_documents: Callable[..., Iterator[coreference.Document]]) -> _Reader:
    """Documents with their mentions, which `coreference.document_of` gives."""

    def examples(source: Source, problems: Problems) -> Iterator[Example]:
        for document in read_documents(_lines(source, problems), problems, source.name):
            yield Example(0, document.text, fields={"document": document.record()}, document=document.origin)

    return examples


def _dataset(source: Source, problems: Problems) -> Iterator[Example]:
    try:
        import datasets
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Hugging Face datasets need the package datasets; run: pip install 'regard[datasets]'"
        ) from None
    stored = _stored(datasets, source.place)
    if stored is not None and source.split not in stored:
        raise UserError(f"{source.name} has no split {source.split!r}; it has {', '.join(stored)}")
    rows = _loaded(datasets, source) if stored is None else stored[source.split]
    for number, record in enumerate(rows):
        yield from _example(record, source, problems, f"{source.name} row {number}")


def _stored(datasets: Any, place: str) -> Mapping[str, Iterable[Mapping[str, Any]]] | None:
    """The splits of a folder that `save_to_disk` wrote; None for anything else."""
    if not any((Path(place) / name).is_file() for name in ("dataset_dict.json", "dataset_info.json")):
        return None
    found = datasets.load_from_disk(place)
    return found if isinstance(found, datasets.DatasetDict) else {"train": found}


def _loaded(datasets: Any, source: Source) -> Iterable[Mapping[str, Any]]:
    """A dataset of the hub (`name` or `name:configuration`), or a folder of data files, streamed."""
    name, _, configuration = source.place.partition(":")
    if Path(source.place).is_dir():
        name, configuration = source.place, ""
    try:
        return datasets.load_dataset(name, configuration or None, split=source.split, streaming=True)  # type: ignore[no-any-return]
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"the dataset {source.place} cannot be read: {reason}; check its name, or give a folder"
        ) from None


_READERS: dict[str, _Reader] = {
    "text": _text_units,
    "jsonl": _jsonl,
    "tsv": _table("\t", csv.QUOTE_NONE),
    "csv": _table(",", csv.QUOTE_MINIMAL),
    "conllu": _conllu,
    "treebank": _treebank,
    "gap": _coreference(coreference_readers.read_gap),
    "conll": _coreference(coreference_readers.read_conll),
    "winobias": _coreference(coreference_readers.read_winobias),
    "dataset": _dataset,
}
