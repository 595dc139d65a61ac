"""A long text end to end: the plain pass, a trace, eager maps, the app and a saved page, in one run.

    python benchmarks/long.py TEXT.txt [--tokens 8192] [--page 4096] [--pairs 3] [--model SmolLM2-135M-Instruct]
                              [--only peaks pairs page app]

Every part runs in a process of its own. Peak memory is that of a process with one run, model included. Ratios are
medians over pairs of runs, one right after the other and each first in turn. Eager attention (`output_attentions=True`)
may take 16 GB of address space and ends with an error where it needs more. The page and the app are opened in Chromium:
"drawn" is the page's own mark, in the frame after the first picture.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import regard

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
EAGER = 16 << 30  # bytes of address space
PATIENCE = 600.0  # seconds that the browser waits for the server
PARTS = ("peaks", "pairs", "page", "app")
ZOOMS = 8
SPARE = 16  # tokens left free in the app: a text that is decoded and read again may have a few more


def main() -> None:
    """Run the parts and print what they measured beside the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--page", type=int, default=4096, help="tokens of the saved page")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--model", default="SmolLM2-135M-Instruct")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(INSIDE[options.part](options)))
        return
    parts = ["plain", "trace", "eager"] if "peaks" in options.only else []
    parts += [name for name in ("pairs", "page", "app") if name in options.only]
    found = {name: apart(name, sys.argv[1:]) for name in parts}
    Console(width=120).print(table_of(found, options))
    print(json.dumps(found))


