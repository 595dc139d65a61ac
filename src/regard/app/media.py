"""Pictures and sounds that the page sends: read, checked and traced; no file of them is kept.

Enters: the bytes of a file and what is asked of it. Leaves: a payload, what the model says, or a refusal.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request

from regard.app.fields import Fields
from regard.app.memory import check_run
from regard.app.plain import finite
from regard.app.problems import Problem, bad, large
from regard.app.questions import Open, Question, question_of
from regard.app.settings import Limits
from regard.app.work import Payload, payload_of
from regard.app.worker import Job
from regard.base.errors import UserError
from regard.trace.heads import MODES
from regard.trace.sentences import refusal
from regard.views.wire import opening

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.trace.trace import Trace

_READ = 60.0  # seconds a client has for sending a file
_SOUNDS = (b"RIFF", b"fLaC", b"RF64")  # with which files of sound begin; WebP, a picture, is a RIFF file too
_FRAMES = 1500  # of half a minute of sound


def asked_of_medium(request: Request, limits: Limits) -> Question:
    """What is asked of a file: a question, as for a text, in the address; its text may be empty."""
    try:
        body = json.loads(request.query_params.get("question", "{}"))
    except (ValueError, RecursionError):
        raise bad("question is not JSON") from None
    return question_of(Fields(body, "question"), limits, textless=True)


async def sent_bytes(request: Request, limits: Limits) -> bytes:
    """The file that is sent; one that is too large is refused before all of it is read."""
    data = bytearray()
    try:
        async with asyncio.timeout(_READ):
            async for chunk in request.stream():
                data += chunk
                if len(data) > limits.medium:
                    raise large(refusal("medium_large", most=f"{limits.medium / 1e6:.0f}"))
    except TimeoutError:
        raise bad(f"the file did not arrive within {_READ:.0f} seconds") from None
    except ClientDisconnect:
        raise bad("the connection was closed") from None
    if not data:
        raise Problem(422, "input", refusal("medium_bad", why="it is empty"))
    return bytes(data)


def trace_medium(job: Job, model: Model, question: Question, data: bytes, limits: Limits) -> Payload:
    """The trace of a picture or a sound, with the text beside it if the model reads both."""
    kind, given = _given(model, question, data, limits)
    with job.watching(model.module):
        found = model.trace(**{kind: given}, target=question.target, **_more(kind, model, question))
    job.check()
    return payload_of(found, replace(question, text="", open=_opened(found, question)))


def says_of_medium(job: Job, model: Model, question: Question, data: bytes, limits: Limits) -> dict[str, Any]:
    """What a model says of a picture or a sound, with and without some heads."""
    from regard.ablation.saying import said_of

    kind, given = _given(model, question, data, limits)
    asked = _more(kind, model, question)
    with job.watching(model.module):
        found = said_of(model, **{kind: given}, heads=asked.pop("ablate", ()), top=question.count, **asked)
    return dict(finite(found.as_record()))


def _given(model: Model, question: Question, data: bytes, limits: Limits) -> tuple[str, Any]:
    """What kind of file it is, and what is in it, unless it is none for this model, or too long."""
    kind = "audio" if data.startswith(_SOUNDS) and data[8:12] != b"WEBP" else "image"
    if kind not in media_of(model):
        raise Problem(422, "input", refusal(f"medium_no_{kind}", name=model.name))
    given = _read(kind, data)
    check_run(model, _FRAMES if kind == "audio" else _positions(model, given, question, limits))
    if not isinstance(question.text, str):
        raise bad("a file is sent with a text, not with messages")
    return kind, given


def _opened(found: Trace, question: Question) -> Open | None:
    """What the page opens with: what was asked for, or what suits a sound."""
    asked = question.open
    return Open(**opening(found)) if asked is None or asked.kind is None else asked


def media_of(model: Model) -> list[str]:
    """What a model takes beside texts: image, audio, or nothing."""
    from regard.models.hearing import heard_input

    engine = model._engine
    sees = engine.takes("pixel_values") or engine.takes("flattened_patches")
    return [*(["image"] if sees else []), *(["audio"] if heard_input(model.module) else [])]


def reads_text(model: Model) -> bool:
    """Whether a model reads a text, alone or beside a picture."""
    return model.tokenizer is not None and "audio" not in media_of(model) and model._engine.takes("input_ids")


def _read(kind: str, data: bytes) -> Any:
    """The picture or sound; what is wrong with it is said."""
    from regard.models.audio import read_sound
    from regard.models.images import read_picture

    try:
        return read_sound(data) if kind == "audio" else read_picture(data)
    except UserError as error:
        raise Problem(422, "input", refusal("medium_bad", why=str(error))) from None


def _positions(model: Model, picture: Any, question: Question, limits: Limits) -> int:
    """About how many positions a picture and its text have; too many are refused."""
    _, seen = model._engine.eyes.see(picture)
    tokens = sum(one.patches for one in seen) + len(str(question.text)) // 2
    if tokens > limits.tokens:
        words = f"the picture has about {tokens:,} patches; this server takes at most {limits.tokens:,}"
        raise large(words, "long_here", tokens=tokens, limit=limits.tokens)
    return int(tokens)


def _more(kind: str, model: Model, question: Question) -> dict[str, Any]:
    """What else is asked of a picture; a sound is traced by itself."""
    if kind == "audio":
        return {}
    text = str(question.text) if reads_text(model) else ""
    more: dict[str, Any] = {"generate": question.generate, "text": text or None}
    if question.off is not None:
        more |= {"ablate": list(question.off.heads), "mode": question.off.mode or MODES[0]}
    return more
