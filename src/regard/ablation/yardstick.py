"""Whether what a head changes is much: the same for other heads of the model, switched off one at a time.

Enters: a model, copies of an input, and what measures a change. Leaves: how many heads change more. Every row of a
batch is without another head, so one run tries many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from regard.capture import Ablation
from regard.models.ablated import switch_off
from regard.trace.heads import Head

if TYPE_CHECKING:
    from regard.models.model import Model

WORK = 6e10  # parameters x tokens that are worth spending: about a second on two cores
TOGETHER = 16  # rows of one run
FEWEST = 12  # heads without which nothing is said


@dataclass(frozen=True)
class Yardstick:
    """How a head compares: `more` of the `tried` heads (of `heads` in all) change the result more than it does.

    `change` is KL(before || after) in nats, or 1 - cosine of the mean hidden state; `typical` the median of the others.
    """

    heads: int
    tried: int
    more: int
    change: float
    typical: float


def yardstick(
    model: Model,
    head: Head,
    length: int,
    copies: Callable[[int], dict[str, Any]],
    predict: Callable[[dict[str, Any]], torch.Tensor],
    change: Callable[[torch.Tensor], float],
) -> Yardstick | None:
    """Compare a head with others; None where too few can be tried, or rows cannot differ.

    `copies(n)` are n rows of the input, of `length` tokens; `predict` what the model makes of them, `change` how far a
    row of that is from what it is with all heads.
    """
    if model._engine.plan().tier not in ("tap", "registered"):
        return None
    every = [Head(kind, layer, n) for (kind, layer), count in model.layout().items() for n in range(count)]
    size = sum(parameter.numel() for parameter in model.module.parameters())
    most = min(len(every), int(WORK / (size * max(length, 1))))
    if most < FEWEST:
        return None
    others = [one for one in every if one != head]
    tried = [head, *(others[n * len(others) // (most - 1)] for n in range(most - 1))]
    found: list[float] = []
    for start in range(0, len(tried), TOGETHER):
        some = tried[start : start + TOGETHER]
        with switch_off(model, Ablation([[one] for one in some])):
            found += [change(row) for row in predict(copies(len(some)))]
    own, rest = found[0], found[1:]
    return Yardstick(len(every), len(tried), sum(other > own for other in rest), own, median(rest))
