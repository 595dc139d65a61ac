"""Does removing heads help? Fine-tune on two tasks with three seeds each, map every head in three modes, sum up.

    python docs/experiments/ablation.py --data ../shared/data --output regard-ablation

It writes a folder per model and map, `summary.json`, and one figure per task; what is there already is not made again,
so that it can be stopped and started. `--only polarity-0` makes one model and its map, `--limit` takes fewer examples.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from regard import study
from regard.ablation.classifier import train_classifier
from regard.ablation.tasks import Classification
from regard.studies.ablation.scores import AblationScores, chance, held_out
from regard.studies.figures import grid_axes, new_figure
from regard.trace.heads import MODES
from regard.views.figures import Picture

TASKS = {
    "polarity": ("sentence_polarity/train.tsv", "sentence_polarity/dev.tsv"),
    "snli": ("snli/train.jsonl", "snli/dev.jsonl"),
}
SEEDS = (0, 1, 2)
CLEAR = 0.05


def main() -> None:
    """Make what is missing, then sum up what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path("regard-ablation"))
    parser.add_argument("--images", type=Path, default=None, help="where figures go; the output folder unless given")
    parser.add_argument("--limit", type=int, default=None, help="dev examples of each map")
    parser.add_argument("--train", type=int, default=None, help="training examples of each model")
    parser.add_argument("--only", default=None, help="one model, such as polarity-0")
    parser.add_argument("--step", choices=("train", "map", "sum"), default=None, help="one step only")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    names = [given.only] if given.only else [f"{task}-{seed}" for seed in SEEDS for task in TASKS]
    for name in names:
        if given.step in (None, "train"):
            fine_tuned(name, given)
        if given.step in (None, "map"):
            mapped(name, given)
    if given.step == "sum" or (given.step is None and given.only is None):
        found = {task: summed(task, given) for task in TASKS}
        (given.output / "summary.json").write_text(json.dumps(found, indent=2))
        (given.output / "summary.md").write_text("\n".join(rows(found)) + "\n")


def fine_tuned(name: str, given: argparse.Namespace) -> None:
    """The default model on one task; a tenth of the training data tells the best epoch, not the dev data."""
    task, seed = name.split("-")
    folder = given.output / name
    facts = folder / "training.json"
    if not facts.exists() or not json.loads(facts.read_text())["finished"]:
        data = given.data / TASKS[task][0]
        train_classifier(data, folder, epochs=2, length=64, limit=given.train, seed=int(seed))


def mapped(name: str, given: argparse.Namespace) -> None:
    """Every head and layer off, in three modes; heads removed together for the first seed."""
    task, seed = name.split("-")
    folder = given.output / f"{name}-map"
    if not (folder / "report.html").exists():
        corpus = given.data / TASKS[task][1]
        study.ablation(given.output / name, corpus, limit=given.limit, curve=seed == "0", output=folder, resume=True)


def summed(task: str, given: argparse.Namespace) -> dict[str, Any]:
    """What the seeds of a task show, each alone and together."""
    seeds = [seed for seed in SEEDS if (given.output / f"{task}-{seed}-map" / "report.html").exists()]
    folders = [given.output / f"{task}-{seed}-map" for seed in seeds]
    if not folders:
        return {"seeds": []}
    frames = [pd.read_parquet(folder / "scores.parquet") for folder in folders]
    tables = [pd.read_parquet(folder / "result.parquet") for folder in folders]
    found: dict[str, Any] = {"seeds": seeds, "examples": len(frames[0]), "modes": {}}
    found["baseline"] = [seed_scores([frame], MODES[0]).replicated[0, 0] for frame in frames]
    for mode in MODES:
        each = [described(seed_scores([frame], mode)) for frame in frames]
        together = described(seed_scores(frames, mode))
        changes = [table[table["mode"] == mode]["change"].to_numpy() for table in tables]
        alike = [float(pd.Series(a).corr(pd.Series(b), method="spearman")) for a, b in pairs(changes)]
        signs = np.stack(changes) > 0
        found["modes"][mode] = {
            "by seed": each,
            "over seeds": together,
            "rank correlation of two seeds": alike,
            "heads better in every seed": int(signs.all(axis=0).sum()),
            "expected if seeds were independent": float(np.prod(signs.mean(axis=1)) * signs.shape[1]),
        }
    picture(task, tables, seeds, list(found["baseline"])).save(
        (given.images or given.output) / f"ablation-{task}.png", dpi=110
    )
    return found


