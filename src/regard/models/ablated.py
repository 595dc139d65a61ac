"""Switching a model's heads off by name, and the mean outputs that mode "mean" needs.

Enters: a `Model`, heads as `regard.trace.heads` reads them. Leaves: a model that runs without them until the
block ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture import Ablation, Book, Means, Place, outputs
from regard.capture.finite import require_finite_heads
from regard.models.means import NAME, standard_means
from regard.trace.heads import MODES, Heads, Shows, names_of, parse_heads, refuse_all

if TYPE_CHECKING:
    from regard.capture.outputs import Behind
    from regard.models.base import Target
    from regard.models.engine import Engine
    from regard.models.model import Model
    from regard.models.prepare import Encoded

ANSWER = 64  # most tokens of an answer that a decoder reads: a model that does not stop would run to its limit

_open: ContextVar[tuple[tuple[torch.nn.Module, Ablation, str | None], ...]] = ContextVar("regard_ablations", default=())


@contextmanager
def ablated(
    model: Model,
    heads: Heads,
    *,
    mode: str = "zero",
    means: Means | None = None,
    patterns: Iterable[Shows] | None = None,
) -> Iterator[Ablation]:
    """Run a model without some of its heads until the block ends; see `Model.ablate`."""
    layout = model.layout()
    chosen = parse_heads(heads, layout, patterns)
    refuse_all(chosen, layout)
    reference = NAME if mode == "mean" and means is None and model.tokenizer is not None else None
    ablation = Ablation([chosen], mode, means if reference is None else standard_means(model))
    token = _open.set((*_open.get(), (model.module, ablation, reference)))
    try:
        with switch_off(model, ablation):
            yield ablation
    finally:
        _open.reset(token)


@contextmanager
def switch_off(model: Model, ablation: Ablation) -> Iterator[None]:
    """Run a model under a ready-made ablation, which may differ by row; for studies that make many."""
    engine = model._engine
    with outputs(engine.module, engine.plan(), engine.places(), ablation, ablation.layers):
        yield


def modes_of(model: Model) -> tuple[str, ...]:
    """The modes in which a model's heads can be switched off: uniform attention needs value vectors."""
    sees_values = model._engine.plan().tier in ("tap", "registered")
    return tuple(mode for mode in MODES if sees_values or mode != "uniform")


def ablation_facts(engine: Engine) -> dict[str, Any]:
    """What is currently switched off in a model, for the facts of a trace; empty if nothing is."""
    found = [
        {"heads": names_of(ablation.heads, engine.layout()), "mode": ablation.mode}
        | ({} if reference is None else {"reference": reference})
        for module, ablation, reference in _open.get()
        if module is engine.module
    ]
    return {"ablated": found} if found else {}


def head_means(
    engine: Engine,
    texts: Sequence[str],
    pairs: Sequence[str | None] | None = None,
    *,
    targets: Sequence[str | None] | None = None,
    batch_size: int = 8,
) -> dict[tuple[str, int], np.ndarray[Any, Any]]:
    """(kind, layer) -> (H, e) mean outputs of the heads over all positions of some texts, without padding.

    In an encoder-decoder model the decoder reads the targets; without them, the model's own answer to each text, at
    most `ANSWER` tokens of it.
    """
    if not len(texts):
        raise UserError("mean outputs need at least one text")
    pairs = [None] * len(texts) if pairs is None else pairs
    rows = [engine.encode(text, pair, truncate=True) for text, pair in zip(texts, pairs, strict=True)]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].ids))  # to keep padding low
    sums = _Sums()
    for start in range(0, len(rows), batch_size):
        part = order[start : start + batch_size]
        some = [rows[number] for number in part]
        given = None if targets is None else [targets[number] for number in part]
        inputs, sums.book = engine.collate(some, _targets(engine, some, given))
        with outputs(engine.module, engine.plan(), engine.places(), sums):
            engine.run(inputs)
    return sums.means()


def _targets(engine: Engine, rows: Sequence[Encoded], targets: Sequence[Target] | None) -> Sequence[Target] | None:
    """What the decoder reads for these rows: the targets, or the model's own answers, generated together."""
    if targets is None and engine.is_encoder_decoder and engine.can_generate:
        return engine.answers(rows, min(engine.limit or ANSWER, ANSWER) - 1)
    return targets


class _Sums:
    """An edit that changes nothing and sums each head's output at real positions."""

    book: Book

    def __init__(self) -> None:
        self.totals: dict[tuple[str, int], torch.Tensor] = {}
        self.counts: dict[tuple[str, int], int] = {}

    def __call__(self, place: Place, out: torch.Tensor, call: Behind) -> None:
        key, real = (place.kind, place.layer), self._real(place, out)
        flat = out.reshape(-1, *out.shape[2:]) if real is None else out[real]  # (n, H, e)
        total = flat.double().sum(0)
        require_finite_heads(place.kind, place.layer, total, out.dtype)
        self.totals[key] = self.totals[key] + total if key in self.totals else total
        self.counts[key] = self.counts.get(key, 0) + len(flat)

    def _real(self, place: Place, out: torch.Tensor) -> torch.Tensor | None:
        """(B, Q) booleans: positions that are not padding; None where positions are not tokens."""
        keep = self.book.keep
        side = place.kind if place.kind in keep else "decoder" if "decoder" in keep else next(iter(keep), "")
        if side not in keep or keep[side].shape != out.shape[:2]:
            return None
        return torch.from_numpy(keep[side]).to(out.device)

    def means(self) -> dict[tuple[str, int], np.ndarray[Any, Any]]:
        return {key: (total / self.counts[key]).float().cpu().numpy() for key, total in self.totals.items()}
