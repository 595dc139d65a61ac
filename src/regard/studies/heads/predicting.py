"""How much of the awake attention of heads is on the words that predict, over the first inputs of a corpus.

Enters: the corpus and the model. Leaves: a number per head, with chance and interval, or why there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems
from regard.corpus.sums import Array
from regard.measures.awake import AwakeSums, read_awake
from regard.measures.intervals import between, clusters_of, interval, resampled
from regard.models.predicting import no_gains
from regard.models.prepare import encode
from regard.models.progress import working
from regard.patterns.definitions import PREDICTIVE
from regard.patterns.rows import SiteRows, read_trace
from regard.studies.base import StudyContext
from regard.studies.heads.describing import Place
from regard.trace.sentences import Message, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.trace.trace import Trace

INPUTS = 32  # unless a number is given
TOKENS = 32  # of each input: 528 runs of a masked model, 31 of a causal one


@dataclass(frozen=True)
class Predicts:
    """The awake attention of a head on the words that help most with the prediction: its share, chance and lift."""

    lift: float
    low: float
    high: float
    share: float
    chance: float

    @property
    def record(self) -> dict[str, float]:
        """Its columns in the table of all heads."""
        return {
            "predicts": self.lift,
            "predicts_low": self.low,
            "predicts_high": self.high,
            "predicts_share": self.share,
            "predicts_chance": self.chance,
        }


NOTHING = Predicts(*[float("nan")] * 5)


@dataclass(frozen=True)
class Predicting:
    """What is known of all heads, over how many inputs; `missing` says why it is nothing."""

    heads: dict[Place, Predicts]
    inputs: int
    missing: Message | str = ""

    def of(self, place: Place) -> Predicts:
        """What is known of a head."""
        return self.heads.get(place, NOTHING)

    def said(self, place: Place) -> str:
        """The same as a sentence."""
        one = self.of(place)
        if self.missing or one.lift != one.lift:
            return f"Words that help with the prediction: n/a ({self.missing or reason('none_predicts')})."
        return (
            f"Words that help most with the prediction have {one.share:.2f} of its awake attention, chance "
            f"{one.chance:.2f}: lift {one.lift:.2f}{between(one.low, one.high)}, over the first {TOKENS} tokens of the "
            f"first {self.inputs} inputs."
        )


def predicting(context: StudyContext, count: int) -> Predicting:
    """What heads do with the words that predict, over the first `count` inputs."""
    if not count:
        return Predicting({}, 0, "not asked: --predictive 0")
    why = no_gains(context.model._engine)
    if why:
        return Predicting({}, 0, reason(why))
    with working("asking which words predict which"):
        sums = [_sums(trace) for trace in _traces(context, count)]
    found = [one for one in sums if one]
    if not found:
        return Predicting({}, 0, reason("none_predicts"))
    heads: dict[Place, Predicts] = {}
    for place in found[0]:
        heads |= _read(place, np.stack([one[place] for one in found]))
    return Predicting(heads, len(sums))


def _traces(context: StudyContext, count: int) -> Iterator[Trace]:
    """Traces with gains of the first inputs, each cut to `TOKENS`."""
    from tqdm import tqdm

    engine = context.model._engine
    limit = min(TOKENS, engine.limit or TOKENS)
    examples = list(islice(read(context.source, Problems()), count))
    for example in tqdm(examples, desc="inputs", disable=None, leave=False):
        row = encode(engine.tokenizer, example.text, example.pair, limit=limit, truncate=True)
        yield engine.trace_rows([row], [None], predictive=True)[0]


def _sums(trace: Trace) -> dict[tuple[str, int], Array]:
    """(4, H) mass, awake attention, expected mass and rows, for each kind and layer; nothing if no word predicts."""
    return {
        (rows.measured.kind, rows.measured.layer): _of_site(rows)
        for rows in read_trace(trace, "weights")
        if PREDICTIVE.name in rows.awake.names
    }


def _of_site(rows: SiteRows) -> Array:
    awake = rows.awake
    number = awake.names.index(PREDICTIVE.name)
    counted = awake.counted[number].astype(np.float64)  # (Q,)
    weight = awake.weight.astype(np.float64)  # (H, Q)
    mass, expected = awake.mass[number] @ counted, weight @ (counted * awake.chance[number])
    return np.stack([mass, weight @ counted, expected, np.full(len(mass), counted.sum())])


def _read(place: tuple[str, int], sums: Array) -> dict[Place, Predicts]:
    """The numbers of a layer's heads, from sums by input (N, 4, H)."""
    kind, layer = place
    drawn = resampled(sums)  # (1 + draws, 4, H)
    mass, awake, expected = (drawn[:, n, :, None] for n in range(3))
    reading = read_awake(AwakeSums(mass, awake, expected, drawn[:, 3, :1]))
    lift, share, chance = (np.asarray(part)[..., 0] for part in (reading.lift, reading.share, reading.chance))
    low, high = interval(lift, clusters_of(sums[:, 1]))
    return {
        (kind, layer, head): Predicts(
            *map(float, (lift[0, head], low[head], high[head], share[0, head], chance[0, head]))
        )
        for head in range(sums.shape[2])
    }
