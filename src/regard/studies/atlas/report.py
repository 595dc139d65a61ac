"""From the sums of the atlas to its table, figures and page.

Enters: sums over a corpus. Leaves: a `Result`: a row per head and measure, names for heads, shares of map types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.files import write_atomic
from regard.measures.bag import bag_score
from regard.measures.intervals import FEWEST, between, clusters_of, interval, resampled
from regard.measures.reading import lift
from regard.measures.types import TYPES
from regard.patterns.definitions import BAG, PATTERNS, USUAL
from regard.patterns.naming import FLOOR, own_name
from regard.studies.atlas.carriers import carrier_cautions
from regard.studies.atlas.page import head_records
from regard.studies.base import StudyContext, layers_of
from regard.studies.controls import Ranged
from regard.studies.figures import grid_picture, share_picture
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("kind", "layer", "head", "measure", "value", "low", "high", "mass", "argmax", "chance", "rows")


def atlas_result(sums: Sums, context: StudyContext) -> Result:
    """Tables and figures of the atlas."""
    table = atlas_table(sums)
    named = named_heads(table)
    others = {} if context.controls is None else context.controls.named
    controls = {name: named_heads(atlas_table(other)) for name, other in others.items()}
    drawers: dict[str, Any] = {
        kind: (f"Strongest pattern of each {kind} head over the corpus.", _drawer(table, named, kind))
        for kind in dict.fromkeys(table["kind"])
    }
    shares = type_shares(sums)
    tables = {"Named heads": named}
    if not shares.empty:
        tables["Types of maps"] = shares
        label = f"Shares of map types, {context.source.name} (share of maps, as in Kovaleva et al. 2019)."
        drawers["types"] = (label, lambda: share_picture({context.source.name: _shares(shares)}))
    if controls:
        tables["Control: named heads of random and shuffled weights"] = _together(controls)
    return Result(
        study="atlas",
        title=f"What each head of {context.model.name} does",
        table=table,
        meta=context.meta(),
        drawers=drawers,
        findings=_findings(table, named, controls, context),
        cautions=[*context.cautions(), *carrier_cautions(sums, table)],
        tables=tables,
        example=context.example,
        example_options={"report": head_records(table, named, sums)},
    )


def atlas_table(sums: Sums) -> pd.DataFrame:
    """A row per head and measure, with its interval."""
    import pandas as pd

    rows = [row for kind, layers in layers_of(sums, "mass").items() for n in layers for row in _layer(sums, kind, n)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _layer(sums: Sums, kind: str, layer: int) -> Iterator[dict[str, Any]]:
    """The rows of one layer's heads."""

    def read(name: str) -> Array:
        return sums.resampled(f"{kind}/{layer}/{name}")

    def clusters(name: str) -> Array:
        return sums.clusters(f"{kind}/{layer}/{name}")

    mass, chance, rows = (read(name) for name in ("mass", "chance", "rows"))  # (R, H, P), (R, P), (R, P)
    hits = sums.whole(f"{kind}/{layer}/hits")  # (H, P)
    for place, pattern in enumerate(PATTERNS):
        means = ratio(mass[..., place], rows[:, None, place])  # (R, H)
        level = ratio(chance[:, place], rows[:, place])[:, None]
        values = np.asarray(lift(means, level + np.zeros_like(means)))
        rates = ratio(hits[:, place], rows[0, place])
        numbers = values, clusters("rows")[place], means[0], rates
        yield from _heads(kind, layer, pattern.name, *numbers, level[0, 0], rows[0, place])
    if f"{kind}/{layer}/bag_rows" in sums:
        count = read("bag_rows")[:, None]
        level = ratio(read("bag_chance")[:, None], count)
        gain = ratio(read("bag_gain"), count)
        values = np.asarray(bag_score(gain, level + np.zeros_like(gain)))
        means, rates = (ratio(sums.whole(f"{kind}/{layer}/bag_{name}"), count[0]) for name in ("mass", "hits"))
        numbers = values, clusters("bag_rows"), means, rates
        yield from _heads(kind, layer, BAG, *numbers, level[0, 0], count[0, 0])
    count = read("choices")[:, None]
    nothing = np.full(mass.shape[1], np.nan)
    for name, uniform in (("entropy", "uniform"), ("distance", "uniform_distance"), ("sink", None)):
        if f"{kind}/{layer}/{name}" not in sums:  # few models have a sink
            continue
        expected = np.nan if uniform is None else float(ratio(sums.whole(f"{kind}/{layer}/{uniform}"), count[0, 0]))
        numbers = ratio(read(name), count), clusters("choices"), nothing, nothing
        yield from _heads(kind, layer, name, *numbers, expected, count[0, 0])


def _heads(
    kind: str,
    layer: int,
    name: str,
    values: Array,
    clusters: Array,
    mass: Array,
    rates: Array,
    chance: float,
    rows: float,
) -> Iterator[dict[str, Any]]:
    low, high = interval(values, clusters)
    for head in range(values.shape[1]):
        yield {
            "kind": kind,
            "layer": layer,
            "head": head,
            "measure": name,
            "value": float(values[0, head]),
            "low": float(low[head]),
            "high": float(high[head]),
            "mass": float(mass[head]),
            "argmax": float(rates[head]),
            "chance": float(chance),
            "rows": int(rows),
        }


