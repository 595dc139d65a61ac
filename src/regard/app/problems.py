"""What can go wrong with a request, in one format.

Enters: a status, a word and a sentence, and where the page decides by it or says it in another language, a code and
values. Leaves: {"error": word, "message": sentence}, with "code" and "values" if there are any.
"""

from __future__ import annotations

import sys
from secrets import token_hex
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from regard.app.log import log
from regard.base.errors import TooLongError, UserError
from regard.trace.sentences import coded

OPENAI = "/v1/"  # where addresses of the OpenAI interface begin
_HEADERS = {
    503: {"Retry-After": "1"},  # seconds
    413: {"Connection": "close"},  # the rest of the request is not read
}
_ALLOCATOR = "DefaultCPUAllocator"  # of torch


class Problem(Exception):  # noqa: N818 (most are the client's, not errors)
    """A request that cannot be answered; the sentence is for the person who asked."""

    def __init__(self, status: int, word: str, message: str, code: str = "", **values: int | str) -> None:
        super().__init__(message)
        self.status, self.word, self.message = status, word, message
        said = coded(message)
        self.code: str = code or said.get("code", "")
        self.values: dict[str, int | str] = values or said.get("values", {})

    @property
    def response(self) -> JSONResponse:
        record: dict[str, object] = {"error": self.word, "message": self.message}
        if self.code:
            record |= {"code": self.code, "values": self.values}
        return JSONResponse(record, self.status, headers=_HEADERS.get(self.status))


_KEYS = {401: "invalid_api_key", 503: "overloaded"}  # codes that clients of the OpenAI interface know
_MODES = {413: 400, 415: 400, 422: 400}  # which it has one status for


def of_openai(problem: Problem) -> tuple[dict[str, Any], int]:
    """A problem in the format of the OpenAI interface, and its status."""
    status = _MODES.get(problem.status, problem.status)
    too_long = problem.code in ("long", "long_here", "long_memory")
    code = "context_length_exceeded" if too_long else _KEYS.get(status, problem.code or problem.word)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": problem.message, "type": kind, "param": None, "code": code}}, status


def answer_to(path: str, problem: Problem) -> Response:
    """A problem as an answer, in the format of the address that was asked."""
    if not path.startswith(OPENAI):
        return problem.response
    record, status = of_openai(problem)
    return JSONResponse(record, status, headers=_HEADERS.get(problem.status))


def bad(message: str) -> Problem:
    """A request that breaks the contract."""
    return Problem(400, "bad", message)


def large(message: str, code: str = "", **values: int | str) -> Problem:
    """A request over a limit."""
    return Problem(413, "large", message, code, **values)


def missing(message: str) -> Problem:
    """Something that does not exist, or no longer does."""
    return Problem(404, "missing", message)


def busy(message: str = "the server is busy; try again in a moment") -> Problem:
    """More than the queue holds."""
    return Problem(503, "busy", message)


def superseded() -> Problem:
    """A newer request from the same client replaced this one."""
    return Problem(409, "superseded", "a newer request replaced this one")


def slow() -> Problem:
    """An answer that did not come in time."""
    return Problem(504, "slow", "the answer took too long and was stopped; use a shorter text or a smaller model")


def of_failure(error: BaseException, **facts: Any) -> Problem:
    """The problem to report for a failure; a bug of ours is logged under the number that the user gets."""
    if isinstance(error, Problem):
        return error
    if _is_out_of_memory(error):
        return large("there was not enough memory for this; use a shorter text or a smaller model", "memory")
    if isinstance(error, TooLongError):
        return Problem(422, "input", str(error), "long", tokens=error.tokens, limit=error.limit)
    if isinstance(error, UserError):
        return Problem(422, "input", error.args[0] if error.args else str(error))
    number = token_hex(4)
    log.error("fault", exc_info=error, extra={"facts": {"number": number, **facts}})
    return Problem(
        500, "internal", f"this is a bug in regard, please report it; the server's log has it under number {number}"
    )


def _is_out_of_memory(error: BaseException) -> bool:
    """torch has a type for the memory of a GPU; the CPU's is told by the name of its allocator, whatever the words."""
    kinds: tuple[type[BaseException], ...] = (MemoryError,)
    if "torch" in sys.modules:
        kinds += (sys.modules["torch"].OutOfMemoryError,)
    return isinstance(error, kinds) or (isinstance(error, RuntimeError) and _ALLOCATOR in str(error))


def of_http(error: HTTPException) -> Problem:
    """Starlette's own refusals in our format."""
    if error.status_code == 405:
        return Problem(405, "method", "this address does not support this method")
    if error.status_code == 404:
        return missing("there is nothing at this address")
    return Problem(error.status_code, "bad", str(error.detail))


async def answer_http(request: Request, error: Exception) -> Response:
    """What Starlette refused, as an answer."""
    assert isinstance(error, HTTPException)
    return answer_to(request.url.path, of_http(error))


async def answer_problem(request: Request, error: Exception) -> Response:
    """A problem, as an answer."""
    assert isinstance(error, Problem)
    return answer_to(request.url.path, error)
