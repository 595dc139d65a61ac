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
from regard.app.questions import Open, Question
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

LONG = 16_000_000  # bytes of weights from which a trace is sent layer by layer


class Payload(NamedTuple):
    """A trace as bytes, and whether all its layers are in them."""

    kept: KeptTrace
    data: bytes
    whole: bool


def trace(job: Job, model: Model, asked: Question, limits: Limits) -> Payload:
    """The trace of a text, as far as it is sent at once."""
    _check_length(model, asked, limits)
    off: dict[str, Any] = {}
    if asked.off is not None:
        off = {"ablate": list(asked.off.heads), "mode": asked.off.mode or MODES[0]}
    with job.watching(model.module):
        made = model.trace(
            asked.text,
            asked.pair,
            target=asked.target,
            generate=asked.generate,
            truncate=asked.truncate,
            attribution=True,
            **off,
        )
    job.check()
    whole = _weight(made) <= LONG
    first = asked.open or Open()
    data = encode(made, **vars(first), report=False, packed=False, weights=None if whole else _opened(made, first))
    return Payload(KeptTrace(made), data, whole)


def walk(job: Job, model: Model, asked: Question, limits: Limits) -> Payload:
    """A text through one opened layer."""
    _check_length(model, asked, limits)
    with job.watching(model.module):
        found = walked(asked.text, model, target=asked.target, layer=asked.layer, truncate=asked.truncate)
    facts = {**found.trace.facts, "said": found.said, "unknown": list(found.unknown)}
    kept = KeptTrace(replace(found.trace, facts=facts), found.walk)
    data = encode(kept.trace, view="walk", layer=asked.layer, heads=[0], report=False, walk=found.walk, packed=False)
    return Payload(kept, data, True)


def effects(job: Job, model: Model, asked: Question, limits: Limits) -> dict[str, Any]:
    """What a model says with and without some heads."""
    if asked.off is None:
        raise bad("heads is missing: name at least one head to switch off")
    from regard.ablation.effects import effect

    _check_length(model, asked, limits)
    with job.watching(model.module):
        found = effect(
            model,
            asked.text,
            asked.pair,
            heads=list(asked.off.heads),
            modes=asked.off.mode,
            target=asked.target,
            position=asked.position,
            top=asked.count,
            truncate=asked.truncate,
        )
    return dict(_finite(found.as_record()))


def layer(kept: KeptTrace, kind: str, number: int) -> bytes:
    """One layer of a trace."""
    try:
        part = kept.trace.select(kinds=[kind], layers=[number])
    except UserError as error:
        raise missing(str(error)) from None
    return encode(part, kind=kind, layer=number, report=False, packed=False)


def report(kept: KeptTrace) -> bytes:
    """What each head of a trace does; measured once."""
    kept.report = kept.report or report_of(kept.trace)
    if kept.report is None:
        raise large(caution("unmeasured"), "unmeasured")
    return encode(kept.trace, report=kept.report, weights=())


class File:
    """A file that is there as long as somebody holds this, or until it is removed."""

    def __init__(self, suffix: str) -> None:
        descriptor, name = tempfile.mkstemp(prefix="regard-", suffix=suffix)
        os.close(descriptor)
        self.path = Path(name)
        self.remove = weakref.finalize(self, self.path.unlink, missing_ok=True)


def trace_file(kept: KeptTrace) -> File:
    """The trace as a file of its own."""
    return _written(".safetensors", kept.trace.save)


def page(job: Job, kept: KeptTrace, first: Open) -> File:
    """The saved page as a file."""
    if first.view == "walk" and kept.walk is None:
        raise bad("this trace has no walk")
    kept.report = kept.report or report_of(kept.trace)
    job.check()
    options = {**vars(first), "report": kept.report or False, "walk": kept.walk}
    return _written(".html", lambda path: save_html(kept.trace, path, **options))


def _finite(value: Any) -> Any:
    """A record in which numbers that JSON does not have are null."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(suffix: str, write: Callable[[Path], Any]) -> File:
    made = File(suffix)
    write(made.path)
    return made


def _check_length(model: Model, asked: Question, limits: Limits) -> None:
    """Refuse what is too long, before anything runs."""
    tokens = len(model._engine.encode(asked.text, asked.pair, truncate=asked.truncate).ids) + (asked.generate or 0)
    if asked.target is not None:
        tokens = max(tokens, len(model._engine.encode(asked.target).ids))
    if tokens > limits.tokens:
        raise large(
            f"the text has {tokens:,} tokens; this server takes at most {limits.tokens:,}",
            "long_here",
            tokens=tokens,
            limit=limits.tokens,
        )
    check_run(model, tokens)


def _weight(made: Trace) -> int:
    """Bytes of what attention is read from, as it would travel."""
    arrays = [array for site in made.sites for array in ((site.maps,) if site.q is None else (site.q, site.k))]
    return sum(4 * array.size for array in arrays if array is not None)


def _opened(made: Trace, first: Open) -> set[tuple[str, int]]:
    """The layer that is looked at first."""
    kind = first.kind or made.kinds[0]
    return {(kind, made.layers(kind)[0] if first.layer is None else first.layer)}
