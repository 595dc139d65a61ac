"""What the app's server stands: an answer against the bare forward pass, fifty people typing at once, bad requests.

    python benchmarks/app.py [--seconds 60] [--clients 50] [--fuzz 10000] [--walks 300] [--exports 100] [--long]
                             [--paints 5] [--cuts 20]

Long on purpose: one measurement after the other, each of the same server.

The server is `regard serve` in a process of its own on loopback, with the default model. People type a key every 0.15
to 0.35 seconds and every key asks for a trace; a pause asks for the report. Each answer is compared with the tokens of
the request it belongs to. --walks and --exports measure what the server keeps: memory after so many walks, files after
so many downloads that nobody waits for. --seconds 0 leaves out the typing. --long traces 4,096 tokens with
SmolLM2-135M-Instruct (several minutes on two cores). --paints opens so many fresh servers in Chromium while they load
their model: how long until something is on the screen, and until the first picture. --cuts cuts so many looks of a text
of 30 tokens with SmolLM2-135M-Instruct, as a click does: the numbers first, then the random lines beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import httpx
import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import regard
from regard.views import header_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.app.entering import entered, origin_of, token_of
from tests.app.fuzz import fuzz

out = Console()
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
FLAGS += ("--disable-component-update", "--disable-sync")
TWENTY = "I went to the store, and at the store I bought fresh berries and sweet pears."
THIRTY = "The animal that lived behind the old house near the river did not cross the busy street on that day in late "
THIRTY += "spring, because"
WORDS = "the cat dog store street house animal berries bread because while tired happy red old went bought saw".split()


def main() -> None:
    """Run what was asked for, and print a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--fuzz", type=int, default=0)
    parser.add_argument("--walks", type=int, default=0)
    parser.add_argument("--exports", type=int, default=0)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--paints", type=int, default=5)
    parser.add_argument("--cuts", type=int, default=0)
    options = parser.parse_args()
    if options.paints:
        first_paints(options.paints)
    if not (options.seconds or options.fuzz or options.walks or options.exports or options.long or options.cuts):
        return
    model = regard.load()
    with tempfile.TemporaryDirectory() as folder, server(folder) as (address, process):
        if options.seconds:
            idle(address, model)
            load(address, process.pid, model, options.clients, options.seconds)
        if options.fuzz:
            bad_requests(address, process.pid, options.fuzz)
        if options.walks:
            walks(address, process.pid, options.walks)
        if options.exports:
            exports(address, Path(folder), options.exports)
        if options.cuts:
            cuts(address, options.cuts)
        if options.long:
            long_text(address, process.pid)


