"""Kovaleva's five types of attention map, as probabilities.

Enters: shape features of maps (`measures.shape`). Leaves: a probability for each type.

The model is a multinomial logistic regression on nine of the features and the logarithms of three. Its weights are data
(types.json), fitted to real maps on which two readers agree, and to synthetic ones: tests/data/maps has all, with
the script and the scores it gets on heads and inputs it has not seen.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from regard.measures.shape import Outline, Shape

Array = np.ndarray[Any, Any]

TYPES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")
FEWEST = 6  # tokens: smaller maps have no shape to speak of
_PLAIN = ("tallest", "three", "gini", "own", "evenness", "squares", "close", "steady", "drawn")
_LOGGED = ("tallest", "own", "squares")  # these range over decades
_FLOOR = 0.02  # added before the logarithm: what the eye no longer tells from nothing


def type_probabilities(shape: Shape | Outline) -> Array:
    """(..., 5) probabilities of the types in the order of `TYPES`; NaN where the map has no room for a shape."""
    model = _model()
    inputs = (type_inputs(shape) - model["mean"]) / model["scale"]
    scores = inputs @ model["weights"] + model["bias"]  # (..., F) @ (F, 5) -> (..., 5)
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True))


def type_inputs(shape: Shape | Outline) -> Array:
    """(..., 12): features, then logarithms of some."""
    features = {name: np.asarray(getattr(shape, name), dtype=np.float64) for name in _PLAIN}
    return np.stack([*features.values(), *(np.log(features[name] + _FLOOR) for name in _LOGGED)], axis=-1)


@cache
def _model() -> dict[str, Array]:
    stored = json.loads(files("regard.measures").joinpath("types.json").read_text(encoding="utf-8"))
    assert stored["types"] == list(TYPES)
    return {name: np.array(stored[name]) for name in ("mean", "scale", "weights", "bias")}
