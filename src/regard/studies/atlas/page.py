"""What the interactive atlas of a report shows of each head: names, types and numbers of the corpus.

Enters: the atlas' table and sums. Leaves: records as `regard.views` takes them.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.measures.types import TYPES
from regard.patterns.definitions import PATTERNS
from regard.studies.base import layers_of

if TYPE_CHECKING:
    import pandas as pd

_PHRASES = {pattern.name: pattern.phrase for pattern in PATTERNS}


def head_records(table: pd.DataFrame, named: pd.DataFrame, sums: Sums) -> list[dict[str, Any]]:
    """A record per head: what it is named for over the corpus, shares of map types, every measure."""
    kinds = _types(sums)
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in named.itertuples():
        found.setdefault((row.kind, row.layer, row.head), []).append(_pattern(row))
    return [
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            "patterns": found.get((kind, layer, head), []),
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


def _pattern(row: Any) -> dict[str, Any]:
    phrase = _PHRASES.get(row.measure, "spreads over the words of its own sentence")
    return {
        "name": row.measure,
        "score": row.value,
        "sentence": f"{phrase}: {row.mass:.2f} of the attention over {row.rows:,} rows of the corpus; "
        f"chance {row.chance:.2f}, lift {row.value:.2f}{between(row.low, row.high)}",
        "mass": row.mass,
        "chance": row.chance,
        "rows": row.rows,
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