@contextmanager
def server(folder: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`regard serve`, as people start it; its temporary files are made in a folder of their own."""
    command = [sys.executable, "-m", "regard", "serve", "--no-browser", "--port", "0"]
    environment = {**os.environ, "TMPDIR": folder}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "the server printed no address"
        yield found[0], process
    finally:
        process.terminate()
        process.wait(20)


# The page's own mark is set anew with each picture; this keeps the first.
WATCH = """new PerformanceObserver(list => {
  for (const {name, startTime} of list.getEntries()) if (name === 'regard:drawn') window.firstDrawn ??= startTime;
}).observe({type: 'mark', buffered: true})"""
PAINTS = """() => {
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return paint && window.firstDrawn ? [paint.startTime, window.firstDrawn] : null;
}"""


def first_paints(runs: int) -> None:
    """From opening the page of a server that has just begun to answer, to its first paint and its first picture."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=list(FLAGS))
        for _ in range(runs):
            with server(folder) as (address, _process):
                page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
                page.add_init_script(WATCH)
                page.goto(address, wait_until="commit")
                found = None
                while found is None:
                    page.wait_for_timeout(50)
                    found = page.evaluate(PAINTS)
                loading = page.evaluate("document.querySelector('[data-saved]') !== null")
                times.append((*found, loading))
                page.context.close()
        browser.close()
    table = Table(title=f"a server that has just begun to answer, {runs} runs", title_justify="left")
    for name in ("", "median ms", "worst ms"):
        table.add_column(name, justify="right" if name else "left")
    for name, values in zip(("first paint", "first picture"), list(zip(*times, strict=True))[:2], strict=True):
        table.add_row(name, f"{statistics.median(values):.0f}", f"{max(values):.0f}")
    out.print(table)
    out.print(f"before the model was there in {sum(loading for *_, loading in times)} of {runs} runs\n")


def idle(address: str, model: regard.Model, runs: int = 300) -> None:
    """Answers while nobody else asks, in turn with the bare forward pass of the same input in this process."""
    inputs, _ = model._engine.collate([model._engine.encode(TWENTY)])
    ready = model._engine.ready(inputs)
    bare, answers, reports = [], [], []
    with entered(address) as client:
        for number in range(runs + 20):
            with torch.no_grad():
                start = time.perf_counter()
                model.module(**ready)
                bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            answer = client.post("/api/traces", json={"text": TWENTY})
            answers.append(time.perf_counter() - start)
            start = time.perf_counter()
            client.get(f"/api/traces/{answer.headers['x-regard-trace']}/report")
            reports.append(time.perf_counter() - start)
            if number == 20:  # warm
                bare, answers, reports = [], [], []
    table = Table(title=f"idle, {len(inputs['input_ids'][0])} tokens, {runs} runs", title_justify="left")
    for name in ("", "median ms", "p95 ms"):
        table.add_column(name, justify="right" if name else "left")
    for name, times in (("bare forward pass", bare), ("answer with the trace", answers), ("its report", reports)):
        table.add_row(name, f"{1e3 * statistics.median(times):.1f}", f"{1e3 * p95(times):.1f}")
    out.print(table)
    ratio = p95(answers) / statistics.median(bare)
    out.print(f"p95 answer = {ratio:.1f} x the median bare forward pass, {p95(answers) / p95(bare):.1f} x its p95\n")


class Typist:
    """One client: types sentences, asks at every key, and looks whether each answer is its own."""

    def __init__(self, number: int, client: httpx.AsyncClient, seen: Seen) -> None:
        self._name, self._client, self._seen = f"typist{number}", client, seen
        self._chance = random.Random(number)
        self._number = number

    async def type(self, end: float) -> None:
        while time.monotonic() < end:
            words = [f"{self._number}", *self._chance.choices(WORDS, k=self._chance.randint(4, 12))]
            sentence, tasks = " ".join(words) + ".", []
            for place in range(len(words[0]) + 2, len(sentence) + 1):
                if time.monotonic() >= end:
                    break
                tasks.append(asyncio.create_task(self._ask(sentence[:place])))
                await asyncio.sleep(self._chance.uniform(0.15, 0.35))
            names = [name for name in await asyncio.gather(*tasks) if name]
            if names:
                await self._report(names[-1][0], names[-1][1])

    async def _ask(self, text: str) -> tuple[str, str] | None:
        self._seen.asked += 1
        start = time.perf_counter()
        headers = {"X-Regard-Client": self._name}
        try:
            answer = await self._client.post("/api/traces", json={"text": text}, headers=headers)
        except httpx.HTTPError as error:
            self._seen.faults.append(f"no answer: {error!r}")
            return None
        self._seen.times.append(time.perf_counter() - start)
        return self._judge(answer, text)

    async def _report(self, name: str, text: str) -> None:
        self._seen.asked += 1
        self._judge(await self._client.get(f"/api/traces/{name}/report"), text)

    def _judge(self, answer: httpx.Response, text: str) -> tuple[str, str] | None:
        status = answer.status_code
        self._seen.answers[status] += 1
        if status != 200:
            if (status, answer.json()["error"]) not in ((503, "busy"), (409, "superseded")):
                self._seen.faults.append(f"{status} {answer.text[:200]}")
            return None
        tokens = "".join(piece.removeprefix("##") for piece in header_of(answer.content)["sides"][0]["text"][1:-1])
        if tokens != text.replace(" ", "").lower():
            self._seen.faults.append(f"asked {text!r}, answered {tokens!r}")
        return answer.headers["x-regard-trace"], text


class Seen:
    """What all clients saw."""

    def __init__(self) -> None:
        self.asked, self.answers, self.faults, self.times = 0, Counter[int](), [], []


def load(address: str, pid: int, model: regard.Model, clients: int, seconds: float) -> None:
    """Many people typing at once."""
    del model
    seen, sizes = Seen(), []
    asyncio.run(_typing(address, pid, clients, seconds, seen, sizes))
    table = Table(title=f"{clients} clients typing for {seconds:.0f} s", title_justify="left", show_header=False)
    table.add_row("asked", f"{seen.asked:,}")
    for status, count in sorted(seen.answers.items()):
        meaning = {200: "answered", 409: "superseded", 503: "busy"}.get(status, "error")
        table.add_row(f"{status} {meaning}", f"{count:,}")
    table.add_row("lost", f"{seen.asked - sum(seen.answers.values()):,}")
    table.add_row("mixed up, or other errors", f"{len(seen.faults):,}")
    table.add_row("time to an answer, median / p95", f"{statistics.median(seen.times):.2f} / {p95(seen.times):.2f} s")
    shown = [sizes[0], sizes[len(sizes) // 4], sizes[len(sizes) // 2], sizes[3 * len(sizes) // 4], sizes[-1]]
    table.add_row("memory of the server, start to end", ", ".join(f"{size:.0f}" for size in shown) + " MB")
    out.print(table, *seen.faults[:10], sep="\n")


async def _typing(address: str, pid: int, clients: int, seconds: float, seen: Seen, sizes: list[float]) -> None:
    end = time.monotonic() + seconds
    typing = [asyncio.create_task(_one(address, number, end, seen)) for number in range(clients)]
    while not all(task.done() for task in typing):
        sizes.append(resident(pid))
        await asyncio.sleep(min(1.0, seconds / 20))
    await asyncio.gather(*typing)
    sizes.append(resident(pid))


async def _one(address: str, number: int, end: float, seen: Seen) -> None:
    """A typist with connections of their own: one pool for all costs the client more than the server works."""
    shown = {"Authorization": f"Bearer {token_of(address)}"}
    async with httpx.AsyncClient(base_url=origin_of(address), headers=shown, timeout=60) as client:
        await Typist(number, client, seen).type(end)


def bad_requests(address: str, pid: int, count: int) -> None:
    """The fuzzer of the tests, for longer."""
    before, start = resident(pid), time.perf_counter()
    found = fuzz(address, count, seed=1)
    took = time.perf_counter() - start
    out.print(
        f"\n{count:,} bad requests in {took:.0f} s: {len(found.faults)} faults (5xx other than busy, hangs, shapes)"
    )
    out.print(f"statuses {dict(sorted(found.statuses.items()))}; memory {before:.0f} -> {resident(pid):.0f} MB")
    out.print(*found.faults[:10], sep="\n")


def walks(address: str, pid: int, count: int) -> None:
    """Walks through the default model, one after the other: each keeps the weights of a layer."""
    with entered(address, 600) as client:
        state = client.get("/api/state").json()
        ask = {"model": state["default"], "layer": 0}
        client.post("/api/walk", json={**ask, "text": TWENTY})
        sizes = [resident(pid)]
        for number in range(count):
            assert client.post("/api/walk", json={**ask, "text": f"{number} {TWENTY}"}).status_code == 200
            sizes.append(resident(pid))
    most, bound = max(sizes), state["limits"]["memory"] / 1e6
    out.print(f"\n{count} walks: server {sizes[0]:.0f} -> {sizes[-1]:.0f} MB, at most {most:.0f}")
    out.print(
        f"{most - sizes[0]:.0f} MB more; {10 * count} if all were kept; what it keeps is bounded to {bound:.0f} MB"
    )


def exports(address: str, folder: Path, count: int) -> None:
    """Downloads that are given up: half of them while they are made, half while they arrive."""
    with entered(address, 600) as client:
        name = client.post("/api/traces", json={"text": TWENTY}).headers["x-regard-trace"]
        for number in range(count):
            path = f"/api/traces/{name}/{'page' if number % 4 < 2 else 'file'}"
            if number % 2:
                with client.stream("GET", path) as answer:
                    next(answer.iter_raw(100))
            else:
                with contextlib.suppress(httpx.ReadTimeout):
                    client.get(path, timeout=random.Random(number).uniform(0.001, 0.03))
        client.post("/api/traces", json={"text": TWENTY})  # what was being made is over
        time.sleep(1)
    left = [file for file in folder.rglob("*") if file.is_file()]
    out.print(f"{count} downloads given up: {len(left)} files left, {sum(f.stat().st_size for f in left)} bytes")


def long_text(address: str, pid: int) -> None:
    """4,096 tokens through a real decoder: the first map, and another layer."""
    name = "SmolLM2-135M-Instruct"
    model = regard.load(name)
    ids = model.tokenizer("The cat sat on the mat and looked at the moon while a dog ran by. " * 400)["input_ids"]
    text = model.tokenizer.decode(ids[:4095])
    inputs, _ = model._engine.collate([model._engine.encode(text)])
    start = time.perf_counter()
    with torch.no_grad(), Progress(transient=True) as progress:
        progress.add_task("bare forward pass", total=None)
        model.module(**model._engine.ready(inputs))
    bare = time.perf_counter() - start
    tokens = len(inputs["input_ids"][0])
    del model, inputs
    with entered(address, 600) as client:
        client.post("/api/traces", json={"text": "Hello", "model": name})  # loaded
        start = time.perf_counter()
        answer = client.post("/api/traces", json={"text": text, "model": name})
        took = time.perf_counter() - start
        start = time.perf_counter()
        layer = client.get(f"/api/traces/{answer.headers['x-regard-trace']}/layers/decoder/15")
        more = time.perf_counter() - start
    out.print(
        f"\n{tokens:,} tokens, {name}: bare forward pass {bare:.1f} s, first map after {took:.1f} s "
        f"({len(answer.content) / 1e6:.1f} MB), another layer {more:.2f} s ({len(layer.content) / 1e6:.1f} MB), "
        f"server {resident(pid):.0f} MB"
    )


def cuts(address: str, runs: int) -> None:
    """A click on Cut: the answer with what the model says before and after, then with random lines of equal weight."""
    name, text = "SmolLM2-135M-Instruct", f"{THIRTY} it was very much too"
    tokens = len(regard.load(name).tokenizer(text)["input_ids"])
    first, whole = [], []
    with entered(address, 600) as client:
        client.post("/api/traces", json={"text": text, "model": name})  # loaded
        for number in range(runs + 2):
            edge = {"kind": "decoder", "layer": number % 30, "head": number % 9, "query": tokens - 1, "key": 3}
            for times, controls in ((first, 0), (whole, 16)):
                start = time.perf_counter()
                answer = client.post(
                    "/api/cut", json={"text": text, "model": name, "edges": [edge], "controls": controls}
                )
                times.append(time.perf_counter() - start)
                answer.raise_for_status()
            if number == 1:  # warm
                first, whole = [], []
    table = Table(title=f"cutting a look of {tokens} tokens, {name}, {runs} runs", title_justify="left")
    for column in ("", "median ms", "worst ms"):
        table.add_column(column, justify="right" if column else "left")
    for said, times in (("before and after", first), ("with 16 random lines", whole)):
        table.add_row(said, f"{1e3 * statistics.median(times):.0f}", f"{1e3 * max(times):.0f}")
    out.print(table)


def resident(pid: int) -> float:
    """Memory of a process, MB."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1e3


def p95(times: list[float]) -> float:
    """The time that 95 of 100 stay below."""
    return sorted(times)[int(0.95 * len(times))]


if __name__ == "__main__":
    main()
