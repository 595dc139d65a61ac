"""Sentences from the treebank with the guesses of the heads that know a relation, drawn as arcs.

Enters: a run and the heads it found. Leaves: markup for the report.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import torch

from regard.corpus.batches import Item
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems
from regard.corpus.readers.treebank import ROOT, Sentence, tree_of
from regard.corpus.sums import Array
from regard.studies.arcs import Arc, arcs_svg
from regard.studies.base import Batch, StudyContext
from regard.studies.syntax.counts import DirectedHead
from regard.studies.syntax.reduce import DIRECTIONS, NOWHERE, SyntaxTaker, Trees, guesses
from regard.studies.syntax.stanford import with_stanford

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model

_LOOKED_AT = 400  # sentences from which examples are taken
_WORDS = range(5, 17)  # words of a sentence that fits on a line
_ALT = {DIRECTIONS[0]: "the word it attends to most", DIRECTIONS[1]: "the word that attends to it most"}


def examples_part(context: StudyContext, chosen: Sequence[tuple[str, DirectedHead]]) -> str:
    """For each relation and head a sentence with its arcs, or why there is none."""
    if context.source.once:
        return '<p class="quiet">Standard input or a pipe cannot be read again for examples.</p>'
    if not chosen:
        return '<p class="quiet">No head beats the best fixed offset by more than the interval.</p>'
    examples = list(islice(read(context.source, Problems()), _LOOKED_AT))
    rows = str(context.study.settings["rows"])
    parts = [
        '<p class="quiet">Of the first sentences, the one with most instances of the relation. Solid: the guess is '
        "right; dashed: it is wrong, and dotted is the true head. The dot is at the head.</p>"
    ]
    for relation, place in chosen:
        example = example_for(relation, examples)
        if example is not None:
            parts.append(_drawn(relation, place, tree_of(example), guessed(context.model, example, place, rows)))
    return "".join(parts)


def example_for(relation: str, examples: Sequence[Example]) -> Example | None:
    """The first sentence of readable length with most instances of a relation; None if there is none."""

    def instances(example: Example) -> int:
        words = tree_of(example).words
        return sum(word.relation == relation for word in words) if len(words) in _WORDS else 0

    best = max(examples, key=instances, default=None)
    return best if best is not None and instances(best) else None


def guessed(model: Model, example: Example, place: DirectedHead, rows: str) -> Array:
    """(words,) the heads that a head guesses in a sentence, `NOWHERE` without a guess."""
    item = Item(example.number, model._engine.encode(example.text, truncate=True), example)
    batch = Batch(model, [item])
    taker = _Guessing(batch, rows, place)
    model._engine.stream(batch.inputs, batch.book, taker)
    assert taker.found is not None  # the place is one of this model
    return taker.found


class _Guessing(SyntaxTaker):
    """Keeps the guesses of one head."""

    def __init__(self, batch: Batch, rows: str, place: DirectedHead) -> None:
        super().__init__(batch, rows)
        self.place = place
        self.found: Array | None = None

    def take(self, layer: Layer, attention: torch.Tensor, trees: Trees | None) -> None:
        if (layer.kind, layer.layer) == (self.place.kind, self.place.layer) and self.place.direction is not None:
            assert trees is not None
            both = guesses(trees.maps(attention))[0]  # (2, H, W)
            self.found = both[DIRECTIONS.index(self.place.direction), self.place.head].cpu().numpy()


def _drawn(relation: str, place: DirectedHead, sentence: Sentence, guesses: Array) -> str:
    arcs: list[Arc] = []
    right = total = 0
    for index, (word, guess) in enumerate(zip(sentence.words, guesses.tolist(), strict=True)):
        if word.relation != relation or word.head == ROOT:
            continue
        total += 1
        if guess == word.head:
            right += 1
            arcs.append(Arc(index, guess, "right"))
            continue
        arcs.append(Arc(index, word.head, "missed"))
        if guess != NOWHERE:
            arcs.append(Arc(index, guess, "wrong"))
    label = f"{with_stanford(relation)}, head {place.name}: {right} of {total} right"
    direction = _ALT[place.direction] if place.direction else ""
    drawing = arcs_svg([word.form for word in sentence.words], arcs, label=f"{label}. {sentence.text}")
    caption = html.escape(f"{label}; a dependent's guess is {direction}. Sentence {sentence.id}.")
    return f'<figure class="scroll">{drawing}<figcaption>{caption}</figcaption></figure>'
