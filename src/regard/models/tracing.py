"""Texts to traces: one or a list of them, alone or in batches, with what lines are worth if that is asked.

Enters: an engine, texts with their pairs and targets. Leaves: Traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard.base.errors import UserError
from regard.capture.halves import halved
from regard.models.audio import Seconds
from regard.models.conversation import Conversation
from regard.models.hearing import sound_inputs
from regard.models.outcome import Answering, encode_text
from regard.models.worth import AskedWorth, trace_worth

if TYPE_CHECKING:
    from regard.models.base import Target, Text
    from regard.models.engine import Engine
    from regard.trace.trace import Trace


def trace_texts(
    engine: Engine,
    text: Text | list[str],
    pair: Any,
    target: Any,
    *,
    worth: AskedWorth | None,
    answer: Answering,
    batch_size: int,
    truncate: bool,
    segment_ids: bool,
    attribution: bool,
    predictive: bool,
) -> Trace | list[Trace]:
    """The trace of a text, or those of a list of texts; arguments as in `Model.trace`."""
    inputs = list(zip(*_as_lists(text, pair, target), strict=True))
    if worth is not None:
        traces = [
            trace_worth(
                engine, *three, asked=worth, answer=answer, truncate=truncate, segment_ids=segment_ids,
                attribution=attribution, predictive=predictive,
            )
            for three in inputs
        ]  # fmt: skip
    else:
        read = [encode_text(engine, *three, answer, truncate=truncate, segment_ids=segment_ids) for three in inputs]
        rows, beside = [row for row, _ in read], [one for _, one in read]
        size = 1 if answer.count is not None else batch_size
        traces = engine.trace_rows(rows, beside, attribution=attribution, predictive=predictive, batch_size=size)
    return traces[0] if isinstance(text, (str, Conversation)) else traces


def trace_sound(
    engine: Engine, audio: Any, target: Any, seconds: Seconds | None, others: Mapping[str, object]
) -> Trace:
    """The trace of a sound, and of its transcript where the model writes one; `others` may not be asked for with it."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UserError(f"a sound is traced by itself; leave out {' and '.join(given)}")
    inputs, book, facts = sound_inputs(engine, audio, target, seconds)
    return engine.record(inputs, book, [facts])[0]


def traced_in_half(trace: Callable[[], Any]) -> Any:
    """What a function traces, with q, k and v in 16 bits; the traces know how far that puts scores off."""
    with halved() as halves:
        found = trace()
    told = [
        replace(one, facts={**one.facts, "half": halves.error})
        for one in (found if isinstance(found, list) else [found])
    ]
    return told if isinstance(found, list) else told[0]


def _as_lists(text: Text | list[str], pair: Any, target: Any) -> tuple[list[Text], list[str | None], list[Target]]:
    """Texts, pairs and targets as three lists of one length."""
    if isinstance(text, (str, Conversation)):
        return [text], [pair], [target]  # anything of another type is refused where it is read
    texts: list[Text] = list(text)
    return texts, _matching(pair, len(texts), "pair"), _matching(target, len(texts), "target")


def _matching(value: str | Sequence[str] | None, count: int, name: str) -> list[Any]:
    if value is None:
        return [None] * count
    if isinstance(value, str) or len(value) != count:
        raise UserError(f"there are {count} texts; pass a list of {count} as {name} too")
    return list(value)
