"""What is done for a request, in the worker's thread.

Enters: models, traces and what is asked of them. Leaves: payloads (docs/reference/wire.md), files, records.
"""

from __future__ import annotations

import math
import os
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.app.memory import check_run
from regard.app.problems import bad, large, missing
from regard.app.questions import Drawing, Open, Question
from regard.app.settings import Limits
from regard.app.shelf import KeptTrace
from regard.app.worker import Job
from regard.errors import UserError
from regard.trace.heads import MODES
from regard.trace.sentences import caution
from regard.trace.trace import Trace
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
    off: dict[str, Any] = {}
    if question.off is not None:
        off = {"ablate": list(question.off.heads), "mode": question.off.mode or MODES[0]}
    with job.watching(model.module):
        result = model.trace(
            question.text,
            question.pair,
            target=question.target,
            generate=question.generate,
            truncate=question.truncate,
            attribution=True,
            predictive=question.predictive,
            **off,
        )
    job.check()
    whole = _weight(result) <= LONG
    first = question.open or Open()
    data = encode(
        result, **vars(first), report=False, packed=False, weights=None if whole else _first_layer(result, first)
    )
    return Payload(KeptTrace(result), data, whole)


def walk(job: Job, model: Model, question: Question, limits: Limits) -> Payload:
    """The walk of a text through one layer."""
    _check_length(model, question, limits)
    with job.watching(model.module):
        found = walked(question.text, model, target=question.target, layer=question.layer, truncate=question.truncate)
    facts = {**found.trace.facts, "said": found.said, "unknown": list(found.unknown)}
    entry = KeptTrace(replace(found.trace, facts=facts), found.walk)
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
            target=question.target,
            position=question.position,
            top=question.count,
            truncate=question.truncate,
        )
    return dict(_finite(found.as_record()))


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
            target=question.target,
            generate=question.generate,
            position=question.position,
            top=question.count,
            truncate=question.truncate,
        )
    return dict(_finite(found.as_record()))


def layer(entry: KeptTrace, kind: str, number: int) -> bytes:
    """One layer of a trace."""
    try:
        part = entry.trace.select(kinds=[kind], layers=[number])
    except UserError as error:
        raise missing(str(error)) from None
    return encode(part, kind=kind, layer=number, report=False, packed=False)


def report(entry: KeptTrace) -> bytes:
    """What each head of a trace does; measured once."""
    entry.report = entry.report or report_of(entry.trace)
    if entry.report is None:
        raise large(caution("unmeasured"), "unmeasured")
    return encode(entry.trace, report=entry.report, weights=())


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
        threshold=asked.threshold,
        width=asked.width,
    )
    return _write(f".{asked.format}", picture.save)


def page(job: Job, entry: KeptTrace, first: Open) -> File:
    """The saved page as a file."""
    if first.view == "walk" and entry.walk is None:
        raise bad("this trace has no walk")
    entry.report = entry.report or report_of(entry.trace)
    job.check()
    options = {**vars(first), "report": entry.report or False, "walk": entry.walk}
    return _write(".html", lambda path: save_html(entry.trace, path, **options))


def _finite(value: Any) -> Any:
    """A record in which numbers that JSON cannot hold are null."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(suffix: str, write: Callable[[Path], Any]) -> File:
    file = File(suffix)
    write(file.path)
    return file


def _check_length(model: Model, question: Question, limits: Limits) -> None:
    """Refuse what is too long, before anything runs."""
    tokens = len(model._engine.encode(question.text, question.pair, truncate=question.truncate).ids) + (
        question.generate or 0
    )
    if question.target is not None:
        tokens = max(tokens, len(model._engine.encode(question.target).ids))
    if tokens > limits.tokens:
        raise large(
            f"the text has {tokens:,} tokens; this server takes at most {limits.tokens:,}",
            "long_here",
            tokens=tokens,
            limit=limits.tokens,
        )
    if question.predictive and tokens > limits.predictive:
        raise large(
            f"the text has {tokens:,} tokens; which words predict which is asked here of at most {limits.predictive:,}",
            "long_predictive",
            tokens=tokens,
            limit=limits.predictive,
        )
    check_run(model, tokens)


def _weight(trace: Trace) -> int:
    """Bytes of the arrays that attention is read from, as they would be sent."""
    arrays = [array for site in trace.sites for array in ((site.maps,) if site.q is None else (site.q, site.k))]
    return sum(4 * array.size for array in arrays if array is not None)


def _first_layer(trace: Trace, first: Open) -> set[tuple[str, int]]:
    """The layer that is shown first."""
    kind = first.kind or trace.kinds[0]
    return {(kind, trace.layers(kind)[0] if first.layer is None else first.layer)}
