"""From the sums of the atlas to its table, figures and page.

Enters: sums over a corpus. Leaves: a `Result`: a row per head and measure, names for heads, shares of map types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.files import write_atomic
from regard.measures.bag import bag_score
from regard.measures.intervals import between, clusters_of, interval, resampled
from regard.measures.reading import lift
from regard.measures.types import TYPES
from regard.patterns.definitions import ALWAYS, BAG, PATTERNS, STRIPES
from regard.patterns.entries import does_of
from regard.patterns.findings import BY
from regard.patterns.levels import LEVELS
from regard.patterns.saved import SavedRule
from regard.patterns.telling import telling
from regard.studies.atlas.carriers import carrier_cautions
from regard.studies.atlas.copying import copying_table
from regard.studies.atlas.names import AWAKE_SHARE, awake_table, first_names, named_heads
from regard.studies.atlas.page import head_records
from regard.studies.base import StudyContext, layers_of
from regard.studies.chart import counted
from regard.studies.controls import PERMUTED, Ranged
from regard.studies.figures import grid_picture, share_picture
from regard.studies.head_names import head_name
from regard.studies.result import Result
from regard.trace.sentences import Message, reason

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("kind", "layer", "head", "measure", "value", "low", "high", "mass", "argmax", "chance", "rows")


def atlas_result(sums: Sums, context: StudyContext, rules: Sequence[SavedRule] = ()) -> Result:
    """Tables and figures of the atlas, in which saved rules are patterns too."""
    own = [rule.name for rule in rules]
    table = atlas_table(sums)
    awake = {by: awake_table(sums, by, own) for by in BY}
    named, arriving = (named_heads(awake[by], rules=own) for by in BY)
    others = {} if context.controls is None else context.controls.named
    if context.controls is not None and context.controls.permuted is not None:
        others = {**others, PERMUTED: context.controls.permuted}
    controls = {name: named_heads(awake_table(other, rules=own), rules=own) for name, other in others.items()}
    drawers: dict[str, Any] = {
        kind: (
            f"What each {kind} head does when awake, over the corpus: its most specific name.",
            _drawer(table, named, kind, rules),
        )
        for kind in dict.fromkeys(table["kind"])
    }
    shares = type_shares(sums)
    tables = {"Named heads": named}
    if not awake["contributions"].empty:
        tables["Named heads by what arrives (contributions)"] = arriving
    tables["What every head does when awake"] = _by_both(awake)
    if not shares.empty:
        tables["Types of maps"] = shares
        label = f"Shares of map types, {context.source.name} (share of maps, as in Kovaleva et al. 2019)."
        drawers["types"] = (label, lambda: share_picture({context.source.name: _shares(shares)}))
    copying = copying_table(sums)
    if not copying.empty:
        tables["Copying: does a head write the words it reads"] = copying
    if controls:
        tables["Control: named heads of random and shuffled weights, and with permuted queries"] = _together(controls)
    return Result(
        study="atlas",
        title=f"What each head of {context.model.name} does",
        table=table,
        meta=context.meta(),
        drawers=drawers,
        findings=_findings(table, awake, named, controls, context),
        chart=counted(
            f"How many heads have each name over {context.tally.inputs:,} inputs; a head may have several.",
            _counts(named),
        ),
        cautions=[*context.cautions(), *carrier_cautions(sums, table), *_unasked(sums, awake["weights"], rules)],
        tables=tables,
        example=context.example,
        example_options={"report": head_records(table, awake, sums, rules)},
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
    nothing = np.full(mass.shape[1], np.nan)
    for name in (level.name for level in LEVELS if f"{kind}/{layer}/{level.name}" in sums):
        count = read(f"{name}_rows")[:, None]
        expected = float(ratio(sums.whole(f"{kind}/{layer}/{name}_chance"), count[0, 0]))
        numbers = ratio(read(name), count), clusters(f"{name}_rows"), nothing, nothing
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


def _drawer(table: pd.DataFrame, named: pd.DataFrame, kind: str, rules: Sequence[SavedRule]) -> Any:
    """A layer by head grid: colour of the most specific name, its lift as strength."""
    return lambda: grid_picture(
        _shape(table, kind),
        {
            (row.layer, row.head): (row.measure, row.value)
            for row in first_names(named[named["kind"] == kind]).itertuples()
        },
        title=f"{kind}: what each head does",
        own={rule.name: rule.colour for rule in rules},
    )


def _shape(table: pd.DataFrame, kind: str) -> tuple[int, int]:
    mine = table[table["kind"] == kind]
    return int(mine["layer"].max()) + 1, int(mine["head"].max()) + 1


def _findings(
    table: pd.DataFrame,
    awake: dict[str, pd.DataFrame],
    named: pd.DataFrame,
    controls: dict[str, pd.DataFrame],
    context: StudyContext,
) -> list[str]:
    """The result in sentences: the most telling head of each name, counts, how much rests, the control."""
    heads, with_name, striped = _count(table), _beyond(named), _striped(named)
    inputs = context.tally.inputs
    several = table["kind"].nunique() > 1
    found = [_story(row, named, several) for row in _telling(named)]
    found.append(f"{with_name} of {heads} heads have a name for what they do when awake, over {inputs:,} inputs.")
    if striped:
        found.append(f"{striped} heads look at the same words whatever the query is: a second place to rest, perhaps.")
    for by, mine in awake.items():
        level = mine.loc[mine["measure"] == AWAKE_SHARE, "value"]
        if len(level):
            found.append(f"By {by}, the median head rests with {1 - level.median():.2f} of its attention.")
    if controls:
        found.append(_said(controls, heads))
    return found


def _counts(named: pd.DataFrame) -> dict[str, int]:
    """How many heads have each name."""
    return {str(name): int(count) for name, count in named["measure"].value_counts().items()}


def _telling(named: pd.DataFrame) -> list[Any]:
    """The strongest head of each name, each head once, in the order in which a page tells of heads.

    A corpus has no one map in which resting could hide what the head does.
    """
    rows = named.rename(columns={"measure": "pattern", "value": "score"}).assign(part=0, rest=0.0)
    found: dict[str, Any] = {}
    for row in telling(list(rows.itertuples()), rows["pattern"].nunique()):
        found.setdefault(row.pattern, row)
    return list(found.values())


def _story(row: Any, named: pd.DataFrame, several: bool) -> str:
    """What a head does, in the page's own words, with its numbers and how many heads do the same."""
    count = int((named["measure"] == row.pattern).sum())
    others = "" if count == 1 else f" {count} heads do."
    called = f"{f'{row.kind} ' if several else ''}head {head_name(row.layer, row.head)}".capitalize()
    if row.pattern == ALWAYS:
        return f"{called} {does_of(row.pattern)}: {row.share:.2f} of its attention{between(row.low, row.high)}.{others}"
    words = f" on {row.words}" if row.pattern == STRIPES else ""
    return (
        f"{called} {does_of(row.pattern)}: {row.share:.2f} of its awake attention{words}, chance {row.chance:.2f}; "
        f"lift {row.score:.2f}{between(row.low, row.high)}.{others}"
    )


