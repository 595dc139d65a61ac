"""What is done for a request, in the worker's thread.

Enters: models, traces and what is asked of them. Leaves: payloads (docs/reference/wire.md), files, records.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.app.memory import check_run
from regard.app.plain import finite
from regard.app.problems import bad, large, missing
from regard.app.questions import AskedLook, Drawing, Near, Open, Question
from regard.app.settings import Limits
from regard.app.shelf import KeptTrace
from regard.app.worker import Job
from regard.errors import UserError
from regard.patterns.saved import usable_rules
from regard.trace.heads import MODES
from regard.trace.sentences import caution
from regard.trace.trace import Trace
from regard.views.arrays import sent_numbers
from regard.views.html import save_html
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
    _check_length(model, question, limits)
    with job.watching(model.module):
        result = _traced(model, question, attribution=True, predictive=question.predictive)
    job.check()
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
    _check_length(model, question, limits)
    with job.watching(model.module):
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


def effects(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """A model's predictions with and without some heads."""
    if question.off is None:
        raise bad("heads is missing: name at least one head to switch off")
    from regard.ablation.effects import effect

    _check_length(model, question, limits)
    with job.watching(model.module):
        found = effect(
            model,
            question.text,
            question.pair,
            heads=list(question.off.heads),
            modes=question.off.mode,
            compared=True,
            **_asked(question),
        )
    return dict(finite(found.as_record()))


