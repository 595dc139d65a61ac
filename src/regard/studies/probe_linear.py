"""A linear classifier that learns from a stream: features are standardised, weights held small (L2), SGD.

Enters: chunks of features and classes, in any cut. Leaves: predictions. The same stream gives the same classifier
however it is cut into chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from regard.corpus.sums import Array

Chunk = tuple[Array, Array]  # (rows, features), (rows,) class numbers
_ALPHA = 1e-4  # weight of the L2 term
_DECAY = 0.25  # the step falls with this power of the number of rows seen


class Linear:
    """Logistic regression, one against the rest where there are several classes."""

    def __init__(self, classes: int, *, seed: int = 0) -> None:
        from sklearn.preprocessing import StandardScaler

        self.classes = np.arange(classes)
        self.seed = seed
        self.scaler = StandardScaler()
        self.model: Any = None

    def fit(self, stream: Callable[[int], Iterable[Chunk]], epochs: int) -> Linear:
        """Read the stream once for the scale of its features, then once per epoch; `stream` takes the epoch."""
        from sklearn.linear_model import SGDClassifier

        for features, _ in stream(0):
            self.scaler.partial_fit(features)
        # Not shuffled here: the stream comes in another order every epoch, and chunks may be cut anywhere. Steps begin
        # at one over the squared length of a row; sklearn's "optimal" ones are far too long for so small an alpha.
        self.model = SGDClassifier(
            loss="log_loss",
            alpha=_ALPHA,
            shuffle=False,
            learning_rate="invscaling",
            eta0=1 / self.scaler.n_features_in_,
            power_t=_DECAY,
            random_state=self.seed,
        )
        for epoch in range(epochs):
            for features, classes in stream(epoch):
                self.model.partial_fit(self.scaler.transform(features), classes, classes=self.classes)
        return self

    def predict(self, features: Array) -> Array:
        """(rows,) class numbers."""
        return np.asarray(self.model.predict(self.scaler.transform(features)))


def chunked(parts: Iterable[Chunk], rows: int) -> Iterable[Chunk]:
    """Small parts joined into chunks of at least so many rows."""
    held: list[Chunk] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part[1])
        if size >= rows:
            yield _joined(held)
            held, size = [], 0
    if size:
        yield _joined(held)


def _joined(parts: Sequence[Chunk]) -> Chunk:
    return np.concatenate([features for features, _ in parts]), np.concatenate([classes for _, classes in parts])
