"""The atlas: what every head does over a corpus, with intervals over inputs and shares of map types.

Enters: a corpus. Leaves: a row per head and measure: mass, argmax rate, chance, lift and its interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.measures.bag import bag_evenness, bag_gain
from regard.measures.entropy import entropy_of, mixed_logs, renormalised, sink_rows
from regard.measures.reading import hit_rows, sum_rows, weigh_rows
from regard.studies.atlas.carriers import BUCKETS, CARRIED
from regard.studies.atlas.types import Typing
from regard.studies.base import Batch, key
from regard.studies.tables import Tables, of_all, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer


class AtlasTaker(Taker[Tables]):
    """One batch: sums of masses, hits, entropies and types for every head."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self.typing = Typing(batch)

    def make(self, view: LayerView) -> Tables:
        return tables_of(self.batch, view)

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        mass, hit = self._masses(layer, attention, tables)
        logs = mixed_logs(attention, tables.seen[:, None])
        entropy = self._entropy(layer, attention, logs, tables)
        if tables.own is not None:
            self._bag(layer, mass[..., -2:-1], hit[..., -2:-1], weigh_rows(logs, tables.own), tables)
        if layer.kind != "cross":
            self.typing.take(layer, attention, tables, entropy)

    def finish(self) -> None:
        self.typing.finish()

    def _masses(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> tuple[torch.Tensor, torch.Tensor]:
        """Mass and hits (B, Q, H, A + 2) on the targets of every pattern, and the mean distance."""
        mass = weigh_rows(attention, tables.targets)
        hit = hit_rows(attention.argmax(dim=-1), tables.targets)
        self._add_asked(layer, "mass", mass[..., :-2], tables)
        self._carried(layer, mass, tables)
        self.add(layer, "distance", sum_rows(mass[..., -1:], tables.choice[..., None])[..., 0])
        self._add_asked(layer, "hits", hit[..., :-2], tables)
        self.add(layer, "chance", tables.chances)
        self.add(layer, "rows", tables.rows)
        return mass, hit

    def _carried(self, layer: Layer, mass: torch.Tensor, tables: Tables) -> None:
        """The same by word, for patterns whose score one word may carry."""
        masses, known = np.zeros((len(CARRIED), BUCKETS, mass.shape[2])), np.zeros((len(CARRIED), BUCKETS, 2))
        for carried in tables.carried:
            masses[carried.pattern], known[carried.pattern] = carried.masses(mass), carried.known
        self.batch.total(key(layer, "carried_mass"), masses)
        self.batch.total(key(layer, "carried_rows"), known)

    def _add_asked(self, layer: Layer, name: str, values: torch.Tensor, tables: Tables) -> None:
        """Note sums (B, H, P) over the rows that count of values (B, Q, H, A) of the patterns that were asked."""
        self.add(layer, name, of_all(tables.asked, sum_rows(values, tables.counted).cpu().numpy()))

    def _entropy(self, layer: Layer, attention: torch.Tensor, logs: torch.Tensor, tables: Tables) -> torch.Tensor:
        """(B, H) entropy of the rows that have a choice, without a sink's part."""
        seen, operation = tables.seen[:, None], layer.named.operation
        if operation.sink is not None:
            self.add(layer, "sink", torch.einsum("bhq,bq->bh", sink_rows(attention), tables.choice))
        if operation.sink is not None or operation.maps is not None:  # rows may sum to less than 1
            logs = mixed_logs(renormalised(attention), seen)
        entropy = torch.einsum("bhq,bq->bh", entropy_of(logs, seen), tables.choice)
        self.add(layer, "entropy", entropy)
        self.add(layer, "uniform", tables.uniform)
        self.add(layer, "uniform_distance", tables.far)
        self.add(layer, "choices", tables.choices)
        return entropy

    def _bag(self, layer: Layer, mass: torch.Tensor, hit: torch.Tensor, spread: torch.Tensor, tables: Tables) -> None:
        """Attention spread evenly over the query's own sentence; mass, hits and spread there are (B, Q, H, 1)."""
        size, seen, counted = (some[..., None, None] for some in (tables.size, tables.seen, tables.bag))
        chance = size / seen
        gain = bag_gain(mass, chance, bag_evenness(mass, spread, size, seen))
        for name, values in (("mass", mass), ("hits", hit), ("gain", gain), ("chance", chance), ("rows", counted)):
            total = sum_rows(values, counted[..., 0])[..., 0]  # (B, H), or (B, 1) where heads do not differ
            self.add(layer, f"bag_{name}", total[:, 0] if name in ("chance", "rows") else total)
