"""Rows of CSV and TSV files: an unreadable row costs its own line, not the lines after it.

Enters: numbered lines. Leaves: cells of each row, as many as the first has.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

Numbered = tuple[int, str]


def rows(lines: Iterable[Numbered], bad: Callable[[int, str], None], **how: Any) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of each readable row that is not empty; `bad` is called for the others.

    A quoted field may contain line breaks. If it never ends, or its row has a different width, only the line on which
    it begins is left out.
    """
    width: int | None = None
    ahead = _Ahead(lines)
    for number, line in ahead:
        try:
            cells = _row(line, ahead, width, how)
        except csv.Error as error:
            bad(number, _reason(error))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        width = width or len(cells)
        if len(cells) != width:
            bad(number, f"{len(cells)} columns where the first line has {width}")
        else:
            yield number, cells


class _Ahead:
    """Lines that can be put back."""

    def __init__(self, lines: Iterable[Numbered]) -> None:
        self._lines = iter(lines)
        self._waiting: deque[Numbered] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Numbered:
        return self._waiting.popleft() if self._waiting else next(self._lines)

    def back(self, some: list[Numbered]) -> None:
        """Read these again, in their order."""
        self._waiting.extendleft(reversed(some))


def _row(line: str, ahead: _Ahead, width: int | None, how: dict[str, Any]) -> list[str]:
    """The row that begins with a line; it spans several lines only if all of it is well-formed."""
    open_at_end = False

    def alone() -> Iterator[str]:
        nonlocal open_at_end
        yield f"{line}\n"
        open_at_end = True  # asked for more: a quoted field goes on

    cells = next(csv.reader(alone(), **how))
    return _longer(line, ahead, width, how) if open_at_end else cells


def _longer(line: str, ahead: _Ahead, width: int | None, how: dict[str, Any]) -> list[str]:
    taken: list[Numbered] = []

    def several() -> Iterator[str]:
        yield f"{line}\n"
        for numbered in ahead:
            taken.append(numbered)
            yield f"{numbered[1]}\n"

    try:
        cells = next(csv.reader(several(), strict=True, **how))
        if width is not None and len(cells) != width:
            raise csv.Error
    except csv.Error:
        ahead.back(taken)
        raise csv.Error("a quote is not closed") from None
    return cells


def _reason(error: csv.Error) -> str:
    """What is wrong, in our own words where Python's are unclear."""
    return f"a field has more than {csv.field_size_limit():,} characters" if "limit" in str(error) else str(error)
