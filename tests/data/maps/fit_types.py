"""Fit the type classifier, and score it on maps it has not seen.

Enters: maps.npz, maps.json, labels.json and synthetic maps. Leaves: src/regard/measures/types.json (weights fitted to
everything) and results.json (cross-validated scores: each real map is predicted by a model that has not seen its
input or, in the second figure, its head).

    python tests/data/maps/fit_types.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from synthetic import TYPES, examples

from regard.measures import shape_features
from regard.measures.types import type_inputs

HERE = Path(__file__).parent
MODEL = HERE.parents[2] / "src" / "regard" / "measures" / "types.json"
PENALTY = 1e-3
REAL = 3.0  # weight of a real map; a synthetic one counts once
HEAD_FOLDS = 10


class Weights(NamedTuple):
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


def real_maps() -> tuple[np.ndarray, list[dict[str, Any]]]:
    """(300, 14) inputs of the real maps, and where they came from."""
    rows = json.loads((HERE / "maps.json").read_text(encoding="utf-8"))
    texts = json.loads((HERE / "inputs.json").read_text(encoding="utf-8"))
    inputs = []
    with np.load(HERE / "maps.npz") as maps:
        for row in rows:
            attention = maps[f"{row['map']:03d}"].astype(np.float32)
            row["model"] = texts[row["input"]]["model"]
            causal = row["model"].startswith("SmolLM2")
            visible = np.tri(len(attention), dtype=bool) if causal else np.ones(attention.shape, bool)
            segments = np.where(np.array(row["special"]) == 1, -1, row["segment"])
            inputs.append(type_inputs(shape_features(attention, segments=segments, visible=visible)))
    return np.stack(inputs), rows


def synthetic_maps(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(5 count, 14) inputs and (5 count,) types of synthetic maps."""
    made = examples(count, seed)
    shapes = [shape_features(e.attention.astype(np.float32), segments=e.segments, visible=e.visible) for e in made]
    return np.stack([type_inputs(s) for s in shapes]), np.array([TYPES.index(e.type) for e in made])


def importance(types: np.ndarray) -> np.ndarray:
    """Rare types count more, by the square root of how rare they are."""
    counts = np.bincount(types, minlength=len(TYPES))
    return np.sqrt(len(types) / len(TYPES) / np.maximum(counts, 1))[types]


def fit(synthetic: tuple[np.ndarray, np.ndarray], real: tuple[np.ndarray, np.ndarray]) -> Weights:
    """Multinomial logistic regression with an L2 penalty, on standardised inputs."""
    inputs = np.concatenate([synthetic[0], real[0]])
    types = torch.tensor(np.concatenate([synthetic[1], real[1]]))
    counts = torch.tensor(np.concatenate([importance(synthetic[1]), REAL * importance(real[1])]))
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
    x = torch.tensor((inputs - mean) / scale)
    weights = torch.zeros(x.shape[1], len(TYPES), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(len(TYPES), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, bias], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        each = torch.nn.functional.cross_entropy(x @ weights + bias, types, reduction="none")
        total = (each * counts).sum() / counts.sum() + PENALTY * (weights**2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    return Weights(mean, scale, weights.detach().numpy(), bias.detach().numpy())


def predict(model: Weights, inputs: np.ndarray) -> np.ndarray:
    return ((inputs - model.mean) / model.scale @ model.weights + model.bias).argmax(axis=-1)


def cross_validated(
    synthetic: tuple[np.ndarray, np.ndarray], inputs: np.ndarray, types: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Each group predicted by a model that was fitted without it."""
    predicted = np.empty_like(types)
    for group in np.unique(groups):
        out = groups == group
        predicted[out] = predict(fit(synthetic, (inputs[~out], types[~out])), inputs[out])
    return predicted


def scores(types: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """Accuracy, F1 of each type, their mean, and the confusion table (rows: the eye's label)."""
    confusion = np.zeros((len(TYPES), len(TYPES)), int)
    np.add.at(confusion, (types, predicted), 1)
    f1 = 2 * np.diag(confusion) / np.maximum(1, confusion.sum(axis=0) + confusion.sum(axis=1))
    return {
        "maps": len(types),
        "accuracy": round(float(np.mean(types == predicted)), 3),
        "macro F1": round(float(f1.mean()), 3),
        "F1": {name: round(float(value), 3) for name, value in zip(TYPES, f1, strict=True)},
        "confusion": confusion.tolist(),
    }


def head_folds(rows: list[dict[str, Any]]) -> np.ndarray:
    """A fold for each map such that all maps of one head share it."""
    heads = sorted({(row["model"], row["layer"], row["head"]) for row in rows})
    fold = dict(zip(heads, np.random.default_rng(3).permutation(len(heads)) % HEAD_FOLDS, strict=True))
    return np.array([fold[row["model"], row["layer"], row["head"]] for row in rows])


def kappa(labels: dict[str, Any]) -> float:
    """Cohen's kappa of the two readings."""
    pairs = [(labels["first"][int(number)], again) for number, again in labels["second"].items()]
    agreed = np.mean([a == b for a, b in pairs])
    by_chance = sum(np.mean([a == name for a, _ in pairs]) * np.mean([b == name for _, b in pairs]) for name in TYPES)
    return round(float((agreed - by_chance) / (1 - by_chance)), 3)


def main() -> None:
    labels = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
    types = np.array([TYPES.index(label) for label in labels["first"]])
    synthetic, held_out = synthetic_maps(200, seed=1), synthetic_maps(200, seed=2)
    inputs, rows = real_maps()
    model = fit(synthetic, (inputs, types))
    results = {
        "paper": {"F1": 0.86, "note": "Kovaleva et al. (2019), 400 maps, protocol of the held-out set not stated"},
        "kappa of two readings": kappa(labels),
        "synthetic, held out": scores(held_out[1], predict(model, held_out[0])),
        "real, by input": scores(
            types, cross_validated(synthetic, inputs, types, np.array([row["input"] for row in rows]))
        ),
        "real, by head": scores(types, cross_validated(synthetic, inputs, types, head_folds(rows))),
        "real, fitted to synthetic maps alone": scores(types, predict(fit(synthetic, (inputs[:0], types[:0])), inputs)),
    }
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    stored = {"types": list(TYPES)} | {name: np.round(value, 5).tolist() for name, value in model._asdict().items()}
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
