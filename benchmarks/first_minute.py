"""The first minute with regard: how long until something is seen, against a plain script that loads and runs the model.

    python benchmarks/first_minute.py [--rounds 9] [--keep FILE] [--minutes 20]

Every time is that of a process of its own, from its start to its end, on all cores; only `import regard` is measured
inside one, and `regard serve` up to its first page. All take turns, round by round, after one that does not count, so
that files are in memory. Medians of the clock and of processor time: on a busy machine the clock says little, and
the ratio of processor times is the one to read. It stops after the round in which the minutes are over; with --keep it
goes on from the rounds of the runs before.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

from rich.console import Console
from rich.table import Table

from regard.models.packaged import resolve

TEXTS = ("I went to the store.", "At the store, I bought fresh strawberries.")
PLAIN_NAME, VIEW_NAME = "plain script: load the model, run it once", "regard view"
PAGE_NAME, SERVE_NAME, IMPORT_NAME = "a saved trace to a page", "regard serve, to its page", "import regard"
MOST = {VIEW_NAME: 1.10, PAGE_NAME: 1.0, IMPORT_NAME: 0.15}
PLAIN = """
import sys
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModel.from_pretrained(sys.argv[1]).eval()
with torch.no_grad():
    print(model(**tokenizer(*sys.argv[2:], return_tensors="pt")).last_hidden_state.shape)
"""
IMPORT = """
import time
clock, own = time.perf_counter(), time.process_time()
import regard
print(time.perf_counter() - clock, time.process_time() - own)
"""
PAGE = "import sys, regard; regard.Trace.load(sys.argv[1]).save_html(sys.argv[2])"
Seconds = tuple[float, float]  # of the clock, of the processor


def python(*arguments: str) -> str:
    """What a fresh Python prints, errors after it."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def used() -> float:
    """Processor seconds of the processes that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def spent(*arguments: str) -> Seconds:
    """A fresh Python, from its start to its end."""
    clock, own = time.perf_counter(), used()
    python(*arguments)
    return time.perf_counter() - clock, used() - own


def imported() -> Seconds:
    """`import regard` alone, in a fresh Python."""
    clock, own = python("-c", IMPORT).split()
    return float(clock), float(own)


def serving(*flags: str) -> tuple[Seconds, str]:
    """`regard serve` until it has sent its page, and what it wrote to standard error."""
    start, own = time.perf_counter(), used()
    command = [sys.executable, *flags, "-m", "regard", "serve", "--port", "0", "--no-browser"]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert child.stdout is not None
            found = re.search(r"http://\S+", child.stdout.readline())
            assert found, "the server printed no address"
            build_opener(HTTPCookieProcessor()).open(found[0]).read()  # the token becomes a cookie
            taken = time.perf_counter() - start
        finally:
            child.terminate()
            child.wait()
        errors.seek(0)
        return (taken, used() - own), errors.read()


def in_turn(ways: dict[str, Callable[[], Seconds]], rounds: int, minutes: float, keep: Path | None) -> list[dict]:
    """What each way took in each round; the first round of a run does not count."""
    found = [json.loads(line) for line in keep.read_text("utf-8").splitlines()] if keep and keep.exists() else []
    end = time.monotonic() + 60 * minutes
    for way in ways.values() if len(found) < rounds else ():
        way()
    while len(found) < rounds and (time.monotonic() < end or not found):
        found.append({name: way() for name, way in ways.items()})
        if keep:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found[-1]) + "\n")
    return found


def imports_torch(log: str) -> str:
    """Whether a log of `-X importtime` has torch."""
    return "imports torch" if re.search(r"\| +torch$", log, re.MULTILINE) else "no torch"


def target(name: str, value: float) -> str:
    """A number's target, and whether it is met."""
    return f"<= {MOST[name]:g} {'met' if value <= MOST[name] else 'MISSED'}" if name in MOST else ""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", type=Path, help="a file of the rounds so far")
    parser.add_argument("--minutes", type=float, default=20)
    given = parser.parse_args()
    model = resolve(None)[1]
    with tempfile.TemporaryDirectory() as folder:
        trace, page = (str(Path(folder) / name) for name in ("trace.safetensors", "page.html"))
        python("-m", "regard", "trace", *TEXTS, "-o", trace)
        quick = {
            "regard --help": ("-m", "regard", "--help"),
            "regard models": ("-m", "regard", "models"),
            PAGE_NAME: ("-c", PAGE, trace, page),
        }
        ways: dict[str, Callable[[], Seconds]] = {
            PLAIN_NAME: lambda: spent("-c", PLAIN, model, *TEXTS),
            VIEW_NAME: lambda: spent("-m", "regard", "view", *TEXTS, "-o", page),
            **{name: lambda some=some: spent(*some) for name, some in quick.items()},  # type: ignore[misc]
            SERVE_NAME: lambda: serving()[0],
            IMPORT_NAME: imported,
        }
        rounds = in_turn(ways, given.rounds, given.minutes, given.keep)
        logs = {name: python("-X", "importtime", *some) for name, some in quick.items()}
    logs |= {SERVE_NAME: serving("-X", "importtime")[1], IMPORT_NAME: python("-X", "importtime", "-c", IMPORT)}
    show(rounds, {name: imports_torch(log) for name, log in logs.items()})


def show(rounds: list[dict], torch: dict[str, str]) -> None:
    """Print medians of both kinds of seconds, and ratios of `regard view` to the plain script."""
    table = Table(f"median of {len(rounds)}", "clock", "processor", "target", "", box=None)
    for name in rounds[0]:
        clock, own = (statistics.median(one[name][kind] for one in rounds) for kind in (0, 1))
        ratios = [statistics.median(one[name][kind] / one[PLAIN_NAME][kind] for one in rounds) for kind in (0, 1)]
        aim = target(name, ratios[0] if name == VIEW_NAME else clock)
        times = f" x {ratios[0]:.3f} of the clock, x {ratios[1]:.3f} of the processor" if name == VIEW_NAME else ""
        table.add_row(name, f"{clock:.2f} s", f"{own:.2f} s", aim + times, torch.get(name, ""))
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
