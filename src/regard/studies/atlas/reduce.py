"""The atlas: what every head does over a corpus, with intervals over inputs and shares of map types.

Enters: a corpus. Leaves: a row per head and measure: mass, argmax rate, chance, lift and its interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from regard.measures.entropy import SMOOTH, x_log_x
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
        self._masses(layer, attention, tables)
        entropy = self._entropy(layer, attention, tables)
        if tables.own is not None:
            self._bag(layer, attention, tables)
        if layer.kind != "cross":
            self.typing.take(layer, attention, tables, entropy)

    def finish(self) -> None:
        self.typing.finish()

    def _masses(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        """Mass and hits on the targets of every pattern, and the mean distance."""
        batch, heads, queries, keys = attention.shape
        by_query = attention.transpose(1, 2).reshape(batch * queries, heads, keys)
        targets = tables.targets.reshape(batch * queries, keys, -1)
        mass = torch.bmm(by_query, targets).reshape(batch, queries, heads, -1)  # (BQ, H, K) @ (BQ, K, A + 1)
        self._add_asked(layer, "mass", mass[..., :-1], tables)
        self._carried(layer, mass, tables)
        self.add(layer, "distance", _over_rows(mass[..., -1:], tables.choice[..., None])[..., 0])
        starts = torch.arange(0, batch * queries * keys, keys, device=targets.device)  # of the rows, in all pairs
        strongest = by_query.argmax(dim=-1) + starts[:, None]  # (BQ, H)
        hit = targets.reshape(batch * queries * keys, -1).index_select(0, strongest.reshape(-1))
        self._add_asked(layer, "hits", hit.reshape(batch, queries, heads, -1)[..., :-1], tables)
        self.add(layer, "chance", tables.chances)
        self.add(layer, "rows", tables.rows)

    def _carried(self, layer: Layer, mass: torch.Tensor, tables: Tables) -> None:
        """The same by word, for patterns whose score one word may carry."""
        masses, known = np.zeros((len(CARRIED), BUCKETS, mass.shape[2])), np.zeros((len(CARRIED), BUCKETS, 2))
        for carried in tables.carried:
            masses[carried.pattern], known[carried.pattern] = carried.masses(mass), carried.known
        self.batch.total(key(layer, "carried_mass"), masses)
        self.batch.total(key(layer, "carried_rows"), known)

    def _add_asked(self, layer: Layer, name: str, values: torch.Tensor, tables: Tables) -> None:
        """Note sums (B, H, P) over the rows that count of values (B, Q, H, A) of the patterns that were asked."""
        self.add(layer, name, of_all(tables.asked, _over_rows(values, tables.counted).cpu().numpy()))

    def _entropy(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> torch.Tensor:
        """(B, H) entropy of the rows that have a choice, smoothed as Clark et al. (2019) do, without a sink's part."""
        if layer.named.operation.sink is not None:
            total = attention.sum(-1, keepdim=True)  # (B, H, Q, 1)
            self.add(layer, "sink", torch.einsum("bhq,bq->bh", 1 - total[..., 0], tables.choice))
            attention = attention / total.clamp(min=1e-30)
        share = SMOOTH / tables.seen  # (B, Q) what smoothing gives each visible key ...
        rest = (attention.shape[-1] - tables.seen) * torch.special.entr(share)  # ... and, unasked, each hidden one
        smooth = torch.add(share[:, None, :, None], attention, alpha=1 - SMOOTH)
        rows = -smooth.log().mul_(smooth).sum(-1) - rest[:, None]  # (B, H, Q)
        entropy = torch.einsum("bhq,bq->bh", rows, tables.choice)
        self.add(layer, "entropy", entropy)
        self.add(layer, "uniform", tables.uniform)
        self.add(layer, "uniform_distance", tables.far)
        self.add(layer, "choices", tables.choices)
        return entropy

    def _bag(self, layer: Layer, attention: torch.Tensor, tables: Tables) -> None:
        """Attention spread evenly over the query's own sentence (METHODS §6, pattern 7)."""
        assert tables.own is not None
        size = tables.own.sum(-1)  # (B, Q)
        counted = (size >= 3).float()
        chance = size / tables.seen
        mass = torch.einsum("bhqk,bqk->bhq", attention, tables.own)
        spread = torch.einsum("bhqk,bqk->bhq", x_log_x(attention), tables.own)
        safe = mass.clamp(min=1e-30)
        entropy = safe.log() - spread / safe
        evenness = (entropy / size.clamp(min=3).log()[:, None]).clamp(0, 1)
        gained = (mass - chance[:, None]) * evenness
        self.add(layer, "bag_mass", torch.einsum("bhq,bq->bh", mass, counted))
        self.add(layer, "bag_gain", torch.einsum("bhq,bq->bh", gained, counted))
        self.add(layer, "bag_chance", (chance * counted).sum(1))
        self.add(layer, "bag_rows", counted.sum(1))


def _over_rows(values: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """(B, H, A) sums over the rows that count of values (B, Q, H, A); counted is (B, Q, A)."""
    return (values * counted[:, :, None]).sum(1)
