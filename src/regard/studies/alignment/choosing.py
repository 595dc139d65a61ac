"""Which heads to try: those that are best on one half of the inputs, and those that a model names itself.

Enters: errors of single heads, by utterance or sentence. Leaves: sets of heads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Sums

if TYPE_CHECKING:
    from regard.models.model import Model

MOST = 10  # heads of a set that is tried
Typical = Callable[..., Any]  # what many errors are judged by: np.median, np.mean


@dataclass(frozen=True)
class Chosen:
    """Sets that were chosen on one half each, the other half's first."""

    sets: tuple[list[int], list[int]]

    def named(self, heads: list[tuple[int, int]], inputs: str) -> str:
        """Both sets, or the one that both halves chose."""
        said = [", ".join(f"{heads[one][0]}.{heads[one][1]}" for one in sorted(chosen)) for chosen in self.sets]
        return said[0] if said[0] == said[1] else f"{said[0]} (chosen on even {inputs}); {said[1]} (on odd ones)"


def numbers(sums: Sums) -> list[int]:
    """The numbers of the utterances, or sentences."""
    return sorted(int(name.removeprefix("single/")) for name in sums.arrays if name.startswith("single/"))


def half_of(sums: Sums, half: int) -> list[int]:
    """Every other one, in reading order."""
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


def ranked(sums: Sums, half: int, typical: Typical = np.median, what: str = "single") -> list[int]:
    """Heads by their typical error in one half, the best first."""
    errors = np.concatenate([sums[f"{what}/{number}"] for number in half_of(sums, half)], axis=1)
    return [int(head) for head in np.argsort(typical(np.abs(errors), axis=1), kind="stable")]


def candidates(sums: Sums, named: list[tuple[int, int]], typical: Typical = np.median) -> list[list[int]]:
    """The first one to `MOST` heads by either half, then all heads, then the model's own list if it has one."""
    heads = places(sums)
    best = [ranked(sums, half, typical)[: size + 1] for half in (0, 1) for size in range(min(MOST, len(heads)))]
    return [*best, list(range(len(heads))), *([[heads.index(one) for one in named]] if named else [])]
