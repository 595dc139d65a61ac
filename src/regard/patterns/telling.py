"""Which heads to look at first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from regard.patterns.entries import BROAD, RESTING_PLACES


class NamedHead(Protocol):
    """A head that was found to do something."""

    @property
    def kind(self) -> str: ...
    @property
    def layer(self) -> int: ...
    @property
    def part(self) -> int: ...
    @property
    def head(self) -> int: ...
    @property
    def pattern(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def rest(self) -> float: ...


N = TypeVar("N", bound=NamedHead)


def telling(found: Iterable[N], count: int = 3) -> list[N]:
    """The most telling heads, each once: the strongest patterns first, broad ones and resting last.

    Of the heads of one pattern it is the one whose map shows it most: a head that nearly always rests may follow its
    pattern without exception, and nobody sees it.
    """
    heads = list(found)
    strongest: dict[str, float] = {}
    for one in heads:
        strongest[one.pattern] = max(one.score, strongest.get(one.pattern, one.score))
    ordered = sorted(
        heads,
        key=lambda one: (
            one.pattern in RESTING_PLACES,
            one.pattern in BROAD,
            -strongest[one.pattern],
            -one.score * (1 - one.rest),
        ),
    )
    chosen: dict[tuple[str, int, int, int], N] = {}
    patterns: set[str] = set()
    for one in ordered:
        if one.pattern not in patterns and _head(one) not in chosen:
            patterns.add(one.pattern)
            chosen[_head(one)] = one
    for one in sorted(ordered, key=lambda one: -one.score * (1 - one.rest)):
        chosen.setdefault(_head(one), one)
    return list(chosen.values())[:count]


def _head(one: NamedHead) -> tuple[str, int, int, int]:
    return one.kind, one.layer, one.part, one.head
