"""What worth and cuts cost: against a plain forward pass, and against eager maps with gradients, in one run.

    python benchmarks/worth.py [--quick] [--json]

Time: SmolLM2 on a text of 512 tokens, one thread, process time. Ratios are medians over rounds in which every way runs
once, each first in turn, with the smallest and largest round beside them. "Worth" is the trace with gradients, from
which worth of every line of every head can be read; "cut" is one exact cut. Limits: 3.5 and 1.2 times a forward pass.

Memory: a classifier of BERT's shape (2 layers) with random weights on 2,048 tokens. Peak memory of processes of their
own, each with one run, over that of a plain forward pass: worth may take a sixth of what eager maps with their
gradients take.
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
from typing import Any

import torch

TOKENS, LONG = 512, 2048
ROUNDS = 11
PEAKS = 3  # processes for each way
LIMITS = {"worth": 3.5, "cut": 1.2, "memory": 1 / 6}


def main() -> None:
    """Measure, print, and fail where a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three rounds, and one process for each way")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peak", choices=("plain", "worth", "eager"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.peak:
        print(peak(given.peak))
        return
    found = {**times(3 if given.quick else ROUNDS), "memory": memory(1 if given.quick else PEAKS)}
    if given.json:
        print(json.dumps(found, indent=1))
    else:
        for name in ("worth", "cut"):
            print("{}: {ratio:.2f} times a forward pass ({least:.2f} to {most:.2f})".format(name, **found[name]))
        print(
            "memory: worth {worth:.0f} MB, eager {eager:.0f} MB over a forward pass: {ratio:.3f}".format(
                **found["memory"]
            )
        )
    over = [name for name, limit in LIMITS.items() if found[name]["ratio"] > limit]
    sys.exit(f"over its limit: {', '.join(over)}" if over else 0)


def times(rounds: int) -> dict[str, Any]:
    """How long worth and one cut take, as ratios to a forward pass."""
    import regard
    from regard.models.cutting import cutting
    from regard.models.worth import AskedWorth, run_worth
    from regard.trace.edges import EdgeBlock
    from regard.trace.heads import Head

    model = regard.load("SmolLM2-135M-Instruct")
    engine = model._engine
    row = engine.encode("The animal did not cross the street because it was too tired. " * (TOKENS // 8))
    row = type(row)(row.ids[:TOKENS], None, type(row.side)(row.side.name, row.side.tokens[:TOKENS]), None, None)
    inputs, _ = engine.collate([row])
    engine.places()
    block = EdgeBlock((Head("decoder", 15, 4),), (TOKENS - 1,), (200,))

    def plain() -> object:
        return engine.run(inputs)

    def worth() -> object:
        return run_worth(engine, row, None, AskedWorth())

    def cut() -> object:
        with cutting(engine, [[block]]):
            return engine.run(inputs)

    ways = {"plain": plain, "worth": worth, "cut": cut}
    for way in ways.values():
        way()
    rounds_of: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        names = list(ways)[number % 3 :] + list(ways)[: number % 3]
        for name in names:
            rounds_of[name].append(seconds(ways[name]))
    return {name: spread(rounds_of[name], rounds_of["plain"]) for name in ("worth", "cut")}


def seconds(way: Callable[[], object]) -> float:
    """Process time of one run; what it gives is let go only afterwards."""
    start = time.process_time()
    kept = way()
    taken = time.process_time() - start
    del kept
    return taken


def spread(values: list[float], base: list[float]) -> dict[str, float]:
    """The median ratio, the smallest and the largest."""
    ratios = [one / other for one, other in zip(values, base, strict=True)]
    return {"ratio": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}


def memory(count: int) -> dict[str, float]:
    """Peak memory over that of a plain forward pass, in MB: medians of processes."""

    def run(way: str) -> float:
        command = [sys.executable, __file__, "--peak", way]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])

    peaks = {way: statistics.median(run(way) for _ in range(count)) for way in ("plain", "worth", "eager")}
    worth, eager = peaks["worth"] - peaks["plain"], peaks["eager"] - peaks["plain"]
    return {"worth": worth, "eager": eager, "ratio": worth / eager}


def peak(way: str) -> float:
    """Peak memory of this process after one run, in MB."""
    from transformers import BertConfig, BertForSequenceClassification

    import regard
    from regard.capture import output_gradients

    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=2, max_position_embeddings=LONG)
    module = BertForSequenceClassification(config).eval()
    ids = torch.randint(0, 20000, (1, LONG), generator=torch.Generator().manual_seed(0))
    model = regard.load(module)
    model.trace_inputs({"input_ids": ids[:, :16], "attention_mask": torch.ones_like(ids[:, :16])})
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if way == "plain":
        with torch.no_grad():
            module(**given)
    elif way == "worth":
        engine = model._engine
        kept: object = output_gradients(module, given, engine.plan(), engine.places(), label)
    else:
        module.set_attn_implementation("eager")
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        module.get_input_embeddings().weight.requires_grad_(True)
        output = module(**given, output_attentions=True)
        kept = (output.attentions, torch.autograd.grad(label(output), output.attentions))
        del kept
    # not ru_maxrss, which starts at that of the process it came from
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def label(output: Any) -> torch.Tensor:
    """The log probability of the first label."""
    return output.logits.log_softmax(-1)[0, 0]


if __name__ == "__main__":
    main()
