"""Running a model with edges cut: one text, and many cuts as the rows of one batch.

Enters: a `Model`, edges as `regard.trace.edges` reads them. Leaves: a model that runs without them until the block
ends, or the outcome of each of many cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture import EdgeCut, model_type, outputs
from regard.capture.copies import repeated
from regard.capture.families import SINK_ON_OUTPUT
from regard.models.outcome import Outcome, output_of
from regard.trace.edges import CUTS, EdgeBlock
from regard.trace.site import Array

if TYPE_CHECKING:
    from regard.models.engine import Engine

_LOGITS = 1 << 24  # logits that are held at once
_TOKENS = 1024  # of a batch
KEEP = "logits_to_keep"  # the argument of a forward: at how many last positions, or at which, predictions are made

_open: ContextVar[tuple[tuple[torch.nn.Module, EdgeCut, tuple[str, ...]], ...]] = ContextVar("regard_cuts", default=())


def cuts_of(engine: Engine) -> tuple[str, ...]:
    """The ways in which a model's edges can be cut: none where its query, key and value vectors are hidden."""
    plan = engine.plan()
    tapped = plan.tier in ("tap", "registered") and model_type(engine.module) not in SINK_ON_OUTPUT
    reached = all(isinstance(plan.projections.get(path), torch.nn.Module) for path in engine.places())
    watched = plan.tier == "watch" and plan.vectors and reached
    return CUTS if tapped or watched else ()


def require_cuttable(engine: Engine) -> None:
    """Refuse a model whose query, key and value vectors are hidden."""
    if not cuts_of(engine):
        raise UserError(
            f"edges of {engine.name} cannot be cut: its query, key and value vectors are hidden, or what comes out of "
            "its attention is scaled, so rows cannot be computed again; switch whole heads off with ablate"
        )


@contextmanager
def cutting(
    engine: Engine, rows: Sequence[Sequence[EdgeBlock]], how: str = "mask", names: Sequence[str] = ()
) -> Iterator[EdgeCut]:
    """Run a model with edges cut, the same in all rows of a batch or different ones in each."""
    require_cuttable(engine)
    cut = EdgeCut(rows, how, model_type(engine.module))
    token = _open.set((*_open.get(), (engine.module, cut, tuple(names))))
    try:
        with outputs(engine.module, engine.plan(), engine.places(), cut, cut.layers, vectors=True):
            yield cut
    finally:
        _open.reset(token)


def cut_facts(engine: Engine) -> dict[str, Any]:
    """What is currently cut in a model, for the facts of a trace; empty if nothing is."""
    found = [{"edges": list(names), "how": cut.how} for module, cut, names in _open.get() if module is engine.module]
    return {"cut": found} if found else {}


def outcomes_without(
    engine: Engine,
    inputs: dict[str, Any],
    about: str,
    outcome: Outcome,
    rows: Sequence[Sequence[EdgeBlock]],
    how: str,
) -> Array:
    """(n,) outcomes of one text with each of n sets of edges cut, as rows of batches; an empty set is the plain run."""
    found = []
    given = {**inputs, **kept_logits(engine, about, outcome.position)}
    tokens = max(value.shape[1] for value in inputs.values() if isinstance(value, torch.Tensor) and value.ndim == 2)
    step = _step(engine, tokens, outcome, about, len(rows))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        with cutting(engine, part, how):
            output = output_of(engine, about, engine.run(repeated(given, len(part))))
        found.append(outcome.of(output).float().cpu().numpy())
    return np.concatenate(found).astype(np.float64)


def kept_logits(engine: Engine, about: str, position: int | None) -> dict[str, Any]:
    """The argument by which a language model computes predictions at one position alone, if it takes it."""
    if about == "next token" and position is not None and engine.takes(KEEP):
        return {KEEP: torch.tensor([position])}
    return {}


def _step(engine: Engine, tokens: int, outcome: Outcome, about: str, count: int) -> int:
    """How many runs go together."""
    alone = bool(kept_logits(engine, about, outcome.position)) or outcome.index is None
    vocabulary = 1 if alone else int(getattr(engine.config, "vocab_size", None) or 1)
    return max(1, min(count, _TOKENS // tokens, _LOGITS // (tokens * vocabulary)))
