"""Which heads to try: those that are best on one half of the utterances, and those that a model names itself.

Enters: errors of single heads, by utterance. Leaves: sets of heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.sums import Sums

if TYPE_CHECKING:
    from regard.models.model import Model

MOST = 10  # heads of a set that is tried


def numbers(sums: Sums) -> list[int]:
    """The numbers of the utterances."""
    return sorted(int(name.removeprefix("single/")) for name in sums.arrays if name.startswith("single/"))


def half_of(sums: Sums, half: int) -> list[int]:
    """Every other utterance, in reading order."""
    return numbers(sums)[half::2]


def own_list(model: Model) -> list[tuple[int, int]]:
    """(layer, head) of the cross heads that a model names for word times itself; empty if it names none."""
    named = getattr(getattr(model.module, "generation_config", None), "alignment_heads", None) or []
    return [(int(layer), int(head)) for layer, head in named]


def places(sums: Sums) -> list[tuple[int, int]]:
    """(layer, head) of every cross head, in the order of the errors."""
    count = len(sums[f"single/{numbers(sums)[0]}"])
    layers = round(float(sums["layers"].item()) / len(numbers(sums)))
    return [divmod(place, count // layers) for place in range(count)]


def ranked(sums: Sums, half: int) -> list[int]:
    """Heads by the median error of their onsets in one half, the best first."""
    errors = np.concatenate([sums[f"single/{number}"] for number in half_of(sums, half)], axis=1)
    return [int(head) for head in np.argsort(np.median(np.abs(errors), axis=1), kind="stable")]


def candidates(sums: Sums, named: list[tuple[int, int]]) -> list[list[int]]:
    """The first one to `MOST` heads by either half, then all heads, then the model's own list if it has one."""
    heads = places(sums)
    best = [ranked(sums, half)[: size + 1] for half in (0, 1) for size in range(min(MOST, len(heads)))]
    return [*best, list(range(len(heads))), *([[heads.index(one) for one in named]] if named else [])]
