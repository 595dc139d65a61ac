"""What a model predicts, what made it so, and what it predicts without some heads or lines; in the worker's thread.

Enters: models and questions. Leaves: records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.app.lengths import running
from regard.app.plain import finite
from regard.app.problems import bad
from regard.app.questions import AskedLook, Question
from regard.app.settings import Limits
from regard.app.worker import Job
from regard.trace.heads import MODES

if TYPE_CHECKING:
    from regard.models.model import Model


def effects(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """A model's predictions with and without some heads."""
    if question.off is None:
        raise bad("heads is missing: name at least one head to switch off")
    from regard.ablation.effects import effect

    asked = _at_position(question) | {"heads": list(question.off.heads), "modes": question.off.mode, "compared": True}
    with running(job, model, question, limits):
        found = effect(model, question.text, question.pair, **asked)
    return dict(finite(found.as_record()))


def cuts(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """A model's predictions before and after some edges are cut."""
    lines = question.lines
    if lines is None:
        raise bad("edges is missing: name at least one edge to cut")
    from regard.ablation.cutting import cut

    asked = _at_position(question) | {"edges": list(lines.edges), "how": lines.how, "controls": lines.controls}
    with running(job, model, question, limits):
        found = cut(model, question.text, question.pair, generate=question.generate, token=question.token, **asked)
    return dict(finite(found.as_record()))


def says(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """What a model says of a text, with and without some heads."""
    from regard.ablation.saying import said

    off = question.off
    heads, mode = (off.heads, off.mode) if off else ((), None)
    asked = _at_position(question) | {"heads": list(heads), "mode": mode or MODES[0]}
    with running(job, model, question, limits):
        found = said(model, question.text, question.pair, generate=question.generate, **asked)
    return dict(finite(found.as_record()))


def why(job: Job, model: Model, question: Question, look: AskedLook, limits: Limits) -> dict[str, Any]:
    """What made a head look from one token to another."""
    from regard.models.why import why as split

    asked = _read(question) | {"generate": question.generate, "check": look.check}
    with running(job, model, question, limits, limits.split):
        found = split(model, question.text, [look.head], look.query, look.key, question.pair, **asked)
    return dict(finite(found.as_record(question.count)))


def writes(job: Job, model: Model, question: Question, head: tuple[Any, ...], limits: Limits) -> dict[str, Any]:
    """The words that a head promotes and demotes at a position."""
    from regard.models.writes import writes as split

    position = -1 if question.position is None else question.position
    with running(job, model, question, limits, limits.split):
        found = split(model, question.text, [head], position, top=question.count, **_read(question))
    return dict(finite(found.as_record(question.count)))


def lens(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """The next word after a position, read after every layer."""
    from regard.models.lens import lens as read

    asked = _at_position(question) | {"generate": question.generate}
    with running(job, model, question, limits):
        found = read(model, question.text, **asked)
    return dict(finite(found.as_record()))


def evidence(job: Job, model: Model, question: Question, limits: Limits) -> dict[str, Any]:
    """The sentences that an answer came from: the one that is given, or else what the model says next."""
    from regard.ablation.evidence import answer_evidence

    with running(job, model, question, limits):
        found = answer_evidence(model, question.text, generate=question.generate or 1, **_read(question))
    return dict(finite(found.as_record()))


def _read(question: Question) -> dict[str, Any]:
    """How the text of a question is read."""
    return {"target": question.target, "truncate": question.truncate}


def _at_position(question: Question) -> dict[str, Any]:
    """How it is read, where predictions are looked at, and how many of them."""
    return _read(question) | {"position": question.position, "top": question.count}
