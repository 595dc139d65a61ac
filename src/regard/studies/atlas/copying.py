"""Copying over a corpus: whether heads write the words they read when awake.

Enters: layers of a decoder. Leaves: sums per input and head; a table with intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.corpus.sums import Sums, ratio
from regard.measures.intervals import interval
from regard.models.copying import copying_maps
from regard.studies.base import Batch, key, layers_of

if TYPE_CHECKING:
    import pandas as pd

    from regard.capture import Layer

COPYING, AWAKE = "copying", "copying_awake"


class Copying:
    """One batch: copying scores of the tokens that heads read, by how much awake rows look at each."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.maps = copying_maps(batch.model._engine)

    def take(self, layer: Layer, attention: torch.Tensor) -> None:
        """Add a layer's heads; nothing where a model has no such score."""
        if self.maps is None or (layer.kind, layer.layer) not in self.maps.maps or layer.named.operation.v is None:
            return
        keep, rests = (torch.from_numpy(one).to(attention.device) for one in self._places())
        free = attention.masked_fill(rests[:, None, None], 0)
        read = (keep[:, None, None].float() @ free)[:, :, 0]  # (B, H, K) what each token gets of awake attention
        ids = self.batch.inputs["input_ids"].to(attention.device)
        scores = self.maps.scores(layer.kind, layer.layer, layer.values(), ids)  # (B, H, K)
        self.batch.add(key(layer, COPYING), (read * scores).sum(-1))
        self.batch.add(key(layer, AWAKE), read.sum(-1))

    def _places(self) -> tuple[Any, Any]:
        """(B, T) booleans: real positions, and those on which heads rest: special tokens and the first one."""
        keep = self.batch.book.keep["text"]
        rests = ~keep.copy()
        for row, sides in enumerate(self.batch.book.sides):
            places = np.flatnonzero(keep[row])
            special = [token.special for token in sides["text"].tokens]
            rests[row, places[np.array(special, bool)]] = True
            rests[row, places[:1]] = True
        return keep, rests


def copying_table(sums: Sums) -> pd.DataFrame:
    """A row per head: 1 if it writes what it reads, -1 if it suppresses it; with the 95 % interval."""
    import pandas as pd

    rows = []
    for kind, layers in layers_of(sums, COPYING).items():
        for layer in layers:
            place = f"{kind}/{layer}/"
            values = ratio(sums.resampled(place + COPYING), sums.resampled(place + AWAKE))
            low, high = interval(values, sums.clusters(place + AWAKE))
            awake = sums.whole(place + AWAKE)
            numbers = zip(values[0], low, high, awake, strict=True)
            rows += [(kind, layer, head, *one) for head, one in enumerate(numbers)]
    return pd.DataFrame(rows, columns=["kind", "layer", "head", "copying", "low", "high", "awake_rows"])
