"""What a trace costs: against the plain forward pass, and against eager `output_attentions=True`, in one run.

    python benchmarks/capture.py [--quick] [--length 2048]

Ratios are medians over pairs of runs, one right after the other and each first in turn, with the smallest and largest
pair beside them. Peak memory is measured in processes of their own, each with one run: for a trace that is its first,
in which regard also finds out how to capture the model.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

import regard

CASES = [("bert", 128, 8), ("bert", 512, 2), ("gpt2", 2048, 1), ("gpt2", 4096, 1)]
PAIRS = {128: 25, 512: 25, 2048: 11, 4096: 5}  # of plain and trace; a third as many with eager
QUICK_PAIRS = 9  # fewer do not tell 1.06 from 1
PEAKS = 5  # processes for each way


def build(family: str, length: int) -> torch.nn.Module:
    """A random-weight model of the published base shape."""
    torch.manual_seed(0)
    if family == "bert":
        return BertModel(BertConfig()).eval()
    return GPT2Model(GPT2Config(n_positions=length)).eval()


def inputs_of(length: int, batch: int) -> dict[str, torch.Tensor]:
    """Random ids without padding."""
    ids = torch.randint(0, 20000, (batch, length), generator=torch.Generator().manual_seed(0))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def runs(family: str, length: int, batch: int) -> dict[str, Callable[[], object]]:
    """The three ways to run one input; each returns what it would hand to its user."""
    module, inputs = build(family, length), inputs_of(length, batch)
    model = regard.load(module)
    options = {"use_cache": False} if family == "gpt2" else {}

    def plain() -> object:
        with torch.no_grad():
            return module(**inputs, **options)

    def trace() -> object:
        return model.trace_inputs(inputs)

    def eager() -> object:
        module.set_attn_implementation("eager")
        try:
            with torch.no_grad():
                return module(**inputs, **options, output_attentions=True).attentions
        finally:
            module.set_attn_implementation("sdpa")

    return {"plain": plain, "trace": trace, "eager": eager}


def seconds(way: Callable[[], object]) -> float:
    """Seconds of one run; what it gives is let go only afterwards."""
    start = time.perf_counter()
    kept = way()
    taken = time.perf_counter() - start
    del kept
    return taken


def paired(one: Callable[[], object], other: Callable[[], object], pairs: int) -> list[tuple[float, float]]:
    """Seconds of both in each pair of runs, after one that does not count; who goes first changes."""
    found = []
    for number in range(pairs + 1):
        if number % 2:
            found.append((seconds(one), seconds(other)))
        else:
            found.append((seconds(other), seconds(one))[::-1])
    return found[1:]


def peaks(family: str, length: int, batch: int, way: str) -> list[float]:
    """Peak resident memory in MB of fresh processes that run one way once, smallest first."""
    args = [sys.executable, __file__, "--peak", family, str(length), str(batch), way]
    done = [subprocess.run(args, capture_output=True, text=True, check=True).stdout for _ in range(PEAKS)]
    return sorted(float(json.loads(output)) for output in done)


def spread(values: list[float], digits: int = 2) -> str:
    """A median with the smallest and the largest value."""
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def own_peak() -> float:
    """Peak resident memory of this process in MB; not ru_maxrss, which starts at that of the process it came from."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def tile_milliseconds(length: int) -> float:
    """Median time of one 64 x 64 tile out of a length x length map, once lse is known."""
    (trace,) = regard.load(build("gpt2", length)).trace_inputs(inputs_of(length, 1))
    site, rng, times = trace.site(5), np.random.default_rng(0), []
    site.row_lse(3)
    for _ in range(50):
        row, column = (int(x) for x in rng.integers(0, length - 64, 2))
        start = time.perf_counter()
        site.attention(3, slice(row, row + 64), slice(column, column + 64))
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def main() -> None:
    """Measure every case and print ratios beside their targets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="the two short cases, in nine pairs of runs each")
    parser.add_argument("--length", type=int, help="only the case of this many tokens, with memory")
    parser.add_argument("--peak", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        family, length, batch, way = options.peak
        kept = runs(family, int(length), int(batch))[way]()
        print(json.dumps(own_peak() if kept is not None else 0))
        return
    table = Table("case", "plain s", "trace s", "eager s", "trace/plain", "target", "eager/trace", "target ", box=None)
    cases = CASES[:2] if options.quick else [case for case in CASES if options.length in (None, case[1])]
    for family, length, batch in cases:
        ways, pairs = runs(family, length, batch), QUICK_PAIRS if options.quick else PAIRS[length]
        plain = paired(ways["plain"], ways["trace"], pairs)
        eager = paired(ways["trace"], ways["eager"], max(3, pairs // 3))
        over, gain = [trace / one for one, trace in plain], [one / trace for trace, one in eager]
        most, least = 1.06 if length >= 512 else None, {2048: 1.5, 4096: 2.0}.get(length, 1.0)
        table.add_row(
            f"{family} {length} x {batch}",
            *(f"{statistics.median(column):.3f}" for column in (*zip(*plain, strict=True), [one for _, one in eager])),
            spread(over),
            "" if most is None else f"<= {most} {'met' if statistics.median(over) <= most else 'MISSED'}",
            spread(gain),
            f">= {least} {'met' if statistics.median(gain) >= least else 'MISSED'}",
        )
    console = Console(width=140)
    console.print(table)
    if options.quick:
        return
    found = {way: peaks("gpt2", 2048, 1, way) for way in ("plain", "trace", "eager")}
    base, eager_peak = statistics.median(found["plain"]), statistics.median(found["eager"])
    shares = [(ours - base) / (eager_peak - base) for ours in found["trace"]]
    console.print(f"peak MB, gpt2 2048: {', '.join(f'{way} {spread(some, 0)}' for way, some in found.items())}")
    met = "met" if statistics.median(shares) <= 0.10 else "MISSED"
    console.print(f"extra of trace / extra of eager: {spread(shares, 3)}, target <= 0.10 {met}")
    tile = tile_milliseconds(4096)
    console.print(f"one 64 x 64 tile of 4096 x 4096: {tile:.2f} ms, target <= 10 {'met' if tile <= 10 else 'MISSED'}")


if __name__ == "__main__":
    main()