def _unasked(sums: Sums, awake: pd.DataFrame, rules: Sequence[SavedRule]) -> Iterator[Message]:
    """Saved rules for which no row of the corpus counts, and why."""
    for number, rule in enumerate(rules):
        if awake.loc[awake["measure"] == rule.name, "rows"].any():
            continue
        place = f"missing/rule{number}/"
        codes = [name.removeprefix(place) for name in sums.arrays if name.startswith(place)]
        most = max(codes, key=lambda code: float(sums[place + code][0]), default="no_target")
        yield Message(f"n/a: {rule.name} ({reason(most)}).", "kind")


def _said(controls: dict[str, pd.DataFrame], heads: int) -> str:
    """How many heads of the controls get a name."""
    of = {name: (_beyond(named), _striped(named)) for name, named in controls.items()}
    permuted, stripes = of.pop(PERMUTED, (None, 0))
    *random, shuffled = (with_name + striped for with_name, striped in of.values())
    said = f"Control: heads of {heads} that get such a name: {Ranged(random, shuffled).said('{:.3g}')}"
    if permuted is None:
        return f"{said}."
    return f"{said}, {PERMUTED} {permuted}, where {stripes} look at the same words from everywhere."


def _beyond(named: pd.DataFrame) -> int:
    """How many heads do more than rest, or look at the same words from everywhere."""
    return _count(named[~named["measure"].isin([ALWAYS, STRIPES])])


def _striped(named: pd.DataFrame) -> int:
    """How many heads look at the same words from everywhere."""
    return _count(named[named["measure"] == STRIPES])


def _by_both(awake: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What heads do when awake, by weights and by contributions."""
    import pandas as pd

    return pd.concat([table.assign(by=by) for by, table in awake.items() if not table.empty], ignore_index=True)


def _count(table: pd.DataFrame) -> int:
    """How many heads a table has rows of."""
    return len(table[["kind", "layer", "head"]].drop_duplicates())


def _together(controls: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The named heads of all controls, each with the name of its weights."""
    import pandas as pd

    return pd.concat([table.assign(weights=name) for name, table in controls.items()], ignore_index=True)
