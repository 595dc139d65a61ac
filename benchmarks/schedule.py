"""SIMULATED: how long many workers would take, from the times of windows that were recorded here.

    python benchmarks/schedule.py [--count 8000] [--sentences 1000000] [--workers 1 2 16 256] [--model NAME]

Recorded in a real local run, on one thread, as process time: what the driver does with each window (reading it, adding
its sums to the others), what a worker does (tokens, forward passes, sums), the bytes of a window's sums, and how long a
new process takes until the model is there. Then simulated: windows of a corpus of so many sentences, drawn from those
recorded, go in order to the worker that is free first; the driver reads and adds on a thread of its own, one thing at
a time. Nothing here ran on more than one process: the network is not in it, nor slower machines.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import torch
from million import prepare

import regard
from regard.corpus.batches import WINDOW, window_of
from regard.corpus.checkpoint import Progress
from regard.corpus.engine import Run, encoder_of, sum_window, windows_after
from regard.corpus.readers.source import Source
from regard.studies.atlas.study import Atlas


@dataclass(frozen=True)
class Timed:
    """Seconds of one window, and the bytes of its sums."""

    read: float
    work: float
    add: float
    size: int


def record(model: regard.Model, corpus: Path, count: int) -> list[Timed]:
    """Every window of the first sentences; the first warms up and does not count."""
    study, run, done = Atlas(), Run(Source(str(corpus))), Progress()
    stream, found = windows_after(done, study, model, run), []
    for _ in range(count // WINDOW):
        times = [time.process_time()]
        index, examples, read = next(stream)
        times.append(time.process_time())
        window = window_of(index, examples, encoder_of(model), long=run.long)
        sums = sum_window(study, model, window)
        times.append(time.process_time())
        done = done.plus(index, window.tally, sums, read)
        times.append(time.process_time())
        steps = [after - before for before, after in pairwise(times)]
        found.append(Timed(*steps, sum(array.nbytes for array in sums.arrays.values())))
    return found[1:]


def start_up(name: str) -> float:
    """Processor seconds of a new process until it has the model, the median of three."""
    code = f"import regard, time; regard.load({name!r}).module; print(time.process_time())"
    command = [sys.executable, "-c", code]
    return statistics.median(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3)
    )


def simulate(windows: list[Timed], workers: int, start: float) -> float:
    """Seconds until the last window is added: the driver reads and adds, workers take the next window when free."""
    free = [start] * workers
    heapq.heapify(free)
    clock, waiting = 0.0, []  # when each window is done, in order
    for window in windows:
        clock += window.read
        begin = max(heapq.heappop(free), clock)
        heapq.heappush(free, begin + window.work)
        waiting.append((begin + window.work, window.add))
    busy = sum(window.read for window in windows)
    end = 0.0
    for done, add in waiting:  # in the order of the corpus, as the engine adds
        end = max(end, done) + add
    return max(end, busy + sum(window.add for window in windows))


def main() -> None:
    """Record, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 16, 256])
    parser.add_argument("--model", help="another model than the tiny one of benchmarks/million.py")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        corpus, place = prepare(Path(folder), given.count)
        name = given.model or str(place)
        windows, start = record(regard.load(name), corpus, given.count), start_up(name)
    draw = random.Random(0)
    drawn = list(islice(iter(lambda: draw.choice(windows), None), given.sentences // WINDOW))
    middle = {
        part: statistics.median(getattr(one, part) for one in windows) for part in ("read", "work", "add", "size")
    }
    read, work, add = (f"{middle[part] * 1000:.1f} ms" for part in ("read", "work", "add"))
    print(
        f"recorded: {len(windows)} windows of {WINDOW}; medians of processor time: read {read}, work {work}, add {add}"
    )
    print(f"sums of a window {middle['size'] / 1e6:.2f} MB; a new process has the model after {start:.1f} s")
    print(f"SIMULATED for {given.sentences:,} sentences in {len(drawn):,} windows:")
    alone = simulate(drawn, 1, start)
    for workers in given.workers:
        seconds = simulate(drawn, workers, start)
        print(f"  {workers:4} workers {seconds:10,.0f} s   {alone / seconds:6.1f} times as fast as one (simulated)")


if __name__ == "__main__":
    main()
