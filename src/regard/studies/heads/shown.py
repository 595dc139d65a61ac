"""A second pass, over the examples that pages show: where exactly their rows look.

Enters: the rows of each page, and the corpus again. Leaves: for each row its strongest keys and their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Array, Sums
from regard.models.fingerprint import digest
from regard.studies.atlas.awake import arriving_of
from regard.studies.base import Batch, Pass, key, naming
from regard.studies.heads.choosing import QUERY, slots_of
from regard.studies.heads.keeping import COLUMNS, is_row
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    from regard.capture import Layer
    from regard.models.model import Model

KEYS = 32  # of a row that are kept
_NAME = [COLUMNS.index(name) for name in ("example", "part")]


class ShownRows(Pass):
    """Rows (H, S, 8) by kind and layer."""

    name: ClassVar[str] = "heads, examples"

    def __init__(self, rows: Mapping[str, Array], *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.rows = rows
        self.wanted = {int(row[_NAME[0]]) for table in rows.values() for row in table[is_row(table)]}

    @property
    def settings(self) -> dict[str, Any]:
        parts = [part for name, table in sorted(self.rows.items()) for part in (name, table.tobytes())]
        return {**super().settings, "rows": digest(parts)}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "rows": self.rows}

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples that some page shows."""
        return (example for example in examples if example.number in self.wanted)

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the rows of one batch."""
        batch = Batch(model, items)
        taker = _ShownTaker(batch, self.rows)
        with naming(items):
            model._engine.stream(batch.inputs, batch.book, taker)
        batch.pour(sums)


class _ShownTaker(Taker[LayerView]):
    def __init__(self, batch: Batch, rows: Mapping[str, Array]) -> None:
        super().__init__(batch)
        self.rows = rows
        self.inputs = {(item.number, item.example.part): number for number, item in enumerate(batch.items)}

    def make(self, view: LayerView) -> LayerView:
        return view

    def take(self, layer: Layer, attention: torch.Tensor, view: LayerView) -> None:
        table = self.rows.get(f"{layer.kind}/{layer.layer}")
        if table is None:
            return
        found = np.zeros((*table.shape[:2], KEYS, 2))
        head, slot = np.nonzero(is_row(table))
        where = np.array([self.inputs.get(tuple(row), -1) for row in table[head, slot][:, _NAME].astype(int).tolist()])
        here = where >= 0 if len(where) else np.zeros(0, bool)
        head, slot, where = head[here], slot[here], where[here]
        query = table[head, slot, QUERY].astype(int)
        arriving = np.zeros(table.shape[1], bool)
        arriving[slots_of("best_arriving")] = True
        norms = layer.norms() if arriving[slot].any() else None
        maps = attention if norms is None else arriving_of(attention, norms)
        for source, mine in ((attention, ~arriving[slot]), (maps, arriving[slot])):
            if mine.any():
                found[head[mine], slot[mine]] = _strongest(source[where[mine], head[mine], query[mine]])
        self.batch.total(key(layer, "rows"), found)


def _strongest(rows: torch.Tensor) -> Array:
    """(n, KEYS, 2) places + 1 and weights of the strongest keys of rows (n, K), 0 where there are fewer."""
    count = min(KEYS, rows.shape[-1])
    weights, places = rows.topk(count, dim=-1)
    found = np.zeros((len(rows), KEYS, 2))
    found[:, :count, 0] = places.cpu().numpy() + 1
    found[:, :count, 1] = weights.cpu().numpy()
    found[found[..., 1] <= 0] = 0
    return found
