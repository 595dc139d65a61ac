"""What a figure shows: tokens, maps and their quantity.

Enters: a Trace and what to draw. Leaves: arrays and tokens, chosen and checked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regard.base.errors import UserError
from regard.patterns.resting import rests_of
from regard.trace.lettering import readable
from regard.trace.site import Array, Positions, Site, positions
from regard.trace.tokens import Token
from regard.trace.trace import Trace

_MOST_TOKENS = 200  # labels beyond this cannot be read in a figure


NUMBERED = 6  # neurons that have their number above them
_CLEAR = 2  # times the size of numbers: where their colour is clear
_ALIKE = 1.6  # times the middle of q and k: up to there one size serves both


class Scored(NamedTuple):
    """One query and its keys: what the figure of neurons shows."""

    q: Array  # (d,)
    k: Array  # (keys shown, d)
    scores: Array  # (keys shown,)
    best: int  # of the keys shown
    mean: Array  # (d,) of k, over the keys that the query may look at
    scale: float
    row: Array  # (keys,) all scores
    sizes: tuple[float, float]  # of q and k over the whole head

    @property
    def rise(self) -> Array:
        """(d,) what each neuron adds to the best score above the average of its row."""
        return np.asarray(self.scale * self.q * (self.k[self.best] - self.mean))

    @property
    def order(self) -> Array:
        """Neurons by how much they move the best score, as in every view."""
        return np.argsort(-np.abs(self.rise), kind="stable")

    @property
    def counting(self) -> Array:
        """The neurons that move the best score most: those with a number."""
        return self.order[:NUMBERED]

    @property
    def clear(self) -> tuple[float, float, float]:
        """Sizes of q, of k and of what a neuron adds to a score at which their colour is clear, as in the app."""
        q, k = (_CLEAR * size for size in self.sizes)
        product = q * k * abs(self.scale) / _CLEAR
        both = float(np.sqrt(q * k))
        return (both, both, product) if max(q, k) < _ALIKE * both else (q, k, product)

    @property
    def average(self) -> float:
        """The mean score of the keys that the query may look at."""
        return float(self.row[np.isfinite(self.row)].mean())


def _size(values: Array) -> float:
    """How large numbers are: their root mean square."""
    return float(np.sqrt(np.mean(values.astype(np.float64) ** 2))) or 1.0


class Depicted:
    """What to draw, with defaults filled in and checked."""

    def __init__(
        self,
        trace: Trace,
        layer: int | None,
        heads: list[int] | None,
        kind: str | None,
        query: int | None,
        queries: Positions,
        keys: Positions,
        shown: str,
        threshold: float,
        width: float | None,
    ) -> None:
        self.trace, self.kind, self.width = trace, kind, width
        self.layer = trace.layers(kind)[0] if layer is None else layer
        self.site: Site = trace.site(self.layer, kind=kind)
        self.heads = list(self.site.head_ids) if heads is None else heads
        self.indices = [self.site.index(number) for number in self.heads]
        self.rows = positions(queries, self.site.queries)
        self.columns = positions(keys, self.site.keys)
        self.shown, self.threshold = shown, threshold
        self.query = query

    def map_of(self, head: int) -> Array:
        """(queries, keys) weights, contributions or worth to show."""
        if self.shown == "worth":
            return self.trace.worth(
                self.layer, head, kind=self.kind, queries=self.rows, keys=self.columns, how=self.judged["how"]
            )
        read = self.trace.contributions if self.shown == "contributions" else self.trace.attention
        return read(self.layer, head, kind=self.kind, queries=self.rows, keys=self.columns)

    @property
    def judged(self) -> dict[str, Any]:
        """What lines are judged by."""
        return dict(self.trace.facts["worth"])

    @property
    def quantity(self) -> str:
        """What the numbers are called."""
        if self.shown == "worth":
            return f"worth for {readable(self.judged['name'].strip())}"
        return "contribution ||αf(x)||" if self.shown == "contributions" else "attention weight"

    @property
    def query_tokens(self) -> list[Token]:
        return [self.trace.side(self.site.query_side).tokens[i] for i in self.rows]

    @property
    def key_tokens(self) -> list[Token]:
        return [self.trace.side(self.site.key_side).tokens[i] for i in self.columns]

    @property
    def rests(self) -> Array:
        """(queries, keys) where attention goes that has nothing to do."""
        return np.asarray(rests_of(self.trace, self.site)[np.ix_(self.rows, self.columns)])

    @property
    def divisions(self) -> tuple[int | None, int | None]:
        """The first query and key shown that the model wrote; None unless prompt and answer are both shown."""
        return self._division(self.site.query_side, self.rows), self._division(self.site.key_side, self.columns)

    def _division(self, side: str, shown: Array) -> int | None:
        segments = self.trace.side(side).segments
        start = next((segment.start for segment in segments if segment.name == "answer"), None)
        first = None if start is None else int(np.searchsorted(shown, start))
        return first if first is not None and 0 < first < len(shown) else None

    @property
    def bounds(self) -> tuple[list[int], list[int]]:
        """The queries and keys shown with which another sentence, turn or other part begins."""
        return self._bounds(self.site.query_side, self.rows), self._bounds(self.site.key_side, self.columns)

    def _bounds(self, side: str, shown: Array) -> list[int]:
        starts = [segment.start for segment in self.trace.side(side).segments]
        part = np.searchsorted(sorted(starts), shown, side="right")
        return [int(at) + 1 for at in np.flatnonzero(np.diff(part))]

    @property
    def asking(self) -> int:
        """The query whose scores are shown: by default the last one that is not special."""
        if self.query is not None:
            return int(positions(self.query, self.site.queries)[0])
        tokens = self.trace.side(self.site.query_side).tokens
        plain = [i for i, token in enumerate(tokens) if not token.special]
        return plain[-1] if plain else len(tokens) - 1

    @property
    def asked(self) -> Scored:
        """The scores of the query that is asked about, and what its neurons do for its best key."""
        head, query = self.heads[0], self.asking
        scores = self.trace.scores(self.layer, head, kind=self.kind, queries=query)[0]
        shown = scores[self.columns]
        best = int(np.where(np.isfinite(shown), shown, -np.inf).argmax())
        q, k = (np.asarray(of(self.layer, head, kind=self.kind), np.float32) for of in (self.trace.q, self.trace.k))
        return Scored(
            q[query],
            k[self.columns],
            shown,
            best,
            k[np.isfinite(scores)].mean(0),
            self.site.scale,
            scores,
            (_size(q), _size(k)),
        )

    @property
    def looking(self) -> int:
        """The query whose look at a picture is shown: by default a special token such as [CLS], else the last one."""
        if self.query is not None or len(self.rows) < self.site.queries:
            return int(self.rows[0]) if self.query is None else self.asking
        tokens = self.trace.side(self.site.query_side).tokens
        first = tokens[0].special and self.site.query_side == self.site.key_side
        return 0 if first and not self.trace.side(self.site.query_side).segments[1:] else len(tokens) - 1

    def check_length(self) -> None:
        longest = max(len(self.rows), len(self.columns))
        if longest > _MOST_TOKENS:
            raise UserError(
                f"{longest} tokens do not fit a figure with labels; choose up to {_MOST_TOKENS} with queries= and keys="
            )
