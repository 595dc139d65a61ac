"""Fit the type classifier, and score it on maps it has not seen.

Enters: 480 maps and the labels of two readers (blind*.json, blind.npz), the 300 maps labelled before, synthetic maps.
Leaves: src/regard/measures/types.json (weights fitted to all maps on which the readers agree, and to synthetic ones),
results.json (how far the readers agree, and scores on maps whose head, input or model was left out).

    python tests/data/maps/fit_types.py
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from blind_sheets import blind_maps
from draw_blind import KINDS, causal
from synthetic import TYPES, examples

from regard.measures import shape_features
from regard.measures.types import type_inputs

HERE = Path(__file__).parent
MODEL = HERE.parents[2] / "src" / "regard" / "measures" / "types.json"
PENALTY = 2e-3
SYNTHETIC = 0.1  # weight of a synthetic map; a real one counts once
FOLDS = 10
DRAWS = 2000


class Weights(NamedTuple):
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class Maps(NamedTuple):
    """Maps with what the classifier sees of them, what an eye saw, and where they came from; (N,) each."""

    inputs: np.ndarray  # (N, F)
    types: np.ndarray
    agreed: np.ndarray  # whether both readers gave this type
    model: np.ndarray
    head: np.ndarray  # names of model, part, layer and head
    weights: np.ndarray  # the same; layers of one ALBERT share their weights, and so do its heads of one number
    given: np.ndarray  # names of inputs
    random: np.ndarray  # drawn at random, not for looking like a rare type

    def where(self, chosen: np.ndarray) -> Maps:
        return Maps(*(field[chosen] for field in self))

    @property
    def held(self) -> np.ndarray:
        """Heads that no feature and no setting was chosen on: a fixed half, by the hash of their names."""
        return np.array([hashlib.sha256(name.encode()).digest()[0] % 2 == 1 for name in self.head])


def read(path: str) -> Any:
    return json.loads((HERE / path).read_text(encoding="utf-8"))


def parts(row: dict[str, Any]) -> np.ndarray:
    """Sentence numbers, -1 for special tokens; of a reaction, numbers of molecules, -1 for what separates them."""
    if row["model"] == "rxnmapper":
        between = np.isin(np.arange(len(row["segment"])), row["marks"])
        return np.where(between, -1, np.cumsum(between))
    return np.where(np.array(row["special"]) == 1, -1, row["segment"])


def inputs_of(attention: np.ndarray, segments: np.ndarray) -> np.ndarray:
    visible = np.tri(len(attention), dtype=bool) if causal(attention) else np.ones(attention.shape, bool)
    return type_inputs(shape_features(attention.astype(np.float32), segments=segments, visible=visible))


def place(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """Names of the model, the head, the weights it is made with, and the input."""
    if "kind" in row:
        model, part, given = KINDS[row["kind"]].model, row["part"], f"new {row['input']}"
    else:
        model, given = read("inputs.json")[row["input"]]["model"], f"old {row['input']}"
        part = "decoder" if model.startswith("SmolLM2") else "encoder"
    head = f"{model} {part} {row['layer']} {row['head']}"
    return model, head, f"{model} {row['head']}" if model == "rxnmapper" else head, given


def blind() -> Maps:
    """The 480 maps that two readers labelled; where they differ, the type is that of a third look."""
    found = []
    for (row, attention), label in zip(blind_maps(), read("blind_labels.json"), strict=True):
        model, head, weights, given = place(row)
        seen = inputs_of(attention, parts(row | {"model": model}))
        agreed = label["A"] == label["B"]
        found.append((seen, TYPES.index(label["final"]), agreed, model, head, weights, given, row["why"] == "random"))
    return Maps(*(np.array(field) for field in zip(*found, strict=True)))


def first() -> Maps:
    """The 300 maps that one reader labelled before, without those that were read again."""
    again = {row["old"] for row in read("blind.json") if row["why"] == "old"}
    labels = read("labels.json")["first"]
    found = []
    with np.load(HERE / "maps.npz") as maps:
        for row in read("maps.json"):
            if row["map"] not in again:
                model, head, weights, given = place(row)
                seen = inputs_of(maps[f"{row['map']:03d}"].astype(np.float32), parts(row | {"model": model}))
                found.append((seen, TYPES.index(labels[row["map"]]), False, model, head, weights, given, True))
    return Maps(*(np.array(field) for field in zip(*found, strict=True)))


def synthetic_maps(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(5 count, F) inputs and (5 count,) types of synthetic maps."""
    made = examples(count, seed)
    shapes = [shape_features(e.attention.astype(np.float32), segments=e.segments, visible=e.visible) for e in made]
    return np.stack([type_inputs(s) for s in shapes]), np.array([TYPES.index(e.type) for e in made])


