"""What a head writes: the words that it makes more and less likely, directly, at a position.

Enters: a text, a head, a position. Leaves: `Writes`, the logits that the head adds, split by the tokens it read.

With the last norm's statistics frozen, the logits of a decoder are a sum over all that was added to the residual
stream. What adds the same to every word cancels in the softmax, so logits are compared with their mean over the
vocabulary. Direct alone: what later layers make of a head's output is theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from regard.base.errors import UserError
from regard.capture.alone import alone
from regard.capture.frozen import HEADS, FrozenRun, frozen_run
from regard.capture.rebuild import attention_of, repeat_heads
from regard.capture.shares import StreamPart, shares_of
from regard.models.cutting import kept_logits
from regard.models.splitting import component_of, one_head, require_sum, sides_of
from regard.trace.heads import Head, Heads
from regard.trace.picking import position_of
from regard.trace.records import Tabular, columns_of
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.engine import Engine
    from regard.models.model import Model

SOURCES = 5  # tokens by which what a head writes is split
READ = 32  # tokens among which these are: those whose weighted values are largest


class WrittenWord(NamedTuple):
    """A word and what is added to its logit, against the mean over the vocabulary."""

    token: str
    id: int
    logit: float


@dataclass(frozen=True)
class WrittenFrom:
    """What a head writes of what it read from one token; `rank` is that token's own place among all words, from 0."""

    position: int
    token: str
    weight: float
    rank: int
    promoted: tuple[WrittenWord, ...]
    demoted: tuple[WrittenWord, ...]


@dataclass(frozen=True)
class Writes(Tabular):
    """What a head writes at a position.

    `promoted` and `demoted` are the words whose logits it raises and lowers most; `sources` the tokens it read, those
    that move the logits most first. `predicted` is the model's own first word there, `components` the share of every
    component in its logit (against the mean over the vocabulary), largest first. `error` is the largest difference
    between the sum of all components and the model's logits, as a part of the largest logit.
    """

    model: str
    head: Head
    name: str
    position: int
    token: str
    promoted: tuple[WrittenWord, ...]
    demoted: tuple[WrittenWord, ...]
    sources: tuple[WrittenFrom, ...]
    predicted: WrittenWord
    components: tuple[tuple[str, float], ...]
    error: float

    def as_record(self, count: int = 10) -> dict[str, Any]:
        """What a page or a script reads."""

        def words(some: Sequence[WrittenWord]) -> list[dict[str, Any]]:
            return [one._asdict() for one in some[:count]]

        return {
            **vars(self),
            "head": {"name": self.name, **self.head._asdict()},
            "promoted": words(self.promoted),
            "demoted": words(self.demoted),
            "sources": [
                {**vars(one), "promoted": words(one.promoted), "demoted": words(one.demoted)} for one in self.sources
            ],
            "predicted": self.predicted._asdict(),
            "components": [{"name": name, "logit": logit} for name, logit in self.components[:count]],
        }

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        whole: dict[str, Any] = {"read": None, "position": None, "weight": None}  # of all tokens together
        parts = [(whole, self.promoted, self.demoted)]
        for one in self.sources:
            read = {"read": one.token, "position": one.position, "weight": one.weight}
            parts.append((read, one.promoted, one.demoted))
        rows = (
            {**read, "promoted": raised, **word._asdict()}
            for read, promoted, demoted in parts
            for raised, words in ((True, promoted), (False, demoted))
            for word in words
        )
        return columns_of(rows, (*whole, "promoted", *WrittenWord._fields))

    def __rich_console__(self, *_: Any) -> Any:
        from regard.printing.split import writes_report

        yield from writes_report(self)


def writes(
    model: Model,
    text: Text,
    head: Heads,
    position: int | str = -1,
    *,
    target: Target = None,
    top: int = 10,
    truncate: bool = False,
) -> Writes:
    """The words that a head of a decoder promotes and demotes at a position, split by the tokens it read.

    Parameters
    ----------
    text, target
        What the model reads.
    head
        One head: "18.6", (18, 6), or "cross:1.3".
    position
        Where it writes: a position, a token's text, or both ("cat@7"); the last token unless given.
    top
        How many words to list.
    """
    engine = model._engine
    one = one_head(head, engine.layout())
    row, beside = engine.read(text, target=target, truncate=truncate)
    inputs, book = engine.collate([row], [beside])
    queries, read = sides_of(book.sides[0], one.kind)
    if one.kind == "encoder":
        raise UserError(refusal("writes_none", model=type(engine.module).__name__))
    at = position_of(queries, position)
    with alone(engine.module), torch.enable_grad():
        given = {**inputs, **kept_logits(engine, "next token", at)}
        run = frozen_run(engine.module, engine.ready(given), engine.plan(), engine.places())
        _require_linear(engine, run)
        split = SplitLogits(engine, run, at, _at(engine.run(given).logits, at))
        added = split.of_head(one)
        components = split.components()
    sources = tuple(
        WrittenFrom(
            number,
            read[number].text,
            float(added.weights[number]),
            rank_of(logits, int(read[number].id or 0)),
            *split.words(logits, top),
        )
        for number, logits in zip(added.positions, added.sources, strict=True)
    )
    return Writes(
        engine.name,
        one,
        component_of(StreamPart("head", *one), engine.layout()).name,
        at,
        queries[at].text,
        *split.words(added.total, top),
        sources,
        split.predicted,
        components,
        split.error,
    )


