"""The Ray engine: the same study in many processes or on many machines, one model per worker.

Enters: a study, a model that was loaded by name, and a source. Leaves: the same sums as from the local engine.

Workers live as long as the engine: a study's controls and further passes find them ready. A worker that dies is
started again and sums its window anew; answers are added in the order of the corpus, each window once.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.base.errors import MissingPackageError, UserError
from regard.corpus.batches import Tally, window_of
from regard.corpus.checkpoint import Progress
from regard.corpus.engine import Run, Summed, Summing, encoder_of, gather, sum_window, windows_after
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums
from regard.models.fingerprint import weights_digest

if TYPE_CHECKING:
    from regard.models.model import Model

_QUEUED = 2  # windows per worker: the next one is there when one is done
_AHEAD = 8  # windows per worker that may wait for a slower one before them
_DEATHS = 4  # times that a window may lose its worker


@dataclass(frozen=True)
class Asked:
    """What workers are asked to sum: a study and a model, as what makes them."""

    study: type
    arguments: dict[str, Any]
    model: Callable[[], Model]
    weights: str  # a fingerprint of the model's weights
    long: str
    number: str = field(default_factory=lambda: uuid.uuid4().hex)


class RayEngine:
    """Sums studies over corpora with workers on a Ray cluster; a context that ends them."""

    def __init__(self, *, address: str | None = None, workers: int = 2, gpus_per_worker: float = 0) -> None:
        self.address, self.workers, self.gpus_per_worker = address, workers, gpus_per_worker
        self._coming: dict[Any, Any] = {}  # workers that are being started, by the answer that says they are there
        self._there: list[Any] = []

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in (*self._there, *self._coming.values()):
            self._ray.kill(worker)
        self._there, self._coming = [], {}

    def __call__(self, study: Summing, model: Model, run: Run) -> Progress:
        """Sum a study over a corpus."""
        origin = model._engine.maker()  # refuses what workers cannot have
        asked = Asked(type(study), study.arguments, origin, weights_digest(model.module), run.long)
        self._start()
        return gather(study, model, run, lambda done: self._in_order(asked, windows_after(done, study, model, run)))

    def _start(self) -> None:
        """The workers, unless they are there: one that finds no room in the cluster does not hold up the others."""
        if self._there or self._coming:
            return
        self._ray = _ray(self.address)
        options = {"num_cpus": 1, "num_gpus": self.gpus_per_worker, "max_restarts": -1, "max_task_retries": _DEATHS}
        made = [self._ray.remote(**options)(RayWorker).remote() for _ in range(self.workers)]
        self._coming = {worker.ready.remote(): worker for worker in made}

    def _in_order(self, asked: Asked, stream: Iterator[tuple[int, list[Example], str]]) -> Iterator[Summed]:
        """The workers' answers in the order of the corpus; each worker has its next window waiting."""
        sent = self._ray.put(asked)
        under_way: dict[Any, Any] = {}  # who makes which answer
        waiting: dict[int, tuple[Any, str]] = {}  # answers by window, with the corpus's fingerprint up to there
        for index, examples, read in stream:
            while (worker := self._free(under_way)) is None or len(waiting) >= _AHEAD * self.workers:
                self._wait(under_way)
                yield from self._answers(waiting, under_way)
            answer = worker.sum.remote(sent, index, examples)
            under_way[answer], waiting[index] = worker, (answer, read)
        while waiting:
            self._wait(under_way)
            yield from self._answers(waiting, under_way)

    def _free(self, under_way: dict[Any, Any]) -> Any:
        """The worker with the fewest windows, if it has room for one."""
        busy = Counter(under_way.values())
        least = min(self._there, key=lambda worker: busy[worker], default=None)
        return None if least is None or busy[least] >= _QUEUED else least

    def _wait(self, under_way: dict[Any, Any]) -> None:
        """Until an answer or a worker is there."""
        done, _ = self._ray.wait([*under_way, *self._coming], num_returns=1)
        for answer in done:
            if under_way.pop(answer, None) is None:
                self._there.append(self._coming.pop(answer))

    def _answers(self, waiting: dict[int, tuple[Any, str]], under_way: dict[Any, Any]) -> Iterator[Summed]:
        """The answers whose turn it is."""
        for index, (answer, read) in list(waiting.items()):
            if answer in under_way:
                return
            del waiting[index]
            tally, arrays = self._get(answer, index)
            yield index, tally, Sums(arrays), read

    def _get(self, answer: Any, index: int) -> tuple[Tally, dict[str, Any]]:
        errors = self._ray.exceptions
        try:
            found: tuple[Tally, dict[str, Any]] = self._ray.get(answer)
            return found
        except errors.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise UserError(str(error.cause)) from None
            raise
        except errors.RayActorError:
            died = f"workers died {_DEATHS + 1} times in window {index} of the corpus, perhaps for want of memory"
            raise UserError(f"{died}; use fewer --workers, or the local engine, with --resume") from None


def _ray(address: str | None) -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise MissingPackageError("the Ray engine needs Ray; run: pip install 'regard[ray]'") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:  # Ray raises no narrower one
            if "timed out during startup" not in str(error):
                raise
            way_out = "try again when it is less busy, name a cluster that runs with --address, or use the local engine"
            raise UserError(f"Ray did not start on this machine within its 30 seconds; {way_out}") from None
    return ray


class RayWorker:
    """One model in one process; sums a window at a time."""

    def __init__(self) -> None:
        self.number = ""

    def ready(self) -> None:
        """Answers when the process is there."""

    def sum(self, asked: Asked, index: int, examples: list[Example]) -> tuple[Tally, dict[str, Any]]:
        """A window's tally and sums."""
        try:
            self._take(asked)
            window = window_of(index, examples, encoder_of(self.model), long=asked.long)
            return window.tally, sum_window(self.study, self.model, window).arrays
        except UserError as error:  # as a sentence alone, which can be sent
            raise UserError(str(error)) from None

    def _take(self, asked: Asked) -> None:
        if self.number == asked.number:
            return
        self.study, self.model = asked.study(**asked.arguments), asked.model()
        if weights_digest(self.model.module) != asked.weights:
            raise UserError(f"{self.model.name} has different weights on a worker's machine than on this one")
        self.number = asked.number
