"""What the interactive atlas of a report shows of each head: names, types and numbers of the corpus.

Enters: the atlas' table and sums. Leaves: records as `regard.views` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.measures.types import TYPES
from regard.patterns.definitions import ALWAYS, STRIPES
from regard.patterns.entries import PHRASES, rank_of
from regard.patterns.saved import SavedRule
from regard.studies.atlas.names import AWAKE_SHARE
from regard.studies.base import layers_of

if TYPE_CHECKING:
    import pandas as pd

_PLACES = {"[CLS]": "[CLS]", "[SEP]": "[SEP]", "first token (sink)": "the first token"}


def head_records(
    table: pd.DataFrame,
    awake: Mapping[str, pd.DataFrame],
    names: Mapping[str, pd.DataFrame],
    sums: Sums,
    rules: Sequence[SavedRule] = (),
) -> list[dict[str, Any]]:
    """A record per head: what it is named for over the corpus, shares of map types, every measure.

    `awake` has the table of what heads do when awake by weights, and by contributions; `names` the named heads.
    """
    kinds = _types(sums)
    known = {rule.name: rule for rule in rules}
    named = {by: _names(mine, known) for by, mine in names.items()}
    rests = {by: _rests(mine, table) for by, mine in awake.items()}
    return [
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            "patterns": named["weights"].get((kind, layer, head), []),
            "rest": rests["weights"].get((kind, layer, head)),
            "contributions": None
            if (kind, layer, head) not in rests["contributions"]
            else {
                "patterns": named["contributions"].get((kind, layer, head), []),
                "rest": rests["contributions"][kind, layer, head],
            },
            "probabilities": kinds.get((kind, layer, head)),
            "measures": _measures(mine),
        }
        for (kind, layer, head), mine in table.groupby(["kind", "layer", "head"], sort=False)
    ]


def _measures(mine: pd.DataFrame) -> dict[str, float | None]:
    """Every number of a head, and the entropy that uniform attention would have."""
    values = dict(zip(mine.measure, mine.value, strict=True))
    values["entropy of uniform"] = mine.chance[mine.measure == "entropy"].item()
    return {name: None if isnan(value) else float(value) for name, value in values.items()}


def _names(named: pd.DataFrame, rules: Mapping[str, SavedRule]) -> dict[Any, list[dict[str, Any]]]:
    """What each head is named for, the most specific first."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in named.sort_values("measure", key=lambda names: names.map(rank_of), kind="stable").itertuples():
        found.setdefault((row.kind, row.layer, row.head), []).append(_pattern(row, rules))
    return found


def _pattern(row: Any, rules: Mapping[str, SavedRule]) -> dict[str, Any]:
    own = rules.get(row.measure)
    phrase = PHRASES[row.measure] if own is None else own.phrase
    share = "of its attention" if row.measure == ALWAYS else "of its attention that does not rest"
    if row.measure == STRIPES:
        share += f" is on {row.words}, and {row.stays:.2f} of that stays if queries are exchanged,"
    chance = "" if isnan(row.chance) else f"; chance {row.chance:.2f}, lift {row.value:.2f} (0: chance, 1: all of it)"
    return {
        "name": row.measure,
        "score": row.value,
        "sentence": f"{phrase}: {row.share:.2f} {share} over {row.rows:,} rows of the corpus"
        f"{chance}{between(row.low, row.high)}",
        "mass": row.share,
        "chance": None if isnan(row.chance) else row.chance,
        "rows": row.rows,
        **({} if own is None else {"colour": own.colour}),
    }


def _rests(awake: pd.DataFrame, table: pd.DataFrame) -> dict[Any, dict[str, Any]]:
    """How much of each head's attention rests, and where most."""
    level = awake[(awake["measure"] == AWAKE_SHARE) & awake["value"].notna()]
    places = table[table["measure"].isin(_PLACES) & table["mass"].notna()].sort_values("mass")
    where = {(row.kind, row.layer, row.head): _PLACES[row.measure] for row in places.itertuples()}
    return {
        (row.kind, row.layer, row.head): {
            "share": 1 - row.value,
            "place": where.get((row.kind, row.layer, row.head), ""),
        }
        for row in level.itertuples()
    }


def _types(sums: Sums) -> dict[tuple[str, int, int], dict[str, float]]:
    """Shares of the map types of each head, where maps were typed."""
    found = {}
    for kind, layers in layers_of(sums, "types").items():
        for layer in layers:
            counts, inputs = (sums.whole(f"{kind}/{layer}/{name}") for name in ("types", "typed"))  # (H, 5), (H,)
            for head in np.flatnonzero(inputs):
                shares = counts[head] / inputs[head]
                found[kind, layer, int(head)] = dict(zip(TYPES, shares.tolist(), strict=True))
    return found