def cuts(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """A model's predictions before and after some edges are cut."""
    if question.lines is None:
        raise bad("edges is missing: name at least one edge to cut")
    from regard.ablation.cutting import cut

    _check_length(model, question, limits)
    with job.watching(model.module):
        found = cut(
            model,
            question.text,
            question.pair,
            edges=list(question.lines.edges),
            how=question.lines.how,
            generate=question.generate,
            token=question.token,
            controls=question.lines.controls,
            **_asked(question),
        )
    return dict(finite(found.as_record()))


def _asked(question: Question) -> dict[str, Any]:
    """What every question about predictions says of them."""
    return {
        "target": question.target,
        "position": question.position,
        "top": question.count,
        "truncate": question.truncate,
    }


def check_worth(job: Job, model: Model, entry: KeptTrace, count: int, limits: Limits) -> dict[str, Any]:
    """How far the worth of a trace agrees with exact cuts, of so many lines (0: a few); the trace remembers it."""
    from regard.models.worth import CHECK

    if entry.question is None or entry.question.worth is None:
        raise bad("the lines of this trace were not judged; send its text with worth")
    question = replace(entry.question, worth={**entry.question.worth, "check": count or CHECK})
    _check_length(model, question, limits)
    with job.watching(model.module):
        found = _traced(model, question)
    entry.trace = replace(entry.trace, facts={**entry.trace.facts, "worth": found.facts["worth"]})
    return dict(finite(found.facts["worth"]))


def says(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """What a model says of a text, with and without some heads."""
    from regard.ablation.effects import said

    _check_length(model, question, limits)
    off = question.off
    with job.watching(model.module):
        found = said(
            model,
            question.text,
            question.pair,
            heads=list(off.heads) if off else (),
            mode=(off.mode if off else None) or MODES[0],
            generate=question.generate,
            **_asked(question),
        )
    return dict(finite(found.as_record()))


def why(job: Job, model: Model, question: Question, look: AskedLook, limits: Limits) -> dict[str, Any]:
    """What made a head look from one token to another."""
    from regard.models.why import why as split

    _check_length(model, question, limits, limits.split)
    with job.watching(model.module):
        found = split(
            model,
            question.text,
            [look.head],
            look.query,
            look.key,
            question.pair,
            target=question.target,
            generate=question.generate,
            truncate=question.truncate,
            check=look.check,
        )
    return dict(finite(found.as_record(question.count)))


def writes(job: Job, model: Model, question: Question, head: tuple[Any, ...], limits: Limits) -> dict[str, Any]:
    """The words that a head promotes and demotes at a position."""
    from regard.models.writes import writes as split

    _check_length(model, question, limits, limits.split)
    with job.watching(model.module):
        found = split(
            model,
            question.text,
            [head],
            -1 if question.position is None else question.position,
            target=question.target,
            top=question.count,
            truncate=question.truncate,
        )
    return dict(finite(found.as_record(question.count)))


def lens(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """The next word after a position, read after every layer."""
    from regard.models.lens import lens as read

    _check_length(model, question, limits)
    with job.watching(model.module):
        found = read(
            model,
            question.text,
            question.position,
            target=question.target,
            generate=question.generate,
            top=question.count,
            truncate=question.truncate,
        )
    return dict(finite(found.as_record()))


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
    _measure(entry)
    if entry.report is None:
        raise large(caution("unmeasured"), "unmeasured")
    return encode(entry.trace, report=entry.report, weights=())


def _measure(entry: KeptTrace) -> None:
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


class File:
    """A file that exists as long as this object, or until it is removed."""

    def __init__(self, suffix: str) -> None:
        descriptor, name = tempfile.mkstemp(prefix="regard-", suffix=suffix)
        os.close(descriptor)
        self.path = Path(name)
        self.remove = weakref.finalize(self, self.path.unlink, missing_ok=True)


def trace_file(entry: KeptTrace) -> File:
    """The trace as a trace file."""
    return _write(".safetensors", entry.trace.save)


def figure(entry: KeptTrace, asked: Drawing) -> File:
    """A figure of a trace, as `Trace.figure` draws it."""
    first = asked.open
    picture = entry.trace.figure(
        first.view,
        kind=first.kind,
        layer=first.layer,
        heads=None if first.heads is None else list(first.heads),
        query=asked.query if first.view == "neurons" else None,
        contributions=asked.contributions and first.view in ("heads", "matrix"),
        worth=first.worth and first.view != "neurons",
        threshold=asked.threshold,
        width=asked.width,
    )
    return _write(f".{asked.format}", picture.save)


def page(job: Job, entry: KeptTrace, first: Open) -> File:
    """The saved page as a file."""
    if first.view == "walk" and entry.walk is None:
        raise bad("this trace has no walk")
    _measure(entry)
    job.check()
    options = {**vars(first), "report": entry.report or False, "walk": entry.walk}
    return _write(".html", lambda path: save_html(entry.trace, path, **options))


def _write(suffix: str, write: Callable[[Path], Any]) -> File:
    file = File(suffix)
    write(file.path)
    return file


def _check_length(model: Model, question: Question, limits: Limits, most: int | None = None) -> None:
    """Refuse what is too long, before anything runs; `most` is the limit of what is asked, if it is lower."""
    tokens = len(model._engine.encode(question.text, question.pair, truncate=question.truncate).ids) + (
        question.generate or 0
    )
    target = question.target
    if target is not None:
        beside = len(target) if isinstance(target, list) else len(model._engine.encode(target).ids)
        tokens = tokens + beside if model._engine.is_causal else max(tokens, beside)
    split, most = most is not None, min(most or limits.tokens, limits.tokens)
    if tokens > most:
        asked = " for this" if most < limits.tokens else ""
        raise large(
            f"the text has {tokens:,} tokens; this server takes at most {most:,}{asked}",
            "long_here",
            tokens=tokens,
            limit=most,
        )
    if question.predictive and tokens > limits.predictive:
        raise large(
            f"the text has {tokens:,} tokens; which words predict which is asked here of at most {limits.predictive:,}",
            "long_predictive",
            tokens=tokens,
            limit=limits.predictive,
        )
    if question.worth is not None and tokens > limits.worth:
        raise large(
            f"the text has {tokens:,} tokens; what lines are worth is asked here of at most {limits.worth:,}",
            "long_worth",
            tokens=tokens,
            limit=limits.worth,
        )
    check_run(model, tokens, backward=split or question.worth is not None, maps=split, cut=question.lines is not None)


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
