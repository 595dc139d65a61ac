"""Reading a trace: many heads at once, block by block of query rows, so that short texts are quick and long ones fit.

Enters: a Trace. Leaves: what the rows of each site show (`SiteRows`), and the measures over them (`SiteMeasures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.measures.bag import BagRows, bag_rows, own_targets, summarise_bag
from regard.measures.distance import distance_rows
from regard.measures.entropy import Level, entropy_of, mean_level, mixed_logs, renormalised, sink_rows
from regard.measures.reading import Reading, RowReadings, mean_where, read_rows, seen_keys, summarise
from regard.measures.shape import ShapeSums, join_sums, key_tables, shape_of, shape_sums, uniform_attention
from regard.measures.types import FEWEST, type_probabilities
from regard.patterns.definitions import BAG, PATTERNS, Part, Pattern, bag_missing
from regard.patterns.table import SiteMeasures
from regard.trace.places import Array, MapContext, context_of
from regard.trace.sentences import reason

if TYPE_CHECKING:
    from regard.trace.site import Site
    from regard.trace.trace import Trace

_BLOCK = 1 << 20  # floats of attention held at once: 4 MB stay near the processor
_ROWS = 32  # rows a block should have at least before heads of further layers join it


@dataclass(frozen=True, eq=False)
class SiteRows:
    """What the rows of one site show, for the patterns that were asked."""

    asked: tuple[Pattern, ...]
    rows: RowReadings  # mass and hit (P, H, Q), chance and counted (P, Q)
    bag: BagRows | None
    strongest: Array  # (H, Q) the strongest key of each row
    measured: SiteMeasures


def read_trace(trace: Trace) -> list[SiteRows]:
    """What the rows of every site show, in the trace's order."""
    found = [
        rows
        for context, alike in _alike(trace)
        for sites in _together(alike)
        for rows in _read(context, sites).split(sites)
    ]
    order = {(site.kind, site.layer, site.part): n for n, site in enumerate(trace.sites)}
    return sorted(found, key=lambda rows: order[rows.measured.kind, rows.measured.layer, rows.measured.part])


def _alike(trace: Trace) -> Iterator[tuple[MapContext, list[Site]]]:
    """Sites that share tokens and mask, so that tables of targets are made once for all."""
    groups: dict[tuple[str, str, object, bool], list[Site]] = {}
    for site in (part for whole in trace.sites for part in _one_mask(whole)):
        mask = (site.mask.left, site.mask.right, None if site.mask.table is None else id(site.mask.table))
        causal = site.mask.causal and site.query_side == site.key_side and site.queries > 1
        groups.setdefault((site.query_side, site.key_side, mask, causal), []).append(site)
    for (_, _, _, causal), sites in groups.items():
        yield context_of(trace, sites[0], causal), sites


def _one_mask(site: Site) -> list[Site]:
    """The site, or one site a head where each head has a mask of its own."""
    return [site] if site.mask_heads == 1 else [site.select([head]) for head in site.head_ids]


