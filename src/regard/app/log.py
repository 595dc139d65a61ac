"""The log: one JSON object per line. What people type is not logged, unless REGARD_DEBUG asks for error messages.

Enters: requests, and what the server has to say. Leaves: lines with a time, a level and an event.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("regard.app")


class Lines(logging.Formatter):
    """Records as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["error"] = _where(record.exc_info[1])
        return json.dumps(entry, ensure_ascii=False, default=str)


def _where(error: BaseException | None) -> str:
    """The lines of code that an error passed through, and its name; its message only if asked for."""
    if error is None or os.environ.get("REGARD_DEBUG"):
        return "".join(traceback.format_exception(error))
    return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__


def set_up(path: Path | None, *, quiet: bool) -> None:
    """Log to a file, or to standard error; `quiet` logs only what went wrong."""
    handler = logging.StreamHandler(sys.stderr) if path is None else logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(Lines())
    for name in ("regard.app", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet else logging.INFO)


def note(event: str, **facts: Any) -> None:
    """Log an event with its facts."""
    log.info(event, extra={"facts": facts})


class Access:
    """Middleware that logs each request: method, path without its query, status, milliseconds, bytes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not log.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        seen = {"status": 0, "bytes": 0}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
            else:
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            took = round(1e3 * (time.perf_counter() - start), 1)
            note("request", method=scope["method"], path=scope["path"][:200], **seen, milliseconds=took)