def fit(synthetic: tuple[np.ndarray, np.ndarray], real: Maps) -> Weights:
    """Multinomial logistic regression with an L2 penalty, on standardised inputs."""
    inputs = np.concatenate([synthetic[0], real.inputs])
    types = torch.tensor(np.concatenate([synthetic[1], real.types]))
    counts = torch.tensor(np.repeat([SYNTHETIC, 1.0], [len(synthetic[1]), len(real.types)]))
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


def folds(names: np.ndarray) -> np.ndarray:
    """A fold for each map such that all maps of one name share it."""
    each, number = np.unique(names, return_inverse=True)
    return (np.random.default_rng(3).permutation(len(each)) % FOLDS)[number]


def cross_validated(synthetic: tuple[np.ndarray, np.ndarray], maps: Maps, groups: np.ndarray) -> np.ndarray:
    """Types of all maps, each by a model fitted to the agreed maps of the other groups."""
    predicted = np.empty_like(maps.types)
    for group in np.unique(groups):
        out = groups == group
        predicted[out] = predict(fit(synthetic, maps.where(~out & maps.agreed)), maps.inputs[out])
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


def interval(types: np.ndarray, predicted: np.ndarray, heads: np.ndarray) -> list[float]:
    """95 % of the macro F1 over heads drawn again, with replacement."""
    generator = np.random.default_rng(0)
    own = [np.flatnonzero(heads == head) for head in np.unique(heads)]
    drawn = (np.concatenate([own[i] for i in generator.integers(len(own), size=len(own))]) for _ in range(DRAWS))
    found = [scores(types[maps], predicted[maps])["macro F1"] for maps in drawn]
    return [round(float(edge), 2) for edge in np.percentile(found, [2.5, 97.5])]


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa of two readings."""
    agreed = np.mean(one == other)
    luck = sum(np.mean(one == name) * np.mean(other == name) for name in np.unique(one))
    return round(float((agreed - luck) / (1 - luck)), 3)


def readers() -> dict[str, Any]:
    """How far the two readers agree: on all types, on each against the rest, and as a score of one by the other."""
    rows = read("blind_labels.json")
    one, other = (np.array([TYPES.index(row[reader]) for row in rows]) for reader in "AB")
    return {
        "kappa": kappa(one, other),
        "kappa of each": {name: kappa(one == n, other == n) for n, name in enumerate(TYPES)},
        "one by the other": scores(one, other),
    }


def results(synthetic: tuple[np.ndarray, np.ndarray], maps: Maps) -> dict[str, Any]:
    """Every score but that of the half held out, which `held_out` gives."""
    sure, text = maps.agreed, maps.model != "rxnmapper"
    by_head = cross_validated(synthetic, maps, folds(maps.head))
    old = first()
    both = Maps(*(np.concatenate(fields) for fields in zip(maps, old, strict=True)))
    on_old = cross_validated(synthetic, both, folds(both.head))[len(maps.types) :]
    others = {"by input": folds(maps.given), "by weights": folds(maps.weights), "by model": maps.model}
    return {
        "by head": scores(maps.types[sure], by_head[sure])
        | {"interval": interval(maps.types[sure], by_head[sure], maps.head[sure])},
        "by head, without reactions": scores(maps.types[sure & text], by_head[sure & text]),
        "by head, the maps drawn at random": scores(maps.types[sure & maps.random], by_head[sure & maps.random]),
        "by head, also where readers differ": scores(maps.types, by_head),
        **{
            name: scores(maps.types[sure], cross_validated(synthetic, maps, groups)[sure])
            for name, groups in others.items()
        },
        "by head, the 260 maps of the first reader": scores(old.types, on_old),
    }


def held_out(synthetic: tuple[np.ndarray, np.ndarray], maps: Maps) -> dict[str, Any]:
    """Fitted to one half of the heads, scored on the other, which was not looked at before."""
    sure = maps.where(maps.agreed)
    kept = sure.where(sure.held)
    predicted = predict(fit(synthetic, sure.where(~sure.held)), kept.inputs)
    return scores(kept.types, predicted) | {"interval": interval(kept.types, predicted, kept.head)}


def main() -> None:
    synthetic, unseen = synthetic_maps(200, seed=1), synthetic_maps(200, seed=2)
    maps = blind()
    model = fit(synthetic, maps.where(maps.agreed))
    found = {
        "paper": {"F1": 0.86, "note": "Kovaleva et al. (2019), 400 maps, protocol of the held-out set not stated"},
        "readers": readers(),
        "half of the heads held out": held_out(synthetic, maps),
        **results(synthetic, maps),
        "synthetic, held out": scores(unseen[1], predict(model, unseen[0])),
    }
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stored = {"types": list(TYPES)} | {name: np.round(value, 5).tolist() for name, value in model._asdict().items()}
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
