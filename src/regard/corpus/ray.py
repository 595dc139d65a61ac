"""The Ray engine: the same study in many processes or on many machines, one model per worker.

Enters: a study, a model that was loaded by name, and a source. Leaves: the same sums as from the local engine.

Each row of the Ray dataset is a window of examples. A worker's answer includes its window's number, so that a window
that ran twice because a worker died counts once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.capture.finite import NotFiniteError
from regard.corpus.batches import Tally, window_of
from regard.corpus.checkpoint import Progress
from regard.corpus.engine import Run, Summed, Summing, encoder_of, gather, sum_window, windows_after
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums
from regard.errors import MissingPackageError, UserError
from regard.models.fingerprint import weights_digest

if TYPE_CHECKING:
    from regard.models.model import Model

_AHEAD = 4096  # windows passed to Ray at once; a longer corpus goes in several such parts


def run_ray(
    study: Summing,
    model: Model,
    run: Run,
    *,
    address: str | None = None,
    workers: int = 2,
    gpus_per_worker: float = 0,
) -> Progress:
    """Sum a study over a corpus with Ray Data."""
    asked = (type(study), study.arguments, model._engine.maker(), run.long)  # refuses what workers cannot have
    ray = _ray(address)
    arguments = (*asked, weights_digest(model.module))

    def windows(done: Progress) -> Iterator[Summed]:
        stream = windows_after(done, study, model, run)
        while rows := _rows(stream):
            pool = ray.data.ActorPoolStrategy(size=min(workers, len(rows)))
            dataset = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
                RayWorker, fn_constructor_args=arguments, batch_size=1, compute=pool, num_gpus=gpus_per_worker or None
            )
            yield from _in_order(dataset, {row["index"]: row["read"] for row in rows})

    return gather(study, model, run, windows)


def _ray(address: str | None) -> Any:
    try:
        import ray
        import ray.data
    except ModuleNotFoundError:
        raise MissingPackageError("the Ray engine needs Ray; run: pip install 'regard[ray]'") from None
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level="error")
    logging.getLogger("ray.data").setLevel(logging.ERROR)  # it reports every finished dataset
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = True  # few answers wait for their turn, and sums are added as locally
    return ray


def _rows(stream: Iterator[tuple[int, list[Example], str]]) -> list[dict[str, Any]]:
    """Some windows as rows of plain text."""
    rows = []
    for index, examples, read in stream:
        text = json.dumps([asdict(example) for example in examples])
        rows.append({"index": index, "examples": text, "read": read})
        if len(rows) == _AHEAD:
            break
    return rows


def _in_order(dataset: Any, read: dict[int, str]) -> Iterator[Summed]:
    """The workers' answers in corpus order, each window once; `read` holds the fingerprint for each window's number."""
    from safetensors.numpy import load

    waiting: dict[int, Any] = {}
    expected = iter(read)
    turn = next(expected, None)
    for row in dataset.iter_rows():
        waiting.setdefault(int(row["index"]), row)
        while turn is not None and turn in waiting:
            found = waiting.pop(turn)
            if found["trouble"]:
                raise UserError(found["trouble"])
            yield turn, Tally(**json.loads(found["tally"])), Sums(load(bytes(found["sums"]))), read[turn]
            turn = next(expected, None)
    if turn is not None:
        raise UserError(f"Ray ended without an answer for window {turn}; run again with --resume")


class RayWorker:
    """One model in one process; sums a window at a time."""

    def __init__(
        self, study: Any, arguments: dict[str, Any], origin: Callable[[], Model], long: str, weights: str
    ) -> None:
        self.study = study(**arguments)
        self.model = origin()
        if weights_digest(self.model.module) != weights:
            raise UserError(f"{self.model.name} has different weights on a worker's machine than on this one")
        self.long = long

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        from safetensors.numpy import save

        index = int(batch["index"][0])
        examples = [Example(**record) for record in json.loads(batch["examples"][0])]
        window = window_of(index, examples, encoder_of(self.model), long=self.long)
        sums, trouble = Sums(), ""
        try:
            sums = sum_window(self.study, self.model, window)
        except NotFiniteError as error:  # as an answer: an exception would arrive in Ray's own words, after its retries
            trouble = str(error)
        return {
            "index": np.array([index]),
            "tally": np.array([json.dumps(asdict(window.tally))]),
            "sums": np.array([save(sums.arrays)], dtype=object),
            "trouble": np.array([trouble]),
        }
