"""Whether what is said of a head predicts where it looks: chosen on one half of the documents, scored on the other.

Enters: sums by group of documents, or by half. Leaves: per head a description, and on the half that it was not chosen
on the correlation of described and real attention, beside those of the best fixed distance and of the mean map by
distance.

Groups of documents with an even number are the first half. All correlations are over pairs of a query and a key outside
the resting places, of what heads do beyond looking evenly (`reduce.py`). A description is a name of the atlas, or what
distances alone, or the tokens looked at alone, predict:

- a name must predict better than both rivals, whichever half it is scored on, and on the second also with the lower end
  of its interval where there is one; one that is a distance itself, nearly as well as the mean map;
- distances, and tokens, must predict with a correlation of `CLEAR` at least, and those with more than even attention on
  one half must have it on the other, with the lift from which a head is named (untrained heads look almost evenly, but
  what little they do is all tokens): both whichever half they are from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.measures.intervals import GROUPS, clusters_of, interval, resampled
from regard.patterns.definitions import ALWAYS, BAG, PATTERNS, STRIPES, USUAL
from regard.patterns.entries import POSITIONAL
from regard.studies.atlas.names import awake_table, first_names, named_heads
from regard.studies.base import layers_of
from regard.studies.heads.distances import DISTANCES, FARTHEST

PLACES = {name: place for place, name in enumerate((*(pattern.name for pattern in PATTERNS), BAG))}
NEARLY = 0.9  # of the mean map's correlation, for names that are distances themselves
CLEAR = 0.3
BY_DISTANCE, BY_TOKEN = "distance", "tokens"

Place = tuple[str, int, int]  # kind, layer, head


class Score(NamedTuple):
    """A correlation, with its interval; NaN where there is none."""

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")


_NONE = Score()


@dataclass(frozen=True)
class Description:
    """What is said of a head, from one half of a corpus, and how well that predicts it on the other.

    `name` is a name of the atlas, `BY_DISTANCE`, `BY_TOKEN` or nothing. `score` is the name's correlation; `by_offset`,
    `by_mean` and `by_token` are those of the best fixed distance `offset`, the mean map by distance and the tokens
    looked at; NaN for cross attention where they are distances.
    """

    name: str = ""
    words: str = ""  # the kind of words, for heads that look at fixed words
    score: Score = _NONE
    offset: int | None = None
    by_offset: float = float("nan")
    by_mean: float = float("nan")
    by_token: float = float("nan")
    distance_lift: float = float("nan")
    token_lift: float = float("nan")
    verified: bool = False

    @property
    def holds(self) -> bool:
        """Whether the name predicts more than distances do."""
        rivals = [value for value in (self.by_mean, self.by_offset) if value == value]
        if self.name in POSITIONAL:
            return self.score.value > 0 and all(self.score.value >= NEARLY * rival for rival in rivals)
        sure = self.score.low if self.score.low == self.score.low else self.score.value
        return sure > 0 and all(sure > rival for rival in rivals)


def describe(sums: Sums) -> dict[Place, Description]:
    """The description of every head."""
    halves = [half_of(sums, half) for half in (0, 1)]
    names = first_names(named_heads(awake_table(halves[0]), sure=False))
    named = {(row.kind, row.layer, row.head): row for row in names.itertuples()}
    found = {}
    for kind, layers in layers_of(sums, "pairs").items():
        for layer in layers:
            for head in range(sums[f"{kind}/{layer}/square"].shape[1]):
                place = (kind, layer, head)
                found[place] = _chosen(named.get(place), place, sums, halves)
    return found


def half_of(sums: Sums, half: int) -> Sums:
    """The sums by group of every other group."""
    return Sums({name: array[half::2] for name, array in sums.arrays.items() if len(array) == GROUPS})


def _chosen(row: Any, place: Place, sums: Sums, halves: list[Sums]) -> Description:
    """The name on the first half (a row, or None) if it holds, or else what distances or tokens tell if they are clear.

    Either in both halves.
    """
    found, swapped = (_scored(row, place, sums, halves, found=half) for half in (0, 1))
    if found.name == ALWAYS or (found.name and found.holds and swapped.holds):
        return replace(found, verified=True)
    clear = {
        name: one
        for name, one, other, lifts in (
            (BY_DISTANCE, found.by_mean, swapped.by_mean, (found.distance_lift, swapped.distance_lift)),
            (BY_TOKEN, found.by_token, swapped.by_token, (found.token_lift, swapped.token_lift)),
        )
        if min(one, other) >= CLEAR and min(lifts) >= USUAL
    }
    if not clear:
        return replace(found, name="", words="")
    best = max(clear, key=lambda name: clear[name])
    return replace(found, name=best, words="", score=Score(clear[best]), verified=True)


def _scored(row: Any, place: Place, sums: Sums, halves: list[Sums], *, found: int) -> Description:
    """A name, and what distances and tokens of the half `found` tell, scored on the other."""
    told = _rivals(sums, place, found=found)
    if row is None:
        return told
    if row.measure == ALWAYS:
        return replace(told, name=ALWAYS)
    kind, layer, head = place
    second = halves[1 - found]
    column = PLACES[row.words if row.measure == STRIPES else row.measure]
    product = resampled(second[f"{kind}/{layer}/described"][:, head, column])
    squares = [resampled(second[f"{kind}/{layer}/{name}"]) for name in ("square", "described_square")]
    values = product / _root(squares[0][:, head] * squares[1][:, column])
    low, high = interval(values, clusters_of(second[f"{kind}/{layer}/described_square"][:, column]))
    score = Score(float(values[0]), float(low), float(high))
    return replace(told, name=row.measure, words=row.words if row.measure == STRIPES else "", score=score)


def _rivals(sums: Sums, place: Place, *, found: int) -> Description:
    """What distances and tokens of the half `found` predict on the other."""
    kind, layer, head = place
    where, other = f"{kind}/{layer}", 1 - found
    real = sums[f"{where}/square"][other::2, head].sum()
    pairs = sums[f"{where}/pairs"]  # (2,)
    above = (sums[f"{where}/looked_at"] - sums[f"{where}/looked_at_chance"])[..., head]  # (2, V)
    tokens = sums[f"{where}/looked_at_pairs"][..., 0]
    told = Description(
        by_token=_predicted(above[found], tokens[found], above[other], tokens[other], pairs[other], real),
        token_lift=_lift(above[found], above[other], sums[f"{where}/looked_at_chance"][other, :, head]),
    )
    if f"{where}/distance" not in sums:
        return told
    awake = sums[f"{where}/looked_at"][..., head].sum(axis=1)  # (2,)
    mass, counts = sums[f"{where}/distance"][:, head], sums[f"{where}/distance_pairs"]  # (2, 67)
    fixed = [
        correlation(counts[found, n], counts[found, n], mass[found, n], pairs[found], 1.0)
        for n in range(len(DISTANCES))
    ]
    near = np.abs(DISTANCES) <= FARTHEST
    best = int(np.argmax(np.where(near, np.nan_to_num(fixed, nan=-np.inf), -np.inf)))
    by_offset = correlation(counts[other, best], counts[other, best], mass[other, best], pairs[other], real)
    by_mean = _predicted(mass[found], counts[found], mass[other], counts[other], pairs[other], real)
    even = sums[f"{where}/distance_mass"][head] - mass.sum(axis=0)
    lift = _lift(mass[found], mass[other], even * (awake[other] / max(even.sum(), 1e-12)))
    return replace(told, offset=DISTANCES[best], by_offset=by_offset, by_mean=by_mean, distance_lift=lift)


def _predicted(mass: Array, counts: Array, real: Array, pairs: Array, count: float, square: float) -> float:
    """The correlation of the mean of each class on one half, mass / counts, with what is there on the other."""
    mean = mass / np.maximum(counts, 1)
    return correlation(float(pairs @ mean), float(pairs @ mean**2), float(real @ mean), count, square)


def _lift(above: Array, real: Array, even: Array) -> float:
    """The lift of the classes that have more than even attention on one half, from what they have on the other.

    `above` and `real` are attention beyond even attention by class, on either half; `even` what the other's even
    attention has.
    """
    chosen = above > 0
    room = even[~chosen].sum()
    return float(real[chosen].sum() / room) if room > 0 else float("nan")


def correlation(total: float, square: float, product: float, pairs: float, real: float) -> float:
    """Pearson's, of a predictor (its sum and sum of squares) with what has the sum 0 and the sum of squares `real`."""
    return float(product / _root(real * (square - total**2 / max(pairs, 1))))


def _root(values: Any) -> Any:
    return np.sqrt(np.where(np.asarray(values) > 0, values, np.nan))
