"""The one thread that runs models, and the queue in front of it.

Enters: work, and who asked for it. Leaves: futures; superseded work leaves the queue, or stops at its next layer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from regard.app.problems import Problem, busy, superseded


class Stopped(BaseException):
    """The answer is no longer wanted. Not an Exception: nothing on the way up may mistake it for a failure."""


class Job:
    """Work in the queue: what to do, for whom, and whether it is still wanted."""

    def __init__(self, work: Callable[[Job], Any], key: Hashable | None) -> None:
        self.work, self.key = work, key
        self.future: Future[Any] = Future()
        self._unwanted = threading.Event()

    def check(self, *_: Any) -> None:
        """Stop here if nobody is waiting any more."""
        if self._unwanted.is_set():
            raise Stopped

    def watching(self, module: Any) -> AbstractContextManager[None]:
        """Check before every layer of a model whether the answer is still wanted."""
        return checking(module, self.check)

    def drop(self, problem: Problem) -> None:
        """Answer with a problem now; the work itself ends at its next check."""
        self._unwanted.set()
        self.settle(problem=problem)

    def settle(self, result: Any = None, problem: BaseException | None = None) -> None:
        """Give the answer, unless one has been given already."""
        with suppress(InvalidStateError):
            if problem is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(problem)


class ModelWorker:
    """Runs jobs one at a time, in order; at most `limit` wait."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="regard-models", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def submit(self, work: Callable[[Job], Any], key: Hashable | None = None, also: Hashable | None = None) -> Job:
        """Queue work; earlier work with the same key (and with `also`) is dropped.

        A full queue refuses, but never because of work that the new one replaces.
        """
        job = Job(work, key)
        with self._changed:
            for other in [one for one in (self._running, *self._waiting) if one and one.key is not None]:
                if other.key in (key, also):
                    self._leave(other, superseded())
            if self._closed:
                raise busy("the server is stopping")
            if len(self._waiting) >= self._limit:
                raise busy()
            self._waiting.append(job)
            self._changed.notify()
        return job

    def drop(self, job: Job, problem: Problem) -> None:
        """Withdraw a job."""
        with self._changed:
            self._leave(job, problem)

    def close(self, patience: float = 5.0) -> None:
        """Refuse what is waiting, stop what is running, and wait a moment for it to end."""
        with self._changed:
            self._closed = True
            for job in [one for one in (self._running, *self._waiting) if one]:
                self._leave(job, busy("the server is stopping"))
            self._changed.notify()
        self._thread.join(patience)

    def _leave(self, job: Job, problem: Problem) -> None:
        if job in self._waiting:
            self._waiting.remove(job)
        job.drop(problem)

    def _next(self) -> Job | None:
        with self._changed:
            self._running = None
            while not self._waiting:
                if self._closed:
                    return None
                self._changed.wait()
            self._running = self._waiting.popleft()
            return self._running

    def _run(self) -> None:
        while (job := self._next()) is not None:
            self._do(job)
            del job  # a trace must not stay in memory until the next request

    def _do(self, job: Job) -> None:
        try:
            job.settle(job.work(job))
        except Stopped:
            job.settle(problem=superseded())
        except BaseException as error:  # nothing may end this thread
            job.settle(problem=error)


@contextmanager
def checking(module: Any, check: Callable[..., None]) -> Iterator[None]:
    """Call a function before every layer of a model."""
    handles = [layer.register_forward_pre_hook(check) for layer in _layers(module)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _layers(module: Any) -> list[Any]:
    """The modules of a model's lists of layers."""
    import torch

    lists = [one for one in module.modules() if isinstance(one, torch.nn.ModuleList)]
    return [layer for one in lists for layer in one]
