"""Watching heads while a model is being trained, with the Trainer of transformers or in a loop of your own.

Enters: a model in training and a few texts. Leaves: a folder with a film of its heads; the training itself stays, bit
for bit, what it would have been.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from regard.base.errors import UserError
from regard.base.extras import require
from regard.studies.film.frames import Frame, Reel
from regard.studies.film.logs import FilmLogs
from regard.studies.film.page import write_film
from regard.studies.film.probe import ProbeSet

SHARE = 0.04  # of the time of training that watching may take
FEWEST_STEPS = 10  # between two frames, unless `every` is given
SPARSER = 100  # a hundredth of the steps so far, at least, lies between two frames
PAGE = 20.0  # seconds between two writings of the page; frames are on disk at once


class WatchHeads(TrainerCallback):  # type: ignore[misc] (transformers is not typed)
    """A film of what every head does, over the steps of training.

    Every so many steps the same few texts are read, and what each head does is measured as `regard study atlas` does.
    The model keeps its training mode, gradients, hooks and random state. The folder has a page that plays the film
    (report.html), a frame per file, a table (result.parquet) and TensorBoard's event files, if TensorBoard is
    installed; numbers also go to a run of Weights & Biases, if one is under way. `regard serve --studies` lists it.

    Parameters
    ----------
    folder
        Where the film is kept. Training that is resumed goes on with it; frames of later steps are taken again.
    probes
        At least 16 texts, or pairs of texts; the film shows the maps of the first. They should hold what heads
        may learn: induction needs repetitions.
    model, tokenizer
        In a loop of your own, the model and its tokenizer. With the Trainer, its own unless given.
    every
        Steps between frames. Unless given, frames are as close as 4 % of the time of training allows, but at least
        ten steps and a hundredth of the steps so far apart.
    restart
        Discard a film that the folder has.

    Examples
    --------
    >>> trainer.add_callback(WatchHeads("film", texts))  # doctest: +SKIP

    In a loop of your own, two lines:

    >>> watch = WatchHeads("film", texts, model=model, tokenizer=tokenizer)  # doctest: +SKIP
    >>> watch.step(n, loss)  # after each step; at the end, watch.close()  # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        probes: Sequence[str | tuple[str, str]],
        *,
        model: Any = None,
        tokenizer: Any = None,
        every: int | None = None,
        restart: bool = False,
    ) -> None:
        if every is not None and every < 1:
            raise UserError(f"every must be at least 1, not {every}")
        require("pandas", "films of heads")
        self.folder, self.probes, self.every, self.restart = Path(folder), probes, every, restart
        self.seconds = 0.0  # spent on frames after the first
        self._model, self._tokenizer = model, tokenizer
        self._set: ProbeSet | None = None
        self._reel: Reel | None = None
        self._losses: list[float] = []

    # -- a loop of your own --------------------------------------------------------------------------------

    def step(self, number: int, loss: Any = None) -> bool:
        """Say that step `number` is done, and its loss; takes a frame if one is due, and tells whether it did."""
        if loss is not None:
            self._losses.append(float(loss))
        if self._set is None:
            self._open(number)
        if not self._is_due(number):
            return False
        began = time.perf_counter()
        self._take(number)
        self._last = time.perf_counter() - began
        self.seconds += self._last
        return True

    @property
    def frames(self) -> Sequence[Frame]:
        """The frames so far."""
        return () if self._reel is None else tuple(self._reel.frames)

    def close(self) -> Path | None:
        """Finish the film: its page is written; tells where."""
        if self._set is None:
            return None
        self._logs.close()
        self._finish()
        self._set = None
        return self.folder / "report.html"

    def __enter__(self) -> WatchHeads:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # -- the Trainer of transformers -----------------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Take the first frame, before anything is learned."""
        if not state.is_world_process_zero:
            return
        if getattr(args, "fsdp", None) or getattr(args, "deepspeed", None):
            raise UserError("the weights are spread over processes (FSDP, DeepSpeed); WatchHeads needs them in one")
        self._model = given["model"] if self._model is None else self._model
        self._tokenizer = given.get("processing_class") if self._tokenizer is None else self._tokenizer
        self.step(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Take a frame if one is due."""
        if state.is_world_process_zero:
            self.step(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **given: Any) -> None:
        """Remember the loss."""
        if state.is_world_process_zero and logs and "loss" in logs:
            self._losses.append(float(logs["loss"]))

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Take the last frame, and write the page."""
        if state.is_world_process_zero and self._set is not None:
            if self.frames[-1].step != state.global_step:
                self._take(state.global_step)
            self.close()

    # -- frames --------------------------------------------------------------------------------------------

    def _open(self, step: int) -> None:
        if self._model is None or self._tokenizer is None:
            raise UserError("pass the model and its tokenizer: WatchHeads(folder, probes, model=..., tokenizer=...)")
        self._set = ProbeSet(self._model, self._tokenizer, self.probes)
        layout = [[kind, layer, heads] for (kind, layer), heads in self._set.model.layout().items()]
        about = {
            "model": self._set.model.name,
            "heads": layout,
            "probes": self._set.fingerprint,
            "texts": len(self.probes),
            "tokens": self._set.tokens,
            "shown": self._set.texts(),
        }
        self._reel = Reel(self.folder, about)
        self._reel.open(step, restart=self.restart)
        self._logs = FilmLogs(self.folder, step)
        self._finish = weakref.finalize(self, _finished, self._reel)  # also at the end of the process, after Ctrl-C
        self._written = time.perf_counter()
        began = time.perf_counter()
        if step not in {frame.step for frame in self.frames}:
            self._take(step)
        self._last = time.perf_counter() - began
        self._began, self.seconds = time.perf_counter(), 0.0

    def _is_due(self, step: int) -> bool:
        last = self.frames[-1].step
        if step <= last:
            return False
        if self.every is not None:
            return step % self.every == 0
        if step - last < max(FEWEST_STEPS, step // SPARSER):
            return False
        training = time.perf_counter() - self._began - self.seconds
        return self.seconds + self._last <= SHARE * training

    def _take(self, step: int) -> None:
        assert self._set is not None and self._reel is not None
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        self._losses = []
        frame = Frame.of(step, loss, self._set.read())
        self._reel.add(frame)
        self._logs.add(frame)
        if time.perf_counter() - self._written > PAGE:
            write_film(self._reel)
            self._written = time.perf_counter()


def _finished(reel: Reel) -> None:
    """Write the page of a film, also as the process ends."""
    with suppress(FileNotFoundError):  # the folder may be gone by then
        if reel.frames and reel.folder.exists():
            write_film(reel)
