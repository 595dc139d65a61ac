"""The training loop of translator and BERT: warm-up, cosine, checkpoints, resuming, a stop at NaN.

Enters: a Task (data and loss). Leaves: a trained model in a file; the same seed gives the same weights, even if a
run was stopped and resumed. Its parts (settings, a step, the bar, batches by length) are also used for fine-tuning.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

from regard.base.errors import UserError
from regard.transformer import checkpoint
from regard.transformer.checkpoint import Checkpoint
from regard.transformer.model import Bert, Translator

EVERY = 250  # steps between checkpoints
CLIP = 1.0  # largest gradient norm; larger gradients are scaled down to it


class TrainingTask(Protocol):
    """What is learned: batches of an epoch, the loss of one, and something a person can read."""

    def batches(self, epoch: int) -> Sequence[Any]: ...

    def loss(self, model: Any, batch: Any) -> Tensor: ...

    def report(self, model: Any) -> str: ...


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how fast."""

    epochs: int
    rate: float
    warmup: int
    seed: int = 0
    resume: bool = False

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise UserError(f"epochs must be at least 1, not {self.epochs}")
        if not self.rate > 0:
            raise UserError(f"the learning rate must be above 0, not {self.rate}")

    def rate_at(self, step: int, progress: float) -> float:
        """Linear warm-up over the first steps, then a cosine down to zero over the whole run."""
        return self.rate * min(1.0, (step + 1) / max(1, self.warmup)) * 0.5 * (1 + math.cos(math.pi * progress))


