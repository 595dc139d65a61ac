"""Rankings of a text's tokens, and how much the output falls as their first ones are removed.

Enters: a text and what a model makes of it. Leaves: (rankings, shares removed) falls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Array
from regard.studies.deletion.lowering import Lowering

if TYPE_CHECKING:
    from regard.models.prepare import Encoded

RANDOM = "random order"
LAST, WEIGHTS, CONTRIBUTIONS = "last layer's attention", "rollout, weights", "rollout, contributions"
GRADIENT, LINES = "gradient x input", "worth of all lines to it"
RANKINGS = (RANDOM, LAST, WEIGHTS, CONTRIBUTIONS, GRADIENT, LINES)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)  # of the tokens that can be removed
ORDERS = 3  # random orders per text
FEWEST = 4  # removable tokens of a text that takes part


def falls_of(outcome: Lowering, row: Encoded, chooser: np.random.Generator) -> Array:
    """(rankings, shares) by how much removing a ranking's first tokens lowers the output; NaN where there is none."""
    orders = _orders(outcome, row, chooser)
    whole = np.ones((1, outcome.length), bool)
    kept = [whole] + [_without(outcome, order) for some in orders.values() for order in some]
    values = outcome.values(np.concatenate(kept))
    falls = (values[0] - values[1:]).reshape(-1, len(SHARES))
    found, start = np.full((len(RANKINGS), len(SHARES)), np.nan), 0
    for index, name in enumerate(RANKINGS):
        some = orders.get(name, [])
        if some:
            found[index] = falls[start : start + len(some)].mean(axis=0)
            start += len(some)
    return found


def _orders(outcome: Lowering, row: Encoded, chooser: np.random.Generator) -> dict[str, list[Array]]:
    """Removable positions in the order in which each ranking removes them; several random ones."""
    trace = outcome.engine.trace_rows([row], [None])[0]
    last = trace.layers()[-1]
    known = all(site.norms is not None for site in trace.sites)
    scores = {
        LAST: outcome.rows(trace.attention(last).mean(axis=0)),
        WEIGHTS: outcome.rows(trace.rollout()),
        CONTRIBUTIONS: outcome.rows(trace.rollout("contributions")) if known else None,
        GRADIENT: outcome.gradient_times_input(),
        LINES: outcome.worth_of_lines(),
    }
    removable = outcome.removable
    ordered = {
        name: [removable[np.argsort(-score[removable], kind="stable")]]
        for name, score in scores.items()
        if score is not None
    }
    return {RANDOM: [chooser.permutation(removable) for _ in range(ORDERS)], **ordered}


def _without(outcome: Lowering, order: Array) -> Array:
    """(shares, T) booleans: the tokens that are kept as more and more of an order are removed."""
    kept = np.ones((len(SHARES), outcome.length), bool)
    for row, share in enumerate(SHARES):
        kept[row, order[: max(1, round(share * len(order)))]] = False
    return kept
