"""The server: addresses, and what answers them. docs/reference/app.md lists them all.

Enters: settings. Leaves: an ASGI application.

Long on purpose: one short function per address, beside the table of all addresses.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from regard import __version__
from regard.app import exports, predictions, rules, work
from regard.app.answers import Answers
from regard.app.asking import asked_of, offered
from regard.app.download import Download
from regard.app.examples import examples_for
from regard.app.fields import body_of
from regard.app.guard import FOREIGN_POLICY, MEDIA, MEDIA_SAYS, Guard
from regard.app.log import Access, note
from regard.app.media import asked_of_medium, says_of_medium, sent_bytes, trace_medium
from regard.app.models import Models
from regard.app.openai import routes_of
from regard.app.problems import (
    Problem,
    answer_http,
    answer_problem,
    answer_to,
    bad,
    missing,
    of_failure,
    slow,
    superseded,
)
from regard.app.queries import drawing_of, near_of, open_of
from regard.app.questions import (
    Question,
    check_of,
    client_of,
    head_of,
    look_of,
    model_name,
    model_of,
    question_of,
)
from regard.app.running import StudyRunner
from regard.app.saved import saved_example
from regard.app.settings import AppSettings
from regard.app.shelf import KeptTrace, Shelf
from regard.app.studies import inside, studies, study_file
from regard.app.talking import AnswerTurns, ToldToken, WholeAnswer, talk_of, told
from regard.app.worker import Job, ModelWorker
from regard.base.errors import UserError
from regard.models.means import SENTENCES
from regard.trace.sentences import refusal
from regard.views.html import bundle

if TYPE_CHECKING:
    from regard.models.model import Model

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>regard</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/app.css">
<link rel="preload" href="/static/example.bin" as="fetch" crossorigin>
<script type="module" src="/static/app.js"></script>
</head>
<body class="regard-page">
<div id="regard" data-app><strong class="app-first">regard</strong>
<noscript>This page draws with JavaScript, which is switched off here.</noscript></div>
</body>
</html>
"""
# Seconds that a page has to come before the default model is loaded: importing torch holds up every other answer for
# about a third of a second. A page asks for its model by itself as soon as it shows something.
_HEAD_START = 1.0
_FIGURE_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
_BUNDLE = {"app.js": "text/javascript", "app.css": "text/css", "example.bin": "application/octet-stream"}


