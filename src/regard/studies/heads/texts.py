"""The examples that pages show, read again: their tokens.

Enters: the corpus, and which of its examples are shown. Leaves: the tokens of both sides of each input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from regard.corpus.batches import WINDOW, window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems
from regard.studies.base import Batch, StudyContext
from regard.trace.lettering import readable

Texts = dict[tuple[int, int], dict[str, list[str]]]  # (example, part) -> side -> tokens


def texts_of(context: StudyContext, wanted: Collection[int]) -> Texts:
    """The tokens of the wanted examples, by side."""
    found: Texts = {}
    stream = (example for example in read(context.source, Problems()) if example.number in wanted)
    for examples in chunks(stream):
        window = window_of(0, examples, encoder_of(context.model), long=context.long)
        for items in window.batches:
            batch = Batch(context.model, items)
            for item, sides in zip(items, batch.book.sides, strict=True):
                shown = {name: [readable(text) for text in side.texts] for name, side in sides.items()}
                found[item.number, item.example.part] = shown
    return found


def chunks(stream: Iterator[Example]) -> Iterator[list[Example]]:
    """Examples by the window."""
    while some := list(islice(stream, WINDOW)):
        yield some


def sides_for(kind: str, sides: dict[str, list[str]]) -> tuple[str, str]:
    """The names of the sides that a kind of attention looks from and at."""
    if {"encoder", "decoder"} <= set(sides):
        return "encoder" if kind == "encoder" else "decoder", "decoder" if kind == "decoder" else "encoder"
    only = next(iter(sides))
    return only, only
