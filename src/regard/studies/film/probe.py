"""The probe set of a film: the same few texts at every frame, read once.

Enters: a module in training and its probe texts. Leaves: what every head does at this moment; the module is as it was.

Words related by embedding are not asked for: the embedding itself is being learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from regard.base.errors import UserError
from regard.corpus.batches import window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.source import Example
from regard.corpus.sums import Array, Sums
from regard.measures.intervals import FEWEST, GROUPS
from regard.models.fingerprint import digest
from regard.models.model import Model
from regard.patterns.entries import rank_of
from regard.patterns.levels import MapRows
from regard.studies.atlas.awake import BagOfRows, awake_sums
from regard.studies.atlas.names import AWAKE_SHARE, awake_table, named_heads
from regard.studies.base import Batch
from regard.studies.film.frames import FilmHead, Lift
from regard.studies.tables import Tables, tables_of
from regard.studies.taking import LayerView, Taker

if TYPE_CHECKING:
    import pandas as pd

    from regard.capture import Layer

LEAST = 2 * FEWEST  # texts: those that hold few rows of a pattern count for less
_LARGEST = 32  # pixels of a small map's side
_PIXELS = 60_000  # of all maps of a frame together
_LEVELS = 127  # of a pixel; one more bit says that it shows resting

Place = tuple[str, int]  # kind and layer
Read = dict[tuple[str, int, int], Any]


class ProbeSet:
    """Texts that are read anew at every frame."""

    def __init__(self, module: torch.nn.Module, tokenizer: Any, probes: Sequence[str | tuple[str, str]]) -> None:
        if isinstance(probes, str) or len(probes) < LEAST:
            raise UserError(f"pass a list of at least {LEAST} probe texts: with fewer, no head can be named with care")
        name = str(getattr(getattr(module, "config", None), "_name_or_path", "") or type(module).__name__)
        self.model = Model(module, tokenizer, name=name)
        examples = [Example(number, *_parted(text)) for number, text in enumerate(probes)]
        window = window_of(0, examples, encoder_of(self.model), long="truncate")
        self.batches = [Batch(self.model, items) for items in window.batches]
        self.groups = min(GROUPS, len(examples))
        self.tokens = window.tally.tokens
        self.fingerprint = digest(map(repr, probes))
        self._known: dict[tuple[int, Any], Tables | None] = {}  # tables of a batch, which no step changes

    @property
    def shown(self) -> tuple[int, int]:
        """The batch and the row of the first text, whose maps the film shows."""
        return next(
            (number, row)
            for number, batch in enumerate(self.batches)
            for row, item in enumerate(batch.items)
            if item.number == 0
        )

    def texts(self) -> list[str]:
        """The tokens of the text whose maps the film shows."""
        number, row = self.shown
        return self.batches[number].items[row].encoded.side.texts

    def read(self) -> list[FilmHead]:
        """What every head does now."""
        sums, pictures = Sums(), dict[Place, Array]()
        with self.model._engine.steady(), torch.random.fork_rng():
            for number, batch in enumerate(self.batches):
                fresh = batch.again()
                row = self.shown[1] if number == self.shown[0] else None
                taker = FilmTaker(fresh, self._known, number, row, pictures)
                self.model._engine.stream(fresh.inputs, fresh.book, taker)
                fresh.pour(sums, self.groups)
        return _heads(awake_table(sums), pictures)


def _parted(text: str | tuple[str, str]) -> tuple[str, str | None]:
    return (text, None) if isinstance(text, str) else (text[0], text[1])


class FilmTaker(Taker[Tables]):
    """One batch: what heads do when awake, and the small maps of one of its rows."""

    def __init__(
        self,
        batch: Batch,
        known: dict[tuple[int, Any], Tables | None],
        number: int,
        row: int | None,
        pictures: dict[Place, Array],
    ) -> None:
        super().__init__(batch)
        self.known, self.number, self.row, self.pictures = known, number, row, pictures

    def make(self, view: LayerView) -> Tables:
        return tables_of(self.batch, view, related=False)

    def _for(self, layer: Layer) -> Tables | None:
        """As made at the first frame: tokens and masks stay the same."""
        place = self.number, (layer.kind, layer.layer, layer.named.operation.part)
        if place not in self.known:
            self.known[place] = super()._for(layer)
        return self.known[place]

    def take(self, layer: Layer, attention: torch.Tensor, prepared: Tables) -> None:
        operation = layer.named.operation
        rows = MapRows(attention, prepared.seen, operation.sink is not None or operation.maps is not None)
        level = prepared.levels["awake"]
        bag = BagOfRows.of(rows, prepared) if prepared.has_bag else None
        for name, values in awake_sums(attention, level.weigh(attention), bag, prepared).items():
            self.add(layer, f"weights_{name}", values)
        if self.row is not None:
            visible = prepared.visible[self.row]
            queries, keys = int(visible.any(1).sum()), int(visible.any(0).sum())
            assert level.weights is not None
            awake = level.weights[self.row].expand(visible.shape) > 0
            self.pictures[layer.kind, layer.layer] = small_maps(
                attention[self.row, :, :queries, :keys], awake[:queries, :keys]
            )


def small_maps(attention: torch.Tensor, awake: torch.Tensor) -> Array:
    """(H, rows, columns) bytes of maps (H, Q, K): the largest of each block, each map on its own scale.

    Seven bits of a pixel are its level; the eighth says that what it shows rests, where not `awake` (Q, K).
    """
    heads = len(attention)
    most = max(6, min(_LARGEST, int((_PIXELS / max(heads, 1)) ** 0.5)))
    size = min(most, attention.shape[1]), min(most, attention.shape[2])
    pool = torch.nn.functional.adaptive_max_pool2d
    looks, rests = (pool((attention * part)[None], size)[0] for part in (awake, ~awake))
    strongest = torch.maximum(looks, rests)
    levels = (strongest / strongest.amax((1, 2), keepdim=True).clamp_min(1e-9) * _LEVELS).round()
    return np.asarray((levels + (rests > looks) * (_LEVELS + 1)).to(torch.uint8).cpu().numpy())


def _heads(awake: pd.DataFrame, pictures: Mapping[Place, Array]) -> list[FilmHead]:
    """A record per head."""
    named: dict[Any, list[str]] = {}
    for row in named_heads(awake).itertuples():
        named.setdefault((row.kind, row.layer, row.head), []).append(row.measure)
    found = []
    for place, mine in awake.groupby(["kind", "layer", "head"], sort=False):
        kind, layer, head = place
        lifts = {
            row.measure: Lift(row.value, row.low, row.high)
            for row in mine.itertuples()
            if row.measure != AWAKE_SHARE and row.rows > 0 and np.isfinite(row.value)
        }
        level = mine.loc[mine["measure"] == AWAKE_SHARE, "value"].item()
        names = sorted(dict.fromkeys(named.get(place, [])), key=rank_of)
        picture = pictures.get((kind, layer))
        rest = None if np.isnan(level) else 1 - float(level)
        found.append(
            FilmHead(kind, int(layer), int(head), rest, names, lifts, None if picture is None else picture[head])
        )
    return found