@dataclass(eq=False)
class Trainer:
    """One run of one task."""

    model: Translator | Bert
    tokenizer: Any
    task: TrainingTask
    settings: TrainingSettings
    path: Path
    facts: dict[str, Any]
    console: Console

    def run(self) -> Path:
        """Train, and leave the finished model at `path` (16 bits, without the optimizer's state)."""
        optimizer = adam(self.model, self.settings.rate)
        state = self._resumed(optimizer)
        began = time.perf_counter(), time.process_time()
        with self._progress() as advance:
            clock = Clock(state["step"])
            for epoch in range(state["epoch"], self.settings.epochs):
                self._epoch(optimizer, state, epoch, clock, advance)
                state |= {"epoch": epoch + 1, "index": 0}
                self._keep(optimizer, state)
                left = clock.left(state, self.settings.epochs)
                self.console.print(self._line(epoch, state, left), highlight=False, markup=False)
        self.facts |= {
            "steps": state["step"],
            "minutes": round((time.perf_counter() - began[0]) / 60, 1),
            "cpu_minutes": round((time.process_time() - began[1]) / 60, 1),
            "threads": torch.get_num_threads(),
        }
        path = checkpoint.save(Checkpoint(self.model.eval(), self.tokenizer, self.facts), self.path, half=True)
        self._running.unlink(missing_ok=True)
        return path

    @property
    def _running(self) -> Path:
        """The checkpoint during training, which also has the optimizer's state."""
        return self.path.with_suffix(".running.safetensors")

    def _epoch(
        self,
        optimizer: torch.optim.Optimizer,
        state: dict[str, Any],
        epoch: int,
        clock: Clock,
        advance: Callable[[float, str], None],
    ) -> None:
        batches = self.task.batches(epoch)
        for index in range(state["index"], len(batches)):
            progress = (epoch + index / len(batches)) / self.settings.epochs
            loss = self._step(optimizer, batches[index], state, progress)
            state |= {"index": index + 1, "step": state["step"] + 1}
            state["loss"] = loss if state["loss"] is None else 0.98 * state["loss"] + 0.02 * loss
            advance(progress, f"loss {state['loss']:.3f}  {clock.rate(state)}")
            if state["step"] % EVERY == 0:
                self._keep(optimizer, state)

    def _step(self, optimizer: torch.optim.Optimizer, batch: Any, state: dict[str, Any], progress: float) -> float:
        step = state["step"]
        torch.manual_seed(self.settings.seed * 1_000_003 + step)  # dropout is the same after a resume
        for group in optimizer.param_groups:
            group["lr"] = self.settings.rate_at(step, progress)
        self.model.train()
        loss = learn(self.model, optimizer, self.task.loss(self.model, batch))
        return self._stop(step) if loss is None else loss

    def _stop(self, step: int) -> NoReturn:
        saved = (
            f"the last good checkpoint is {self._running}" if self._running.exists() else "no checkpoint was due yet"
        )
        raise UserError(
            f"the loss is no longer a number at step {step}; training stopped, {saved}. Try a smaller --rate or a "
            "longer --warmup, then --resume"
        )

    def _keep(self, optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
        moments = {
            f"{name}.{kind}": value
            for name, parameter in self.model.named_parameters()
            for kind, value in optimizer.state[parameter].items()
        }
        saved = {**state, "seed": self.settings.seed, "epochs": self.settings.epochs}
        checkpoint.save(Checkpoint(self.model, self.tokenizer, self.facts, saved, moments), self._running)

    def _resumed(self, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Where to begin: at the start, or at the saved checkpoint."""
        if not self.settings.resume:
            return {"epoch": 0, "index": 0, "step": 0, "loss": None}
        found = checkpoint.load(self._running, expected=self.model.config)
        if found.state["seed"] != self.settings.seed or found.state["epochs"] != self.settings.epochs:
            raise UserError(
                f"{self._running} was started with seed {found.state['seed']} and {found.state['epochs']} epochs; "
                "resume with the same, or start over without --resume"
            )
        self.model.load_state_dict(found.model.state_dict())
        for name, parameter in self.model.named_parameters():
            own = {key: found.moments[f"{name}.{key}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            optimizer.state[parameter] = own
        return {key: found.state[key] for key in ("epoch", "index", "step", "loss")}

    def _line(self, epoch: int, state: dict[str, Any], left: str) -> str:
        self.model.eval()
        start = f"epoch {epoch + 1}/{self.settings.epochs}  loss {state['loss']:.3f}  {left}"
        return f"{start}  {self.task.report(self.model)}"

    def _progress(self) -> Any:
        return bar(self.console)


class Clock:
    """The speed of training, and the time left; counted from where this run began."""

    def __init__(self, step: int) -> None:
        self.first, self.began = step, time.perf_counter()

    def rate(self, state: dict[str, Any]) -> str:
        """Steps per second."""
        return f"{(state['step'] - self.first) / (time.perf_counter() - self.began):.1f} steps/s"

    def left(self, state: dict[str, Any], epochs: int) -> str:
        """Minutes left after whole epochs, at the speed so far."""
        spent = time.perf_counter() - self.began
        remaining = state["step"] / state["epoch"] * (epochs - state["epoch"])
        minutes = spent / max(1, state["step"] - self.first) * remaining / 60
        return f"{self.rate(state)}, {minutes:.1f} min left"


def adam(model: torch.nn.Module, rate: float) -> torch.optim.Optimizer:
    """The optimizer of all our training."""
    return torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


def learn(model: torch.nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor) -> float | None:
    """One optimizer step; returns the loss, or None without a step if loss or gradient is not finite."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    length = torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    if not math.isfinite(loss.item()) or not math.isfinite(length.item()):
        return None
    optimizer.step()
    return float(loss.item())


class bar:  # noqa: N801 (used as a context manager)
    """A progress bar on a terminal; nothing elsewhere."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("training"), BarColumn(), TextColumn("{task.percentage:.0f} %  {task.description}"))
        self.progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
        self.task = self.progress.add_task("", total=1.0)

    def __enter__(self) -> Callable[[float, str], None]:
        self.progress.start()
        return lambda done, text: self.progress.update(self.task, completed=done, description=text)

    def __exit__(self, *_error: object) -> None:
        self.progress.stop()


def by_length(lengths: Sequence[int], tokens: int, generator: torch.Generator) -> Iterator[list[int]]:
    """Indices in batches of about this many tokens, similar lengths together, batches in random order."""
    jitter = torch.rand(len(lengths), generator=generator).tolist()
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] + jitter[i])
    batches: list[list[int]] = [[]]
    longest = 0
    for i in order:
        longest = max(longest, lengths[i])
        if batches[-1] and longest * (len(batches[-1]) + 1) > tokens:
            batches.append([])
            longest = lengths[i]
        batches[-1].append(i)
    for i in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[i]


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file to train on."""
    try:
        return Path(path).read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from None