def rows(found: dict[str, Any]) -> list[str]:
    """The table of the how-to page: a row per task, mode and seed, then the seeds together."""
    lines = [
        "| task | mode | seed | baseline | better when off | by chance | p | clear: + / − | best gain | held out |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for task, one in found.items():
        for mode, made in one.get("modes", {}).items():
            both = [*zip(map(str, one["seeds"]), made["by seed"], strict=True), ("mean", made["over seeds"])]
            for seed, row in both:
                gains = ", ".join(f"{100 * half['gain']:+.1f}" for half in row["held out"])
                luck = f"{row['by luck']:.0f} [{row['by luck, interval'][0]:.0f}, {row['by luck, interval'][1]:.0f}]"
                low, high = (100 * end for end in row["best"]["interval"])
                lines.append(
                    f"| {task} | {mode} | {seed} | {100 * row['baseline']:.1f} | {row['heads better off']} | {luck} | "
                    f"{row['p of as many']:.2f} | {row['clearly better off']} / {row['clearly worse off']} | "
                    f"{100 * row['best']['gain']:+.1f} [{low:+.1f}, {high:+.1f}] | {gains} |"
                )
    return lines


def pairs(some: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every two of them."""
    return [(one, other) for n, one in enumerate(some) for other in some[n + 1 :]]


def seed_scores(frames: list[pd.DataFrame], mode: str) -> AblationScores:
    """The runs of single heads in a mode: of one seed, or the mean of an example over several."""
    columns = [name for name in frames[0] if name.startswith(f"{mode} ") and not name.endswith("*")]
    first = frames[0]
    return AblationScores(
        Classification,  # type: ignore[arg-type]
        first["example"].to_numpy(),
        np.ones(len(first)),
        np.zeros(len(first)),
        np.mean([frame["baseline"] for frame in frames], axis=0),
        np.mean([frame[columns].to_numpy() for frame in frames], axis=0),
    )


def described(scores: AblationScores) -> dict[str, Any]:
    """Counts, tests and held-out gains of a map."""
    luck = chance(scores)
    low, high = scores.interval(scores.gains)
    best, worst = int(scores.gains[0].argmax()), int(scores.gains[0].argmin())
    base_low, base_high = scores.baseline_interval
    return {
        "baseline": scores.baseline,
        "baseline interval": [base_low, base_high],
        "heads better off": luck.helping,
        "by luck": luck.expected,
        "by luck, interval": [luck.low, luck.high],
        "p of as many": luck.p,
        "clearly better off": int((luck.p_helps < CLEAR).sum()),
        "clearly worse off": int((luck.p_hurts < CLEAR).sum()),
        "best": {"head": best, "gain": scores.gains[0, best], "interval": [low[best], high[best]]},
        "best p": float(luck.p_helps.min()),
        "worst": {"head": worst, "gain": scores.gains[0, worst], "interval": [low[worst], high[worst]]},
        "held out": [
            {"chosen": half.chosen, "gain": half.gain, "interval": [half.low, half.high]} for half in held_out(scores)
        ],
    }


def picture(task: str, tables: list[pd.DataFrame], seeds: list[int], baselines: list[float]) -> Picture:
    """Modes down, seeds across: the change of accuracy without each head, one scale for all."""
    drawn = new_figure(2.9 * len(tables) + 0.8, 5.2)
    grid = drawn.subplots(len(MODES), len(tables), squeeze=False)
    spread = max(float(table["change"].abs().max()) for table in tables) * 100
    for row, mode in enumerate(MODES):
        for column, table in enumerate(tables):
            mine = table[table["mode"] == mode]
            values = 100 * mine.pivot(index="layer", columns="head", values="change").to_numpy()
            axes = grid[row][column]
            image = axes.imshow(values, cmap="PuOr", vmin=-spread, vmax=spread, interpolation="nearest")
            title = f"{mode}, seed {seeds[column]}"
            if row == 0:
                title += f" (baseline {100 * baselines[column]:.1f} %)"
            grid_axes(axes, *values.shape, title)
            for one in mine.itertuples():
                if one.better_p < CLEAR or one.worse_p < CLEAR:
                    mark = "+" if one.better_p < CLEAR else "−"
                    axes.text(one.head, one.layer, mark, ha="center", va="center", size=7)
    bar = drawn.colorbar(image, ax=grid, shrink=0.6, aspect=30)
    bar.set_label(f"{task}: change of accuracy without the head, points", size=7)
    bar.ax.tick_params(labelsize=7)
    return Picture(drawn)


if __name__ == "__main__":
    main()
