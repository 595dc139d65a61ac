"""What the study of syntax costs over the plain forward pass: all heads and relations of a treebank.

    python benchmarks/syntax.py [--quick]

UD English EWT dev (../shared/data). Both ways run window by window in turn over the same batches, on one thread, and
process time is counted, so that noise hits both alike; the ratio is the median over repetitions.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import regard
from regard.corpus.batches import Window, window_of, windows_of
from regard.corpus.engine import encoder_of, sum_window
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.syntax.counts import Counted
from regard.studies.syntax.study import Syntax

TREEBANK = Path(__file__).resolve().parents[2] / "shared" / "data" / "ud_english_ewt" / "en_ewt-ud-dev.conllu"
MOST = 1.5


def windows(model: regard.Model, limit: int | None) -> list[Window]:
    """The sentences as the engine cuts them into batches."""
    source = Source(str(TREEBANK), format="treebank", limit=limit)
    return [window_of(index, examples, encoder_of(model), long="skip") for index, examples in windows_of(read(source))]


def plain(model: regard.Model, window: Window) -> None:
    """The forward pass alone, on the model's fast kernel."""
    with torch.no_grad():
        for items in window.batches:
            inputs, _ = model._engine.collate([item.encoded for item in items])
            model.module(**inputs)


def seconds(way: Callable[[], object]) -> float:
    """Process time of one call."""
    start = time.process_time()
    way()
    return time.process_time() - start


def compare(model: regard.Model, some: list[Window]) -> tuple[float, float, Sums]:
    """Seconds of the plain pass and of the study over the same batches, and the study's sums."""
    study, total = Syntax(), Sums()
    base = ours = 0.0
    for window in some:
        base += seconds(lambda window=window: plain(model, window))
        start = time.process_time()
        total = total.plus(sum_window(study, model, window))
        ours += time.process_time() - start
    return base, ours, total


def main() -> None:
    """Measure and print the ratio beside its target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="the first 256 sentences, once")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = regard.load()
    some = windows(model, 256 if options.quick else None)
    compare(model, [Window(0, some[0].batches[:1])])  # what is done once per model
    runs = [compare(model, some) for _ in range(1 if options.quick else 3)]
    counted = Counted(runs[0][2])
    table = Table("sentences", "words", "heads", "relations", "plain s", "syntax s", "syntax/plain", box=None)
    ratio = statistics.median(ours / base for base, ours, _ in runs)
    table.add_row(
        f"{sum(window.tally.inputs for window in some):,}",
        f"{int(runs[0][2]['words'][0]):,}",
        str(len(counted.heads)),
        str(len(counted.relations) - 1),
        f"{statistics.median(base for base, _, _ in runs):.1f}",
        f"{statistics.median(ours for _, ours, _ in runs):.1f}",
        f"{ratio:.3f}, target <= {MOST} {'met' if ratio <= MOST else 'MISSED'}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