def _together(sites: list[Site]) -> Iterator[list[Site]]:
    """Runs of sites whose maps are read at once."""
    first = sites[0]
    rows = min(first.queries, _ROWS)
    step = max(1, _BLOCK // (first.heads * first.keys * rows))
    for start in range(0, len(sites), step):
        yield sites[start : start + step]


def _visible(site: Site, rows: Array) -> Array:
    """(rows, keys) what the mask lets the queries see."""
    allowed = site.mask.allowed(rows, np.arange(site.keys), 0)
    return np.ones((len(rows), site.keys), dtype=bool) if allowed is None else allowed


def _read(context: MapContext, sites: list[Site]) -> _Gathered:
    """RowReadings of all heads of some sites, block by block of queries."""
    asked = tuple(pattern for pattern in PATTERNS if not pattern.missing(context))
    gathered = _Gathered(context, asked, any(site.sink is not None or site.maps is not None for site in sites))
    first = sites[0]
    heads = sum(site.heads for site in sites)
    step = max(1, _BLOCK // (first.keys * max(heads, len(PATTERNS))))
    for start in range(0, first.queries, step):
        rows = slice(start, min(start + step, first.queries))
        visible = _visible(first, np.arange(rows.start, rows.stop))
        part = Part(context, context.queries.part(rows), start, visible)
        gathered.add(_block(sites, rows, heads), part)
    return gathered


def _block(sites: list[Site], rows: slice, heads: int) -> Array:
    """(H, rows, K) attention of the heads of some sites, one after the other."""
    attention = np.empty((heads, rows.stop - rows.start, sites[0].keys), np.float32)
    start = 0
    for site in sites:
        site.block(rows, out=attention[start : start + site.heads])
        start += site.heads
    return attention


class _Gathered:
    """What rows show, gathered block by block, for the heads of some sites one after the other."""

    def __init__(self, context: MapContext, asked: tuple[Pattern, ...], sinks: bool) -> None:
        self.context = context
        self.sinks = sinks  # whether rows may sum to less than 1
        self.asked = asked
        self.read: list[RowReadings] = []
        self.bags: list[BagRows] = []
        self.spread: list[tuple[Array, Array]] = []
        self.rest: list[Array] = []
        self.distances: list[tuple[Array, Array, Array]] = []
        self.strongest: list[Array] = []
        self.sums: list[ShapeSums] = []
        self.uniform: list[ShapeSums] = []

    def add(self, attention: Array, part: Part) -> None:
        """Read one block of rows, (H, rows, K)."""
        strongest = attention.argmax(axis=-1)
        self.strongest.append(strongest)
        if self.asked:
            self.read.append(_read_block(attention, part, self.asked, strongest))
        masked = None if part.visible.all() else part.visible
        seen = seen_keys(attention, masked).astype(np.float32)
        within = logs = mixed_logs(attention, seen)
        if self.sinks:
            self.rest.append(sink_rows(attention))
            within = mixed_logs(renormalised(attention), seen)
        self.spread.append((entropy_of(within, seen), np.log(seen)))
        if self.context.same:
            self.distances.append(distance_rows(attention, visible=masked, start=part.start))
            rows = (part.queries.parts, part.keys.parts, part.visible)
            tables = key_tables(*rows[:2], start=part.start)
            even = uniform_attention(part.visible.astype(np.float32))
            self.sums.append(shape_sums(attention, *rows, start=part.start, tables=tables))
            self.uniform.append(shape_sums(even, *rows, start=part.start, tables=tables))
        if not bag_missing(self.context):
            own = own_targets(part.queries.segments, part.keys.segments, part.keys.content)
            known = {"visible": masked, "logs": logs, "strongest": strongest}
            self.bags.append(bag_rows(attention, own, part.queries.content, **known))

    def split(self, sites: list[Site]) -> Iterator[SiteRows]:
        """The rows and measures of each site."""
        rows = RowReadings(*_joined(self.read)) if self.read else None
        bag = BagRows(*_joined(self.bags)) if self.bags else None
        strongest = np.concatenate(self.strongest, axis=-1)
        whole = self._measured(rows, bag, strongest.shape[1])
        start = 0
        for site in sites:
            heads = slice(start, start + site.heads)
            start += site.heads
            yield SiteRows(
                self.asked,
                RowReadings(*(np.empty((0, site.heads, 0)),) * 4) if rows is None else _rows_of(rows, heads),
                None if bag is None else _bag_of(bag, heads),
                strongest[heads],
                _measured_of(whole, heads, site),
            )

    def _measured(self, rows: RowReadings | None, bag: BagRows | None, queries: int) -> SiteMeasures:
        """The measures of all heads together, and why some are n/a."""
        missing = {p.name: reason(code) for p in PATTERNS if (code := p.missing(self.context))}
        readings: dict[str, Reading] = {}
        if rows is not None:
            summary = summarise(rows)
            readings = {p.name: Reading(*(field[n] for field in summary)) for n, p in enumerate(self.asked)}
            missing |= {p.name: reason(p.none) for p in self.asked if not readings[p.name].rows.any()}
        spread = mean_level(*_joined(self.spread))
        evenness = np.full(spread.value.shape, np.nan)
        if bag is None:
            missing[BAG] = reason(bag_missing(self.context))
        else:
            readings[BAG], evenness = summarise_bag(bag)
            if not readings[BAG].rows.any():
                missing[BAG] = reason("few_words")
        if not self.context.same or queries < FEWEST:
            missing["type"] = reason("few_tokens", fewest=FEWEST)
        types = None if "type" in missing else self._types(spread)
        sink = np.zeros_like(spread.value)
        if self.sinks:
            sink = mean_where(np.concatenate(self.rest, axis=-1), _joined(self.spread)[1] > 0)
        return SiteMeasures("", 0, 0, (), readings, evenness, spread, self._distance(spread), types, missing, sink)

    def _distance(self, like: Level) -> Level:
        if not self.distances:
            return Level(np.full_like(like.value, np.nan), np.full_like(like.value, np.nan))
        values, chance, counted = _joined(self.distances)
        return Level(mean_where(values, counted), mean_where(chance, counted) + np.zeros_like(like.value))

    def _types(self, spread: Level) -> Array:
        found, even = join_sums(self.sums), join_sums(self.uniform)
        return type_probabilities(shape_of(found, even, self.context.keys.parts, spread.value / spread.chance))


def _read_block(attention: Array, part: Part, asked: tuple[Pattern, ...], strongest: Array) -> RowReadings:
    tables = [pattern.targets(part) for pattern in asked]
    targets = np.stack([table for table, _ in tables]) & part.visible
    every = np.ones(len(part.visible), dtype=bool)
    counted = np.stack([every if rows is None else rows for _, rows in tables])
    return read_rows(attention, targets, visible=part.visible, rows=counted, strongest=strongest)


def _joined(blocks: Sequence[tuple[Array, ...]]) -> list[Array]:
    """The fields of blocks of rows, joined along the rows."""
    return [np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True)]


def _rows_of(rows: RowReadings, heads: slice) -> RowReadings:
    return rows._replace(mass=rows.mass[:, heads], hit=rows.hit[:, heads])


def _bag_of(bag: BagRows, heads: slice) -> BagRows:
    return bag._replace(mass=bag.mass[heads], hit=bag.hit[heads], evenness=bag.evenness[heads])


def _measured_of(whole: SiteMeasures, heads: slice, site: Site) -> SiteMeasures:
    """One site's part of the measures of several."""
    types = None if whole.types is None else whole.types[heads]
    roomless = types is not None and bool(np.isnan(types).all())
    return SiteMeasures(
        kind=site.kind,
        layer=site.layer,
        part=site.part,
        heads=site.head_ids,
        readings={name: Reading(*(field[heads] for field in reading)) for name, reading in whole.readings.items()},
        evenness=whole.evenness[heads],
        entropy=Level(*(field[heads] for field in whole.entropy)),
        distance=Level(*(field[heads] for field in whole.distance)),
        types=None if roomless else types,
        missing={**whole.missing, "type": reason("no_room")} if roomless else whole.missing,
        sink=whole.sink[heads],
    )