def rank_of(logits: torch.Tensor, token: int) -> int:
    """How many words have a larger logit than this one."""
    return int((logits > logits[token]).sum())


class HeadLogits(NamedTuple):
    """(V,) what a head adds to the logits against their mean, (n, V) from some positions, and (K,) its weights."""

    total: torch.Tensor
    positions: list[int]
    sources: torch.Tensor
    weights: torch.Tensor


class SplitLogits:
    """The logits of one position as a sum over what was added to the stream; `true` are the model's own (V,)."""

    def __init__(self, engine: Engine, run: FrozenRun, position: int, true: torch.Tensor) -> None:
        self.engine, self.run, self.position = engine, run, position
        self.logits = _at(_require_linear(engine, run), position)  # (V,), part of the graph
        total, cap = self._total(), cap_of(engine)
        self.error = require_sum(engine, total if cap is None else cap * torch.tanh(total / cap), true)
        fixed = self.logits.detach().float()
        self.best = int(fixed.argmax())
        self.predicted = self._word(self.best, fixed - fixed.mean())

    def components(self) -> tuple[tuple[str, float], ...]:
        """The share of every component in the logit of the model's own first word, largest first."""
        shares = shares_of(self.run, self.logits[self.best] - self.logits.mean())
        layout = self.engine.layout()
        found = [(component_of(part, layout).name, float(share.sum())) for part, share in shares.of.items()]
        return tuple(sorted(found, key=lambda pair: -abs(pair[1])))

    def of_head(self, head: Head) -> HeadLogits:
        """What a head adds to the logits, in all and from the tokens that it may have read most from."""
        index = next(
            number
            for number, leaf in enumerate(self.run.leaves)
            if leaf.kind == HEADS and leaf.place is not None and leaf.place[:2] == (head.kind, head.layer)
        )
        operation = self.run.operations[head.kind, head.layer]
        assert operation.v is not None
        weights = attention_of(operation)[0, head.head, self.position]  # (K,)
        values = repeat_heads(operation.v, operation.heads)[0, head.head].float() * weights[:, None]  # (K, e)
        most = values.norm(dim=-1).argsort(descending=True)[:READ]
        total = self.run.leaves[index].value.detach()[0, self.position, head.head].float()
        found = self._from(index, head.head, torch.cat([total[None], values[most]]))
        found = found - found.mean(-1, keepdim=True)
        order = found[1:].norm(dim=-1).argsort(descending=True)[:SOURCES]
        return HeadLogits(found[0], most[order].tolist(), found[1:][order], weights)

    def _from(self, index: int, head: int, outputs: torch.Tensor) -> torch.Tensor:
        """(n, V) logits that some (n, e) outputs of a head add here."""
        gradient, dummy = self._weighted([index])
        if gradient[0] is None:
            raise UserError(refusal("writes_none", model=type(self.engine.module).__name__))
        here = gradient[0][0, self.position, head]  # (e,)
        given = outputs.to(here.dtype)
        (found,) = torch.autograd.grad(here, dummy, given, is_grads_batched=True, retain_graph=True)
        return found.float()

    def _total(self) -> torch.Tensor:
        """(V,) sum over all leaves of what they add."""
        gradients, dummy = self._weighted(range(len(self.run.leaves)))
        joined = [
            (gradient * leaf.value.detach()).sum()
            for gradient, leaf in zip(gradients, self.run.leaves, strict=True)
            if gradient is not None
        ]
        (found,) = torch.autograd.grad(torch.stack(joined).sum(), dummy, retain_graph=True)
        return found.float()

    def _weighted(self, indices: Iterable[int]) -> tuple[tuple[torch.Tensor | None, ...], torch.Tensor]:
        """Gradients of some leaves for weighted logits, and the weights: the derivative of the one by the other is
        what a leaf adds, since the graph is linear."""
        dummy = torch.zeros_like(self.logits, requires_grad=True)
        leaves = [self.run.leaves[index].value for index in indices]
        return torch.autograd.grad(self.logits, leaves, dummy, create_graph=True, allow_unused=True), dummy

    def words(self, logits: torch.Tensor, top: int) -> tuple[tuple[WrittenWord, ...], tuple[WrittenWord, ...]]:
        """The words with the largest and the smallest logits."""
        order = logits.argsort(descending=True)
        return (
            tuple(self._word(int(number), logits) for number in order[:top]),
            tuple(self._word(int(number), logits) for number in order.flip(0)[:top]),
        )

    def _word(self, number: int, logits: torch.Tensor) -> WrittenWord:
        return WrittenWord(self.engine.tokenizer.decode([number]), number, float(logits[number]))


def _at(logits: torch.Tensor, position: int) -> torch.Tensor:
    """(V,) logits at a position, of (1, T, V) or of those there alone."""
    return logits[0, position if logits.shape[1] > 1 else 0]


def _require_linear(engine: Engine, run: FrozenRun) -> torch.Tensor:
    """(1, T or 1, V) logits of a frozen run before a final soft cap; refused if no linear map made them."""
    final, raw = getattr(run.output, "logits", None), run.unembedded
    if raw is None or final is None or raw.shape != final.shape:
        raise UserError(refusal("writes_none", model=type(engine.module).__name__))
    return raw if cap_of(engine) else final  # a scale or a bias after the map to words is linear as well


def cap_of(engine: Engine) -> float | None:
    """The soft cap of a model's logits (Gemma 2), if it has one."""
    cap = getattr(engine.config, "final_logit_softcapping", None)
    return None if cap is None else float(cap)
