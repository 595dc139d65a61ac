"""The server: addresses, and who answers them. docs/reference/app.md lists them all.

Enters: settings. Leaves: an ASGI application.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from regard import __version__
from regard.app import work
from regard.app.examples import examples_for
from regard.app.guard import FOREIGN_POLICY, Guard
from regard.app.log import Access, note
from regard.app.models import Models
from regard.app.problems import Problem, answer_http, answer_problem, of_failure, slow, superseded
from regard.app.questions import Question, asked, body_of, client_of, model_name, open_of
from regard.app.settings import AppSettings
from regard.app.shelf import KeptTrace, Shelf
from regard.app.studies import studies, study_file
from regard.app.worker import Job, ModelWorker
from regard.models.means import SENTENCES
from regard.views.html import bundle

if TYPE_CHECKING:
    from regard.models.model import Model

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>regard</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/app.css">
<script type="module" src="/static/app.js"></script>
</head>
<body class="regard-page">
<div id="regard" data-app><noscript>This page draws with JavaScript, which is switched off here.</noscript></div>
</body>
</html>
"""
_BUNDLE = {"app.js": "text/javascript", "app.css": "text/css"}


class App:
    """The parts behind the addresses: models, the traces kept, and the worker."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.models = Models(settings)
        self.kept = Shelf(self.limits.traces, self.limits.memory)
        self.worker = ModelWorker(self.limits.queue)

    # -- what there is -------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        return Response(_PAGE, media_type="text/html")

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _BUNDLE:
            raise HTTPException(404)
        data = bundle(name).encode()
        tag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=_BUNDLE[name], headers=headers)

    async def health(self, _: Request) -> Response:
        return JSONResponse(
            {"status": "ok", "version": __version__, "waiting": self.worker.waiting, "traces": len(self.kept)}
        )

    async def state(self, _: Request) -> Response:
        models = await run_in_threadpool(self.models.records)
        return JSONResponse(
            {
                "version": __version__,
                "default": self.models.default,
                "download": self.settings.download,
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
        return JSONResponse(await run_in_threadpool(studies, self.settings.studies))

    async def study(self, request: Request) -> Response:
        return await run_in_threadpool(study_file, self.settings.studies, request.path_params["path"])

    # -- what models do ------------------------------------------------------------------------------------

    async def trace(self, request: Request) -> Response:
        return await self._payload(request, work.trace, default=None)

    async def walk(self, request: Request) -> Response:
        return await self._payload(request, work.walk, default="translator")

    async def ablate(self, request: Request) -> Response:
        wanted = asked(await body_of(request, self.limits), self.limits)
        model = await self._model(request, wanted.model)
        return JSONResponse(
            await self._run(request, lambda job: work.effects(job, model, wanted, self.limits), "ablate")
        )

    async def layer(self, request: Request) -> Response:
        kept, place = self._kept(request), request.path_params
        data = await self._run(request, lambda _: work.layer(kept, place["kind"], place["layer"]))
        return await self._of(kept, _bytes(data, kept))

    async def report(self, request: Request) -> Response:
        kept = self._kept(request)
        data = await self._run(request, lambda _: work.report(kept), "report")
        return await self._of(kept, _bytes(data, kept))

    async def file(self, request: Request) -> Response:
        kept = self._kept(request)
        file = await self._run(request, lambda _: work.trace_file(kept))
        return await self._of(kept, Download(file, "trace.safetensors", "application/octet-stream"))

    async def saved_page(self, request: Request) -> Response:
        kept, first = self._kept(request), open_of(request)
        file = await self._run(request, lambda job: work.page(job, kept, first))
        return await self._of(kept, Download(file, "regard.html", "text/html; charset=utf-8"))

    async def _payload(
        self, request: Request, make: Callable[[Job, Model, Question, Any], work.Payload], default: str | None
    ) -> Response:
        wanted = asked(await body_of(request, self.limits), self.limits)
        model = await self._model(request, wanted.model or default)
        made = await self._run(
            request, lambda job: make(job, model, wanted, self.limits), make.__name__, replaces="report"
        )
        answer = _bytes(made.data, made.kept, {"X-Regard-Whole": str(int(made.whole))})
        return await self._of(made.kept, answer)

    async def _model(self, request: Request, name: str | None) -> Model:
        client_of(request)
        arriving = await run_in_threadpool(self.models.arriving, name)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(arriving)), self.limits.seconds)
        except TimeoutError:
            raise slow() from None

    async def _run(
        self, request: Request, do: Callable[[Job], Any], lane: str | None = None, replaces: str | None = None
    ) -> Any:
        """The result of some work; taken back when the client goes away or the time is over."""
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

    async def _of(self, kept: KeptTrace, answer: Response) -> Response:
        """An answer from a trace, which is kept; making the answer may have added to it."""
        await run_in_threadpool(self.kept.put, kept)
        return answer

    def _kept(self, request: Request) -> KeptTrace:
        return self.kept.get(request.path_params["id"])


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
        Route(trace + "/layers/{kind}/{layer:int}", app.layer),
        Route(trace + "/report", app.report),
        Route(trace + "/file", app.file),
        Route(trace + "/page", app.saved_page),
        Route("/api/ablate", app.ablate, methods=["POST"]),
        Route("/api/walk", app.walk, methods=["POST"]),
        Route("/api/studies", app.list_studies),
        Route("/studies/{path:path}", app.study),
    ]
    made = Starlette(
        routes=routes,
        middleware=[Middleware(Access), Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: answer_http, Problem: answer_problem, Exception: _fault},
        lifespan=partial(_lifespan, app),
    )
    made.state.parts = app
    return made


@asynccontextmanager
async def _lifespan(app: App, _: Starlette) -> AsyncIterator[None]:
    """The default model is on its way when the page opens; at the end nothing is left running."""
    note("started", host=app.settings.host, port=app.settings.port, version=__version__)
    if app.models.default is not None:
        app.models.start(app.models.default)
    yield
    app.worker.close()
    note("stopped")


async def _gone(request: Request) -> None:
    """Returns when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _fault(request: Request, error: Exception) -> Response:
    return of_failure(error, path=request.url.path).response


def _bytes(data: bytes, kept: KeptTrace, headers: dict[str, str] | None = None) -> Response:
    return Response(data, media_type="application/octet-stream", headers={"X-Regard-Trace": kept.id, **(headers or {})})


class Download(FileResponse):
    """A file made for one answer: gone after it, however that ends."""

    def __init__(self, file: work.File, name: str, media_type: str) -> None:
        super().__init__(
            file.path, media_type=media_type, filename=name, headers={"Content-Security-Policy": FOREIGN_POLICY}
        )
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.remove()
