"""Worth of every line of a text, by one backward pass, and how far it agrees with exact cuts.

Enters: an encoded text and what the model is judged by. Leaves: a trace whose sites have g beside q, k and v, and
`facts["worth"]`.

With m the number that the model is judged by, o_i a head's output at query i and g_i = dm / do_i, the gradient by a
weight is dm / dA_ij = g_i . v_j, so to first order m whole minus m cut is

    zero  A_ij g_i . v_j                mask  A_ij / (1 - A_ij) (g_i . v_j - g_i . o_i)

A sample of lines is also cut for real: half of them those with the largest estimates, half drawn from the lines of
weight above 0.1. Spearman's correlation of both is the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.capture import Book, Recorder, embedding_parts, output_gradients
from regard.capture.alone import alone
from regard.measures.ranks import spearman
from regard.models.cutting import kept_logits, outcomes_without, require_cuttable
from regard.models.outcome import (
    Answering,
    Outcome,
    about_of,
    encode_text,
    hide,
    outcome_of,
    output_of,
    position_of,
    side_of,
)
from regard.models.predicting import with_gains
from regard.trace.edges import CUTS
from regard.trace.pool import Pool, pool_of
from regard.trace.sentences import Message, caution, note, refusal
from regard.trace.site import SURE, Array
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.engine import Engine
    from regard.models.prepare import Encoded

CHECK = 64  # lines that are cut for real
RELIABLE = 0.5  # Spearman's correlation below which the estimate is not to be believed
_LONGEST = 512  # tokens up to which lines are cut for real unless told
_HEAVY = 0.1  # least weight of the lines drawn at random

Worth = bool | str | int | Mapping[str, Any]


@dataclass(frozen=True)
class AskedWorth:
    """What worth is asked of: a position, a token, how lines are cut, and how many of them for real (None: a few)."""

    position: int | None = None
    token: str | int | None = None
    how: str = "mask"
    check: int | None = None


def asked_worth(worth: Worth) -> AskedWorth | None:
    """What is asked for by True, a token, or a mapping of position, token, how and check."""
    if worth is True:
        return AskedWorth()
    if worth is False or worth is None:
        return None
    if isinstance(worth, (str, int)):
        return AskedWorth(token=worth)
    unknown = set(worth) - set(AskedWorth.__dataclass_fields__)
    if unknown:
        known = ", ".join(AskedWorth.__dataclass_fields__)
        raise UserError(f"worth has no setting {', '.join(sorted(map(str, unknown)))}; it has {known}")
    asked = AskedWorth(**worth)
    if asked.how not in CUTS:
        raise UserError(f"there is no way {asked.how!r} to cut; choose from {', '.join(CUTS)}")
    return asked


@dataclass(frozen=True, eq=False)
class WorthRun:
    """A text's inputs and the number that its lines are judged by."""

    inputs: dict[str, Any]
    book: Book
    about: str
    outcome: Outcome
    value: float


def trace_worth(
    engine: Engine,
    text: Text,
    pair: str | None,
    target: Target,
    *,
    asked: AskedWorth,
    answer: Answering,
    truncate: bool = False,
    segment_ids: bool = True,
    attribution: bool = False,
    predictive: bool = False,
) -> Trace:
    """The trace of a text with its worth; arguments as in `Model.trace`."""
    options = {"truncate": truncate, "segment_ids": segment_ids}
    row, beside = encode_text(engine, text, pair, target, answer, **options)
    trace, run = run_worth(engine, row, beside, asked, attribution)
    trace = with_gains(engine, row, trace) if predictive else trace
    tokens = max(len(side) for side in trace.sides.values())
    count = (CHECK if tokens <= _LONGEST else 0) if asked.check is None else asked.check
    check = check_worth(engine, trace, run, asked.how, count) if count else None
    facts = {
        "about": run.outcome.about,
        "position": run.outcome.position,
        "name": run.outcome.name,
        "value": run.value,
        "how": asked.how,
        "check": check,
        "coded": [one.record for one in said(check)],
    }
    return replace(trace, facts={**trace.facts, "worth": facts})


def said(check: Mapping[str, Any] | None) -> list[Message]:
    """What is to be said beside worth: how far it agrees with exact cuts."""
    if check is None or check["spearman"] is None:
        return [caution("worth_unchecked")]
    values = {"edges": check["edges"], "rho": f"{check['spearman']:.2f}"}
    return [note("worth_agrees", **values) if check["spearman"] >= RELIABLE else caution("worth_unreliable", **values)]