def named_heads(table: pd.DataFrame) -> pd.DataFrame:
    """Heads whose lift reaches the threshold of a pattern, and of no simpler one that explains it; strongest first.

    The lower end of the interval must be above `FLOOR`, over enough rows: what a few texts show by luck is no name.
    """
    import pandas as pd

    thresholds = {p.name: p.threshold for p in PATTERNS if p.threshold is not None} | {BAG: USUAL}
    lifts = table.pivot(index=["kind", "layer", "head"], columns="measure", values="value").fillna(0.0)
    named = {
        name: (lifts[name] >= threshold) & own_name(name, lambda other: lifts[other].to_numpy())
        for name, threshold in thresholds.items()
        if name in lifts
    }
    flags = pd.DataFrame(named).stack()  # by kind, layer, head and measure
    places = pd.MultiIndex.from_frame(table[["kind", "layer", "head", "measure"]])
    sure = (table["low"] >= FLOOR) & (table["rows"] >= FEWEST)
    chosen = table[flags.reindex(places, fill_value=False).to_numpy(dtype=bool) & sure]
    return chosen.sort_values("value", ascending=False, kind="stable").reset_index(drop=True)


def type_shares(sums: Sums) -> pd.DataFrame:
    """Shares of the five types over maps, with intervals over inputs, by kind of attention."""
    import pandas as pd

    rows = []
    for kind, layers in layers_of(sums, "types").items():
        total = np.asarray(sum(sums[f"{kind}/{n}/types"].sum(axis=1) for n in layers))  # (G, 5)
        maps = np.asarray(sum(sums[f"{kind}/{n}/typed"].sum(axis=1, keepdims=True) for n in layers))  # (G, 1)
        if not maps.any():
            continue
        shares = ratio(resampled(total), resampled(maps))
        low, high = interval(shares, clusters_of(maps))
        rows += [
            {"kind": kind, "type": name, "share": shares[0, n], "low": low[n], "high": high[n]}
            for n, name in enumerate(TYPES)
        ]
    return pd.DataFrame(rows, columns=["kind", "type", "share", "low", "high"])


def compared_types(results: Mapping[str, Result], folder: Path) -> None:
    """Write the shares of map types over several corpora: types.parquet and one figure of all."""
    import pandas as pd

    found = {name: made.tables["Types of maps"] for name, made in results.items() if "Types of maps" in made.tables}
    if not found:
        return
    table = pd.concat([shares.assign(corpus=name) for name, shares in found.items()], ignore_index=True)
    write_atomic(folder / "types.parquet", lambda path: table.to_parquet(path))
    picture = share_picture({name: _shares(shares) for name, shares in found.items()})
    picture.save(folder / "types.png", dpi=200)
    picture.save(folder / "types.svg")


def _shares(shares: pd.DataFrame) -> Array:
    first = shares[shares["kind"] == shares["kind"].iloc[0]]
    return np.asarray(first["share"])


def _drawer(table: pd.DataFrame, named: pd.DataFrame, kind: str) -> Any:
    """A layer by head grid: colour of the strongest pattern, its lift as strength."""
    return lambda: grid_picture(
        _shape(table, kind),
        {
            (row.layer, row.head): (row.measure, row.value)
            for row in named[named["kind"] == kind].iloc[::-1].itertuples()  # the strongest is written last
        },
        title=f"{kind}: what each head does",
    )


def _shape(table: pd.DataFrame, kind: str) -> tuple[int, int]:
    mine = table[table["kind"] == kind]
    return int(mine["layer"].max()) + 1, int(mine["head"].max()) + 1


def _findings(
    table: pd.DataFrame, named: pd.DataFrame, controls: dict[str, pd.DataFrame], context: StudyContext
) -> list[str]:
    """The result in sentences: counts, the strongest head of each pattern, the control."""
    heads, with_name = _count(table), _count(named)
    said = [f"{with_name} of {heads} heads have a name over {context.tally.inputs:,} inputs."]
    for name, group in named.groupby("measure", sort=False):
        best, count = group.iloc[0], "1 head" if len(group) == 1 else f"{len(group)} heads"
        said.append(
            f"{name}: {count}, strongest {best.kind} layer {best.layer} head {best['head']}: "
            f"{best.mass:.2f} of its attention (chance {best.chance:.2f}), lift {best.value:.2f}"
            f"{between(best.low, best.high)}."
        )
    if controls:
        *random, shuffled = map(_count, controls.values())
        said.append(f"Control: heads of {heads} that get a name: {Ranged(random, shuffled).said('{:.3g}')}.")
    return said


def _count(table: pd.DataFrame) -> int:
    """How many heads a table has rows of."""
    return len(table[["kind", "layer", "head"]].drop_duplicates())


def _together(controls: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The named heads of all controls, each with the name of its weights."""
    import pandas as pd

    return pd.concat([table.assign(weights=name) for name, table in controls.items()], ignore_index=True)
