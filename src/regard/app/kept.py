"""The traces that were answered last, for what is asked of them next.

Enters: traces. Leaves: the same by their id, until newer ones need the room.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from regard.app.problems import missing
from regard.trace import Trace
from regard.views.report import Report

if TYPE_CHECKING:
    from regard.transformer.walk import Walk


@dataclass(eq=False)
class Kept:
    """A trace, and what was found out about it since."""

    trace: Trace
    walk: Walk | None = None
    report: Report | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def bytes(self) -> int:
        """Memory of its arrays; one that several sites share counts once."""
        arrays = {id(array): array.nbytes for site in self.trace.sites for array in _arrays(site)}
        return sum(arrays.values())


class Shelf:
    """Traces by id, the ones used last; at most `count`, of at most `memory` bytes together (one may always stay)."""

    def __init__(self, count: int, memory: int) -> None:
        self._count, self._memory = count, memory
        self._held: OrderedDict[str, tuple[Kept, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def bytes(self) -> int:
        return self._bytes

    def put(self, kept: Kept) -> None:
        size = kept.bytes
        with self._lock:
            self._held[kept.id] = (kept, size)
            self._bytes += size
            while len(self._held) > 1 and (len(self._held) > self._count or self._bytes > self._memory):
                self._bytes -= self._held.popitem(last=False)[1][1]

    def get(self, name: str) -> Kept:
        with self._lock:
            if name not in self._held:
                raise missing("this trace is not kept any more; send its text again")
            self._held.move_to_end(name)
            return self._held[name][0]


def _arrays(site: object) -> list[np.ndarray]:
    values = [getattr(site, one.name) for one in fields(site)]  # type: ignore[arg-type]
    return [value for value in values if isinstance(value, np.ndarray)]
