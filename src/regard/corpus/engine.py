"""The local engine: one window of the corpus after the other, with checkpoints and progress; Ctrl-C loses nothing.

Enters: a study, a model and a source. Leaves: the sums of the whole corpus.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from regard.corpus.batches import Item, Tally, Window, grouped, window_of
from regard.corpus.checkpoint import Progress, load_checkpoint, save_checkpoint
from regard.corpus.readers import Example, Problems, Source, read
from regard.corpus.sums import Sums

if TYPE_CHECKING:
    from regard.inputs import Encoded
    from regard.model import Model

_EVERY = 20.0  # seconds between checkpoints


class Summing(Protocol):
    """What an engine needs of a study."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def arguments(self) -> dict[str, Any]: ...

    @property
    def window(self) -> int: ...

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterable[Example]: ...

    def update(self, model: Model, batch: list[Item], sums: Sums) -> None: ...


@dataclass(frozen=True)
class Run:
    """How a study is run over a corpus."""

    source: Source
    long: str = "truncate"
    strict: bool = False
    checkpoint: Path | None = None
    resume: bool = False
    report: Callable[[Tally, float], None] | None = None  # called with the tally so far and seconds since the start
    problems: Problems = field(default_factory=Problems)


Summed = tuple[int, Tally, Sums]  # a window's number, what became of its examples, its sums


def run_local(study: Summing, model: Model, run: Run) -> Progress:
    """Sum a study over a corpus on this machine."""

    def windows(skip: int) -> Iterator[Summed]:
        for index, examples in grouped(study.parts(model, examples_of(run)), size=study.window, skip=skip):
            window = window_of(index, examples, encoder_of(model), long=run.long)
            yield index, window.tally, sum_window(study, model, window)

    return gather(study, model, run, windows)


def gather(study: Summing, model: Model, run: Run, windows: Callable[[int], Iterator[Summed]]) -> Progress:
    """Add up windows in their order, with checkpoints; `windows` gives those after the first so many."""
    progress = begin(study, model, run)
    start = saved = time.monotonic()
    try:
        for index, tally, sums in windows(progress.windows):
            progress = progress.plus(index, tally, sums)
            if run.report is not None:
                run.report(progress.tally, time.monotonic() - start)
            if run.checkpoint is not None and time.monotonic() - saved > _EVERY:
                save_checkpoint(run.checkpoint, progress, identity(study, model, run))
                saved = time.monotonic()
    except BaseException:  # an interrupt, too: what was done is kept
        if run.checkpoint is not None and progress.windows:
            save_checkpoint(run.checkpoint, progress, identity(study, model, run))
        raise
    if not progress.tally.inputs:
        why = f" ({run.problems.first[0]})" if run.problems.first else ""
        raise ValueError(f"the corpus {run.source.name} gave no example to study{why}; check the file and its format")
    if run.checkpoint is not None:  # what comes after may fail too: drawing, a full disk, a second corpus
        save_checkpoint(run.checkpoint, progress, identity(study, model, run))
    return progress


def sum_window(study: Summing, model: Model, window: Window) -> Sums:
    """The sums of one window."""
    sums = Sums()
    with model.steady():
        for batch in window.batches:
            study.update(model, batch, sums)
    return sums


def encoder_of(model: Model) -> Callable[[Example, bool], Encoded]:
    """How the engine turns an example into ids and tokens."""
    return lambda example, truncate: model.encode(example.text, example.pair, truncate=truncate)


def identity(study: Summing, model: Model, run: Run) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued."""
    return {
        "study": study.name,
        "settings": study.settings,
        "model": model.name,
        "parameters": model.parameters,
        "corpus": asdict(run.source),
        "long": run.long,
    }


def examples_of(run: Run) -> Iterator[Example]:
    """The examples of a run's corpus."""
    run.problems.strict = run.strict
    return read(run.source, run.problems)


def begin(study: Summing, model: Model, run: Run) -> Progress:
    """Where a run begins: at the start, or where its checkpoint ends."""
    if run.resume and run.checkpoint is not None and run.checkpoint.exists():
        return load_checkpoint(run.checkpoint, identity(study, model, run))
    return Progress()
