"""The atlas: what every head does over a corpus, with intervals over inputs and shares of map types.

Enters: a corpus. Leaves: a row per head and measure: mass, argmax rate, chance, lift and its interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.corpus.sums import Array
from regard.measures.bag import bag_gain
from regard.measures.reading import hit_rows, sum_rows
from regard.patterns.levels import LEVELS, MapRows
from regard.patterns.rules import Rule
from regard.studies.atlas.awake import BagOfRows, arriving_of, awake_sums
from regard.studies.atlas.carriers import BUCKETS, CARRIED
from regard.studies.atlas.copying import Copying
from regard.studies.atlas.permuting import Permuting
from regard.studies.atlas.types import Typing
from regard.studies.base import Batch, key
from regard.studies.find.reduce import RuleTables, rule_tables
from regard.studies.tables import Tables, of_all, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer


_WIDE = 40  # keys of a row


class AtlasTaker(Taker[Tables]):
    """One batch: sums of masses, hits, levels and types for every head."""

    def __init__(
        self,
        batch: Batch,
        permuting: Permuting | None = None,
        copying: Copying | None = None,
        rules: Sequence[Rule] = (),
    ) -> None:
        super().__init__(batch)
        self.rules = rules
        self.typing = Typing(batch)
        self.permuting = permuting
        self.copying = copying
        self.maps = permuting is None

    def __call__(self, layer: Layer) -> None:
        seen = layer if self.permuting is None else self.permuting(layer)
        if seen is not None:
            super().__call__(seen)

    def make(self, view: LayerView) -> Tables:
        rules = tuple(rule_tables(self.batch, view, rule) for rule in self.rules)
        return replace(tables_of(self.batch, view), ruled=rules)

    def take(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        operation = layer.named.operation
        rows = MapRows(attention, tables.seen, operation.sink is not None or operation.maps is not None)
        peak, strongest = strongest_keys(attention)
        awake = tables.levels["awake"].weigh(attention)  # (B, H, Q)
        mass = attention.flatten(2) @ tables.whole  # (B, H, Q K) @ (B, Q K, A) -> (B, H, A)
        self._masses(layer, attention, mass, strongest, tables)
        if self.copying is not None:
            self.copying.take(layer, attention)
        self._levels(layer, rows, peak, awake, tables)
        bag = BagOfRows.of(rows, tables) if tables.has_bag else None
        if bag is not None:
            self._bag(layer, bag, hit_rows(strongest, tables.own[..., None]), tables)
        self._awake(layer, "weights", awake_sums(attention, awake, bag, tables, _awake_mass(attention, mass, tables)))
        self._rules(layer, "weights", attention, tables.ruled)
        norms = layer.norms()
        if norms is not None:
            arriving = arriving_of(attention, norms)
            bag = BagOfRows.of(MapRows(arriving, tables.seen, loose=False), tables) if tables.has_bag else None
            sums = awake_sums(arriving, tables.levels["awake"].weigh(arriving), bag, tables)
            self._awake(layer, "contributions", sums)
            self._rules(layer, "contributions", arriving, tables.ruled)

    def finish(self) -> None:
        self.typing.finish()

    def _awake(self, layer: Layer, by: str, sums: Mapping[str, torch.Tensor | Array]) -> None:
        """Record what a layer does when awake, by weights or by contributions."""
        for name, values in sums.items():
            self.add(layer, f"{by}_{name}", values)

    def _rules(self, layer: Layer, by: str, maps: torch.Tensor, rules: Sequence[RuleTables]) -> None:
        """The same for each saved rule, and why it could not be asked of inputs."""
        for number, rule in enumerate(rules):
            for name, values in rule.sums(maps)._asdict().items():
                self.add(layer, f"{by}_rule{number}_{name}", values)
            for code in set(rule.reasons) if by == "weights" else ():
                self.batch.total(f"missing/rule{number}/{code}", np.array([rule.reasons.count(code)]))

    def _masses(
        self, layer: Layer, attention: torch.Tensor, mass: torch.Tensor, strongest: torch.Tensor, tables: Tables
    ) -> None:
        """Mass (B, H, A) on the targets of every pattern, and how often they are the strongest keys (B, H, Q)."""
        self.add(layer, "mass", of_all(tables.asked, mass.cpu().numpy()))
        self.add(layer, "hits", of_all(tables.asked, _hits(strongest, tables).cpu().numpy()))
        self._carried(layer, attention, tables)
        self.add(layer, "chance", tables.chances)
        self.add(layer, "rows", tables.rows)

    def _carried(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        """The same by word, for patterns whose score one word may carry."""
        masses, known = np.zeros((len(CARRIED), BUCKETS, layer.heads)), np.zeros((len(CARRIED), BUCKETS, 2))
        for carried in tables.carried:
            masses[carried.pattern], known[carried.pattern] = carried.masses(attention), carried.known
        self.batch.total(key(layer, "carried_mass"), masses)
        self.batch.total(key(layer, "carried_rows"), known)

    def _levels(self, layer: Layer, rows: MapRows, peak: torch.Tensor, awake: torch.Tensor, tables: Tables) -> None:
        """The numbers beside the patterns, over the rows that have them; how awake rows are (B, H, Q) is known."""
        far, entropy = None, None
        for level in LEVELS:
            known = tables.levels[level.name]
            if known.counted is None or (level.loose and layer.named.operation.sink is None):
                continue
            if level.rows is None and level.name != "awake":
                by_key = known.by_key(rows.attention)
                total = by_key.sum(dim=-1)
                far = by_key if level.name == "distance" else far
            else:
                values = awake if level.rows is None else level.rows(rows)
                total = torch.einsum("bhq,bq->bh", values, known.counted)
                entropy = total if level.name == "entropy" else entropy
            self.add(layer, level.name, total)
            self.add(layer, f"{level.name}_chance", known.chance)
            self.add(layer, f"{level.name}_rows", known.rows)
        if entropy is not None and layer.kind != "cross":
            self.typing.take(layer, rows.attention, peak, tables, entropy, far)

    def _bag(self, layer: Layer, bag: BagOfRows, hit: torch.Tensor, tables: Tables) -> None:
        """Attention spread evenly over the query's own sentence; hits there are (B, Q, H, 1)."""
        size, seen, counted = (some[..., None, None] for some in (tables.size, tables.seen, tables.bag))
        chance = size / seen
        gain = bag_gain(bag.mass, chance, bag.evenness)
        for name, values in (("mass", bag.mass), ("hits", hit), ("gain", gain), ("chance", chance), ("rows", counted)):
            total = sum_rows(values, counted[..., 0])[..., 0]  # (B, H), or (B, 1) where heads do not differ
            self.add(layer, f"bag_{name}", total[:, 0] if name in ("chance", "rows") else total)


