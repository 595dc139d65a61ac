"""Tables of labelled examples: read, checked, and some of them set aside.

Enters: a table (TSV, CSV, JSONL) with columns of text and label. Leaves: examples to learn from, examples that decide
when to stop, and the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from regard.base.errors import UserError
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source

HELD_OUT = 0.1  # share of the examples that decides which epoch is best, unless a file is given for that
MOST_LABELS = 100


@dataclass(frozen=True)
class Data:
    """Examples of a table and their labels."""

    name: str
    examples: list[Example]
    labels: list[str]

    def only(self, chosen: Sequence[int]) -> Data:
        """Some of the examples."""
        return Data(self.name, [self.examples[i] for i in chosen], [self.labels[i] for i in chosen])


def label_name(value: Any) -> str:
    """A label as it is compared: text without surrounding blanks."""
    return "" if value is None else str(value).strip()


def labelled_data(
    source: Source, dev: str | Path | None, label: str, seed: int, console: Console
) -> tuple[Data, Data, list[str]]:
    """The examples to learn from, those that decide when to stop, and their labels."""
    problems = Problems()
    learned = _read(source, label, problems)
    labels = _labels(learned)
    if dev is None:
        learned, held = _split(learned, seed)
    else:
        held = _known(_read(replace(source, place=str(dev), limit=None), label, problems), labels)
    if problems.count:
        first = f"{problems.count:,} examples left out, the first: {problems.first[0]}"
        console.print(first, markup=False, highlight=False)
    return learned, held, labels


def _read(source: Source, column: str, problems: Problems) -> Data:
    """The examples of a table that have a label."""
    data = Data(source.name, [], [])
    for example in read(replace(source, keep=(column,)), problems):
        label = label_name(example.fields[column])
        if label:
            data.examples.append(example)
            data.labels.append(label)
        else:
            problems.add(f"{source.name} example {example.number + 1}", "it has no label")
    if not data.examples:
        raise UserError(f"{source.name} has no labelled example; it needs a line of column names, then examples")
    return data


def _labels(data: Data) -> list[str]:
    """The distinct labels; numbers in numerical order."""
    found = set(data.labels)
    if len(found) < 2:
        raise UserError(f"every example of {data.name} has the label {data.labels[0]!r}; a classifier needs two")
    if len(found) > MOST_LABELS:
        some = ", ".join(sorted(found)[:3])
        raise UserError(
            f"{data.name} has {len(found)} different labels ({some} ...), more than {MOST_LABELS}; name the column "
            "of labels with --label"
        )
    return sorted(found, key=int) if all(label.isdecimal() for label in found) else sorted(found)


def _split(data: Data, seed: int) -> tuple[Data, Data]:
    """The examples to learn from, and those that decide when to stop."""
    count = round(HELD_OUT * len(data.examples))
    if not count:
        raise UserError(f"{data.name} has too few examples to hold some out; pass a second file with --dev")
    order = torch.randperm(len(data.examples), generator=torch.Generator().manual_seed(seed)).tolist()
    return data.only(sorted(order[count:])), data.only(sorted(order[:count]))


def _known(data: Data, labels: list[str]) -> Data:
    strange = sorted(set(data.labels) - set(labels))
    if strange:
        raise UserError(
            f"{data.name} has the label {strange[0]!r}, which the training data does not have; its labels are "
            f"{', '.join(labels)}"
        )
    return data
