"""The labels that a classifier gives to what it was shown, as a fact of each trace.

Enters: an engine, and its outputs as they come. Leaves: names of labels with their probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from regard.models.outcome import about_of, chances_of

if TYPE_CHECKING:
    from regard.models.engine import Engine

_MOST = 5  # labels of an input


@contextmanager
def heard_labels(engine: Engine) -> Iterator[list[dict[str, Any]]]:
    """A list that has the labels of each example of a batch, once the model has run; nothing of other models."""
    found: list[dict[str, Any]] = []
    if not getattr(engine.config, "id2label", None) or about_of(engine)[0] != "labels":
        yield found
        return

    def hear(_module: torch.nn.Module, _args: Any, output: Any) -> None:
        found[:] = [{"labels": one} for one in _likeliest(engine, getattr(output, "logits", None))]

    hook = engine.module.register_forward_hook(hear)
    try:
        yield found
    finally:
        hook.remove()


def _likeliest(engine: Engine, logits: torch.Tensor | None) -> list[list[list[Any]]]:
    """The likeliest labels of each row of (B, labels) logits."""
    if logits is None or logits.ndim != 2 or not logits.isfinite().all():
        return []
    names: dict[int, Any] = engine.config.id2label
    best = chances_of(engine, logits.detach().float()).topk(min(_MOST, logits.shape[-1]))
    return [
        [[str(names.get(i, i)), chance] for i, chance in zip(some, chances, strict=True)]
        for some, chances in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