def run_worth(
    engine: Engine, row: Encoded, target: Any, asked: AskedWorth, attribution: bool = False
) -> tuple[Trace, WorthRun]:
    """The trace of an encoded text by one forward and one backward pass, and what its lines are judged by."""
    inputs, book = engine.collate([row], [target])
    about, _ = about_of(engine)
    side = side_of(engine, book)
    place = position_of(engine, about, side, asked.position)
    hide(engine, about, inputs, place, book)
    found: list[tuple[Outcome, float]] = []

    def measure(output: Any) -> torch.Tensor:
        whole = output_of(engine, about, output)
        outcome = outcome_of(engine, about, side, place, whole[0].detach(), asked.token)
        if outcome is None:
            raise UserError(refusal("no_outcome", name=type(engine.module).__name__))
        value = outcome.of(whole)[0]
        found.append((outcome, float(value.detach())))
        return value

    trace = gradient_trace(engine, row, {**inputs, **kept_logits(engine, about, place)}, book, measure, attribution)
    return trace, WorthRun(inputs, book, about, *found[0])


def gradient_trace(
    engine: Engine,
    row: Encoded,
    inputs: Mapping[str, Any],
    book: Book,
    measure: Callable[[Any], torch.Tensor],
    attribution: bool = False,
) -> Trace:
    """The trace of an encoded text whose sites have g, from a number of the model's output."""
    require_cuttable(engine)
    plan, places = engine.plan(), engine.places()
    with alone(engine.module), embedding_parts(engine.module) if attribution else nullcontext() as parts:
        operations, gradients = output_gradients(engine.module, engine.ready(inputs), plan, places, measure)
    if parts is not None:
        with torch.no_grad():
            operations[0].parts = parts.of(operations[0])
    (trace,) = engine.finished(
        Recorder(book, plan.projections, gradients).traces(operations, engine.facts), [row.facts]
    )
    return trace


def check_worth(engine: Engine, trace: Trace, run: WorthRun, how: str, count: int = CHECK) -> dict[str, Any]:
    """Spearman's correlation of estimates with exact cuts on a sample of a text's lines."""
    pool = pool_of(trace, run.outcome.position)
    guessed = estimates(pool, how)
    strongest, random = sample(pool, guessed, count)
    picked = np.concatenate([strongest, random])
    guessed = guessed[picked]
    rows = [[pool.block(int(i))] for i in picked]
    exact = run.value - outcomes_without(engine, run.inputs, run.about, run.outcome, rows, how) if rows else np.empty(0)
    half = len(strongest)
    return {
        "edges": len(picked),
        "spearman": _agreement(guessed, exact),
        "strongest": _agreement(guessed[:half], exact[:half]),
        "random": _agreement(guessed[half:], exact[half:]),
    }


def sample(pool: Pool, estimates: Array, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Indices of the lines with the largest estimates, and of random ones with some weight; half of the count each."""
    known = ~np.isnan(estimates)
    order = np.argsort(-np.where(known, np.abs(estimates), -1), kind="stable")
    strongest = order[: min(count // 2, int(known.sum()))]
    left = known.copy()
    left[strongest] = False
    heavy = np.flatnonzero(left & (pool.weight >= _HEAVY))
    heavy = heavy if len(heavy) >= count - len(strongest) else np.flatnonzero(left)
    size = min(count - len(strongest), len(heavy))
    return strongest, np.random.default_rng(seed).choice(heavy, size, replace=False)


def estimates(pool: Pool, how: str) -> Array:
    """(n,) worth of the lines of a pool; NaN where it is not estimated."""
    found = np.full(len(pool.weight), np.nan)
    for number, site in enumerate(pool.trace.sites):
        if site.g is None:
            continue
        for index in range(site.heads):
            own = np.flatnonzero((pool.site == number) & (pool.head == index))
            rows, places = np.unique(pool.query[own], return_inverse=True)
            if len(own):
                found[own] = site.worth(index, rows, None, how)[places, pool.key[own]]
    return np.where(pool.weight > SURE, np.nan, found) if how == "mask" else found


def _agreement(one: Array, other: Array) -> float | None:
    """Correlation of ranks; None where there is none."""
    found = spearman(one, other)
    return None if np.isnan(found) else found
