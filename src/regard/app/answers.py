"""Answers that were given, for whoever opens their views later: token sequences, no maps.

Enters: what was asked and answered. Leaves: the same by an id that nobody can guess, until it is too old or newer ones
need the room.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.app.problems import missing
from regard.app.weighing import weight_of

if TYPE_CHECKING:
    from regard.models.base import Text


@dataclass(frozen=True)
class KeptAnswer:
    """What a model was asked, and its answer: ids and text."""

    model: str
    text: Text
    ids: tuple[int, ...]
    answer: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    since: float = field(default_factory=time.monotonic)

    @property
    def record(self) -> dict[str, Any]:
        """As a question that the page can ask."""
        asked = {"text": self.text} if isinstance(self.text, str) else {"messages": list(self.text.messages)}
        return {"model": self.model, **asked, "target": list(self.ids), "answer": self.answer}


class Answers:
    """The latest answers: at most `count`, of at most `memory` bytes in all, each for at most `seconds`."""

    def __init__(self, count: int, memory: int, seconds: float) -> None:
        self._count, self._memory, self._seconds = count, memory, seconds
        self._held: OrderedDict[str, tuple[KeptAnswer, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._held)

    def put(self, answer: KeptAnswer) -> None:
        size = weight_of(answer)
        self._held[answer.id] = answer, size
        self._bytes += size
        while self._held and self._is_over(next(iter(self._held.values()))[0]):
            self._bytes -= self._held.popitem(last=False)[1][1]

    def get(self, name: str) -> KeptAnswer:
        kept = self._held.get(name, (None, 0))[0]
        if kept is None or self._is_old(kept):
            raise missing("this answer is no longer kept; ask for it again")
        return kept

    def _is_over(self, oldest: KeptAnswer) -> bool:
        return len(self._held) > self._count or self._bytes > self._memory or self._is_old(oldest)

    def _is_old(self, answer: KeptAnswer) -> bool:
        return time.monotonic() - answer.since > self._seconds
