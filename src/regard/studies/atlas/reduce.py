"""The atlas: what every head does over a corpus, with intervals over inputs and shares of map types.

Enters: a corpus. Leaves: a row per head and measure: mass, argmax rate, chance, lift and its interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.measures.awake import sum_awake
from regard.measures.bag import bag_evenness, bag_gain
from regard.measures.entropy import renormalised
from regard.measures.reading import hit_rows, sum_rows, weigh_rows
from regard.patterns.definitions import PATTERNS
from regard.patterns.levels import AWAKE, LEVELS, WEIGHED, MapRows
from regard.studies.atlas.carriers import BUCKETS, CARRIED
from regard.studies.atlas.types import Typing
from regard.studies.base import Batch, key
from regard.studies.tables import Tables, of_all, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer


class AtlasTaker(Taker[Tables]):
    """One batch: sums of masses, hits, levels and types for every head."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self.typing = Typing(batch)

    def make(self, view: LayerView) -> Tables:
        return tables_of(self.batch, view)

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        operation = layer.named.operation
        rows = MapRows(attention, tables.seen, operation.sink is not None or operation.maps is not None)
        weighed = weigh_rows(attention, tables.weights)  # (B, Q, H, A + 1 + W)
        hit = hit_rows(attention.argmax(dim=-1), tables.targets)
        self._masses(layer, weighed, hit, tables)
        self._levels(layer, rows, weighed[..., -len(WEIGHED) :], tables)
        spread = weigh_rows(rows.logs, tables.targets[..., -1:]) if tables.has_bag else None
        if spread is not None:
            self._bag(layer, weighed[..., len(tables.asked), None], hit[..., -1:], spread, tables)
        self._awake(layer, "weights", weighed, spread, tables)
        self._contributions(layer, attention, tables)

    def finish(self) -> None:
        self.typing.finish()

    def _masses(self, layer: Layer, weighed: torch.Tensor, hit: torch.Tensor, tables: Tables) -> None:
        """Mass and hits on the targets of every pattern."""
        asked = len(tables.asked)
        for name, values in (("mass", weighed), ("hits", hit)):
            total = sum_rows(values[..., :asked], tables.counted)  # (B, H, A)
            self.add(layer, name, of_all(tables.asked, total.cpu().numpy()))
        self._carried(layer, weighed, tables)
        self.add(layer, "chance", tables.chances)
        self.add(layer, "rows", tables.rows)

    def _carried(self, layer: Layer, mass: torch.Tensor, tables: Tables) -> None:
        """The same by word, for patterns whose score one word may carry."""
        masses, known = np.zeros((len(CARRIED), BUCKETS, mass.shape[2])), np.zeros((len(CARRIED), BUCKETS, 2))
        for carried in tables.carried:
            masses[carried.pattern], known[carried.pattern] = carried.masses(mass), carried.known
        self.batch.total(key(layer, "carried_mass"), masses)
        self.batch.total(key(layer, "carried_rows"), known)

    def _levels(self, layer: Layer, rows: MapRows, weighed: torch.Tensor, tables: Tables) -> None:
        """The numbers beside the patterns, over the rows that have them."""
        for level in LEVELS:
            counted = tables.levels[level.name].counted
            if counted is None or (level.loose and layer.named.operation.sink is None):
                continue
            if level.rows is not None:
                total = torch.einsum("bhq,bq->bh", level.rows(rows), counted)
            else:
                total = torch.einsum("bqh,bq->bh", weighed[..., WEIGHED.index(level)], counted)
            self.add(layer, level.name, total)
            self.add(layer, f"{level.name}_chance", tables.levels[level.name].chance)
            self.add(layer, f"{level.name}_rows", tables.levels[level.name].rows)
            if level.name == "entropy" and layer.kind != "cross":
                self.typing.take(layer, rows.attention, tables, total)

    def _bag(self, layer: Layer, mass: torch.Tensor, hit: torch.Tensor, spread: torch.Tensor, tables: Tables) -> None:
        """Attention spread evenly over the query's own sentence; mass, hits and spread there are (B, Q, H, 1)."""
        size, seen, counted = (some[..., None, None] for some in (tables.size, tables.seen, tables.bag))
        chance = size / seen
        gain = bag_gain(mass, chance, bag_evenness(mass, spread, size, seen))
        for name, values in (("mass", mass), ("hits", hit), ("gain", gain), ("chance", chance), ("rows", counted)):
            total = sum_rows(values, counted[..., 0])[..., 0]  # (B, H), or (B, 1) where heads do not differ
            self.add(layer, f"bag_{name}", total[:, 0] if name in ("chance", "rows") else total)

    def _contributions(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        """What arrives in place of where the head looks: ||alpha f(x)|| as shares of each row."""
        norms = layer.norms()
        if norms is None:
            return
        arriving = attention * norms[:, :, None]
        spread = None
        if tables.has_bag:
            arriving = renormalised(arriving)
            spread = weigh_rows(MapRows(arriving, tables.seen, loose=False).logs, tables.targets[..., -1:])
        weighed = weigh_rows(arriving, tables.weights)
        if not tables.has_bag:  # rows are made shares here, where there is less to divide
            total = arriving.sum(dim=-1).transpose(1, 2)[..., None]  # (B, Q, H, 1)
            weighed /= torch.where(total > 0, total, 1)
        self._awake(layer, "contributions", weighed, spread, tables)

    def _awake(self, layer: Layer, by: str, weighed: torch.Tensor, spread: torch.Tensor | None, tables: Tables) -> None:
        """Sums of what does not rest, (B, H, P + 1) each: the bag of words comes last, as far as it is even."""
        asked = len(tables.asked)
        awake = weighed[..., asked + 1 + AWAKE]  # (B, Q, H)
        mass = weighed[..., : asked + 1]
        if spread is not None:
            size, seen = tables.size[..., None, None], tables.seen[..., None, None]
            own, expected = mass[..., -1:], awake[..., None] * tables.awake_chance[:, :, None, -1:]
            gain = bag_gain(own, expected, bag_evenness(own, spread, size, seen))
            mass = torch.cat([mass[..., :-1], gain + expected], dim=-1)
        places = np.append(tables.asked, len(PATTERNS))
        sums = sum_awake(mass, awake, tables.awake_chance, tables.awake_counted)
        for name, total in sums._asdict().items():
            self.add(layer, f"{by}_{name}", of_all(places, total.cpu().numpy(), len(PATTERNS) + 1))
        level = tables.levels["awake"]
        counted = torch.zeros_like(tables.seen) if level.counted is None else level.counted
        self.add(layer, f"{by}_level", torch.einsum("bqh,bq->bh", awake, counted))
        self.add(layer, f"{by}_level_rows", level.rows)
