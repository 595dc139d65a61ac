"""How much of the awake attention of heads is on the words that predict, over the first inputs of a corpus.

Enters: the corpus and the model. Leaves: a number per head, with chance and interval, or why there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from regard.corpus.batches import Item
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems
from regard.corpus.sums import Array
from regard.measures.awake import AwakeSums, read_awake
from regard.measures.intervals import between, clusters_of, interval, resampled
from regard.models.predicting import no_gains
from regard.models.prepare import encode
from regard.models.progress import working
from regard.patterns.awake import AwakeRows
from regard.patterns.definitions import PREDICTIVE
from regard.patterns.naming import own_name
from regard.patterns.rows import read_trace
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
    """The awake attention of a head on the words that help most with the prediction: its share, chance and lift.

    `own` is false where the head has a larger lift for something simpler that often predicts, such as a neighbour.
    """

    lift: float
    low: float
    high: float
    share: float
    chance: float
    own: bool = field(default=False, kw_only=True)

    @property
    def record(self) -> dict[str, float | bool]:
        """Its columns in the table of all heads."""
        return {
            "predicts": self.lift,
            "predicts_low": self.low,
            "predicts_high": self.high,
            "predicts_share": self.share,
            "predicts_chance": self.chance,
            "predicts_own": self.own,
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
            + ("" if one.own else " Something simpler explains that, such as a neighbour.")
        )


def predicting(context: StudyContext, count: int) -> Predicting:
    """What heads do with the words that predict, over the first `count` inputs."""
    if not count:
        return Predicting({}, 0, "not asked: --predictive 0")
    why = no_gains(context.model._engine)
    if why:
        return Predicting({}, 0, reason(why))
    with working("asking which words predict which"):
        sums = [(cluster, _sums(trace)) for cluster, trace in _traces(context, count)]
    found = [(cluster, one) for cluster, one in sums if one]
    if not found:
        return Predicting({}, 0, reason("none_predicts"))
    heads: dict[Place, Predicts] = {}
    clusters = [cluster for cluster, _ in found]
    for place in found[0][1]:
        heads |= _read(place, [one[place] for _, one in found], clusters)
    return Predicting(heads, len(sums))


def _traces(context: StudyContext, count: int) -> Iterator[tuple[int, Trace]]:
    """Traces with gains of the first inputs, each cut to `TOKENS`, and what each is resampled with."""
    from tqdm import tqdm

    engine = context.model._engine
    limit = min(TOKENS, engine.limit or TOKENS)
    examples = list(islice(read(context.source, Problems()), count))
    for example in tqdm(examples, desc="inputs", disable=None, leave=False):
        row = encode(engine.tokenizer, example.text, example.pair, limit=limit, truncate=True)
        yield Item(example.number, row, example).cluster, engine.trace_rows([row], [None], predictive=True)[0]


def _sums(trace: Trace) -> dict[tuple[str, int], dict[str, Array]]:
    """For each kind and layer the sums of each pattern; nothing if no word predicts."""
    return {
        (rows.measured.kind, rows.measured.layer): {name: _of(rows.awake, n) for n, name in enumerate(rows.awake.names)}
        for rows in read_trace(trace, "weights")
        if PREDICTIVE.name in rows.awake.names
    }


def _of(awake: AwakeRows, number: int) -> Array:
    """(4, H) mass, awake attention, expected mass and rows of a pattern."""
    counted = awake.counted[number].astype(np.float64)  # (Q,)
    weight = awake.weight.astype(np.float64)  # (H, Q)
    mass, expected = awake.mass[number] @ counted, weight @ (counted * awake.chance[number])
    return np.stack([mass, weight @ counted, expected, np.full(len(mass), counted.sum())])


def _read(place: tuple[str, int], inputs: list[dict[str, Array]], clusters: list[int]) -> dict[Place, Predicts]:
    """The numbers of a layer's heads, from the sums of each input and the document it belongs to."""
    kind, layer = place
    documents, numbers = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(documents), *inputs[0][PREDICTIVE.name].shape))  # (N, 4, H)
    np.add.at(sums, numbers, np.stack([one[PREDICTIVE.name] for one in inputs]))
    lift, share, chance = _reading(resampled(sums))
    low, high = interval(lift, clusters_of(sums[:, 1]))

    def lift_of(name: str) -> Array:
        whole = sum((one[name] for one in inputs if name in one), np.zeros(sums.shape[1:]))
        return np.asarray(np.nan_to_num(_reading(whole[None])[0][0]))

    own = own_name(PREDICTIVE.name, lift_of)
    found = np.stack([lift[0], low, high, share[0], chance[0]]).T  # (H, 5)
    return {
        (kind, layer, head): Predicts(*map(float, row), own=bool(mine))
        for head, (row, mine) in enumerate(zip(found, own, strict=True))
    }


def _reading(sums: Array) -> tuple[Array, Array, Array]:
    """(N, H) lift, share and chance of sums (N, 4, H)."""
    mass, awake, expected = (sums[:, n, :, None] for n in range(3))
    found = read_awake(AwakeSums(mass, awake, expected, sums[:, 3, :1]))
    return found.lift[..., 0], found.share[..., 0], found.chance[..., 0]
