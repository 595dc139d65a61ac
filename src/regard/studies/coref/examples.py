"""A few mentions from the corpus with the word that a head chooses for them.

Enters: a study that has run, and one of its heads. Leaves: a table of sentences, choices and right answers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from regard.corpus.batches import Item
from regard.corpus.readers.coreference import Document
from regard.corpus.readers.reading import read
from regard.studies.base import Batch, StudyContext
from regard.studies.coref.questions import CorefQuestion
from regard.studies.coref.reduce import NOWHERE, SETS, CorefBatch, Finder

if TYPE_CHECKING:
    import pandas as pd

    from regard.capture import Layer
    from regard.studies.coref.study import Coref

_INPUTS, _OF_EACH = 8, 2  # windows looked at, and mentions shown from each
_AROUND = 8  # words shown before and after
COLUMNS = ("text", "mention", *(f"attends most to ({name})" for name in SETS), "right answers", *SETS)


class _Watcher(Finder):
    """Keeps what one layer's heads choose."""

    def __init__(self, batch: Batch, rows: str, kind: str, layer: int) -> None:
        super().__init__(batch, rows)
        self.place = kind, layer
        self.seen: CorefBatch | None = None
        self.choices: torch.Tensor | None = None  # (B, H, 2, N)

    def take(self, layer: Layer, attention: torch.Tensor, batch: CorefBatch | None) -> None:
        if (layer.kind, layer.layer) == self.place and batch is not None:
            self.seen, self.choices = batch, batch.choices(attention).cpu()


def example_table(context: StudyContext, study: Coref, kind: str, layer: int, head: int) -> pd.DataFrame | None:
    """Some mentions from the first inputs; None if the corpus cannot be read again."""
    import pandas as pd

    model = context.model
    if context.source.once:
        return None
    parts = study.parts(model, read(replace(context.source, limit=_INPUTS, sample=None)))
    items = [
        Item(example.number, model._engine.encode(example.text, truncate=True), example)
        for example in islice(parts, _INPUTS)
    ]
    batch = Batch(model, items)
    watcher = _Watcher(batch, study.rows, kind, layer)
    model._engine.stream(batch.inputs, batch.book, watcher)
    if watcher.seen is None or watcher.choices is None:
        return None
    rows = []
    for number, (document, questions) in enumerate(zip(watcher.documents, watcher.seen.questions, strict=True)):
        for n, question in enumerate(questions[:_OF_EACH]):
            rows.append(_row(document, question, watcher.choices[number, head, :, n].tolist()))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(document: Document, question: CorefQuestion, chosen: list[int]) -> tuple[Any, ...]:
    verdicts = ["right" if word in question.right else "wrong" for word in chosen]
    answers = sorted(question.right)
    return (
        _excerpt(document, question, [word for word in (*chosen, answers[-1]) if word != NOWHERE]),
        document.words[question.word],
        *("n/a" if word == NOWHERE else document.words[word] for word in chosen),
        ", ".join(dict.fromkeys(document.words[word] for word in answers)),
        *verdicts,
    )


def _excerpt(document: Document, question: CorefQuestion, places: list[int]) -> str:
    """The words around these places, the mention in brackets."""
    start = max(0, min(*places, question.mention.start) - _AROUND)
    end = min(len(document.words), max(*places, question.mention.end - 1) + _AROUND + 1)
    one, other = document.spans[question.mention.start][0], document.spans[question.mention.end - 1][1]
    first, last = document.spans[start][0], document.spans[end - 1][1]
    text = f"{document.text[first:one]}[{document.text[one:other]}]{document.text[other:last]}"
    return f"{'… ' if start else ''}{text}{' …' if end < len(document.words) else ''}"
