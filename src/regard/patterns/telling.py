"""Which heads to look at first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

RESTING = {"delimiter", "first token (sink)", "punctuation"}


class Named(Protocol):
    """A head that was found to do something."""

    @property
    def pattern(self) -> str: ...
    @property
    def score(self) -> float: ...


N = TypeVar("N", bound=Named)


def telling(found: Iterable[N], count: int = 3) -> list[N]:
    """The most telling heads: the strongest of different patterns first, resting places last."""
    ordered = sorted(found, key=lambda one: -one.score)
    first: dict[str, N] = {}
    for one in ordered:
        first.setdefault(one.pattern, one)
    chosen = sorted(first.values(), key=lambda one: (one.pattern in RESTING, -one.score))
    rest = [one for one in ordered if one not in chosen]
    return [*chosen, *rest][:count]
