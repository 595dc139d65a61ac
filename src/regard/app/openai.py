"""The OpenAI interface: answers of the loaded models for any client of it, each with a link to its views.

Enters: requests to /v1, as the OpenAI API describes them. Leaves: its objects, whole or as a stream. Only the tokens
are kept; maps are computed when somebody opens the link.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from regard.app.answers import KeptAnswer
from regard.app.fields import Fields, body_of
from regard.app.problems import Problem, bad, of_openai
from regard.app.questions import model_of
from regard.app.talking import Talk, ToldToken, WholeAnswer, talk_of, told

if TYPE_CHECKING:
    from regard.app.server import App
    from regard.models.model import Model

_WARM = 1.0  # the temperature of the API, where none is asked for
_UNSUPPORTED = {  # what would change the answer, and what to do instead
    "tools": "put results of tools into messages with the role tool",
    "functions": "put results of tools into messages with the role tool",
    "logprobs": "open the answer's link to see what the model expected",
    "response_format": "ask for the format in a message",
    "suffix": "put it into the prompt",
    "audio": "send text",
}
Choice = Callable[[str | None, str | None], dict[str, Any]]  # text and reason for the end -> a choice


def routes_of(app: App) -> list[Route]:
    """The addresses of the interface."""
    served = OpenAIInterface(app)
    return [
        Route("/v1/models", served.models),
        Route("/v1/chat/completions", served.chat, methods=["POST"]),
        Route("/v1/completions", served.complete, methods=["POST"]),
    ]


class OpenAIInterface:
    """What answers the addresses; every request stands for itself."""

    def __init__(self, app: App) -> None:
        self._app, self._limits = app, app.limits

    async def models(self, request: Request) -> Response:
        for name in self._app.models.given:  # they may still be loading
            await self._app.model(request, name)
        names = await run_in_threadpool(self._app.models.speaking)
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "regard"} for name in names]
        return JSONResponse({"object": "list", "data": data})

    async def chat(self, request: Request) -> Response:
        fields = await body_of(request, self._limits)
        text = fields.conversation("messages", self._limits)
        if text is None:
            raise bad("messages is missing")
        talk = talk_of(fields, self._limits, text, temperature=_WARM)
        return await self._answer(request, fields, talk, "chat.completion", "chatcmpl")

    async def complete(self, request: Request) -> Response:
        fields = await body_of(request, self._limits)
        prompts = fields.texts("prompt", 1, self._limits.text)
        if not prompts:
            raise bad("prompt is missing: a text")
        talk = talk_of(fields, self._limits, prompts[0], temperature=_WARM)
        return await self._answer(request, fields, talk, "text_completion", "cmpl")

    async def _answer(self, request: Request, fields: Fields, talk: Talk, kind: str, prefix: str) -> Response:
        _refuse_unsupported(fields)
        name = model_of(fields, "model") or self._app.models.default
        model = await self._model(request, name)
        kept = KeptAnswer(name or model.name, talk.text, (), "")
        about = {"id": f"{prefix}-{kept.id}", "created": int(time.time()), "model": kept.model}
        answer = told(self._app.worker, self._limits, self._app.turns, model, talk)
        if not fields.get("stream", bool):
            whole = await self._whole(request, answer)
            choice = _message if kind == "chat.completion" else _text
            record = {**about, "object": kind, "choices": [choice(whole.text, whole.reason)], "usage": _usage(whole)}
            return JSONResponse({**record, "regard": self._keep(request, kept, whole)})
        usage = bool((fields.part("stream_options") or Fields({})).get("include_usage", bool))
        first = await anext(answer)  # what is refused is refused with its status
        about["object"] = "chat.completion.chunk" if kind == "chat.completion" else kind
        choice = _delta if kind == "chat.completion" else _text
        lines = self._lines(request, kept, about, choice, first, answer, usage)
        return StreamingResponse(lines, media_type="text/event-stream")

    async def _model(self, request: Request, name: str | None) -> Model:
        try:
            model = await self._app.model(request, name)
        except Problem as problem:
            if problem.code == "unlisted":
                raise Problem(404, "missing", f"there is no model {name} here", "model_not_found") from None
            raise
        if not model._engine.is_causal:
            raise bad(f"{model.name} does not continue a text; name a causal language model")
        return model

    async def _whole(self, request: Request, answer: AsyncIterator[ToldToken | WholeAnswer]) -> WholeAnswer:
        """The whole of an answer; it stops where the client goes away."""
        async with aclosing(answer):  # type: ignore[type-var]
            async for event in answer:
                if isinstance(event, WholeAnswer):
                    return event
                if await request.is_disconnected():
                    break
        raise bad("the connection was closed")

    async def _lines(
        self,
        request: Request,
        kept: KeptAnswer,
        about: dict[str, Any],
        choice: Choice,
        event: ToldToken | WholeAnswer,
        answer: AsyncIterator[ToldToken | WholeAnswer],
        usage: bool,
    ) -> AsyncIterator[str]:
        """The chunks of a stream: text as it comes; with the last one the link, then the count of tokens if asked."""
        async with aclosing(answer):  # type: ignore[type-var]
            if choice is _delta:
                yield _line({**about, "choices": [{**_delta("", None), "delta": {"role": "assistant", "content": ""}}]})
            try:
                while isinstance(event, ToldToken):
                    if event.text:
                        yield _line({**about, "choices": [choice(event.text, None)]})
                    event = await anext(answer)
            except Problem as problem:
                yield _line(of_openai(problem)[0])
                return
            if event.rest:
                yield _line({**about, "choices": [choice(event.rest, None)]})
            link = self._keep(request, kept, event)
            yield _line({**about, "choices": [choice(None, event.reason)], "regard": link})
            if usage:
                yield _line({**about, "choices": [], "usage": _usage(event)})
            yield "data: [DONE]\n\n"

    def _keep(self, request: Request, kept: KeptAnswer, whole: WholeAnswer) -> str:
        """Keep an answer's tokens; the link to its views."""
        self._app.answers.put(replace(kept, ids=whole.ids, answer=whole.text))
        return f"{request.base_url}#answer={kept.id}"


def _refuse_unsupported(fields: Fields) -> None:
    for name, instead in _UNSUPPORTED.items():
        if fields.has(name):
            raise bad(f"{name} is not supported here; {instead}")
    for name in ("n", "best_of"):
        if (fields.number(name, 1, 128) or 1) > 1:
            raise bad(f"{name} must be 1: ask several times, with other seeds")


def _message(text: str | None, reason: str | None) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason, "logprobs": None}


def _delta(text: str | None, reason: str | None) -> dict[str, Any]:
    delta = {} if text is None else {"content": text}
    return {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}


def _text(text: str | None, reason: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text or "", "finish_reason": reason, "logprobs": None}


def _usage(whole: WholeAnswer) -> dict[str, int]:
    count = len(whole.ids)
    return {"prompt_tokens": whole.prompt, "completion_tokens": count, "total_tokens": whole.prompt + count}


def _line(record: dict[str, Any]) -> str:
    return f"data: {json.dumps(record, ensure_ascii=False)}\n\n"
