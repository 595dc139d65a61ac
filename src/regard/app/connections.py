"""Connections with time limits: uvicorn itself waits forever for the rest of a request, and for a client to read.

Enters: what clients send, or fail to send. Leaves: requests; stalled connections are closed to make room for others.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """One client's connection; subclasses may set other limits."""

    REQUEST = 10.0  # seconds for a request's headers to arrive, from the opening or from their first byte
    READING = 60.0  # seconds within which a client has to read some of its answer
    MOST = 200  # connections at a time; well below the number of files a process may open

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.heard = 0.0  # when something last arrived
        self._owed: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered; that has time limits of its own."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_owed_more(self) -> bool:
        """Whether the client has sent part of a request, or nothing since it connected."""
        waiting = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        return not self.is_answering and (self.cycle is None or not waiting)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.heard = self.loop.time()
        self._make_room()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._owed, self._stalled = _cancel(self._owed), _cancel(self._stalled)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self.heard = self.loop.time()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(self.READING, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled = _cancel(self._stalled)

    def _watch(self) -> None:
        """Set a deadline for the rest of the request, which further bytes do not extend."""
        if not self.is_owed_more:
            self._owed = _cancel(self._owed)
        elif self._owed is None:
            self._owed = self.loop.call_later(self.REQUEST, self.transport.abort)

    def _make_room(self) -> None:
        """One too many: close the connection that has been silent longest, or this one if all are being answered."""
        others: list[Any] = [one for one in self.connections if one is not self and not one.transport.is_closing()]
        if len(others) >= self.MOST:
            idle = [one for one in others if not one.is_answering or one.cycle.more_body]  # a body may never end
            min(idle, key=lambda one: one.heard, default=self).transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
