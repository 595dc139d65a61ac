"""What serving costs: tokens per second of `regard serve --openai` against plain `generate` of the same model.

    python benchmarks/serving.py [--runs 5] [--tokens 64] [--model SmolLM2-135M-Instruct]

The server is a process of its own on loopback, asked by the `openai` client; plain `generate` runs in this process, in
turn with it, on the same messages and for the same number of tokens. The chat of the app is asked too: it also reads
what each token looked at. Times are of whole requests, the prompt included; medians, and ratios of them: by the clock,
and of processor time, which other work on the machine changes little (that of the client is not the server's).
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import openai
import torch
from rich.console import Console
from rich.table import Table

import regard

out = Console(width=140)
PLAIN = "plain generate"
MESSAGES = [{"role": "user", "content": "Write a long story about a cat that goes to the store and buys strawberries."}]


@contextmanager
def server(model: str) -> Iterator[tuple[str, str, int]]:
    """A server of the model: its address, the key, and its process."""
    command = [sys.executable, "-m", "regard", "serve", "--openai", "--no-browser", "--port", "0", "-m", model]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"(http://\S+/)\?token=(\S+)", process.stdout.readline())
        assert found
        yield found[1], found[2], process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process, all its threads."""
    user, system = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def plain(model: regard.Model, count: int) -> Callable[[], int]:
    """transformers' own generation."""
    ids = model.tokenizer.apply_chat_template(
        MESSAGES, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )

    def run() -> int:
        with torch.no_grad():
            made = model.module.generate(**ids, max_new_tokens=count, do_sample=False, pad_token_id=0)
        return int(made.shape[1] - ids["input_ids"].shape[1])

    return run


def streamed(client: openai.OpenAI, model: str, count: int) -> Callable[[], int]:
    """The same by the OpenAI interface, as a stream."""

    def run() -> int:
        chunks = client.chat.completions.create(
            model=model, messages=MESSAGES, max_tokens=count, temperature=0, stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        return int(list(chunks)[-1].usage.completion_tokens)

    return run


def chatted(page: httpx.Client, model: str, count: int) -> Callable[[], int]:
    """The same by the chat of the app, which also tells what each token looked at."""

    def run() -> int:
        body = {"model": model, "messages": MESSAGES, "max_tokens": count, "temperature": 0}
        with page.stream("POST", "/api/chat", json=body) as answer:
            return len(list(answer.iter_lines())) - 1

    return run


def main() -> None:
    """Run all three in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--model", default="SmolLM2-135M-Instruct")
    options = parser.parse_args()
    model = regard.load(options.model)
    with server(options.model) as (address, key, pid):
        client = openai.OpenAI(base_url=f"{address}v1", api_key=key, timeout=300)
        page = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=300)
        ways = {
            PLAIN: (plain(model, options.tokens), os.getpid()),
            "regard serve --openai, streamed": (streamed(client, options.model, options.tokens), pid),
            "chat of the app, with looks": (chatted(page, options.model, options.tokens), pid),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for run in range(-1, options.runs):  # the first one only warms up
            for name, (way, process) in ways.items():
                start, before = time.perf_counter(), processor_time(process)
                count = way()
                speeds = count / (time.perf_counter() - start), count / (processor_time(process) - before)
                if run >= 0:
                    found[name].append(speeds)
    title = f"{options.model}, {options.tokens} tokens, {options.runs} runs, {torch.get_num_threads()} threads"
    out.print(table_of(found, title))


def table_of(found: dict[str, list[tuple[float, float]]], title: str) -> Table:
    """Tokens per second of each way, by the clock and by processor time, beside plain generation."""
    table = Table(title=title)
    for column in ("way", "tokens per second", "of plain", "slowest to fastest", "per processor second", "of plain"):
        table.add_column(column, justify="left" if column == "way" else "right")
    middle = {name: [statistics.median(kind) for kind in zip(*runs, strict=True)] for name, runs in found.items()}
    for name, runs in found.items():
        clock = [run[0] for run in runs]
        ratios = [f"{mine / plain:.3f}" for mine, plain in zip(middle[name], middle[PLAIN], strict=True)]
        span = f"{min(clock):.1f} to {max(clock):.1f}"
        table.add_row(name, f"{middle[name][0]:.1f}", ratios[0], span, f"{middle[name][1]:.1f}", ratios[1])
    return table


if __name__ == "__main__":
    main()
