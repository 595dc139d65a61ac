"""Measure again the figures that the documentation states, and write them into its pages.

    python docs/numbers/run.py                 # all of them; about half an hour on two cores
    python docs/numbers/run.py syntax coref    # some
    python docs/numbers/run.py --write         # write pages from the figures measured last, without measuring

Each script beside this one has `measure(data)`, which returns plain data, and `blocks(found)`, which makes of it the
parts of the pages. What was measured is kept in found/NAME.json. Corpora are read from ../shared/data.

Tables that take hours have a script of their own: docs/experiments/ablation.py (how-to/does-removing-heads-help.md).
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import blocks

HERE = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("blocks", "run"))

MEASURED = [name for name in NAMES if (HERE / "found" / f"{name}.json").exists()]


def main() -> None:
    """Measure, keep and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)}; all unless given")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the corpora are")
    parser.add_argument("--write", action="store_true", help="write the pages without measuring")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    for name in given.names or (MEASURED if given.write else NAMES):
        script = load(name)
        if not given.write:
            start = time.perf_counter()
            keep(name, measured(script, given))
            print(f"{name}: measured in {time.perf_counter() - start:.0f} s")
        for page, parts in script.blocks(found(name)).items():
            for block, markdown in parts.items():
                blocks.write(page, block, markdown)
    if not given.names and not given.write:
        print("not measured here: docs/how-to/does-removing-heads-help.md (python docs/experiments/ablation.py)")


def load(name: str) -> ModuleType:
    """The script of a name."""
    return importlib.import_module(name)


def measured(script: ModuleType, given: argparse.Namespace) -> dict[str, Any]:
    """What a script measures."""
    import torch

    torch.set_num_threads(given.threads)
    return dict(script.measure(given.data))


def keep(name: str, values: dict[str, Any]) -> None:
    """Keep what was measured."""
    path = HERE / "found" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def found(name: str) -> dict[str, Any]:
    """What was measured last."""
    return dict(json.loads((HERE / "found" / f"{name}.json").read_text("utf-8")))


if __name__ == "__main__":
    main()
