"""What is too long for this server, before anything runs.

Enters: a model, a question and limits. Leaves: nothing, or a refusal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from regard.app.memory import check_run
from regard.app.problems import large
from regard.app.questions import Question
from regard.app.settings import Limits
from regard.app.worker import Job

if TYPE_CHECKING:
    from regard.models.model import Model


@contextmanager
def running(job: Job, model: Model, question: Question, limits: Limits, most: int | None = None) -> Iterator[None]:
    """Inside, a model may run on a text that is not too long, until its job is dropped."""
    check_length(model, question, limits, most)
    with job.watching(model.module):
        yield


def check_length(model: Model, question: Question, limits: Limits, most: int | None = None) -> None:
    """Refuse what is too long, before anything runs; `most` is the limit of what is asked, if it is lower."""
    tokens = len(model._engine.encode(question.text, question.pair, truncate=question.truncate).ids) + (
        question.generate or 0
    )
    target = question.target
    if target is not None:
        beside = len(target) if isinstance(target, list) else len(model._engine.encode(target).ids)
        tokens = tokens + beside if model._engine.is_causal else max(tokens, beside)
    split, most = most is not None, min(most or limits.tokens, limits.tokens)
    asked = " for this" if most < limits.tokens else ""
    _refuse(tokens, most, f"this server takes at most {most:,}{asked}", "long_here")
    if question.predictive:
        words = f"which words predict which is asked here of at most {limits.predictive:,}"
        _refuse(tokens, limits.predictive, words, "long_predictive")
    if question.worth is not None:
        _refuse(tokens, limits.worth, f"what lines are worth is asked here of at most {limits.worth:,}", "long_worth")
    check_run(model, tokens, backward=split or question.worth is not None, maps=split, cut=question.lines is not None)


def _refuse(tokens: int, limit: int, words: str, code: str) -> None:
    """Refuse more tokens than a limit."""
    if tokens > limit:
        raise large(f"the text has {tokens:,} tokens; {words}", code, tokens=tokens, limit=limit)
