"""Reading a trace: many heads at once, block by block of query rows, so that short texts are quick and long ones fit.

Enters: a Trace. Leaves: what the rows of each site show (`SiteRows`), and the measures over them (`SiteMeasures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.measures.awake import AwakeReading
from regard.measures.bag import BagRows, bag_rows, summarise_bag
from regard.measures.entropy import Level, renormalised
from regard.measures.reading import (
    Reading,
    RowReadings,
    mean_where,
    read_rows,
    seen_keys,
    summarise,
    weigh,
)
from regard.measures.shape import types_outline
from regard.measures.shape_sums import ShapeSums, join_sums, key_tables, shape_sums, uniform_attention
from regard.measures.types import FEWEST, type_probabilities
from regard.patterns.awake import AwakeRows, awake_of, awake_readings, kept_of, stays_of
from regard.patterns.definitions import BAG, OF_TRACES, Part, Pattern, bag_missing
from regard.patterns.levels import AWAKE, LEVELS, WEIGHED, LevelMeasure, MapRows
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
    """What the rows of one site show, and the measures over them."""

    awake: AwakeRows
    measured: SiteMeasures


def read_trace(trace: Trace, by: str, own: Sequence[Pattern] = ()) -> list[SiteRows]:
    """What the rows of every site show of the patterns and `own` ones, by weights or contributions, in order."""
    found = [
        rows
        for context, group in alike(trace, by)
        for sites in together(group)
        for rows in _read(context, sites, by, (*OF_TRACES, *own)).split(sites)
    ]
    order = {(site.kind, site.layer, site.part): n for n, site in enumerate(trace.sites)}
    return sorted(found, key=lambda rows: order[rows.measured.kind, rows.measured.layer, rows.measured.part])


def alike(trace: Trace, by: str) -> Iterator[tuple[MapContext, list[Site]]]:
    """Sites that share tokens and mask, so that tables of targets are made once for all."""
    groups: dict[tuple[str, str, object, bool], list[Site]] = {}
    sites = [site for site in trace.sites if by == "weights" or site.norms is not None]
    for site in (part for whole in sites for part in _one_mask(whole)):
        mask = (site.mask.left, site.mask.right, None if site.mask.table is None else id(site.mask.table))
        causal = site.mask.causal and site.query_side == site.key_side and site.queries > 1
        groups.setdefault((site.query_side, site.key_side, mask, causal), []).append(site)
    for (_, _, _, causal), sites in groups.items():
        yield context_of(trace, sites[0], causal), sites


def _one_mask(site: Site) -> list[Site]:
    """The site, or one site a head where each head has a mask of its own."""
    return [site] if site.mask_heads == 1 else [site.select([head]) for head in site.head_ids]


def together(sites: list[Site]) -> Iterator[list[Site]]:
    """Runs of sites whose maps are read at once."""
    first = sites[0]
    rows = min(first.queries, _ROWS)
    step = max(1, _BLOCK // (first.heads * first.keys * rows))
    for start in range(0, len(sites), step):
        yield sites[start : start + step]


def visible_of(site: Site, rows: Array) -> Array:
    """(rows, keys) what the mask lets the queries see."""
    allowed = site.mask.allowed(rows, np.arange(site.keys), 0)
    return np.ones((len(rows), site.keys), dtype=bool) if allowed is None else allowed


def _read(context: MapContext, sites: list[Site], by: str, patterns: tuple[Pattern, ...]) -> _Gathered:
    """What all heads of some sites show, block by block of queries."""
    loose = by == "weights" and any(site.sink is not None or site.maps is not None for site in sites)
    gathered = _Gathered(context, loose, patterns)
    for part, rows in steps(context, sites, len(patterns)):
        attention = block_of(sites, rows, by)
        gathered.add(attention, part, _exchanged(sites, rows, attention, by))
    return gathered


def steps(context: MapContext, sites: list[Site], patterns: int) -> Iterator[tuple[Part, slice]]:
    """Blocks of queries small enough for the maps of all heads, and for as many tables of targets."""
    first = sites[0]
    step = max(1, _BLOCK // (first.keys * max(sum(site.heads for site in sites), patterns)))
    for start in range(0, first.queries, step):
        rows = slice(start, min(start + step, first.queries))
        visible = visible_of(first, np.arange(rows.start, rows.stop))
        yield Part(context, context.queries.part(rows), start, visible), rows


def _exchanged(sites: list[Site], rows: slice, attention: Array, by: str) -> Array:
    """(H, m, K) the rows with which the first of some rows are exchanged, as far as there are any."""
    count = sites[0].queries
    half = count // 2
    if rows.stop - rows.start == count:
        return attention[:, half:]
    later = slice(min(rows.start + half, count), min(rows.stop + half, count))
    return block_of(sites, later, by)


def block_of(sites: list[Site], rows: slice, by: str) -> Array:
    """(H, rows, K) attention of the heads of some sites, or its contributions as shares of their rows."""
    heads = sum(site.heads for site in sites)
    attention = np.empty((heads, rows.stop - rows.start, sites[0].keys), np.float32)
    start = 0
    for site in sites:
        here = attention[start : start + site.heads]
        site.block(rows, out=here)
        if by == "contributions":
            here *= site.norms[:, None, :]  # type: ignore[index]  # sites without norms were left out
        start += site.heads
    return attention if by == "weights" else np.asarray(renormalised(attention))


class _Gathered:
    """What rows show, gathered block by block, for the heads of some sites one after the other."""

    def __init__(self, context: MapContext, loose: bool, patterns: tuple[Pattern, ...]) -> None:
        self.context = context
        self.loose = loose  # whether rows may sum to less than 1
        self.patterns = patterns
        self.asked = tuple(pattern for pattern in patterns if not pattern.missing(context))
        self.levels = tuple(level for level in LEVELS if level.asked(context, loose))
        self.bag = not bag_missing(context)
        self.read: list[RowReadings] = []
        self.bags: list[BagRows] = []
        self.awake: list[tuple[Array, ...]] = []
        self.numbers: dict[str, list[tuple[Array, Array, Array]]] = {level.name: [] for level in self.levels}
        self.sums: list[ShapeSums] = []
        self.uniform: list[ShapeSums] = []

    def add(self, attention: Array, part: Part, others: Array) -> None:
        """Read one block of rows, (H, rows, K), and those that the first of them are exchanged with."""
        tables = [pattern.targets(part) for pattern in self.asked]
        targets = np.stack([table for table, _ in tables]) if tables else np.zeros((0, *part.visible.shape), bool)
        counted = np.stack([rows for _, rows in tables]) if tables else np.zeros(targets.shape[:2], bool)
        strongest = attention.argmax(axis=-1)
        read = read_rows(attention, targets, visible=part.visible, rows=counted, strongest=strongest)
        self.read.append(read)
        rows = MapRows(attention, np.asarray(seen_keys(attention, part.visible)).astype(np.float32), self.loose)
        weighed = self._add_levels(rows, part)
        bag = self._add_bag(rows, strongest, part) if self.bag else None
        top = np.where(part.rests, -1.0, attention).argmax(axis=-1) if part.rests.any() else strongest
        found = awake_of(read, bag, targets, weighed[AWAKE], top, part)
        self.awake.append((*found, kept_of(self.asked, attention, others, targets, found[0], part)))
        if self.context.same:
            self._add_shapes(attention, part)

    def _add_levels(self, rows: MapRows, part: Part) -> Array:
        """Note the numbers beside the patterns; (W, H, rows) those that are weighed sums."""
        weights = [level.weights(part).astype(np.float32) for level in WEIGHED if level.weights is not None]
        weighed = np.asarray(weigh(rows.attention, np.stack(weights)))
        for level in self.levels:
            if level.weights is not None:
                number = WEIGHED.index(level)
                values, chance = weighed[number], (weights[number] * part.visible).sum(axis=-1) / rows.seen
            else:
                values, chance = _rows_of(level, rows)
            self.numbers[level.name].append((values, chance, level.counted(part)))
        return weighed

    def _add_bag(self, rows: MapRows, strongest: Array, part: Part) -> BagRows:
        masked = None if part.visible.all() else part.visible
        known = {"visible": masked, "logs": rows.logs, "strongest": strongest}
        self.bags.append(bag_rows(rows.attention, part.own, part.queries.content, **known))
        return self.bags[-1]

    def _add_shapes(self, attention: Array, part: Part) -> None:
        rows = (part.queries.parts, part.keys.parts, part.visible)
        tables = key_tables(*rows[:2], start=part.start)
        even = uniform_attention(part.visible.astype(np.float32))
        self.sums.append(shape_sums(attention, *rows, start=part.start, tables=tables))
        self.uniform.append(shape_sums(even, *rows, start=part.start, tables=tables))

    def split(self, sites: list[Site]) -> Iterator[SiteRows]:
        """The rows and measures of each site."""
        names = (*(pattern.name for pattern in self.asked), *([BAG] if self.bag else []))
        awake = AwakeRows(names, *joined(self.awake))
        whole = self._measured(awake)
        start = 0
        for site in sites:
            heads = slice(start, start + site.heads)
            start += site.heads
            yield SiteRows(awake.of(heads), _measured_of(whole, heads, site))

    def _measured(self, awake: AwakeRows) -> SiteMeasures:
        """The measures of all heads together, and why some are n/a."""
        missing = {p.name: reason(code) for p in self.patterns if (code := p.missing(self.context))}
        summary = summarise(RowReadings(*joined(self.read)))
        readings = {p.name: Reading(*(field[n] for field in summary)) for n, p in enumerate(self.asked)}
        missing |= {p.name: reason(p.none) for p in self.asked if not readings[p.name].rows.any()}
        if self.bag:
            readings[BAG] = summarise_bag(BagRows(*joined(self.bags))).reading
            if not readings[BAG].rows.any():
                missing[BAG] = reason("few_words")
        else:
            missing[BAG] = reason(bag_missing(self.context))
        levels = {level.name: self._level(level) for level in self.levels}
        if not self.context.same or awake.weight.shape[1] < FEWEST:
            missing["type"] = reason("few_tokens", fewest=FEWEST)
        types = None if "type" in missing else self._types(levels["entropy"])
        return SiteMeasures("", 0, 0, (), readings, awake_readings(awake), levels, stays_of(awake), types, missing)

    def _level(self, level: LevelMeasure) -> Level:
        values, chance, counted = joined(self.numbers[level.name])
        value = np.asarray(mean_where(values, counted))
        return Level(value, mean_where(chance, counted) + np.zeros_like(value))

    def _types(self, spread: Level) -> Array:
        found, even = join_sums(self.sums), join_sums(self.uniform)
        return type_probabilities(types_outline(found, even, self.context.keys.parts, spread.value / spread.chance))


def _rows_of(level: LevelMeasure, rows: MapRows) -> tuple[Array, Array]:
    """(H, rows) numbers that are no weighed sum, and (rows,) what uniform attention would give, NaN for nothing."""
    assert level.rows is not None
    chance = np.full(rows.seen.shape, np.nan) if level.uniform is None else level.uniform(rows.seen)
    return level.rows(rows), chance


def joined(blocks: Sequence[tuple[Array, ...]]) -> list[Array]:
    """The fields of blocks of rows, joined along the rows."""
    return [np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True)]


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
        awake={name: AwakeReading(*(field[heads] for field in reading)) for name, reading in whole.awake.items()},
        levels={name: Level(*(field[heads] for field in level)) for name, level in whole.levels.items()},
        stays={name: values[heads] for name, values in whole.stays.items()},
        types=None if roomless else types,
        missing={**whole.missing, "type": reason("no_room")} if roomless else whole.missing,
    )
