"""The most recent traces, for later requests about them.

Enters: traces. Leaves: the same by their id, until newer ones need the room.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from regard.app.problems import missing
from regard.app.weighing import weight_of
from regard.patterns.saved import SavedRule
from regard.trace.trace import Trace
from regard.views.report import Report

if TYPE_CHECKING:
    from regard.app.questions import Question
    from regard.transformer.walk import Walk


@dataclass(eq=False)
class KeptTrace:
    """A trace, and what has been computed about it since."""

    trace: Trace
    question: Question | None = None  # that it answers, if it was a text
    walk: Walk | None = None
    report: Report | None = None
    rules: tuple[SavedRule, ...] = ()  # saved ones that the report knows
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def bytes(self) -> int:
        """Memory that it uses: the trace, the walk, and what has been computed since."""
        return weight_of(self)


class Shelf:
    """The most recently used traces by id: at most `count`, of at most `memory` bytes in all (one may always stay)."""

    def __init__(self, count: int, memory: int) -> None:
        self._count, self._memory = count, memory
        self._held: OrderedDict[str, tuple[KeptTrace, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def bytes(self) -> int:
        return self._bytes

    def put(self, entry: KeptTrace) -> None:
        """Keep a trace; one that is already there is weighed again, since requests make it heavier."""
        size = entry.bytes
        with self._lock:
            self._bytes += size - self._held.pop(entry.id, (entry, 0))[1]
            self._held[entry.id] = (entry, size)
            while len(self._held) > 1 and (len(self._held) > self._count or self._bytes > self._memory):
                self._bytes -= self._held.popitem(last=False)[1][1]

    def get(self, name: str) -> KeptTrace:
        with self._lock:
            if name not in self._held:
                raise missing("this trace is no longer available; send its text again")
            self._held.move_to_end(name)
            return self._held[name][0]
