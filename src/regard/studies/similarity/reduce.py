"""Which heads look at the same things: Jensen-Shannon distances between all heads (Clark et al. 2019, section 6).

Enters: a corpus. Leaves: the distances of all pairs of heads for each kind of attention, and the sums of the atlas,
which say what each head does. There are many pairs, so these sums have fewer groups of clusters.

The distance of two heads needs the maps of both, so a batch keeps rows until all its layers have run: `rows` of each
input, drawn by the example's number, never whole maps. The sum over an input's rows is then scaled to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.batches import Item
from regard.corpus.sums import Array
from regard.measures.divergence import SMOOTH, js_pairs
from regard.measures.entropy import mix_uniform
from regard.studies.atlas.reduce import AtlasTaker
from regard.studies.base import Batch
from regard.studies.taking import sides_of

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.studies.tables import Tables

ROWS = 8
GROUPS = 32  # an even number: even groups are the even clusters


@dataclass(eq=False)
class _Chosen:
    """Rows of a batch: (inputs, queries) of each, the weight that scales it to all rows of its input, what it sees."""

    inputs: Array
    queries: Array
    weights: Array
    visible: torch.Tensor  # (rows, K)


class SimilarityTaker(AtlasTaker):
    """One batch: the atlas, and rows of every head."""

    def __init__(self, batch: Batch, rows: int, seed: int) -> None:
        super().__init__(batch)
        self.rows, self.seed = rows, seed
        self._chosen: dict[tuple[str, int], _Chosen] = {}
        self._rows: dict[str, list[torch.Tensor]] = {}  # kind -> (H, rows, K) of each layer

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        super().take(layer, attention, tables)
        chosen = self._rows_of(layer, tables)
        picked = attention[chosen.inputs, :, chosen.queries].transpose(0, 1)  # (H, rows, K)
        self._rows.setdefault(layer.kind, []).append(mix_uniform(picked, visible=chosen.visible, smooth=SMOOTH))

    def finish(self) -> None:
        super().finish()
        for kind, layers in self._rows.items():
            chosen = next(one for (name, _), one in self._chosen.items() if name == kind)
            weights = torch.from_numpy(chosen.weights).to(layers[0])
            groups = self.batch.clusters[chosen.inputs] % GROUPS
            share = weights[:, None] * torch.nn.functional.one_hot(torch.from_numpy(groups), GROUPS).to(weights)
            self.batch.total(f"{kind}/distances", js_between(torch.cat(layers), share))
            self.batch.total(f"{kind}/rows", np.bincount(groups, chosen.weights, GROUPS))

    def _rows_of(self, layer: Layer, tables: Tables) -> _Chosen:
        """The rows to compare, the same for all layers of a kind."""
        place = (layer.kind, id(tables))
        if place not in self._chosen:
            side = sides_of(layer, self.batch)[0]
            parts = [
                _drawn(item, len(self.batch.book.sides[number][side]), self.rows, self.seed)
                for number, item in enumerate(self.batch.items)
            ]
            inputs = np.repeat(np.arange(len(parts)), [len(queries) for queries, _ in parts])
            queries = np.concatenate([queries for queries, _ in parts])
            weights = np.concatenate([np.full(len(queries), weight) for queries, weight in parts])
            visible = tables.visible[inputs, queries]
            self._chosen[place] = _Chosen(inputs, queries, weights.astype(np.float32), visible)
        return self._chosen[place]


def _drawn(item: Item, length: int, rows: int, seed: int) -> tuple[Array, float]:
    """Which queries of an input are compared, and how many rows each of them represents."""
    if not rows or length <= rows:
        return np.arange(length), 1.0
    rng = np.random.Generator(np.random.Philox(key=[seed, item.number]))
    return np.sort(rng.choice(length, rows, replace=False)), length / rows


def js_between(maps: torch.Tensor, share: torch.Tensor) -> Array:
    """(G, pairs) sums, weighted in G ways (rows, G), of the distances between the rows (N, rows, K) of N heads.

    Pairs come as `np.triu_indices(N, 1)` has them.
    """
    return torch.cat([(rows @ share).T.double().cpu() for rows in js_pairs(maps)], dim=1).numpy()
