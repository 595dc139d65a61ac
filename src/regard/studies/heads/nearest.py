"""What else makes a head do this: the rows of a corpus that are nearest to a position in one's own text.

Enters: a folder of portraits, a text, a head and a position. Leaves: rows of the sample with where they look, the
nearest first.

The search is exact: a product of the sample's vectors, a quarter of a second for 50,000 of them. How far apart two
queries or keys are is how much their scores differ over the sample (`regard.measures.nearness`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import OutOfRangeError, UserError
from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Array
from regard.measures.nearness import SIDES, apart, distances_to, nearest_of, nearness_map, position_means
from regard.models.outcome import Answering, encode_text
from regard.studies.entry import loaded
from regard.studies.head_names import head_name
from regard.studies.heads.describing import Place
from regard.studies.heads.examples import Look, examples_table
from regard.studies.heads.stored import Stored
from regard.studies.heads.vectors import Input, LayerVectors, places_in, starts_of, vectors_of
from regard.trace.picking import position_of
from regard.trace.records import Tabular
from regard.trace.tokens import Token

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

COUNT, MOST = 10, 100  # rows that are shown, and that may be asked for
_NEAREST = "nearest"


@dataclass(frozen=True, eq=False)
class Nearest(Tabular):
    """Rows of a corpus that are nearest to one of a text.

    `own` is the row of the text itself, `looks` those of the corpus; `middle` is how far half of the `rows` of the
    sample are at most. `positions` are mean distances between places in their texts: of the row asked for from those
    found, and from all rows. `still` is False where rotary positions are left in the vectors.
    """

    place: Place
    side: str
    corpus: str
    own: Look
    looks: Sequence[Look]
    middle: float
    rows: int
    positions: tuple[float, float]
    still: bool

    @property
    def table(self) -> pd.DataFrame:
        """A row per look of the corpus, with its distance."""
        table = examples_table({self.place: list(self.looks)}).drop(columns=["group", "quantile"])
        table.insert(3, "distance", [look.distance for look in self.looks])
        return table

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {str(name): values for name, values in self.table.items()}

    @property
    def said(self) -> str:
        """What was asked, in a sentence."""
        _, layer, head = self.place
        at, tokens = (self.own.query, self.own.queries) if self.side == "q" else (self.own.key, self.own.keys)
        what = "queries" if self.side == "q" else "keys"
        return (
            f"The {what} of {self.corpus} that are nearest to “{tokens[at]}” (position {at}) for head "
            f"{head_name(layer, head)}, of a sample of {self.rows:,}; half of all are within {self.middle:.2f}, in "
            "units of its scores."
        )

    @property
    def cautions(self) -> list[str]:
        """What should be known of it."""
        found = []
        if not self.still:
            found.append("Rotary positions could not be undone for this family: what is near may be near in place.")
        near, all_rows = self.positions
        if near < all_rows / 2:
            found.append(
                f"The rows found are {near:.1f} positions from yours on average, all rows {all_rows:.1f}: position is "
                "part of what this head goes by."
            )
        return found


def nearest(  # long because of its arguments and their descriptions
    folder: str | os.PathLike[str],
    text: str,
    pair: str | None = None,
    *,
    head: Any,
    query: int | str,
    side: str = "q",
    target: str | None = None,
    generate: int | None = None,
    model: Model | str | None = None,
    count: int = COUNT,
    position: bool = False,
) -> Nearest:
    """The rows of a corpus in which a head does what it does at one position of a text.

    Parameters
    ----------
    folder
        A folder of `regard.study.heads`, made with vectors.
    text, pair, target
        What the model reads; `target` is what the decoder of an encoder-decoder model reads.
    head
        As in `regard.trace.heads`: "0.2", (0, 2) or "cross:1.3".
    query
        The position, a token's text, or both ("store@10").
    side
        "q": rows whose query is nearest, so that they look as this one does. "k": positions whose key is nearest, so
        that they are looked at as this one is; `query` is then the position looked at.
    generate
        Let a causal model continue for this many tokens first, as in a trace.
    model
        The model of the portraits, if it is loaded already.
    count
        How many rows.
    position
        Leave the positions in: rows at the same place of their texts are nearer. Otherwise the mean q and k of each
        position are taken out.

    Returns
    -------
    `looks`, the nearest first, also as `table`; `middle`, how far the median row is.

    Examples
    --------
    >>> regard.nearest("portraits", "I went to the store.", head="0.2", query="store").table  # doctest: +SKIP
    """
    stored = Stored(folder)
    if side not in SIDES:
        raise UserError(f"side must be q or k, not {side!r}")
    if not 1 <= count <= MOST:
        raise OutOfRangeError(f"count must be from 1 to {MOST}, not {count}")
    place = stored.head(head)
    ready = model if model is not None and not isinstance(model, str) else loaded(model or stored.model)
    mine, inputs = _own(ready, text, pair, target, place, generate)
    found = stored.head_vectors(place)
    if Path(ready.name).name != Path(stored.model).name or mine.q.shape[2] != found.q.shape[2]:
        raise UserError(f"{ready.name} is not the model of {stored.folder}, which is {stored.model}")
    at = position_of([Token(one) for one in inputs[0].sides[mine.sides[SIDES.index(side)]]], query)
    return _search(stored, place, side, (mine, inputs, at), (found, stored.inputs()), count=count, position=position)


def _own(
    model: Model, text: str, pair: str | None, target: str | None, place: Place, generate: int | None
) -> tuple[LayerVectors, list[Input]]:
    """The vectors of one head on the text."""
    kind, layer, head = place
    if model.is_encoder_decoder:
        pair = target
    second = None if model.is_encoder_decoder else pair
    encoded, _ = encode_text(model._engine, text, second, None, Answering(generate), truncate=True)
    found = vectors_of(model, [(0, 0)], [[Item(0, encoded, Example(0, text, pair))]])
    if (kind, layer) not in found.layers or head >= len(found.layers[kind, layer].q):
        raise UserError(f"{model.name} has no head {head_name(layer, head)} of this kind; use the portraits' model")
    whole = found.layers[kind, layer]
    group = head * len(whole.k) // len(whole.q)
    one = slice(head, head + 1)
    k = whole.k[group : group + 1]
    return replace(whole, q=whole.q[one], k=k, keys=whole.keys[one], weights=whole.weights[one]), found.inputs


def _search(
    stored: Stored,
    place: Place,
    side: str,
    asked: tuple[LayerVectors, list[Input], int],
    sample: tuple[LayerVectors, list[Input]],
    *,
    count: int,
    position: bool,
) -> Nearest:
    mine, own, at = asked
    found, inputs = sample
    number = SIDES.index(side)
    places = [places_in(inputs, side_name) for side_name in found.sides]
    vectors, own_vector = list(found.of(0)), mine.of(0)[number][at]
    if not position:
        means = [position_means(some, where) for some, where in zip(vectors, places, strict=True)]
        own_vector = apart(own_vector[None], np.array([at]), means[number])[0]
        vectors = [apart(*some) for some in zip(vectors, places, means, strict=True)]
    distances = distances_to(own_vector, vectors[number], nearness_map(vectors[0], vectors[1], found.scale, side))
    order = nearest_of(distances, count)
    starts, within = np.array(starts_of(inputs, found.sides[number])), places[number]
    looks = []
    for row in order:
        input_at = int(np.searchsorted(starts, row, side="right")) - 1
        look = _look(found, inputs, input_at, int(within[row]), side)
        looks.append(replace(look, distance=float(distances[row])))
    return Nearest(
        place=place,
        side=side,
        corpus=stored.corpus,
        own=_look(mine, own, 0, at, side),
        looks=looks,
        middle=float(np.median(distances)),
        rows=len(distances),
        positions=(float(np.abs(within[order] - at).mean()), float(np.abs(within - at).mean())),
        still=found.still and mine.still,
    )


def _look(vectors: LayerVectors, inputs: Sequence[Input], number: int, at: int, side: str) -> Look:
    """The row of a query, or for a key that of the query which looks at it most."""
    one = inputs[number]
    query_side, key_side = vectors.sides
    start = starts_of(inputs, query_side)[number]
    count = len(one.sides[query_side])
    keys, weights = (array[0, start : start + count] for array in (vectors.keys, vectors.weights))
    query, key = (at, int(keys[at, 0])) if side == "q" else (_looker(keys, weights, at), at)
    mine = (keys[query] == key) & (weights[query] > 0)
    return Look(
        group=_NEAREST,
        quantile=None,
        example=one.name[0],
        part=one.name[1],
        query=query,
        key=key,
        strength=float(weights[query][mine].max()) if mine.any() else 0.0,
        looks=_strongest(keys[query], weights[query]),
        queries=one.sides[query_side],
        keys=one.sides[key_side],
        same=query_side == key_side,
    )


def _looker(keys: Array, weights: Array, at: int) -> int:
    """The query of an input that looks most at a key, of those rows that have it among their strongest."""
    return int(np.where(keys == at, weights, 0).max(axis=1).argmax())


def _strongest(keys: Array, weights: Array) -> Array:
    """(n, 2) the kept keys of a row and their weights, each once."""
    known = {int(key): float(weight) for key, weight in zip(keys, weights, strict=True) if weight > 0}
    return np.array(sorted(known.items(), key=lambda one: -one[1])).reshape(-1, 2)
