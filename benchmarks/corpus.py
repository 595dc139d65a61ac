"""What studies of a corpus cost: the atlas against the plain forward pass and against itself without intervals, and the
atlas and the study `tokens` (the same five measures and five more) against collecting `output_attentions` and reducing
the maps to five measures with numpy.

    python benchmarks/corpus.py [--quick]

Sentences of WikiText-2 (../shared/data). Both ways run window by window in turn, on one thread, and process time is
counted, so that noise hits both alike. Peak memory is measured in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from transformers import BertConfig, BertModel

import regard
from regard.corpus.batches import Item, Window, window_of, windows_of
from regard.corpus.engine import encoder_of, sum_window
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source
from regard.corpus.sums import Sums
from regard.studies.atlas.study import Atlas
from regard.studies.atlas.table import atlas_table
from regard.studies.base import Batch, MapStudy
from regard.studies.tokens.study import Tokens

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wikitext2"
SHAPES = ("default", "bert-base")
MOST_TIME, MOST_GROWTH, MOST_INTERVALS = 1.20, 1.05, 1.03


def model_of(shape: str) -> regard.Model:
    """The default model, or random weights in BERT-base's shape with its tokenizer."""
    model = regard.load()
    if shape == "default":
        return model
    torch.manual_seed(0)
    return regard.load((BertModel(BertConfig()).eval(), model.tokenizer))


def windows(model: regard.Model, count: int) -> Iterator[Window]:
    """The first `count` sentences of both files, as the engine cuts them into batches."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for name in ("wiki.valid.tokens", "wiki.test-first-half.raw"):
            file.write((DATA / name).read_text("utf-8") + "\n")
        file.flush()
        source = Source(file.name, unit="sentence", limit=count)
        for index, examples in windows_of(read(source)):
            yield window_of(index, examples, encoder_of(model), long="truncate")


def plain(model: regard.Model, window: Window) -> None:
    """The forward pass alone, on the model's fast kernel."""
    with torch.no_grad():
        for items in window.batches:
            inputs, _ = model._engine.collate([item.encoded for item in items])
            model.module(**inputs)


def usual(model: regard.Model, batches: list[list[Item]]) -> np.ndarray:
    """The way people do it: eager attention, collect every map, then reduce with numpy."""
    model.module.set_attn_implementation("eager")
    collected = []
    with torch.no_grad():
        for items in batches:
            inputs, book = model._engine.collate([item.encoded for item in items])
            maps = model.module(**inputs, output_attentions=True).attentions
            for number, sides in enumerate(book.sides):
                n = len(sides["text"])
                collected.append(np.stack([layer[number, :, :n, :n].numpy() for layer in maps]))
    model.module.set_attn_implementation("sdpa")
    return np.mean([_reduced(attention) for attention in collected], axis=0)


def by_length(some: list[Window]) -> list[list[Item]]:
    """The batches that the engine makes: inputs of like length together."""
    return [items for window in some for items in window.batches]


def in_order(some: list[Window], size: int = 32) -> list[list[Item]]:
    """Batches of `size` inputs in the order of the corpus, as most scripts make them."""
    items = sorted((item for batch in by_length(some) for item in batch), key=lambda item: item.number)
    return [items[start : start + size] for start in range(0, len(items), size)]


def _reduced(attention: np.ndarray) -> np.ndarray:
    """(5, L, H): attention to the token itself, its neighbours and the special tokens, and entropy."""
    smooth = 0.9999 * attention + 0.0001 / attention.shape[-1]
    lines = [np.trace(attention, offset, 2, 3) / attention.shape[-1] for offset in (0, 1, -1)]
    special = attention[..., [0, -1]].sum(-1).mean(-1)
    return np.stack([*lines, special, -(smooth * np.log(smooth)).sum(-1).mean(-1)])


def seconds(way: Callable[[], object]) -> float:
    """Process time of one call."""
    start = time.process_time()
    way()
    return time.process_time() - start


def compare(shape: str, count: int) -> tuple[float, float, float]:
    """Seconds of the plain pass and of the atlas over the same batches, and examples a second of the atlas."""
    model, study, sums = model_of(shape), Atlas(), Sums()
    base = ours = wall = 0.0
    for number, window in enumerate(windows(model, count)):
        if number == 0:
            sum_window(study, model, Window(0, window.batches[:1]))  # what is done once per model
            plain(model, Window(0, window.batches[:1]))
        base += seconds(lambda window=window: plain(model, window))
        start = time.perf_counter()
        ours += seconds(lambda window=window: sums.plus(sum_window(study, model, window)))
        wall += time.perf_counter() - start
    return base, ours, count / wall


