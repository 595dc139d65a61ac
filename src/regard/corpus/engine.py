"""The local engine: one window of the corpus after another, with checkpoints and progress; Ctrl-C loses nothing.

Enters: a study, a model and a source. Leaves: the sums of the whole corpus.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from regard.base.errors import UserError
from regard.corpus.batches import Item, Tally, Window, window_of, windows_of
from regard.corpus.checkpoint import Progress, load_checkpoint, save_checkpoint
from regard.corpus.identity import model_identity, source_identity
from regard.corpus.readers.lines import format_of
from regard.corpus.readers.pictures import IMAGE
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.sums import Sums
from regard.models.fingerprint import digest
from regard.models.hearing import encode_transcript, heard_input
from regard.models.looking import encode_picture

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.models.prepare import Encoded

_PICTURES = 32  # of a window: their pixels are held together
_EVERY = 20.0  # seconds between checkpoints


class Summing(Protocol):
    """What an engine needs from a study."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def holds(self) -> dict[str, Any]: ...

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
    restart: bool = False
    report: Callable[[Tally, float], None] | None = None  # called with the tally so far and seconds since the start
    problems: Problems = field(default_factory=Problems)
    step: Callable[[int], None] | None = None  # called after each batch with the inputs done in this pass


Engine = Callable[[Summing, "Model", Run], Progress]  # sums a study over a corpus

# A window's number, its tally, its sums, the fingerprint of all examples up to its last.
Summed = tuple[int, Tally, Sums, str]


def run_local(study: Summing, model: Model, run: Run) -> Progress:
    """Sum a study over a corpus on this machine."""

    def windows(done: Progress) -> Iterator[Summed]:
        before = done.tally.inputs
        for index, examples, read_so_far in windows_after(done, study, model, run):
            window = window_of(index, examples, encoder_of(model), long=run.long)
            yield index, window.tally, sum_window(study, model, window, _counted(run, before)), read_so_far
            before += window.tally.inputs

    return gather(study, model, run, windows)


def gather(study: Summing, model: Model, run: Run, windows: Callable[[Progress], Iterator[Summed]]) -> Progress:
    """Add up windows in order, with checkpoints; `windows` yields those that are not done yet."""
    mine = {} if run.checkpoint is None else identity(study, model, run)
    progress = begun = begin(run, mine)
    start = saved = time.monotonic()
    try:
        for index, tally, sums, read_so_far in windows(progress):
            progress = progress.plus(index, tally, sums, read_so_far)
            if run.report is not None:
                run.report(progress.tally, time.monotonic() - start)
            if run.checkpoint is not None and time.monotonic() - saved > _EVERY:
                save_checkpoint(run.checkpoint, progress, mine)
                saved = time.monotonic()
    except BaseException:  # including an interrupt: what was done is saved
        if run.checkpoint is not None and progress is not begun:
            save_checkpoint(run.checkpoint, progress, mine)
        raise
    if not progress.tally.inputs:
        why = f" ({run.problems.first[0]})" if run.problems.first else ""
        raise UserError(f"the corpus {run.source.name} has no examples to study{why}; check the file and its format")
    if run.checkpoint is not None:  # later steps may still fail: drawing, a full disk, a second corpus
        save_checkpoint(run.checkpoint, progress, mine)
    return progress


def windows_after(done: Progress, study: Summing, model: Model, run: Run) -> Iterator[tuple[int, list[Example], str]]:
    """Each window that is not done yet: its number, its examples, the fingerprint of all examples up to its last.

    Those that are done are read again and must not have changed, also if they come through a pipe or from the hub.
    """
    read_so_far, last = "", -1
    size = min(study.window, _PICTURES) if format_of(run.source) == "images" else study.window
    for last, examples in windows_of(study.parts(model, examples_of(run)), size=size):
        read_so_far = digest([read_so_far, *map(repr, examples)])
        if last + 1 == done.windows and read_so_far != done.read:
            break
        if last >= done.windows:
            yield last, examples, read_so_far
    if last + 1 < done.windows or (last + 1 == done.windows and read_so_far != done.read):
        raise UserError(
            f"{run.source.name} does not begin with the examples that the checkpoint {run.checkpoint} was made from; "
            "use the same corpus, choose another output folder, or discard it with --restart"
        )


def sum_window(study: Summing, model: Model, window: Window, done: Callable[[int], None] | None = None) -> Sums:
    """The sums of one window; `done` is called with the size of each batch."""
    sums = Sums()
    with model._engine.steady():
        for batch in window.batches:
            study.update(model, batch, sums)
            if done is not None:
                done(len(batch))
    return sums


def _counted(run: Run, before: int) -> Callable[[int], None] | None:
    """Counts batches for the run's `step`, from what was done before."""
    if run.step is None:
        return None
    step, total = run.step, before

    def count(size: int) -> None:
        nonlocal total
        total += size
        step(total)

    return count


def encoder_of(model: Model) -> Callable[[Example, bool], Encoded]:
    """How the engine turns an example into ids and tokens; the pair of an encoder-decoder model is its decoder's."""
    encode = _text_encoder(model)
    return lambda example, truncate: (
        encode_picture(model._engine, example.fields[IMAGE]) if IMAGE in example.fields else encode(example, truncate)
    )


def _text_encoder(model: Model) -> Callable[[Example, bool], Encoded]:
    if heard_input(model.module) is not None:
        return lambda example, truncate: encode_transcript(model._engine, example.text)
    pairs = not model.is_encoder_decoder
    return lambda example, truncate: model._engine.encode(
        example.text, example.pair if pairs else None, truncate=truncate
    )


def identity(study: Summing, model: Model, run: Run) -> dict[str, Any]:
    """What must be equal for a run to resume from a checkpoint."""
    return {
        "study": study.name,
        "version": study.version,
        "settings": study.settings,
        "model": model_identity(model),
        "corpus": source_identity(run.source),
        "long": run.long,
        **study.holds(),
    }


def examples_of(run: Run) -> Iterator[Example]:
    """The examples of a run's corpus."""
    run.problems.strict = run.strict
    return read(run.source, run.problems)


def begin(run: Run, mine: dict[str, Any]) -> Progress:
    """Where a run begins: at the start, or at its checkpoint."""
    if run.resume and run.checkpoint is not None and run.checkpoint.exists():
        return load_checkpoint(run.checkpoint, mine)
    return Progress()
