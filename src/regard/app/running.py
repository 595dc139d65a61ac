"""The one study that a server runs at a time: started, watched, cancelled.

Enters: a checked request. Leaves: a folder among the studies once the study is done, and never before: until then it
lies in a hidden folder, which is locked while it is in use and removed afterwards.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from regard.app.asking import AskedStudy
from regard.app.log import note
from regard.app.problems import Problem, busy, of_failure
from regard.app.settings import AppSettings
from regard.app.worker import Job, Stopped, checking
from regard.base.errors import UserError
from regard.studies.folder import held
from regard.trace.sentences import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from regard.app.models import Models
    from regard.models.model import Model

_HIDDEN = ".running-"  # what folders of unfinished studies begin with


@dataclass
class StudyRun:
    """A study on its way, or the last one: how far it is, and how it ended."""

    asked: AskedStudy
    model: str
    job: Job = field(default_factory=lambda: Job(lambda _: None, None))
    id: str = field(default_factory=lambda: token_hex(4))
    since: float = field(default_factory=time.monotonic)
    state: str = "running"  # done, failed, cancelled
    done: int = 0  # inputs of all passes
    total: int | None = None
    step: str = ""  # what a study that counts no inputs is doing
    seconds: float | None = None  # that it took
    name: str | None = None  # of the folder with the result
    problem: Problem | None = None

    @property
    def record(self) -> dict[str, Any]:
        took = time.monotonic() - self.since if self.seconds is None else self.seconds
        problem = self.problem
        return {
            "id": self.id,
            "study": self.asked.study.name,
            "model": self.model,
            "corpus": self.asked.file,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "step": self.step,
            "seconds": round(took, 1),
            "name": self.name,
            "message": "" if problem is None else problem.message,
            "code": "" if problem is None else problem.code,
            "values": {} if problem is None else problem.values,
        }

    def counter(self, passes: int, total: int) -> Callable[[int], None]:
        """A function that counts inputs over several passes, each of which begins again."""
        before, last = 0, 0
        self.total = passes * total

        def step(done: int) -> None:
            nonlocal before, last
            before, last = (before + total if done <= last else before), done
            self.done = min(before + done, passes * total)

        return step

    def tell(self, what: str, done: int | None, total: int | None) -> None:
        """Note the current step of a study that reports steps."""
        self.step, self.done, self.total = what, done or 0, total


class StudyRunner:
    """Runs one study at a time in a thread of its own; models wait for each other batch by batch."""

    def __init__(self, settings: AppSettings, models: Models) -> None:
        self._folder, self._limits, self._models = settings.studies, settings.limits, models
        self._lock = threading.Lock()
        self._run: StudyRun | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def record(self) -> dict[str, Any] | None:
        """The study that runs, or the last one."""
        run = self._run
        return None if run is None else run.record

    def start(self, asked: AskedStudy) -> dict[str, Any]:
        """Begin a study, unless one is running."""
        if self._folder is None:
            raise Problem(403, "refused", refusal("study_folder"))
        with self._lock:
            if self._closed:
                raise busy("the server is stopping")
            if self._run is not None and self._run.state == "running":
                raise busy(refusal("study_busy"))
            arriving = self._models.arriving(asked.model)
            self._run = run = StudyRun(asked, asked.model or str(self._models.default))
            work = (run, arriving, self._folder)
            self._thread = threading.Thread(target=self._do, args=work, name="regard-study", daemon=True)
            self._thread.start()
        return run.record

    def cancel(self) -> dict[str, Any] | None:
        """Ask the running study to stop; it does so at its next layer or batch."""
        run = self._run
        if run is not None:
            run.job.drop(Problem(409, "cancelled", "the study was cancelled"))
        return self.record

    def close(self, patience: float = 5.0) -> None:
        """Stop what is running, and wait a moment for its folder to be removed."""
        with self._lock:
            self._closed = True
        self.cancel()
        if self._thread is not None:
            self._thread.join(patience)

    def _do(self, run: StudyRun, arriving: Future[Model], folder: Path) -> None:
        late = run.since + self._limits.study_seconds
        try:
            run.name = self._finished(run, arriving, folder, late)
            state = "done"
        except Stopped:
            state = "cancelled" if time.monotonic() < late else "failed"
            if state == "failed":
                minutes = f"{self._limits.study_seconds / 60:.3g}"
                run.problem = Problem(504, "slow", refusal("study_slow", minutes=minutes))
        except BaseException as error:  # whatever it is, the page is told
            run.problem, state = of_failure(error, study=run.asked.study.name), "failed"
        run.seconds = time.monotonic() - run.since
        run.state = state
        note("study", study=run.asked.study.name, state=state, seconds=round(run.seconds, 1))

    def _finished(self, run: StudyRun, arriving: Future[Model], folder: Path, late: float) -> str:
        """Run the study in a hidden folder, and give the result its name when all of it is there."""

        def check() -> None:
            run.job.check()
            if time.monotonic() > late:
                raise Stopped

        model = _arrived(arriving, check)
        with _hidden(folder) as work, _watched(model, check):
            corpus = work / run.asked.file
            corpus.write_text(run.asked.text, "utf-8", newline="")
            result = work / "result"
            options = {**run.asked.options, **_progress(run, corpus, check)}
            run.asked.study.run(model, corpus, output=result, **options)
            check()
            return _placed(result, folder, f"{run.asked.study.name}-{_slug(run.model)}")


def _arrived(arriving: Future[Model], check: Callable[[], None]) -> Model:
    """The model, when it is loaded."""
    while True:
        check()
        with suppress(NotYet):
            return arriving.result(timeout=0.2)


def _progress(run: StudyRun, corpus: Path, check: Callable[[], None]) -> dict[str, Any]:
    """What counts while the study runs; each count is also a place to stop."""
    from regard.corpus.readers.reading import read

    study, options = run.asked.study, run.asked.options
    if study.reports_steps:

        def report(what: str, done: int | None, total: int | None) -> None:
            run.tell(what, done, total)
            check()

        return {"report": report}
    passes = 2 + study.options["control_seeds"].default if options.get("control") else 1  # drawn and shuffled weights
    source = study.corpora.read(corpus, {"limit": options["limit"]})
    counted = run.counter(passes, sum(1 for _ in read(source)))

    def step(done: int) -> None:
        counted(done)
        check()

    return {"step": step}


def _watched(model: Model, check: Callable[[], None]) -> AbstractContextManager[None]:
    """Check before every layer that this thread runs; other threads may use the model meanwhile."""
    mine = threading.get_ident()
    return checking(model.module, lambda *_: check() if threading.get_ident() == mine else None)


@contextmanager
def _hidden(folder: Path) -> Iterator[Path]:
    """A locked folder that no list shows; it is removed however the study ends, and so are those of killed servers."""
    _sweep(folder)
    work = folder / f"{_HIDDEN}{token_hex(8)}"
    try:
        with held(work):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove hidden folders that nobody holds any more."""
    for path in folder.glob(f"{_HIDDEN}*"):
        with suppress(UserError, OSError), held(path, restart=True):
            shutil.rmtree(path, ignore_errors=True)


def _placed(result: Path, folder: Path, name: str) -> str:
    """Move a result to its place under a name that is free; from then on it is listed."""
    stem = f"{name}-{datetime.now():%Y-%m-%d-%H%M%S}"
    tried = chain([stem], (f"{stem}-{number}" for number in count(2)))
    target = next(folder / one for one in tried if not (folder / one).exists())
    result.rename(target)
    return target.name


def _slug(name: str) -> str:
    """A model's name as part of a folder's."""
    return re.sub(r"[^\w.-]+", "-", Path(name).name)[:60].strip(".-") or "model"