def apart(name: str, arguments: list[str]) -> dict[str, Any]:
    """What one part measures, in a process of its own; if it fails, the last line that it said."""
    done = subprocess.run([sys.executable, __file__, *arguments, "--part", name], capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return {"failed": said[-1][:200] if said else f"ended by signal {-done.returncode}"}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def table_of(found: dict[str, dict[str, Any]], options: argparse.Namespace) -> Table:
    """Everything measured, with targets."""
    targets = {"trace peak GB": 4.0, "pairs ratio": 1.10, "page MB": 60.0, "page saved s": 10.0, "page drawn s": 2.0}
    targets |= {"app first picture s": 2.0, "app zoom ms": 100.0, "app jump ms": 100.0}
    targets |= {"page zoom ms": 100.0, "page jump ms": 100.0}
    table = Table("what", "measured", "target", title=f"{options.model}, {options.tokens:,} tokens", box=None)
    for part, values in found.items():
        for name, value in values.items():
            most = targets.get(f"{part} {name}")
            shown = f"{value:.2f}" if isinstance(value, float) else str(value)
            verdict = "" if most is None else f"<= {most:g} {'met' if value <= most else 'MISSED'}"
            table.add_row(f"{part}: {name}", shown, verdict)
    return table


# -- in a process of its own -----------------------------------------------------------------------------------


def loaded(options: argparse.Namespace, tokens: int) -> tuple[regard.Model, dict[str, torch.Tensor], str]:
    """The model, the first tokens of the text as inputs, and as a text again."""
    model = regard.load(options.model)
    ids = model.tokenizer(options.text.read_text("utf-8"), verbose=False)["input_ids"][:tokens]
    if len(ids) < tokens:
        raise SystemExit(f"{options.text} has {len(ids)} tokens, fewer than {tokens}")
    text = model.tokenizer.decode(ids)
    inputs = torch.tensor([ids])
    return model, {"input_ids": inputs, "attention_mask": torch.ones_like(inputs)}, text


def plain_run(model: regard.Model, inputs: dict[str, torch.Tensor]) -> object:
    """A forward pass without a cache; like a trace, it predicts what comes after the last token alone."""
    last = {"logits_to_keep": 1} if model._engine.takes("logits_to_keep") else {}
    with torch.no_grad():
        return model.module(**inputs, **last, use_cache=False)


def trace_run(model: regard.Model, inputs: dict[str, torch.Tensor]) -> object:
    """A trace of the same inputs."""
    return model.trace_inputs(inputs)


def eager_run(model: regard.Model, inputs: dict[str, torch.Tensor]) -> object:
    """The maps of transformers itself, in bounded memory: beyond it the run fails, and the machine does not."""
    resource.setrlimit(resource.RLIMIT_AS, (EAGER, EAGER))
    model.module.set_attn_implementation("eager")
    with torch.no_grad():
        return model.module(**inputs, use_cache=False, output_attentions=True).attentions


def peak(run: Callable[[regard.Model, dict[str, torch.Tensor]], object]) -> Callable[..., dict[str, Any]]:
    """Seconds and peak memory of a process with one run."""

    def measured(options: argparse.Namespace) -> dict[str, Any]:
        model, inputs, _ = loaded(options, options.tokens)
        start = time.perf_counter()
        kept = run(model, inputs)
        taken = time.perf_counter() - start
        del kept
        return {"peak GB": own_peak() / 1e9, "s": taken}

    return measured


def own_peak() -> float:
    """Peak resident bytes of this process; not ru_maxrss, which starts at that of the process it came from."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024.0


def pairs(options: argparse.Namespace) -> dict[str, Any]:
    """A plain pass and a trace, in turn."""
    model, inputs, _ = loaded(options, options.tokens)
    model.trace("a b c d")  # how the model is captured is found out once
    found = []
    for number in range(options.pairs):
        runs = [plain_run, trace_run][:: 1 if number % 2 else -1]
        times = {run: seconds(lambda run=run: run(model, inputs)) for run in runs}  # type: ignore[misc]
        found.append((times[plain_run], times[trace_run]))
    ratios = [trace / plain for plain, trace in found]
    return {
        "plain s": statistics.median(plain for plain, _ in found),
        "trace s": statistics.median(trace for _, trace in found),
        "ratio": statistics.median(ratios),
        "smallest": min(ratios),
        "largest": max(ratios),
    }


def seconds(act: Callable[[], object]) -> float:
    """Seconds of one run; what it gives is let go only afterwards."""
    start = time.perf_counter()
    kept = act()
    taken = time.perf_counter() - start
    del kept
    return taken


# -- in a browser ----------------------------------------------------------------------------------------------

MARKED = "name => performance.getEntriesByName(name).at(-1)?.startTime ?? 0"
SINCE = """([name, before]) => {
  const at = performance.getEntriesByName(name).at(-1)?.startTime ?? 0;
  return at > Math.max(before, window.began) && at - window.began;
}"""
ANSWERED = """() => {
  const found = performance.getEntriesByType('resource').filter(({name}) => name.endsWith('/api/traces')).at(-1);
  return found && found.responseEnd > 0 && found.responseStart;
}"""


def page(options: argparse.Namespace) -> dict[str, Any]:
    """A saved page: its size, how long it takes to write, to draw, and to zoom."""
    model, _, text = loaded(options, options.page)
    trace = model.trace(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        start = time.perf_counter()
        trace.save_html(path, view="matrix")
        found: dict[str, Any] = {"tokens": len(trace.tokens), "saved s": time.perf_counter() - start}
        found["MB"] = path.stat().st_size / 1e6
        with Browser() as browser:
            found["drawn s"] = browser.open(path.as_uri())
            found["zoom ms"] = browser.zooms()
            found["jump ms"] = browser.jumps()
    return found


def app(options: argparse.Namespace) -> dict[str, Any]:
    """The app: from the answer of the server to the first picture, and then zooming."""
    _, _, text = loaded(options, options.tokens - SPARE)
    command = [sys.executable, "-m", "regard", "serve", "--no-browser", "--port", "0", "-m", options.model]
    process = subprocess.Popen(command, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address, "the server printed no address"
        with Browser() as browser:
            browser.open(address[0])
            answered, drawn = browser.ask(text)
            found = {"first picture s": (drawn - answered) / 1000, "zoom ms": browser.zooms()}
            return {**found, "jump ms": browser.jumps()}
    finally:
        process.terminate()
        process.wait(20)


class Browser:
    """One page of a Chromium."""

    def __enter__(self) -> Browser:
        from playwright.sync_api import sync_playwright

        self._manager = sync_playwright()
        self._playwright = self._manager.__enter__()
        self._chromium = self._playwright.chromium.launch(executable_path=which("chromium"), args=FLAGS)
        self.page = self._chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        return self

    def __exit__(self, *_: object) -> None:
        self._chromium.close()
        self._manager.__exit__(None, None, None)

    def open(self, address: str) -> float:
        """Seconds from opening an address to its first picture."""
        self.page.goto(address, wait_until="commit")
        return float(self.page.wait_for_function(MARKED, arg="regard:drawn", polling=20).json_value()) / 1000

    def ask(self, text: str) -> tuple[float, float]:
        """When the server began to answer, and when the matrix of the text was drawn, in milliseconds."""
        self.page.wait_for_selector("#regard:not([data-busy]):not([data-saved])")  # or the example's answer would count
        self.page.locator("[data-view=matrix]").first.click()
        self.page.evaluate("performance.clearResourceTimings()")
        self.page.locator("textarea").first.fill(text)
        answered = float(self.page.wait_for_function(ANSWERED, polling=20).json_value())
        drawn = self.page.wait_for_function(
            "since => { const at = performance.getEntriesByName('regard:drawn').at(-1)?.startTime ?? 0;"
            " return at > since && at }",
            arg=answered,
            polling=20,
        )
        return answered, float(drawn.json_value())

    def zooms(self) -> float:
        """Median milliseconds from a click on + to the picture."""
        return statistics.median(self.until("[data-zoom=in]") for _ in range(ZOOMS))

    def jumps(self) -> float:
        """Median milliseconds from a click that goes to the next place of a word to the picture."""
        self.page.locator("[data-find=text]").first.fill("the")
        return statistics.median(self.until("[data-find=next]") for _ in range(ZOOMS))

    def until(self, selector: str, name: str = "regard:drawn") -> float:
        """Milliseconds from a click to the page's next mark."""
        before = self.page.evaluate(MARKED, name)
        self.page.evaluate(
            "window.began = Infinity;"
            "addEventListener('click', () => { window.began = performance.now() }, {capture: true, once: true})"
        )
        self.page.locator(selector).first.click()
        return float(self.page.wait_for_function(SINCE, arg=[name, before], polling=5).json_value())


INSIDE: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "plain": peak(plain_run),
    "trace": peak(trace_run),
    "eager": peak(eager_run),
    "pairs": pairs,
    "page": page,
    "app": app,
}

if __name__ == "__main__":
    main()
