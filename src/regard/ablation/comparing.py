"""What a model says of a text before and after something was taken from it: predictions, labels, hidden states.

Enters: outputs of the plain model and of edited runs. Leaves: rows of a table, and divergences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from regard.models.cutting import KEEP
from regard.models.outcome import chances_of, choice_name, output_of
from regard.trace.records import columns_of
from regard.trace.tokens import Token

if TYPE_CHECKING:
    from regard.capture import Book
    from regard.models.model import Model
    from regard.trace.trace import Trace

EVERYTHING = "(mean of all tokens)"


@dataclass(frozen=True)
class Row:
    """One prediction: its probability before, and in each mode after; for hidden states a token and its cosines.

    `code` is "mean" in the row of the mean over all tokens.
    """

    name: str
    before: float | None
    after: dict[str, float]
    code: str = ""


def row_columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The table of a comparison: a line per prediction and mode."""
    found = (
        {"name": row.name, "mode": mode, "before": row.before, "after": after}
        for row in rows
        for mode, after in row.after.items()
    )
    return columns_of(found, ("name", "mode", "before", "after"))


def predict(model: Model, inputs: dict[str, Any], about: str) -> torch.Tensor:
    """(positions, choices) or (choices,) logits, or (positions, d) hidden states, of the one text."""
    return predict_all(model, inputs, about)[0]


def predict_traced(model: Model, inputs: dict[str, Any], book: Book, about: str) -> tuple[torch.Tensor, Trace]:
    """The same, and the trace of the text, from one run."""
    engine = model._engine
    found: list[Any] = []
    every = {KEEP: 0} if engine.takes(KEEP) else {}  # predictions at all positions
    hook = engine.module.register_forward_hook(lambda _module, _args, output: found.append(output))
    try:
        (trace,) = engine.record({**inputs, **every}, book, [{}])
    finally:
        hook.remove()
    return output_of(engine, about, found[-1])[0].float(), trace


def predict_all(model: Model, inputs: dict[str, Any], about: str) -> torch.Tensor:
    """The same of every row."""
    return output_of(model._engine, about, model._engine.run(inputs)).float()


def compare(
    model: Model,
    about: str,
    tokens: Sequence[Token],
    place: int | None,
    before: torch.Tensor,
    after: dict[str, torch.Tensor],
    top: int,
) -> dict[str, Any]:
    """The rows of a comparison, and its divergences."""
    if about == "hidden states":
        return {"rows": tuple(_cosines(tokens, place, before, after))}
    if about == "score":
        return {"rows": (Row("score", float(before[0]), {mode: float(one[0]) for mode, one in after.items()}),)}
    if about == "labels" and getattr(model.config, "problem_type", None) == "multi_label_classification":
        chances = {mode: chances_of(model._engine, one) for mode, one in after.items()}
        return {"rows": tuple(_rows(model, about, chances_of(model._engine, before), chances, top))}
    logs = {mode: one.log_softmax(-1) for mode, one in after.items()}
    first = before.log_softmax(-1)
    divergences = {mode: kl(first, one) for mode, one in logs.items()}
    here = slice(None) if place is None else place
    rows = _rows(model, about, first[here].exp(), {mode: one[here].exp() for mode, one in logs.items()}, top)
    found: dict[str, Any] = {"rows": tuple(rows), "kl": {mode: float(one[here]) for mode, one in divergences.items()}}
    if about == "next token":
        found["kls"] = {mode: tuple(one.tolist()) for mode, one in divergences.items()}
    return found


def kl(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """KL(before || after) in nats along the last axis of log-probabilities; () becomes (1,) for a slice to take."""
    terms = torch.where(before > -torch.inf, before.exp() * (before - after), 0)
    total = terms.sum(-1).clamp(min=0)
    return total[None] if total.ndim == 0 else total


def _rows(model: Model, about: str, before: torch.Tensor, after: dict[str, torch.Tensor], top: int) -> Iterator[Row]:
    """The likeliest predictions of every run, by their probability before; for labels, all of them."""
    count = len(before) if "labels" in about else min(top, len(before))
    picked = {int(i) for one in (before, *after.values()) for i in one.topk(count).indices}
    for i in sorted(picked, key=lambda i: -float(before[i])):
        name = choice_name(model._engine, about, i)
        yield Row(name, float(before[i]), {mode: float(one[i]) for mode, one in after.items()})


def _cosines(
    tokens: Sequence[Token], place: int | None, before: torch.Tensor, after: dict[str, torch.Tensor]
) -> Iterator[Row]:
    """How each token's last hidden state turns, and their mean (the sentence embedding of many encoders)."""
    cosine = torch.nn.functional.cosine_similarity
    for i, token in enumerate(tokens):
        if place in (None, i):
            yield Row(token.text, None, {mode: float(cosine(before[i], one[i], 0)) for mode, one in after.items()})
    if place is None:
        mean = before.mean(0)
        turned = {mode: float(cosine(mean, one.mean(0), 0)) for mode, one in after.items()}
        yield Row(EVERYTHING, None, turned, "mean")
