"""The traces that were answered last, for what is asked of them next.

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
from regard.trace.trace import Trace
from regard.views.report import Report

if TYPE_CHECKING:
    from regard.transformer.walk import Walk


@dataclass(eq=False)
class KeptTrace:
    """A trace, and what was found out about it since."""

    trace: Trace
    walk: Walk | None = None
    report: Report | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def bytes(self) -> int:
        """Memory that it keeps: the trace, the walk, and what was found out since."""
        return weight_of(self)


class Shelf:
    """Traces by id, the ones used last; at most `count`, of at most `memory` bytes together (one may always stay)."""

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

    def put(self, kept: KeptTrace) -> None:
        """Keep a trace; one that is kept already is weighed again, since what is asked of it makes it heavier."""
        size = kept.bytes
        with self._lock:
            self._bytes += size - self._held.pop(kept.id, (kept, 0))[1]
            self._held[kept.id] = (kept, size)
            while len(self._held) > 1 and (len(self._held) > self._count or self._bytes > self._memory):
                self._bytes -= self._held.popitem(last=False)[1][1]

    def get(self, name: str) -> KeptTrace:
        with self._lock:
            if name not in self._held:
                raise missing("this trace is not kept any more; send its text again")
            self._held.move_to_end(name)
            return self._held[name][0]