class App:
    """The parts behind the addresses: models, recent traces, and the worker."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.models = Models(settings)
        self.shelf = Shelf(self.limits.traces, self.limits.memory)
        self.worker = ModelWorker(self.limits.queue)
        self.runner = StudyRunner(settings, self.models)
        self.turns = AnswerTurns(self.limits.clients)
        self.answers = Answers(self.limits.answers, self.limits.answers_memory, self.limits.answers_seconds)

    # -- what there is -------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        return Response(_PAGE, media_type="text/html")

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _BUNDLE:
            raise HTTPException(404)
        data = saved_example() if name == "example.bin" else bundle(name).encode()
        if not data:
            raise HTTPException(404)
        tag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=_BUNDLE[name], headers=headers)

    async def health(self, _: Request) -> Response:
        return JSONResponse(
            {"status": "ok", "version": __version__, "waiting": self.worker.waiting, "traces": len(self.shelf)}
        )

    async def state(self, _: Request) -> Response:
        models = await run_in_threadpool(self.models.records)
        return JSONResponse(
            {
                "version": __version__,
                "default": self.models.default,
                "download": self.settings.download,
                "rules": self.settings.saves_rules,
                "models": models,
                "examples": examples_for({model["name"] for model in models}),
                "sentences": len(SENTENCES),
                "limits": self.limits.record,
            }
        )

    async def list_models(self, _: Request) -> Response:
        return JSONResponse({"models": await run_in_threadpool(self.models.records)})

    async def load_model(self, request: Request) -> Response:
        name = model_name(await body_of(request, self.limits))
        entry = await run_in_threadpool(self.models.start, name)
        return JSONResponse(entry.record, 200 if entry.state == "ready" else 202)

    async def list_studies(self, _: Request) -> Response:
        found = await run_in_threadpool(studies, self.settings.studies)
        return JSONResponse({**found, "offered": await run_in_threadpool(offered), "running": self.runner.record})

    async def start_study(self, request: Request) -> Response:
        fields = await body_of(request, self.limits)
        asked = await run_in_threadpool(asked_of, fields, self.limits)
        return JSONResponse(await run_in_threadpool(self.runner.start, asked), 202)

    async def cancel_study(self, _: Request) -> Response:
        return JSONResponse({"running": self.runner.cancel()})

    async def study(self, request: Request) -> Response:
        return await run_in_threadpool(study_file, self.settings.studies, request.path_params["path"])

    async def list_rules(self, _: Request) -> Response:
        return JSONResponse(await _told(rules.saved))

    async def save_rule(self, request: Request) -> Response:
        self._may_save()
        fields = await body_of(request, self.limits)
        return JSONResponse(await _told(rules.save, fields), 201)

    async def forget_rule(self, request: Request) -> Response:
        self._may_save()
        return JSONResponse(await _told(rules.forget, request.path_params["name"]))

    def _may_save(self) -> None:
        """Rules are saved in a file of the person who started the server: visitors leave it alone."""
        if not self.settings.saves_rules:
            raise Problem(403, "shared", refusal("shared_rules"))

    # -- what models do ------------------------------------------------------------------------------------

    async def trace(self, request: Request) -> Response:
        return await self._payload(request, work.trace, default=None)

    async def medium(self, request: Request) -> Response:
        question, data = asked_of_medium(request, self.limits), await sent_bytes(request, self.limits)
        model = await self.model(request, question.model)
        return await self._traced(request, lambda job: trace_medium(job, model, question, data, self.limits), "trace")

    async def medium_says(self, request: Request) -> Response:
        question, data = asked_of_medium(request, self.limits), await sent_bytes(request, self.limits)
        model = await self.model(request, question.model)
        return JSONResponse(
            await self._run(request, lambda job: says_of_medium(job, model, question, data, self.limits), "says")
        )

    async def walk(self, request: Request) -> Response:
        return await self._payload(request, work.walk, default="translator")

    async def ablate(self, request: Request) -> Response:
        return await self._record(request, predictions.effects, "ablate")

    async def cut(self, request: Request) -> Response:
        return await self._record(request, predictions.cuts, "cut")

    async def says(self, request: Request) -> Response:
        return await self._record(request, predictions.says, "says")

    async def find(self, request: Request) -> Response:
        rule = rules.rule_of(await body_of(request, self.limits))
        root = self.settings.studies
        folder, name = await run_in_threadpool(rules.study_of, root, request.path_params["name"])
        assert root is not None  # or there would be no study
        model = await self.model(request, name)
        return JSONResponse(
            await self._run(request, lambda job: rules.found(job, model, folder, root, rule, self.limits), "find")
        )

    async def why(self, request: Request) -> Response:
        fields = await body_of(request, self.limits)
        question, look = question_of(fields, self.limits), look_of(fields)
        model = await self.model(request, question.model)
        lane = "why-check" if look.check else "why"  # a check does not hold up the next look
        return JSONResponse(
            await self._run(request, lambda job: predictions.why(job, model, question, look, self.limits), lane)
        )

    async def writes(self, request: Request) -> Response:
        fields = await body_of(request, self.limits)
        question, head = question_of(fields, self.limits), head_of(fields)
        model = await self.model(request, question.model)
        return JSONResponse(
            await self._run(request, lambda job: predictions.writes(job, model, question, head, self.limits), "writes")
        )

    async def chat(self, request: Request) -> Response:
        """An answer to messages, told token by token: a line of JSON each."""
        fields = await body_of(request, self.limits)
        text = fields.conversation("messages", self.limits)
        if text is None:
            raise bad("messages is missing")
        talk = talk_of(fields, self.limits, text, temperature=0, looks=True)
        model = await self.model(request, model_of(fields, "model"))
        events = told(self.worker, self.limits, self.turns, model, talk)
        first = await anext(events)  # what is refused is refused with its status
        return StreamingResponse(_told_lines(first, events), media_type="application/x-ndjson")

    async def answer(self, request: Request) -> Response:
        return JSONResponse(self.answers.get(request.path_params["id"]).record)

    async def lens(self, request: Request) -> Response:
        return await self._record(request, predictions.lens, "lens")

    async def evidence(self, request: Request) -> Response:
        return await self._record(request, predictions.evidence, "evidence")

    async def layer(self, request: Request) -> Response:
        entry, place = self._entry(request), request.path_params
        data = await self._run(request, lambda _: work.layer(entry, place["kind"], place["layer"]))
        return await self._of(entry, _bytes(data, entry))

    async def pictures(self, request: Request) -> Response:
        entry, place = self._entry(request), request.path_params
        data = await self._run(request, lambda _: work.pictures(entry, place["kind"], place["layer"]), "pictures")
        return await self._of(entry, _bytes(data, entry))

    async def report(self, request: Request) -> Response:
        entry = self._entry(request)
        data = await self._run(request, lambda _: work.report(entry), "report")
        return await self._of(entry, _bytes(data, entry))

    async def follow(self, request: Request) -> Response:
        entry, rule = self._entry(request), rules.rule_of(await body_of(request, self.limits))
        record = await self._run(request, lambda job: rules.followed(job, entry, rule), "rule")
        return await self._of(entry, JSONResponse(record))

    async def worth(self, request: Request) -> Response:
        entry, count = self._entry(request), check_of(await body_of(request, self.limits), self.limits)
        model = await self.model(request, entry.question.model if entry.question else None)
        found = await self._run(request, lambda job: work.check_worth(job, model, entry, count, self.limits), "worth")
        return await self._of(entry, JSONResponse(found))

    async def nearest(self, request: Request) -> Response:
        entry, near = self._entry(request), near_of(request)
        question = entry.question
        if question is None:
            raise missing("this trace is not that of a text")
        place = f"{near.study}/meta.json" if near.study else "meta.json"
        folder = (await run_in_threadpool(inside, self.settings.studies, place)).parent
        model = await self.model(request, question.model)
        page = await self._run(request, lambda job: work.nearest(job, model, question, near, folder), "nearest")
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": FOREIGN_POLICY})

    async def file(self, request: Request) -> Response:
        entry = self._entry(request)
        file = await self._run(request, lambda _: exports.trace_file(entry))
        return await self._of(entry, Download(file, "trace.safetensors", "application/octet-stream"))

    async def saved_page(self, request: Request) -> Response:
        entry, first = self._entry(request), open_of(request)
        file = await self._run(request, lambda job: exports.page(job, entry, first))
        return await self._of(entry, Download(file, "regard.html", "text/html; charset=utf-8"))

    async def figure(self, request: Request) -> Response:
        entry, asked = self._entry(request), drawing_of(request)
        file = await self._run(request, lambda _: exports.figure(entry, asked))
        return await self._of(entry, Download(file, f"figure.{asked.format}", _FIGURE_TYPES[asked.format]))

    async def _record(
        self, request: Request, make: Callable[[Job, Model, Question, Any], dict[str, Any]], lane: str
    ) -> Response:
        question = question_of(await body_of(request, self.limits), self.limits)
        model = await self.model(request, question.model)
        return JSONResponse(await self._run(request, lambda job: make(job, model, question, self.limits), lane))

    async def _payload(
        self, request: Request, make: Callable[[Job, Model, Question, Any], work.Payload], default: str | None
    ) -> Response:
        question = question_of(await body_of(request, self.limits), self.limits)
        model = await self.model(request, question.model or default)
        return await self._traced(request, lambda job: make(job, model, question, self.limits), make.__name__)

    async def _traced(self, request: Request, do: Callable[[Job], work.Payload], lane: str) -> Response:
        payload = await self._run(request, do, lane, replaces="report")
        answer = _bytes(payload.data, payload.entry, {"X-Regard-Whole": str(int(payload.whole))})
        return await self._of(payload.entry, answer)

    async def model(self, request: Request, name: str | None) -> Model:
        """A model, once it is loaded."""
        client_of(request)
        arriving = await run_in_threadpool(self.models.arriving, name)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(arriving)), self.limits.seconds)
        except TimeoutError:
            raise slow() from None

    async def _run(
        self, request: Request, do: Callable[[Job], Any], lane: str | None = None, replaces: str | None = None
    ) -> Any:
        """The result of some work; it is cancelled when the client goes away or time runs out."""
        client = client_of(request)
        key: Hashable = None if client is None or lane is None else (client, lane)
        job = self.worker.submit(do, key, also=(client, replaces))
        answer = asyncio.wrap_future(job.future)
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({answer, gone}, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                self.worker.drop(job, superseded() if gone.done() else slow())
            return await answer
        except Problem:
            raise
        except Exception as error:
            raise of_failure(error, path=request.url.path) from error
        finally:
            gone.cancel()

    async def _of(self, entry: KeptTrace, answer: Response) -> Response:
        """An answer from a trace, which goes back on the shelf; making the answer may have added to it."""
        await run_in_threadpool(self.shelf.put, entry)
        return answer

    def _entry(self, request: Request) -> KeptTrace:
        return self.shelf.get(request.path_params["id"])


def application(settings: AppSettings) -> Starlette:
    """The application, ready to be served."""
    app = App(settings)
    trace = "/api/traces/{id}"
    routes = [
        Route("/", app.page),
        Route("/static/{name}", app.static),
        Route("/healthz", app.health),
        Route("/api/state", app.state),
        Route("/api/models", app.list_models, methods=["GET"]),
        Route("/api/models", app.load_model, methods=["POST"]),
        Route("/api/traces", app.trace, methods=["POST"]),
        Route(MEDIA, app.medium, methods=["POST"]),
        Route(MEDIA_SAYS, app.medium_says, methods=["POST"]),
        Route(trace + "/layers/{kind}/{layer:int}", app.layer),
        Route(trace + "/pictures/{kind}/{layer:int}", app.pictures),
        Route(trace + "/report", app.report),
        Route(trace + "/rule", app.follow, methods=["POST"]),
        Route(trace + "/worth", app.worth, methods=["POST"]),
        Route(trace + "/nearest", app.nearest),
        Route(trace + "/file", app.file),
        Route(trace + "/page", app.saved_page),
        Route(trace + "/figure", app.figure),
        Route("/api/ablate", app.ablate, methods=["POST"]),
        Route("/api/cut", app.cut, methods=["POST"]),
        Route("/api/says", app.says, methods=["POST"]),
        Route("/api/why", app.why, methods=["POST"]),
        Route("/api/writes", app.writes, methods=["POST"]),
        Route("/api/lens", app.lens, methods=["POST"]),
        Route("/api/evidence", app.evidence, methods=["POST"]),
        Route("/api/walk", app.walk, methods=["POST"]),
        Route("/api/chat", app.chat, methods=["POST"]),
        Route("/api/answers/{id}", app.answer),
        Route("/api/studies", app.list_studies, methods=["GET"]),
        Route("/api/studies", app.start_study, methods=["POST"]),
        Route("/api/studies/running", app.cancel_study, methods=["DELETE"]),
        Route("/api/studies/{name}/rule", app.find, methods=["POST"]),
        Route("/api/rules", app.list_rules, methods=["GET"]),
        Route("/api/rules", app.save_rule, methods=["POST"]),
        Route("/api/rules/{name}", app.forget_rule, methods=["DELETE"]),
        Route("/studies/{path:path}", app.study),
        *(routes_of(app) if settings.openai else ()),
    ]
    starlette = Starlette(
        routes=routes,
        middleware=[Middleware(Access), Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: answer_http, Problem: answer_problem, Exception: _fault},
        lifespan=partial(_lifespan, app),
    )
    starlette.state.parts = app
    return starlette


@asynccontextmanager
async def _lifespan(app: App, _: Starlette) -> AsyncIterator[None]:
    """The default model is loaded even if nobody asks for it; at the end nothing is left running."""
    note("started", host=app.settings.host, port=app.settings.port, version=__version__)
    first = app.models.default
    loading = None if first is None else asyncio.get_running_loop().call_later(_HEAD_START, _begin, app, first)
    yield
    if loading is not None:
        loading.cancel()
    app.worker.close()
    await run_in_threadpool(app.runner.close)
    note("stopped")


def _begin(app: App, name: str) -> None:
    """Load a model that nobody asked for yet; where others are being loaded, it waits until somebody does."""
    with suppress(Problem):
        app.models.start(name)


async def _told(do: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """A record that no model is needed for; what is wrong with the request is said in its sentence."""
    try:
        return await run_in_threadpool(do, *given)
    except UserError as error:
        raise of_failure(error) from None


async def _gone(request: Request) -> None:
    """Returns when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _fault(request: Request, error: Exception) -> Response:
    return answer_to(request.url.path, of_failure(error, path=request.url.path))


async def _told_lines(
    event: ToldToken | WholeAnswer, events: AsyncIterator[ToldToken | WholeAnswer]
) -> AsyncIterator[str]:
    """Tokens as lines of JSON, and the end: why, and all ids; or what went wrong."""
    async with aclosing(events):  # type: ignore[type-var]
        try:
            while isinstance(event, ToldToken):
                yield json.dumps(asdict(event)) + "\n"
                event = await anext(events)
        except Problem as problem:
            yield json.dumps({"error": problem.word, "message": problem.message}) + "\n"
            return
        end = {"text": event.rest, "end": event.reason, "ids": event.ids, "prompt": event.prompt}
        yield json.dumps(end) + "\n"


def _bytes(data: bytes, entry: KeptTrace, headers: dict[str, str] | None = None) -> Response:
    return Response(
        data, media_type="application/octet-stream", headers={"X-Regard-Trace": entry.id, **(headers or {})}
    )
