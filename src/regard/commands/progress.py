"""Progress of a study: a bar on a terminal, a line per minute in a log.

Enters: what a study reports while it runs. Leaves: progress on standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text as RichText

from regard.commands.shared import err

if TYPE_CHECKING:
    from rich.progress import Task

    from regard.corpus.batches import Tally
    from regard.corpus.readers.source import Source

_COUNTED = 64_000_000  # bytes; a smaller corpus is counted beforehand, to estimate how long the run will take
_MEMORY = 600.0  # seconds over which the rate is averaged
_LINE = 60.0  # seconds between lines where there is no bar


@contextmanager
def showing_steps() -> Iterator[Callable[[str, int | None, int | None], None] | None]:
    """Show the current step, with a count if there is one; nothing if standard error is not a terminal."""
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("reading the treebank", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done or 0, total=total)


class _Rate(ProgressColumn):
    """Examples per second."""

    def render(self, task: Task) -> RichText:
        return RichText("" if task.speed is None else f"{task.speed:,.0f} examples/s")


class _Lines:
    """A line per minute, when standard error is a file: how far a study is, how fast it goes and how long is left."""

    def __init__(self, source: Source) -> None:
        self.name, self.total = source.name, total_of(source)
        self.last: tuple[int, float] | None = None

    def __call__(self, tally: Tally, seconds: float) -> None:
        done, since = self.last or (tally.examples, seconds)
        if self.last is None or tally.examples < done:  # the first window of a run, resumed or not, or of its control
            self.last = tally.examples, seconds
        if seconds - since < _LINE or tally.examples <= done:
            return
        rate = (tally.examples - done) / (seconds - since)
        self.last = tally.examples, seconds
        line = f"{self.name}: {tally.examples:,} examples, {rate:,.1f} per second"
        if self.total is not None:
            line += f", {(self.total - tally.examples) / rate / 60:,.0f} min left"
        err.print(line, markup=False, soft_wrap=True)


@contextmanager
def counting(source: Source) -> Iterator[Callable[[Tally, float], None]]:
    """A bar with rate and time left; lines if standard error is not a terminal."""
    if not err.is_terminal:
        yield _Lines(source)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=err, speed_estimate_period=_MEMORY, transient=True) as bar:
        task = bar.add_task(source.name, total=total_of(source))
        yield lambda tally, seconds: bar.update(task, completed=tally.examples)


def total_of(source: Source) -> int | None:
    """The number of examples, if counting them is quick; the run itself reports what cannot be read."""
    from regard.corpus.readers.reading import read

    place = Path(source.place)
    if source.format == "dataset" or not place.is_file() or place.stat().st_size > _COUNTED:
        return source.sample or source.limit
    try:
        return sum(1 for _ in read(source))
    except (ValueError, OSError):
        return None
