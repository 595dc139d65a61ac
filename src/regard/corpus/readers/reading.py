"""Reading corpora: text, JSONL, TSV/CSV, CoNLL-U, images, Hugging Face datasets; streaming, gzip, standard input.

Enters: a file, a folder, a dataset name or "-". Leaves: Examples, one by one; bad lines are counted and shown.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from regard.base.errors import MissingFileError, MissingPackageError, UserError
from regard.corpus.readers import coreference, coreference_readers, pictures, prose, translations, treebank, utterances
from regard.corpus.readers.lines import format_of, lines_of
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.readers.tables import example_of, read_jsonl, table_reader

FORMATS = (
    "text",
    "jsonl",
    "tsv",
    "csv",
    "conllu",
    "treebank",
    *coreference.FORMATS,
    "utterances",
    "translations",
    "images",
    "dataset",
)
UNITS = ("line", "paragraph", "sentence")

_Reader = Callable[[Source, Problems], Iterator[Example]]


def read(source: Source, problems: Problems | None = None) -> Iterator[Example]:
    """The examples of a source, numbered in order."""
    problems = problems if problems is not None else Problems()
    check(source)
    files = (_READERS[format_of(one)](one, problems) for one in source.each)
    examples = islice(_number(chain.from_iterable(files)), source.limit)
    return _number_clusters(examples if source.sample is None else iter(_sample(examples, source.sample, source.seed)))


def check(source: Source) -> None:
    """Raise, with one sentence, if a source cannot be read as requested."""
    for one in source.each:
        _check(one)


def _check(source: Source) -> None:
    if source.unit not in UNITS:
        raise UserError(f"there is no unit {source.unit!r}; choose from {', '.join(UNITS)}")
    if source.format is not None and source.format not in FORMATS:
        raise UserError(f"there is no format {source.format!r}; choose from {', '.join(FORMATS)}")
    path = Path(source.place)
    if format_of(source) == "images":
        pictures.check_folder(path)
    elif source.place != "-" and format_of(source) != "dataset" and (path.is_dir() or not path.exists()):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise MissingFileError(f"the corpus {source.place} {what}; name a file, or - for standard input")


def _number(examples: Iterable[Example]) -> Iterator[Example]:
    for number, example in enumerate(examples):
        yield replace(example, number=number)


def _number_clusters(examples: Iterable[Example]) -> Iterator[Example]:
    """Number documents, and examples without one, in reading order."""
    known: dict[str, int] = {}
    count = 0
    for example in examples:
        place = count if example.document is None else known.setdefault(example.document, count)
        count += place == count
        yield replace(example, cluster=place)


def _sample(examples: Iterable[Example], count: int, seed: int) -> list[Example]:
    """A uniform sample in reading order (reservoir sampling: one pass, `count` examples in memory)."""
    chooser = random.Random(seed)  # noqa: S311 (sampling, not secrets)
    sample: list[Example] = []
    for seen, example in enumerate(examples):
        if seen < count:
            sample.append(example)
        elif (place := chooser.randint(0, seen)) < count:
            sample[place] = example
    return sorted(sample, key=lambda example: example.number)


def _text_units(source: Source, problems: Problems) -> Iterator[Example]:
    """Lines, paragraphs or sentences; a document is an article, or a paragraph read as sentences."""
    lines = (line for _, line in lines_of(source, problems))
    for article, marked in prose.articles(lines):
        some = (prose.strip_marks(line, problems) for line in marked)
        texts = enumerate(some if source.unit == "line" else prose.paragraphs(some))
        opening = list(islice(texts, 2))
        several = source.unit == "sentence" and len(opening) == 2  # one paragraph may be a file without empty lines
        for number, text in chain(opening, texts):
            document = f"{source.place} {article}" if article else f"{source.place} {number}" if several else None
            for part in prose.SENTENCE.split(text) if source.unit == "sentence" else (text,):
                if part.strip():
                    yield Example(0, part.strip(), document=document)


# -- treebanks and datasets ------------------------------------------------------------------------------------


def _conllu(source: Source, problems: Problems) -> Iterator[Example]:
    """The sentences of a treebank as plain text; heads and relations may be missing."""
    for block in treebank.blocks(lines_of(source, problems), source.name, problems):
        yield Example(0, block.text, document=block.document)


def _treebank(source: Source, problems: Problems) -> Iterator[Example]:
    """The sentences of a treebank with their trees, which `treebank.tree_of` returns."""
    for sentence in treebank.trees(lines_of(source, problems), source.name, problems):
        tree = treebank.tree_field(sentence)
        yield Example(0, sentence.text, fields={"tree": tree}, document=sentence.document)


def _coreference(read_documents: Callable[..., Iterator[coreference.Document]]) -> _Reader:
    """Documents with their mentions, which `coreference.document_of` returns."""

    def examples(source: Source, problems: Problems) -> Iterator[Example]:
        for document in read_documents(lines_of(source, problems), problems, source.name):
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
        yield from example_of(record, source, problems, f"{source.name} row {number}")


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
            f"the dataset {source.place} cannot be read: {reason}; check its name, or pass a folder"
        ) from None


_READERS: dict[str, _Reader] = {
    "text": _text_units,
    "jsonl": read_jsonl,
    "tsv": table_reader("\t", csv.QUOTE_NONE),
    "csv": table_reader(",", csv.QUOTE_MINIMAL),
    "conllu": _conllu,
    "treebank": _treebank,
    "gap": _coreference(coreference_readers.read_gap),
    "conll": _coreference(coreference_readers.read_conll),
    "winobias": _coreference(coreference_readers.read_winobias),
    "utterances": utterances.read_utterances,
    "translations": translations.read_translations,
    "images": pictures.read_pictures,
    "dataset": _dataset,
}
