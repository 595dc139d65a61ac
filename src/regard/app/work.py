"""Traces for a request, made and read in the worker's thread.

Enters: models, traces and what is asked of them. Leaves: payloads (docs/reference/wire.md), records, pages.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.app.lengths import running
from regard.app.plain import finite
from regard.app.problems import bad, large, missing
from regard.app.queries import Near
from regard.app.questions import Open, Question
from regard.app.settings import Limits
from regard.app.shelf import KeptTrace
from regard.app.worker import Job
from regard.base.errors import UserError
from regard.patterns.saved import usable_rules
from regard.trace.heads import MODES
from regard.trace.sentences import caution
from regard.trace.trace import Trace
from regard.views.arrays import sent_numbers
from regard.views.report import report_of
from regard.views.walk import walk as walked
from regard.views.wire import encode

if TYPE_CHECKING:
    from regard.models.model import Model

LONG = 16_000_000  # bytes of weights above which a trace is sent layer by layer


class Payload(NamedTuple):
    """A trace as bytes, and whether they hold all its layers."""

    entry: KeptTrace
    data: bytes
    whole: bool


def trace(job: Job, model: Model, question: Question, limits: Limits) -> Payload:
    """The trace of a text: as much of it as is sent at once."""
    with running(job, model, question, limits):
        result = _traced(model, question, attribution=True, predictive=question.predictive)
    job.check()
    return payload_of(result, question)


def payload_of(result: Trace, question: Question) -> Payload:
    """A trace as much of it as is sent at once, with what it answers."""
    whole = _weight(result) <= LONG
    first = question.open or Open()
    data = encode(
        result, **vars(first), report=False, packed=False, weights=None if whole else _first_layer(result, first)
    )
    return Payload(KeptTrace(result, question), data, whole)


def _traced(model: Model, question: Question, **more: Any) -> Trace:
    """The trace of a text, with the heads off that are, and with its worth if that is asked for."""
    if question.off is not None:
        more |= {"ablate": list(question.off.heads), "mode": question.off.mode or MODES[0]}
    return model.trace(
        question.text,
        question.pair,
        target=question.target,
        generate=question.generate,
        truncate=question.truncate,
        worth=question.worth or False,
        **more,
    )


def walk(job: Job, model: Model, question: Question, limits: Limits) -> Payload:
    """The walk of a text through one layer."""
    text, target = _plain(question)
    with running(job, model, question, limits):
        found = walked(
            text,
            model,
            target=target,
            generate=question.generate,
            layer=question.layer,
            truncate=question.truncate,
        )
    facts = {**found.trace.facts, "said": found.said, "unknown": list(found.unknown)}
    entry = KeptTrace(replace(found.trace, facts=facts), walk=found.walk)
    data = encode(
        entry.trace, view="walk", layer=question.layer, heads=[0], report=False, walk=found.walk, packed=False
    )
    return Payload(entry, data, True)


def check_worth(job: Job, model: Model, entry: KeptTrace, count: int, limits: Limits) -> dict[str, Any]:
    """How far the worth of a trace agrees with exact cuts, of so many lines (0: a few); the trace remembers it."""
    from regard.models.worth import CHECK

    if entry.question is None or entry.question.worth is None:
        raise bad("the lines of this trace were not judged; send its text with worth")
    question = replace(entry.question, worth={**entry.question.worth, "check": count or CHECK})
    with running(job, model, question, limits):
        found = _traced(model, question)
    entry.trace = replace(entry.trace, facts={**entry.trace.facts, "worth": found.facts["worth"]})
    return dict(finite(found.facts["worth"]))


def layer(entry: KeptTrace, kind: str, number: int) -> bytes:
    """One layer of a trace."""
    return encode(_layer(entry, kind, number), kind=kind, layer=number, report=False, packed=False)


def pictures(entry: KeptTrace, kind: str, number: int) -> bytes:
    """Small pictures of the heads of one layer, made of all their weights."""
    return encode(_layer(entry, kind, number), kind=kind, layer=number, report=False, weights=(), pictures=True)


def _layer(entry: KeptTrace, kind: str, number: int) -> Trace:
    try:
        return entry.trace.select(kinds=[kind], layers=[number])
    except UserError as error:
        raise missing(str(error)) from None


def report(entry: KeptTrace) -> bytes:
    """What each head of a trace does; measured once."""
    measure(entry)
    if entry.report is None:
        raise large(caution("unmeasured"), "unmeasured")
    return encode(entry.trace, report=entry.report, weights=())


def measure(entry: KeptTrace) -> None:
    """Know what the heads of a trace do; again where other rules have been saved since."""
    rules = usable_rules()
    if entry.report is None or entry.rules != rules:
        entry.report, entry.rules = report_of(entry.trace), rules


def nearest(job: Job, model: Model, question: Question, near: Near, folder: Path) -> str:
    """What else in a study's corpus makes a head do what it does at a position of a text, as a page."""
    from regard.studies.heads.nearest import nearest as nearest_to
    from regard.studies.heads.nearest_page import nearest_page

    off = question.off
    without = nullcontext() if off is None else model.ablate(list(off.heads), mode=off.mode or MODES[0])
    text, target = _plain(question)
    with job.watching(model.module), without:
        found = nearest_to(
            folder,
            text,
            question.pair,
            head=near.head,
            query=near.query,
            side=near.side,
            target=target,
            generate=question.generate,
            model=model,
        )
    return nearest_page(found, near.page)


def _plain(question: Question) -> tuple[str, str | None]:
    """Text and target of a question that a conversation cannot be asked."""
    if not isinstance(question.text, str) or isinstance(question.target, list):
        raise bad("this reads a text, not messages or ids")
    return question.text, question.target


def _weight(trace: Trace) -> int:
    """Bytes of the arrays that attention is read from, as they would be sent."""
    return 4 * sent_numbers(trace)


def _first_layer(trace: Trace, first: Open) -> set[tuple[str, int]]:
    """The layer that is shown first."""
    kind = first.kind or trace.kinds[0]
    return {(kind, trace.layers(kind)[0] if first.layer is None else first.layer)}