def strongest_keys(attention: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, H, Q) the strongest attention of each row, and the key that has it, the first of equals."""
    if attention.device.type != "cpu" or attention.shape[-1] < _WIDE:
        largest, where = attention.max(dim=-1)
        return largest, where
    strongest = torch.from_numpy(attention.numpy().argmax(axis=-1))  # of long rows in a fifth of torch's time
    return attention.gather(-1, strongest[..., None])[..., 0], strongest


def _awake_mass(attention: torch.Tensor, mass: torch.Tensor, tables: Tables) -> torch.Tensor:
    """(B, H, A) mass in the rows that count when awake, from that in all rows that count, mostly the same ones."""
    if not len(tables.differs):
        return mass
    return mass.index_copy(-1, tables.differs, attention.flatten(2) @ tables.differing)


def _hits(strongest: torch.Tensor, tables: Tables) -> torch.Tensor:
    """(B, H, A) in how many rows that count the strongest key (B, H, Q) is a target."""
    batch, heads, queries = strongest.shape
    pairs = tables.whole.shape[1]
    starts = torch.arange(batch, device=strongest.device)[:, None] * pairs
    starts = starts + torch.arange(queries, device=strongest.device) * (pairs // queries)  # (B, Q) of a row's keys
    places = (strongest + starts[:, None]).view(batch * heads, queries)
    found = torch.nn.functional.embedding_bag(places, tables.whole.flatten(0, 1), mode="sum")
    return found.view(batch, heads, -1)
