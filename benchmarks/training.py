"""What watching heads costs while a model is trained: the same steps with `WatchHeads` at its default and without.

    python benchmarks/training.py [--quick]

The built-in encoder learns to find each text again among others (two dropouts of the same batch, as in SimCSE), in
blocks of steps: plain, then watched, in turn, on one thread; process time is counted, so that noise hits both alike.
The first frame, with what it loads, is counted apart: a run has one, however long it is.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
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


def train(model: regard.Model, batch: dict[str, torch.Tensor], steps: int, watch: WatchHeads | None) -> float:
    """Seconds of so many steps, with what the watcher does in between."""
    module = model.module.train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-5)
    wanted = torch.arange(len(batch["input_ids"]))
    began = time.process_time()
    for step in range(1, steps + 1):
        one, other = (module(**batch).last_hidden_state.mean(1) for _ in range(2))
        loss = torch.nn.functional.cross_entropy(torch.nn.functional.cosine_similarity(one[:, None], other, -1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch is not None:
            watch.step(step, loss.item())
    return time.process_time() - began


def main() -> None:
    """Print seconds of both ways, and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds, steps = (1, 60) if quick else (5, 120)
    torch.set_num_threads(1)
    model = regard.load()
    batch = model.tokenizer(texts(16, 24), return_tensors="pt", padding=True)
    train(model, batch, 3, None)  # what is loaded at first
    ratios, starts, frames = [], [], []
    for _ in range(rounds):
        plain = train(model, batch, steps, None)
        with tempfile.TemporaryDirectory() as folder:
            watch = WatchHeads(Path(folder) / "film", texts(16, 20), model=model.module, tokenizer=model.tokenizer)
            began = time.process_time()
            watch.step(0)
            starts.append(time.process_time() - began)
            ratios.append(train(model, batch, steps, watch) / plain)
            frames.append(len(watch.frames) - 1)
            watch.close()
    console, ratio = Console(), statistics.median(ratios)
    console.print(f"a step: {plain / steps * 1000:.0f} ms; the first frame: {statistics.median(starts):.2f} s")
    console.print(f"frames in {steps} steps: {frames}")
    verdict = "ok" if ratio <= MOST else "TOO SLOW"
    console.print(f"watched against plain: {ratio:.3f} (target {MOST}) {verdict}; {[round(one, 3) for one in ratios]}")


if __name__ == "__main__":
    main()
