"""Shares of the five types of maps over a corpus, and over several side by side.

Enters: sums over a corpus, or results. Leaves: a table with intervals; for several corpora, a file and a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.base.files import write_atomic
from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import clusters_of, interval, resampled
from regard.measures.types import TYPES
from regard.studies.base import layers_of
from regard.studies.figures import share_picture
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd


def type_shares(sums: Sums) -> pd.DataFrame:
    """Shares of the five types over maps, with intervals over inputs, by kind of attention."""
    import pandas as pd

    rows = []
    for kind, layers in layers_of(sums, "types").items():
        total = np.asarray(sum(sums[f"{kind}/{n}/types"].sum(axis=1) for n in layers))  # (G, 5)
        maps = np.asarray(sum(sums[f"{kind}/{n}/typed"].sum(axis=1, keepdims=True) for n in layers))  # (G, 1)
        if not maps.any():
            continue
        shares = ratio(resampled(total), resampled(maps))
        low, high = interval(shares, clusters_of(maps))
        rows += [
            {"kind": kind, "type": name, "share": shares[0, n], "low": low[n], "high": high[n]}
            for n, name in enumerate(TYPES)
        ]
    return pd.DataFrame(rows, columns=["kind", "type", "share", "low", "high"])


def compared_types(results: Mapping[str, Result], folder: Path) -> None:
    """Write the shares of map types over several corpora: types.parquet and one figure of all."""
    import pandas as pd

    found = {name: made.tables["Types of maps"] for name, made in results.items() if "Types of maps" in made.tables}
    if not found:
        return
    table = pd.concat([shares.assign(corpus=name) for name, shares in found.items()], ignore_index=True)
    write_atomic(folder / "types.parquet", lambda path: table.to_parquet(path))
    picture = share_picture({name: first_shares(shares) for name, shares in found.items()})
    picture.save(folder / "types.png", dpi=200)
    picture.save(folder / "types.svg")


def first_shares(shares: pd.DataFrame) -> Array:
    """The shares of the first kind of attention."""
    first = shares[shares["kind"] == shares["kind"].iloc[0]]
    return np.asarray(first["share"])
