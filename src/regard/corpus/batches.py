"""From examples to batches: encoded, gathered in windows, sorted by length inside a window to keep padding low.

Enters: examples and a model's encoder. Leaves: windows of batches, the same for the same corpus whatever runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from regard.base.errors import UserError
from regard.corpus.readers.source import Example
from regard.models.looking import shapes_of
from regard.models.prepare import Encoded

WINDOW = 256  # examples that are sorted together; also the unit of a checkpoint and of a worker's task
TOKENS = 1024  # padded tokens per batch
PAIRS = 192 * TOKENS  # padded query-key pairs per batch: bounds the size of the maps, however long the inputs
LONG = ("truncate", "split", "skip")


@dataclass(eq=False)
class Item:
    """An example as the model reads it; `number` identifies it permanently."""

    number: int
    encoded: Encoded
    example: Example

    @property
    def cluster(self) -> int:
        """What it is resampled with: its document if the corpus names documents, otherwise only itself."""
        return self.number if self.example.cluster is None else self.example.cluster


@dataclass
class Tally:
    """What happened to the examples of some windows."""

    examples: int = 0
    inputs: int = 0
    tokens: int = 0
    truncated: int = 0
    split: int = 0
    skipped: int = 0
    documented: int = 0  # examples whose document is known
    clusters: int = 0  # documents, or examples that stand alone, up to the last of these windows

    def plus(self, other: Tally) -> Tally:
        """The sum of both; clusters are numbered through the corpus."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        return Tally(**counts | {"clusters": max(self.clusters, other.clusters)})

    @property
    def clustered(self) -> str:
        """What clusters are."""
        return "documents" if self.documented else "examples"


@dataclass(eq=False)
class Window:
    """Some consecutive examples as batches."""

    index: int
    batches: list[list[Item]]
    tally: Tally = field(default_factory=Tally)


Encoder = Callable[[Example, bool], Encoded]  # (example, truncate) -> ids and tokens


def windows_of(examples: Iterable[Example], *, size: int = WINDOW) -> Iterator[tuple[int, list[Example]]]:
    """(index, examples) of each window."""
    stream = iter(examples)
    index = 0
    while some := list(islice(stream, size)):
        yield index, some
        index += 1


def window_of(index: int, examples: list[Example], encode: Encoder, *, long: str, tokens: int = TOKENS) -> Window:
    """Encode the examples of a window and cut them into batches of similar length."""
    if long not in LONG:
        raise UserError(f"long must be one of {', '.join(LONG)}, not {long!r}")
    tally = Tally(
        examples=sum(example.part == 0 for example in examples),
        documented=sum(example.document is not None for example in examples),
    )
    items = [item for example in examples for item in _items(example, encode, long, tally)]
    tally.clusters = 1 + max((item.cluster for item in items), default=-1)
    tally.inputs, tally.tokens = len(items), sum(len(item.encoded.ids) for item in items)
    items.sort(key=lambda item: (len(item.encoded.ids), str(_shape(item)), item.number))
    return Window(index, _cut(items, tokens), tally)


def _items(example: Example, encode: Encoder, long: str, tally: Tally) -> Iterator[Item]:
    """The input of an example, or the inputs that a long one is split into."""
    encoded = encode(example, True)
    if not encoded.cut:
        yield Item(example.number, encoded, example)
    elif long == "skip":
        tally.skipped += 1
    elif long == "truncate" or example.pair is not None:
        tally.truncated += 1
        yield Item(example.number, encoded, example)
    else:
        tally.split += 1
        while encoded.cut:
            yield Item(example.number, encoded, example)
            end = max((token.end for token in encoded.side.tokens if token.end is not None), default=None)
            rest = "" if end is None else example.text[end:]
            if not rest.strip():
                return
            example = replace(example, text=rest, part=example.part + 1)
            encoded = encode(example, True)
        yield Item(example.number, encoded, example)


def _shape(item: Item) -> Any:
    """What pictures must have in common to run together; nothing for texts, which are padded."""
    return None if item.encoded.inputs is None else shapes_of(item.encoded.inputs)


def _cut(items: list[Item], tokens: int) -> list[list[Item]]:
    """Batches of up to `tokens` padded tokens and `PAIRS` pairs, one input at least; items are sorted by length."""
    batches: list[list[Item]] = []
    for item in items:
        width = len(item.encoded.ids)  # the longest so far
        room = batches and (len(batches[-1]) + 1) * width <= min(tokens, PAIRS // width)
        if room and _shape(batches[-1][0]) == _shape(item):
            batches[-1].append(item)
        else:
            batches.append([item])
    return batches
