"""The first minute with regard: how long until something is seen, against a plain script that loads and runs the model.

    python benchmarks/first_minute.py [--rounds 9]

Every time is that of a process of its own, from its start to its end, on all cores; only `import regard` is measured
inside one, and `regard serve` up to its first page. All are run once before they are measured, so that files are in
memory. `regard view` and the plain script take turns. Medians.
"""

from __future__ import annotations

import argparse
import re
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
MOST_VIEW, MOST_PAGE, MOST_IMPORT = 1.10, 1.0, 0.15
PLAIN = """
import sys
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModel.from_pretrained(sys.argv[1]).eval()
with torch.no_grad():
    print(model(**tokenizer(*sys.argv[2:], return_tensors="pt")).last_hidden_state.shape)
"""
IMPORT = "import time; start = time.perf_counter(); import regard; print(time.perf_counter() - start)"
PAGE = "import sys, regard; regard.Trace.load(sys.argv[1]).save_html(sys.argv[2])"


def python(*arguments: str) -> str:
    """What a fresh Python prints, errors after it."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def wall(*arguments: str) -> float:
    """Seconds of a fresh Python, from its start to its end."""
    start = time.perf_counter()
    python(*arguments)
    return time.perf_counter() - start


def serving(*flags: str) -> tuple[float, str]:
    """Seconds until `regard serve` has sent its page, and what it wrote to standard error."""
    start = time.perf_counter()
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
        return taken, errors.read()


def in_turn(ways: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each way, after one round that does not count."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            taken = way()
            if number:
                found[name].append(taken)
    return {name: statistics.median(some) for name, some in found.items()}


def imports_torch(log: str) -> str:
    """Whether a log of `-X importtime` has torch."""
    return "imports torch" if re.search(r"\| +torch$", log, re.MULTILINE) else "no torch"


def target(value: float, most: float) -> str:
    """A number's target, and whether it is met."""
    return f"<= {most:g} {'met' if value <= most else 'MISSED'}"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    model = resolve(None)[1]
    with tempfile.TemporaryDirectory() as folder:
        trace, page = (str(Path(folder) / name) for name in ("trace.safetensors", "page.html"))
        python("-m", "regard", "trace", *TEXTS, "-o", trace)
        runs = in_turn(
            {
                "plain": lambda: wall("-c", PLAIN, model, *TEXTS),
                "view": lambda: wall("-m", "regard", "view", *TEXTS, "-o", page),
            },
            rounds,
        )
        quick = {
            "regard --help": ("-m", "regard", "--help"),
            "regard models": ("-m", "regard", "models"),
            "a saved trace to a page": ("-c", PAGE, trace, page),
        }
        ways: dict[str, Callable[[], float]] = {name: lambda some=some: wall(*some) for name, some in quick.items()}  # type: ignore[misc]
        ways["regard serve, to its page"] = lambda: serving()[0]
        ways["import regard"] = lambda: float(python("-c", IMPORT))
        taken = in_turn(ways, rounds)
        logs = {name: python("-X", "importtime", *some) for name, some in quick.items()}
    logs |= {"regard serve, to its page": serving("-X", "importtime")[1]}
    logs |= {"import regard": python("-X", "importtime", "-c", IMPORT)}
    most = {"a saved trace to a page": MOST_PAGE, "import regard": MOST_IMPORT}
    ratio = runs["view"] / runs["plain"]
    table = Table("", "seconds", "target", "", box=None)
    table.add_row("plain script: load the model, run it once", f"{runs['plain']:.2f}", "", "")
    table.add_row("regard view", f"{runs['view']:.2f}", f"x {ratio:.3f} {target(ratio, MOST_VIEW)}", "")
    for name, value in taken.items():
        table.add_row(
            name, f"{value:.2f}", target(value, most[name]) if name in most else "", imports_torch(logs[name])
        )
    Console().print(table)


if __name__ == "__main__":
    main()
