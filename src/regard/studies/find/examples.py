"""Where in the corpus the best head follows the rule: texts with the query and the key.

Enters: a study that has run, and a head. Leaves: a table of a few texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from regard.corpus.batches import Item, window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems
from regard.patterns.rules import Rule
from regard.studies.base import Batch, StudyContext
from regard.studies.find.reduce import RuleTables, RuleTaker
from regard.trace.tokens import Token

if TYPE_CHECKING:
    import pandas as pd

    from regard.capture import Layer

LOOKED_AT = 100  # inputs from which examples are taken
_SHOWN = 5
_AROUND = 40  # characters before and after query and key
COLUMNS = ("example", "attention", "query", "key", "text", "query_at", "key_at")


@dataclass(frozen=True)
class _Row:
    """A row of a map: how much of it is on targets, and its tokens."""

    item: Item
    mass: float
    query: Token
    key: Token

    @property
    def words(self) -> tuple[str, str]:
        return self.query.text.strip().lower(), self.key.text.strip().lower()


class _Watcher(RuleTaker):
    """Keeps the row of each input in which one head has most attention on targets."""

    def __init__(self, batch: Batch, rule: Rule, head: tuple[str, int, int]) -> None:
        super().__init__(batch, rule)
        self.kind, self.layer, self.head = head
        self.found: list[_Row] = []

    def take(self, layer: Layer, attention: torch.Tensor, tables: RuleTables) -> None:
        if (layer.kind, layer.layer) != (self.kind, self.layer):
            return
        on_target = attention[:, self.head] * tables.targets  # (B, Q, K)
        masses, queries = on_target.sum(dim=-1).max(dim=-1)
        for number, (item, mass, query) in enumerate(
            zip(self.batch.items, masses.tolist(), queries.tolist(), strict=True)
        ):
            if mass > 0:
                tokens = item.encoded.side.tokens
                strongest = int(on_target[number, query].argmax())
                self.found.append(_Row(item, mass, tokens[query], tokens[strongest]))


def example_table(context: StudyContext, rule: Rule, head: tuple[str, int, int]) -> pd.DataFrame | None:
    """A few texts in which the head follows the rule most, each with other words; None if there are none to show.

    `query_at` and `key_at` are where they stand in `text`, which is cut around them.
    """
    import pandas as pd

    if context.source.once or (context.model.is_encoder_decoder and head[0] != "encoder"):
        return None
    rows = sorted(_rows(context, rule, head), key=lambda row: (-row.mass, row.item.number))
    other = {row.words: row for row in reversed(rows)}  # the best of each pair of words
    best = sorted(other.values(), key=lambda row: (-row.mass, row.item.number))[:_SHOWN]
    return pd.DataFrame([_record(row) for row in best], columns=list(COLUMNS))


def _rows(context: StudyContext, rule: Rule, head: tuple[str, int, int]) -> Iterator[_Row]:
    """The best row of each of the first inputs."""
    model = context.model
    limit = min(context.source.limit or LOOKED_AT, LOOKED_AT)
    examples = list(read(replace(context.source, limit=limit), Problems()))
    with model._engine.steady():
        for items in window_of(0, examples, encoder_of(model), long="truncate").batches:
            batch = Batch(model, items)
            watcher = _Watcher(batch, rule, head)
            model._engine.stream(batch.inputs, batch.book, watcher)
            yield from watcher.found


def _record(row: _Row) -> dict[str, Any]:
    example = row.item.example
    whole = example.text if example.pair is None else f"{example.text} / {example.pair}"
    spans = [_span(token, whole, len(example.text) + 3) for token in (row.query, row.key)]
    text, (query, key) = _cut(whole, spans)
    return {
        "example": row.item.number,
        "attention": row.mass,
        "query": text[slice(*query)],
        "key": text[slice(*key)],
        "text": text,
        "query_at": query,
        "key_at": key,
    }


def _span(token: Token, text: str, second: int) -> tuple[int, int]:
    """Where a token stands, without the space before it; the second sentence begins at `second`."""
    shift = second if token.segment else 0
    start, end = (token.start or 0) + shift, (token.end or 0) + shift
    while start < end - 1 and text[start].isspace():
        start += 1
    return start, end


def _cut(text: str, spans: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text around some spans, and where they stand in it; … is for what is left out."""
    keep: list[list[int]] = []
    for start, end in sorted(spans):
        first, last = _word_start(text, start - _AROUND), _word_end(text, end + _AROUND)
        if keep and first <= keep[-1][1]:
            keep[-1][1] = max(last, keep[-1][1])
        else:
            keep.append([first, last])
    parts, moved, length = list[str](), dict[tuple[int, int], tuple[int, int]](), 0
    for first, last in keep:
        opening = "… " if first else ""
        opening = f" {opening}" if parts else opening
        for span in spans:
            if first <= span[0] < last:
                shift = length + len(opening) - first
                moved[span] = (span[0] + shift, span[1] + shift)
        parts.append(opening + text[first:last].replace("\n", " "))
        length += len(parts[-1])
    ending = " …" if keep[-1][1] < len(text) else ""
    return "".join(parts) + ending, [moved[span] for span in spans]


def _word_start(text: str, place: int) -> int:
    """The beginning of a word from a place on."""
    if place <= 0:
        return 0
    found = text.find(" ", place, place + _AROUND // 2)
    return place if found < 0 else found + 1


def _word_end(text: str, place: int) -> int:
    if place >= len(text):
        return len(text)
    found = text.rfind(" ", place - _AROUND // 2, place)
    return place if found < 0 else found
