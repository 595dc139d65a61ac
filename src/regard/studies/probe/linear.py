"""A linear classifier fitted to convergence: features are standardised, weights held small (L2), all rows in memory.

Enters: features and classes. Leaves: predictions, and how far from the optimum the fit ended. The problem is convex:
there is one optimum, and the starting point does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regard.corpus.sums import Array

TOLERANCE = 1e-4  # largest entry of the gradient of the mean loss at which a fit is done
_ALPHA = 1e-4  # weight of the L2 term
_STEPS = 5000


class Linear:
    """Logistic regression over all classes at once."""

    def __init__(self) -> None:
        from sklearn.preprocessing import StandardScaler

        self.scaler = StandardScaler(copy=False)
        self.model: Any = None
        self.only = 0  # the class, if there is only one
        self.gradient = 0.0  # largest entry, at the end

    def fit(self, features: Array, classes: Array) -> Linear:
        """Learn from (rows, features) and (rows,) class numbers; the features are standardised in place."""
        import warnings

        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        scaled = self.scaler.fit_transform(features)
        self.only = int(classes[0])
        if (classes == self.only).all():
            return self
        self.model = LogisticRegression(C=1 / (_ALPHA * len(classes)), tol=TOLERANCE / 2, max_iter=_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gradient is checked and reported
            self.model.fit(scaled, classes)
        self.gradient = self._gradient(scaled, classes)
        return self

    def predict(self, features: Array) -> Array:
        """(rows,) class numbers."""
        if self.model is None:
            return np.full(len(features), self.only)
        return np.asarray(self.model.predict(self.scaler.transform(features)))

    def _gradient(self, scaled: Array, classes: Array) -> float:
        """The largest entry of the gradient of the mean loss with its L2 term."""
        weights = self.model.coef_
        wrong = self.model.predict_proba(scaled)  # becomes probability minus truth
        wrong[np.arange(len(classes)), np.searchsorted(self.model.classes_, classes)] -= 1
        wrong = wrong[:, -len(weights) :]  # two classes have one row of weights
        slopes = wrong.T @ scaled / len(classes) + _ALPHA * weights
        return float(max(np.abs(slopes).max(), np.abs(wrong.mean(axis=0)).max()))
