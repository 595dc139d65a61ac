"""What the map of all heads costs, next to as many plain evaluations of the same examples.

The built-in all-MiniLM-L6-v2 (6 layers x 12 heads) on the first pairs of the STS captions beside the repository, one
thread: every head and every layer switched off once, mode zero, 78 runs.

    python benchmarks/ablation.py [--examples 64] [--json]

"Whole" is the number of runs times one plain evaluation (the model run and scored, nothing switched off). "Map" is the
map itself with shared runs: what lies below a switched-off layer is computed once, and inside it q, k and v. The ratio
must be 0.6 or less. Both maps, shared and whole, are also computed and compared number by number. "First map" holds
also what is done once: at every block, runs of two inputs are compared with whole ones. "Importance" is one backward
pass of all examples (in a study it comes with each batch, after its map).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import torch

import regard
from regard.corpus.batches import window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.studies.ablation.reduce import gradients, portions
from regard.studies.ablation.study import AblationMap

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sts_captions" / "sts-captions-dev.tsv"
LIMIT = 0.6
REPEATS = 5


def rows(
    examples: int, runs: int, one: float, maps: tuple[float, float, float], difference: np.ndarray, importance: float
) -> dict[str, float]:
    """What is printed, in order; maps are the first, a later one, and one without sharing, in seconds."""
    first, later, whole = maps
    return {
        "examples": examples,
        "runs": runs,
        "plain evaluation, s": round(one, 3),
        "whole, s": round(runs * one, 1),
        "map, s": round(later, 1),
        "ratio": round(later / (runs * one), 3),
        "map without sharing, s": round(whole, 1),
        "largest difference": float(np.abs(difference).max()),
        "first map, s": round(first, 1),
        "importance, s": round(importance, 2),
    }


def main() -> None:
    """Measure, print, and fail where the map costs too much or the numbers differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = regard.load()
    source = Source(str(CORPUS), limit=given.examples, keep=("score",))
    window = window_of(0, list(read(source)), encoder_of(model), long="truncate")

    def study(share: bool) -> AblationMap:
        return AblationMap(source=source, task="sts", label="score", modes=["zero"], share=share)

    def mapped(made: AblationMap) -> tuple[float, np.ndarray]:
        """Seconds and numbers of the map, importance left out."""
        ready, start, found = made.prepared(model), time.perf_counter(), []
        for batch in window.batches:
            for part in portions(batch, ready.task):
                base, runs = made._runs(ready, ready.task.ask(model, part), len(part))
                found.append(np.concatenate([base[:, None], runs], axis=1))
        return time.perf_counter() - start, np.concatenate(found)

    def plain(made: AblationMap) -> float:
        """Seconds of one evaluation of the model as it is."""
        ready, start = made.prepared(model), time.perf_counter()
        for batch in window.batches:
            for part in portions(batch, ready.task):
                asked = ready.task.ask(model, part)
                ready.task.values(model._engine.run(asked.inputs), asked)
        return time.perf_counter() - start

    def importance(made: AblationMap) -> float:
        """Seconds of the gradients by every head of all examples."""
        ready, start = made.prepared(model), time.perf_counter()
        for batch in window.batches:
            for part in portions(batch, ready.task):
                gradients(model, ready, ready.task.ask(model, part), len(part))
        return time.perf_counter() - start

    shared, whole = study(True), study(False)
    first_seconds, _ = mapped(shared)
    singles = [plain(shared) for _ in range(REPEATS)]
    seconds, quick = mapped(shared)
    singles += [plain(shared) for _ in range(REPEATS)]
    slow_seconds, slow = mapped(whole)
    runs = quick.shape[1] - 1
    one = statistics.median(singles)
    result = rows(given.examples, runs, one, (first_seconds, seconds, slow_seconds), quick - slow, importance(shared))
    print(json.dumps(result) if given.json else "\n".join(f"{name:32s}{value}" for name, value in result.items()))
    assert result["largest difference"] == 0.0, "shared runs must give the numbers of whole ones"
    assert result["ratio"] <= LIMIT, f"the map must cost at most {LIMIT} of the runs"


if __name__ == "__main__":
    main()
