"""What a trace costs: against the plain forward pass, and against eager `output_attentions=True`, in one run.

    python benchmarks/capture.py [--quick]

Times are medians of interleaved repeats; peak memory is measured in processes of its own.
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


def seconds(family: str, length: int, batch: int, repeats: int) -> dict[str, float]:
    """Median seconds of each way, repeats interleaved so that noise hits all alike."""
    ways = runs(family, length, batch)
    for way in ("plain", "trace"):
        ways[way]()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def peak(family: str, length: int, batch: int, way: str) -> float:
    """Peak resident memory in MB of a fresh process that runs one way once."""
    args = [sys.executable, __file__, "--peak", family, str(length), str(batch), way]
    return float(json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout))


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
    parser.add_argument("--quick", action="store_true", help="the two short cases, three repeats")
    parser.add_argument("--peak", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        family, length, batch, way = options.peak
        kept = runs(family, int(length), int(batch))[way]()
        print(json.dumps(own_peak() if kept is not None else 0))
        return
    table = Table("case", "plain s", "trace s", "eager s", "trace/plain", "target", "eager/trace", "target ", box=None)
    for family, length, batch in CASES[:2] if options.quick else CASES:
        found = seconds(family, length, batch, 3 if options.quick or length > 2048 else 5)
        over, gain = found["trace"] / found["plain"], found["eager"] / found["trace"]
        most, least = 1.10 if length >= 512 else None, {2048: 1.5, 4096: 2.0}.get(length, 1.0)
        table.add_row(
            f"{family} {length} x {batch}",
            *(f"{found[name]:.3f}" for name in ("plain", "trace", "eager")),
            f"{over:.2f}",
            "" if most is None else f"<= {most} {'met' if over <= most else 'MISSED'}",
            f"{gain:.2f}",
            f">= {least} {'met' if gain >= least else 'MISSED'}",
        )
    console = Console(width=120)
    console.print(table)
    if options.quick:
        return
    base, ours, theirs = (peak("gpt2", 2048, 1, way) for way in ("plain", "trace", "eager"))
    share = (ours - base) / (theirs - base)
    console.print(f"peak memory, gpt2 2048: plain {base:,.0f} MB, trace {ours:,.0f}, eager {theirs:,.0f}")
    console.print(
        f"extra of trace / extra of eager: {share:.3f}, target <= {1 / 6:.3f} {'met' if share <= 1 / 6 else 'MISSED'}"
    )
    tile = tile_milliseconds(4096)
    console.print(f"one 64 x 64 tile of 4096 x 4096: {tile:.2f} ms, target <= 10 {'met' if tile <= 10 else 'MISSED'}")


if __name__ == "__main__":
    main()
