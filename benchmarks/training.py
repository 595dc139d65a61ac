"""What watching heads costs while a model is trained: the same steps with `WatchHeads` at its default and without.

    python benchmarks/training.py [--seconds 40] [--rounds 5]

The built-in encoder learns to find each text again among others (two dropouts of the same batch, as in SimCSE), in
blocks of so many seconds: plain, then watched, in turn, on one thread. Process time is counted, so that other work on
the machine hits both alike. Two ratios: what a watched block spends on frames beside its steps, and a step of a watched
block, frames included, against one of the plain block before it. The first frame, with what it loads, is counted apart:
a run has one, however long it is.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

import regard
from regard.callbacks import WatchHeads

MOST = 1.05
WORDS = "the old dog saw a small cat near its river house and ran after it before evening came back again".split()


def texts(count: int, length: int) -> list[str]:
    """Texts of common words in a random order."""
    generator = torch.Generator().manual_seed(0)
    return [" ".join(WORDS[i] for i in torch.randint(len(WORDS), (length,), generator=generator)) for _ in range(count)]


@dataclass
class Block:
    """Steps that were made, and seconds of processor time of these and of watching."""

    steps: int = 0
    training: float = 0.0
    watching: float = 0.0

    @property
    def step(self) -> float:
        """Seconds a step, watching included."""
        return (self.training + self.watching) / self.steps


class Training:
    """A model that goes on learning from block to block."""

    def __init__(self, model: regard.Model) -> None:
        self.module = model.module.train()
        self.batch = model.tokenizer(texts(16, 24), return_tensors="pt", padding=True)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-5)
        self.wanted = torch.arange(16)

    def step(self) -> float:
        """One step; its loss."""
        one, other = (self.module(**self.batch).last_hidden_state.mean(1) for _ in range(2))
        alike = torch.nn.functional.cosine_similarity(one[:, None], other, -1)
        loss = torch.nn.functional.cross_entropy(alike, self.wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def block(self, seconds: float, watch: WatchHeads | None = None) -> Block:
        """Steps for so many seconds of the clock."""
        made, end = Block(), time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.process_time()
            loss = self.step()
            trained = time.process_time()
            if watch is not None:
                watch.step(made.steps + 1, loss)
            made.steps += 1
            made.training += trained - began
            made.watching += time.process_time() - trained
        return made


def main() -> None:
    """Print seconds of both ways, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40, help="of each block")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = regard.load()
    training = Training(model)
    training.block(2)  # what is loaded at first
    own, beside, starts, frames = [], [], [], []
    for _ in range(given.rounds):
        plain = training.block(given.seconds)
        with tempfile.TemporaryDirectory() as folder:
            watch = WatchHeads(Path(folder) / "film", texts(16, 20), model=model.module, tokenizer=model.tokenizer)
            began = time.process_time()
            watch.step(0)
            starts.append(time.process_time() - began)
            watched = training.block(given.seconds, watch)
            frames.append(len(watch.frames) - 1)
            watch.close()
        own.append(1 + watched.watching / watched.training)
        beside.append(watched.step / plain.step)
    console, ratio = Console(), statistics.median(own)
    console.print(f"a step: {plain.step * 1000:.0f} ms; the first frame: {statistics.median(starts):.2f} s")
    console.print(f"frames in {given.seconds:g} s: {frames}")
    verdict = "ok" if ratio <= MOST else "TOO SLOW"
    console.print(f"steps and frames against steps: {ratio:.3f} (target {MOST}) {verdict}; {_short(own)}")
    console.print(f"watched against plain blocks: {statistics.median(beside):.3f}; {_short(beside)}")


def _short(ratios: list[float]) -> list[float]:
    return [round(one, 3) for one in ratios]


if __name__ == "__main__":
    main()
