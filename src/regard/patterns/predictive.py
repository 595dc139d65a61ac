"""Predictive words: does a head look at the words that help to predict the token? Costs n² masked predictions.

Enters: a masked language model and a text, or any function that gives log probabilities. Leaves: a reading per head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from regard.measures.predictive import predictive, predictive_shares
from regard.measures.reading import Reading
from regard.trace.places import Array, places_of

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.trace.trace import Trace

LogProb = Callable[[Sequence[int], Sequence[Sequence[int]]], Sequence[float]]


def predictive_words(model: Model, text: str, pair: str | None = None, *, batch: int = 32) -> dict[int, Reading] | str:
    """How much each head attends to the words that help to predict the token.

    Every token is predicted with itself masked, and again with each other token masked too; what is lost without a
    token is that token's share. n ordinary tokens take n + n (n - 1) / 2 masked inputs.

    Returns
    -------
    A reading of (heads,) arrays for each layer; or, where the model cannot predict masked tokens, the reason.
    """
    reason = _cannot(model)
    if reason:
        return reason
    trace = model.trace(text, pair)
    return predictive_readings(trace, _masked_log_prob(model, trace, batch))


def predictive_readings(trace: Trace, log_prob: LogProb) -> dict[int, Reading]:
    """The readings of a trace, with log probabilities from `log_prob`.

    `log_prob(positions, masked)` gives, for each position and the positions masked with it, the log probability of the
    token that stands there.
    """
    content = places_of(trace.side(), {}).content
    ordinary = [int(i) for i in np.flatnonzero(content)]
    alone = np.zeros(len(content))
    without = np.zeros((len(content), len(content)))
    alone[ordinary] = log_prob(ordinary, [[i] for i in ordinary])
    pairs = [(i, j) for i in ordinary for j in ordinary if i != j]
    if pairs:
        rows, columns = np.array(pairs).T
        without[rows, columns] = log_prob([i for i, _ in pairs], [sorted(pair) for pair in pairs])
    shares = predictive_shares(alone, without, content).astype(np.float32)
    return {layer: predictive(trace.attention(layer), shares) for layer in trace.layers()}


def _cannot(model: Model) -> str:
    """Why the model cannot predict masked tokens, if it cannot."""
    if getattr(model.tokenizer, "mask_token_id", None) is None:
        return f"n/a: {model.name} has no mask token; predictive words need a masked language model"
    get_head = getattr(model.module, "get_output_embeddings", None)
    if get_head is None or get_head() is None:
        return f"n/a: {model.name} was loaded without a language-model head; load it as a masked language model"
    return ""


def _masked_log_prob(model: Model, trace: Trace, batch: int) -> LogProb:
    """Log probabilities from the model's own predictions at masked positions."""
    import torch

    from regard.capture.finite import require_finite_output

    tokens = trace.tokens
    ids = torch.tensor([token.id for token in tokens])
    extra = {}
    if any(token.segment for token in tokens) and trace.facts.get("segment_ids") == "as the tokenizer gives":
        extra["token_type_ids"] = torch.tensor([token.segment for token in tokens])
    known: dict[tuple[int, ...], Array] = {}

    def run(sets: list[tuple[int, ...]]) -> None:
        inputs = ids.repeat(len(sets), 1)
        for row, masked in enumerate(sets):
            inputs[row, list(masked)] = model.tokenizer.mask_token_id
        options = {name: value.repeat(len(sets), 1) for name, value in extra.items()}
        logits = model.run({"input_ids": inputs, **options}).logits
        require_finite_output(logits)
        chances = torch.log_softmax(logits.float(), dim=-1).cpu()  # (sets, n, vocabulary)
        for row, masked in enumerate(sets):
            known[masked] = chances[row, list(masked), ids[list(masked)]].numpy()

    def log_prob(positions: Sequence[int], masked: Sequence[Sequence[int]]) -> list[float]:
        wanted = [tuple(places) for places in masked]
        new = [places for places in dict.fromkeys(wanted) if places not in known]
        for start in range(0, len(new), batch):
            run(new[start : start + batch])
        return [float(known[places][places.index(i)]) for i, places in zip(positions, wanted, strict=True)]

    return log_prob