class WithoutIntervals(Atlas):
    """The atlas that keeps one sum of every number."""

    def update(self, model: regard.Model, items: list[Item], sums: Sums) -> None:
        batch = Batch(model, items)
        taker = self.taker(batch)
        model._engine.stream(batch.inputs, batch.book, taker, maps=taker.maps)
        taker.finish()
        for name, array in batch._held.items():
            sums.add(name, array.sum(axis=0))


def intervals(shape: str, count: int) -> tuple[float, float, float]:
    """Seconds of the atlas without intervals and with them over the same batches, and of the table's intervals."""
    model, bare, whole = model_of(shape), Sums(), Sums()
    base = ours = 0.0
    for number, window in enumerate(windows(model, count)):
        if number == 0:
            sum_window(Atlas(), model, Window(0, window.batches[:1]))  # what is done once per model
        for one in (0, 1) if number % 2 else (1, 0):  # in turn, so that neither is always the second
            if one:
                ours += seconds(lambda window=window, whole=whole: whole.plus(sum_window(Atlas(), model, window)))
            else:
                base += seconds(lambda window=window: bare.plus(sum_window(WithoutIntervals(), model, window)))
        whole = whole.plus(sum_window(Atlas(), model, Window(0, window.batches[:1])))
    return base, ours, seconds(lambda: atlas_table(whole))


def against_usual(model: regard.Model, some: list[Window], times: int = 5) -> dict[str, float]:
    """Medians of the seconds of the usual way, with both kinds of batches, and of two studies, in turn."""

    def study(one: MapStudy) -> Callable[[], object]:
        return lambda: [sum_window(one, model, window) for window in some]

    ways: dict[str, Callable[[], object]] = {
        "usual, batches of 32": lambda: usual(model, in_order(some)),
        "usual, batches by length": lambda: usual(model, by_length(some)),
        "tokens": study(Tokens()),
        "atlas": study(Atlas()),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(times):
        for name, way in ways.items():
            taken[name].append(seconds(way))
    return {name: statistics.median(found) for name, found in taken.items()}


def peak(way: str, count: int) -> float:
    """Peak resident memory in MB of a fresh process."""
    args = [sys.executable, __file__, "--peak", way, str(count)]
    return float(json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout))


def own_peak() -> float:
    """Peak resident memory of this process in MB; not ru_maxrss, which starts at that of the process it came from."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def run_peak(way: str, count: int) -> None:
    """What `peak` starts: one way over some sentences, then the peak on standard output."""
    model = model_of("default")
    if way == "atlas":
        total = Sums()
        for window in windows(model, count):
            total = total.plus(sum_window(Atlas(), model, window))
    else:
        usual(model, by_length(list(windows(model, count))))
    print(json.dumps(own_peak()))


def verdict(value: float, most: float) -> str:
    """A number beside its target."""
    return f"{value:.3f}, target <= {most} {'met' if value <= most else 'MISSED'}"


def main() -> None:
    """Measure and print ratios beside their targets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few sentences, no memory measurement")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.peak:
        run_peak(options.peak[0], int(options.peak[1]))
        return
    console = Console()
    table = Table("model", "sentences", "plain s", "atlas s", "atlas/plain", "examples/s", box=None)
    for shape, count in zip(SHAPES, (512, 64) if options.quick else (2048, 256), strict=True):
        base, ours, rate = compare(shape, count)
        table.add_row(shape, f"{count:,}", f"{base:.1f}", f"{ours:.1f}", verdict(ours / base, MOST_TIME), f"{rate:.0f}")
    console.print(table)
    base, ours, made = intervals("default", 512 if options.quick else 2048)
    console.print(
        f"atlas without intervals {base:.1f} s, with them {ours:.1f} s and {made:.2f} s for the table: "
        f"{verdict((ours + made) / base, MOST_INTERVALS)}"
    )
    model, count = model_of("default"), 256
    taken = against_usual(model, list(windows(model, count)))
    rows = Table(f"{count} sentences", "seconds", "/ usual by 32", "/ usual by length", box=None)
    first, second = list(taken.values())[:2]
    for name, one in taken.items():
        rows.add_row(name, f"{one:.2f}", *(verdict(one / other, 1.0) for other in (first, second)))
    console.print(rows)
    if options.quick:
        return
    theirs, mine = peak("usual", 512), peak("atlas", 512)
    console.print(
        f"peak memory, 512 sentences: eager, collected {theirs:,.0f} MB, atlas {mine:,.0f} MB, {theirs / mine:.1f}x"
    )
    few, many = peak("atlas", 1_000), peak("atlas", 10_000)
    console.print(
        f"peak memory of the atlas: 1,000 sentences {few:,.0f} MB, 10,000 {many:,.0f} MB, "
        f"growth {verdict(many / few, MOST_GROWTH)}"
    )


if __name__ == "__main__":
    main()
