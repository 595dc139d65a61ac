"""Examples of what a head does: rows of the corpus with where they look, as a table and as drawings.

Enters: the rows that pages show, where exactly they look, their texts. Leaves: a table; markup with arcs.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums
from regard.studies.arcs import Arc, arcs_svg
from regard.studies.heads.choosing import KEY, QUANTILES, QUERY, SLOTS, STRENGTH, slots_of
from regard.studies.heads.describing import Place
from regard.studies.heads.keeping import COLUMNS, is_row
from regard.studies.heads.texts import Texts, sides_for

if TYPE_CHECKING:
    import pandas as pd

AROUND = 5  # tokens that are shown on either side of the ends of a look
FAINT = 0.05  # weight from which a look is drawn
_GAP = "…"
_ACROSS = "→"
_EXAMPLE, _PART = (COLUMNS.index(name) for name in ("example", "part"))
_SHOWN = {
    "best": "strongest",
    "typical": "ordinary",
    "best_arriving": "strongest by what arrives",
    "nearest": "nearest",
}


@dataclass(frozen=True, eq=False)
class Look:
    """A row of a head: the token that looks, where it looks most outside the resting places, and all of its looks."""

    group: str  # which examples it belongs to
    quantile: float | None  # the share of rows that are weaker, for ordinary ones
    example: int
    part: int
    query: int
    key: int
    strength: float
    looks: Array  # (n, 2) keys and weights, the strongest first
    queries: Sequence[str]
    keys: Sequence[str]
    same: bool
    distance: float | None = None  # from what was asked for, for nearest ones

    @property
    def record(self) -> dict[str, Any]:
        """As a row of a table."""
        return {
            "group": _SHOWN[self.group],
            "quantile": self.quantile,
            "example": self.example,
            "part": self.part,
            "query": self.query,
            "query_token": self.queries[self.query],
            "key": self.key,
            "key_token": self.keys[self.key],
            "weight": self.strength,
            "tokens": list(self.queries),
            "key_tokens": None if self.same else list(self.keys),
            "keys": self.looks[:, 0].astype(int).tolist(),
            "weights": self.looks[:, 1].tolist(),
        }

    @property
    def in_words(self) -> str:
        """As a line of text: who looks at whom how strongly, and the words around the query."""
        near = _around([self.query], len(self.queries))
        words = [f"[{self.queries[n]}]" if n == self.query else self.queries[n] for n in near]
        return f"{self.queries[self.query]} → {self.keys[self.key]} {self.strength:.2f}: {' '.join(words)}"


def looks_of(place: Place, rows: Array, exact: Sums, texts: Texts) -> Iterator[Look]:
    """The looks of a head's page, from the rows of all heads of its layer (H, S, 8)."""
    kind, layer, head = place
    strongest = exact[f"{kind}/{layer}/rows"][head]  # (S, KEYS, 2)
    for group in SLOTS:
        for number, slot in enumerate(range(*slots_of(group).indices(len(strongest)))):
            row = rows[head, slot]
            if not is_row(row):
                continue
            name = int(row[_EXAMPLE]), int(row[_PART])
            sides = texts[name]
            query, key = sides_for(kind, sides)
            some = strongest[slot][strongest[slot][:, 0] > 0]
            quantile = QUANTILES[number * len(QUANTILES) // SLOTS[group]] if group == "typical" else None
            looks = np.stack([some[:, 0] - 1, some[:, 1]], axis=1)
            yield Look(
                group,
                quantile,
                *name,
                query=int(row[QUERY]),
                key=int(row[KEY]),
                strength=float(row[STRENGTH]),
                looks=looks,
                queries=sides[query],
                keys=sides[key],
                same=query == key,
            )


def examples_table(looks: dict[Place, list[Look]]) -> pd.DataFrame:
    """A row per look that some page shows."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"kind": kind, "layer": layer, "head": head, **look.record}
            for (kind, layer, head), mine in looks.items()
            for look in mine
        ]
    )


def drawn(look: Look) -> str:
    """A look as an article's figure: the text around it with arcs, and its numbers."""
    words, arcs, bold = _line(look)
    ends = f"{look.queries[look.query]} → {look.keys[look.key]}"
    parts = [ends, f"{look.strength:.2f}", f"example {look.example + 1:,}"]
    if look.quantile is not None:
        parts.append(f"stronger than {look.quantile:.0%} of its rows")
    if look.distance is not None:
        parts.append(f"{look.distance:.2f} away")
    svg = arcs_svg(words, arcs, label=f"{ends}, {look.strength:.2f}: {' '.join(words)}", bold=bold)
    caption = html.escape(" · ".join(parts))
    return f'<figure class="look"><div class="scroll">{svg}</div><figcaption>{caption}</figcaption></figure>'


def _line(look: Look) -> tuple[list[str], list[Arc], int]:
    """The words to show, with gaps; the arcs between them; and the place of the word that looks."""
    if look.same:
        shown = _around([look.query, look.key], len(look.queries))
        words, places = _with_gaps(look.queries, shown)
        own = places
    else:
        mine, own = _with_gaps(look.queries, _around([look.query], len(look.queries)))
        theirs, places = _with_gaps(look.keys, _around([look.key], len(look.keys)))
        words = [*mine, _ACROSS, *theirs]
        places = {key: place + len(mine) + 1 for key, place in places.items()}
    arcs = [
        Arc(own[look.query], places[int(key)], "look" if int(key) == look.key else "rest", min(1.0, float(weight)))
        for key, weight in look.looks
        if weight >= FAINT and int(key) in places
    ]
    return words, arcs, own[look.query]


def _around(places: Sequence[int], count: int) -> list[int]:
    near = {n for place in places for n in range(place - AROUND, place + AROUND + 1)}
    return sorted(n for n in near if 0 <= n < count)


def _with_gaps(tokens: Sequence[str], shown: Sequence[int]) -> tuple[list[str], dict[int, int]]:
    """Tokens with a mark for each gap between them, and where each token stands."""
    words: list[str] = [_GAP] if shown and shown[0] > 0 else []
    places: dict[int, int] = {}
    for number, place in enumerate(shown):
        if number and place != shown[number - 1] + 1:
            words.append(_GAP)
        places[place] = len(words)
        words.append(tokens[place])
    if shown and shown[-1] < len(tokens) - 1:
        words.append(_GAP)
    return words, places
