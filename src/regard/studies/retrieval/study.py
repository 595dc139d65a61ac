"""The study of retrieval heads: needles at depths and lengths, scores of every head, and the proof by removal.

Enters: a corpus that serves as haystack. Leaves: sums of retrieval scores and of answers; a `Result`.

Every haystack is read at every length; its depth is its number's turn. Heads to remove are chosen on even haystacks for
the odd ones and on odd for the even ones, so that no head is judged where it was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.capture import Ablation
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Array, Sums
from regard.models.ablated import switch_off
from regard.models.answering import require_causal
from regard.models.means import standard_means
from regard.studies.base import Pass, Study, StudyContext, layers_of, naming
from regard.studies.retrieval.planting import Planted, plant
from regard.studies.retrieval.reduce import read_needle
from regard.studies.retrieval.report import retrieval_result
from regard.trace.heads import Head

if TYPE_CHECKING:
    from regard.corpus.engine import Engine
    from regard.models.model import Model
    from regard.studies.result import Result

LENGTHS = (128, 512, 1024)
DEPTHS = 10
REMOVED = 10  # heads
_SPARE = 16  # tokens by which one needle may be longer than another


class Needles(Pass):
    """What both passes share: haystacks of the corpus, and the needles in them."""

    window: ClassVar[int] = 4  # haystacks; each takes several seconds

    def __init__(self, *, lengths: Sequence[int] = LENGTHS, depths: int = DEPTHS, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.lengths, self.depths = tuple(sorted(set(lengths))), depths
        if not self.lengths or self.lengths[0] < 32:
            raise UserError("haystacks need at least 32 tokens; pass longer lengths")

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "lengths": list(self.lengths), "depths": self.depths}

    @property
    def arguments(self) -> dict[str, Any]:
        return {"seed": self.seed, "lengths": list(self.lengths), "depths": self.depths}

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterator[Example]:
        """Texts of the corpus, joined until they fill the longest haystack; what is left at the end is not used."""
        engine = model._engine
        require_causal(engine)
        added = _SPARE + len(plant(engine, engine.encode("a"), "a", 1, 0, (0,)).row.ids)  # needle, question, answer
        if engine.limit is not None and self.lengths[-1] + added > engine.limit:
            raise UserError(
                f"{model.name} takes at most {engine.limit} tokens, and a needle with its question and answer {added}; "
                f"choose lengths up to {max(0, engine.limit - added)}"
            )
        held: list[str] = []
        tokens = number = 0
        for example in examples:
            held.append(" ".join(example.text.split()))
            tokens += len(engine.tokenizer(held[-1], add_special_tokens=False, verbose=False)["input_ids"])
            if tokens >= self.lengths[-1]:
                yield Example(number, " ".join(held), cluster=number)
                held, tokens, number = [], 0, number + 1

    def planted(self, model: Model, item: Item) -> Iterator[tuple[int, int, Planted]]:
        """(number of the length, depth, prompt) of a haystack."""
        depth = item.number % self.depths
        share = depth / max(1, self.depths - 1)
        for number, length in enumerate(self.lengths):
            seed = (self.seed, item.number, length)
            yield number, depth, plant(model._engine, item.encoded, item.example.text, length, share, seed)


class Retrieval(Needles, Study):
    """Which heads retrieve."""

    name: ClassVar[str] = "retrieval"

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the needles of some haystacks."""
        shape = (1, len(self.lengths), self.depths)
        with naming(items):
            for item in items:
                cluster = np.array([item.cluster])
                for length, depth, planted in self.planted(model, item):
                    found = read_needle(model._engine, planted)
                    for name in ("retrieved", "sink", "recent"):
                        for (kind, layer), values in getattr(found, name).items():
                            sums.add_groups(f"{kind}/{layer}/{name}", cluster, values[None])
                    cell = np.zeros(shape)
                    cell[0, length, depth] = 1
                    numbers = {"tokens": found.tokens, "rows": found.rows}
                    sums.add_all({name: np.array([float(value)]) for name, value in numbers.items()}, cluster)
                    sums.add_all({"cells": cell, "answered": cell * found.answered, "logs": cell * found.logs}, cluster)

    def second(self, sums: Sums, model: Model, engine: Engine) -> WithoutHeads | None:
        """The same needles without the heads that retrieve, and without random ones of the same layers."""
        del engine
        halves = [best_heads(sums, half) for half in (0, 1)]
        if not all(halves):
            return None
        return WithoutHeads(heads=halves, **self.arguments)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Scores of heads, answers by length and depth, and what removal does."""
        return retrieval_result(sums, context, self.lengths, [best_heads(sums, half) for half in (0, 1)])


class WithoutHeads(Needles):
    """Needles without heads: those chosen on the other half of the haystacks, and random ones of the same layers."""

    name: ClassVar[str] = "retrieval removal"

    def __init__(self, *, heads: Sequence[Sequence[Head]], **options: Any) -> None:
        super().__init__(**options)
        self.heads = [[Head(*head) for head in half] for half in heads]

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "removed": [[str(head) for head in half] for half in self.heads]}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "heads": [[tuple(head) for head in half] for half in self.heads]}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the answers of some haystacks without retrieval heads, and without random ones."""
        means = standard_means(model)
        with naming(items):
            for item in items:
                off = self.heads[1 - item.cluster % 2]
                random = same_layers(off, model.layout(), (self.seed, item.number))
                for length, _, planted in self.planted(model, item):
                    found = np.zeros((1, 2, len(self.lengths), 2))
                    for way, heads in enumerate((off, random)):
                        with switch_off(model, Ablation([heads], "mean", means)):
                            one = read_needle(model._engine, planted)
                        found[0, way, length] = one.answered, one.logs
                    sums.add_groups("ways", np.array([item.cluster]), found)


def retrieval_scores(sums: Sums, half: int | None = None) -> dict[tuple[str, int], Array]:
    """(H,) retrieval scores by (kind, layer); of even or odd haystacks alone, if told (half 0 or 1)."""
    which = slice(None) if half is None else slice(half, None, 2)
    tokens = sums["tokens"][which].sum()
    if not tokens:
        return {}
    return {
        (kind, layer): sums[f"{kind}/{layer}/retrieved"][which].sum(axis=0) / tokens
        for kind, layers in layers_of(sums, "retrieved").items()
        for layer in layers
    }


def best_heads(sums: Sums, half: int | None = None) -> list[Head]:
    """The heads of the largest retrieval scores, at most a tenth of all or `REMOVED`."""
    scores = retrieval_scores(sums, half)
    heads = [(values[head], Head(*place, head)) for place, values in scores.items() for head in range(len(values))]
    ranked = sorted((one for one in heads if one[0] > 0), key=lambda one: (-one[0], one[1]))
    return [head for _, head in ranked[: max(1, min(REMOVED, len(heads) // 10))]]


def same_layers(heads: Sequence[Head], layout: dict[tuple[str, int], int], seed: tuple[int, ...]) -> list[Head]:
    """As many random heads of the same layers, none of them among the heads."""
    draw = np.random.default_rng(seed)
    found = []
    for place in dict.fromkeys((head.kind, head.layer) for head in heads):
        own = {head.head for head in heads if (head.kind, head.layer) == place}
        others = [number for number in range(layout[place]) if number not in own]
        count = min(len(own), len(others))
        found += [Head(*place, int(number)) for number in draw.choice(others, count, replace=False)]
    return found
