"""When the heads of `regard train induction` are born: two seeds, and one layer alone."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from blocks import Blocks, span, table

PAGE = "tutorials/watch-a-head-being-born.md"
RUNS = {"2 layers, seed 0": (2, 0), "2 layers, seed 1": (2, 1), "1 layer, seed 0": (1, 0)}
NAMES = ("previous token", "induction")
STEPS, EVERY, PROBES = 600, 10, 16


def measure(data: Path) -> dict[str, Any]:
    """The births, lifts and losses of every run."""
    return {name: _run(*shape) for name, shape in RUNS.items()}


def _run(layers: int, seed: int) -> dict[str, Any]:
    from regard.callbacks import WatchHeads
    from regard.studies.film.births import births_of
    from regard.transformer.induction import repeated_texts, train_induction

    watched: list[WatchHeads] = []

    def watch(model: Any, tokenizer: Any) -> Any:
        texts = repeated_texts(PROBES, tokenizer)
        film = Path(folder) / "film"
        watched.append(WatchHeads(film, texts, model=model, tokenizer=tokenizer, every=EVERY))
        return watched[0].step

    with tempfile.TemporaryDirectory() as folder:
        train_induction(Path(folder) / "model", steps=STEPS, layers=layers, seed=seed, watch=watch)
        seconds = json.loads((Path(folder) / "model" / "training.json").read_text("utf-8"))["seconds"]
        frames = watched[0].frames
        watched[0].close()
    births = [one for one in births_of(frames) if one["name"] in NAMES]
    losses = {frame.step: frame.loss for frame in frames if frame.loss is not None}
    highest = {
        name: max(head["lifts"][name][0] for head in frames[-1].heads if name in head["lifts"]) for name in NAMES
    }
    return {"births": births, "losses": losses, "highest": highest, "seconds": seconds}


def blocks(found: dict[str, Any]) -> Blocks:
    """The parts of the page."""
    columns = ["", "looks one back", "finds what followed", "loss at step 100", "200", "300", "400", "600"]
    rows = []
    for name in RUNS:
        one = found[name]
        losses = [f"{one['losses'][str(step)]:.2f}" for step in (100, 200, 300, 400, 600)]
        rows.append([name, *(_born(one, pattern) for pattern in NAMES), *losses])
    return {PAGE: {"born": table(columns, rows)}}


def _born(one: dict[str, Any], name: str) -> str:
    """The head that does it most, since when, and how far at the end."""
    mine = [birth for birth in one["births"] if birth["name"] == name and birth["step"] is not None]
    if not mine:
        return f"no head; highest lift {one['highest'][name]:.2f}"
    value, low, high = mine[0]["lift"]
    head = f"{mine[0]['layer']}.{mine[0]['head']}"
    return f"{head}, from step {mine[0]['step']:,} on; lift {span(value, low, high, 2)}"
