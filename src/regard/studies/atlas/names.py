"""What heads do when awake, over a corpus, and what they are called.

Enters: sums of the atlas. Leaves: a row per head and pattern with its interval, and the heads that have a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.awake import AwakeReading, AwakeSums, read_awake
from regard.measures.intervals import interval
from regard.patterns.definitions import ALWAYS, BAG, PATTERNS, STRIPES, THRESHOLDS, USUAL, WORDS
from regard.patterns.entries import rank_of
from regard.patterns.naming import ASLEEP, FLOOR, STAYS, own_name
from regard.studies.base import layers_of

if TYPE_CHECKING:
    import pandas as pd

AWAKE_COLUMNS = (
    "kind",
    "layer",
    "head",
    "measure",
    "value",
    "low",
    "high",
    "share",
    "chance",
    "awake",
    "rows",
    "stays",
)
AWAKE_SHARE = "awake"  # the row of a head that tells how much of its attention does not rest
BESIDE = ("same word, elsewhere",)  # no name, but asked for one
EQUIVALENTS = 30  # whole rows that the awake attention must amount to before a head is named for what it does


def awake_table(sums: Sums, by: str = "weights", rules: Sequence[str] = ()) -> pd.DataFrame:
    """A row per head and pattern: what it does with the attention (or the contributions) that does not rest.

    `value` is the lift with its interval, `share` the part of the awake attention on target, `awake` how many whole
    rows that attention amounts to; `stays`, for kinds of words, what part of the share stays if queries are exchanged.
    `rules` are the names of the saved rules that were asked.
    """
    import pandas as pd

    found = [
        row
        for kind, layers in layers_of(sums, f"{by}_awake").items()
        for layer in layers
        for row in (*_awake_heads(sums, kind, layer, by), *_rule_heads(sums, kind, layer, by, rules))
    ]
    return pd.DataFrame(found, columns=list(AWAKE_COLUMNS))


def _awake_heads(sums: Sums, kind: str, layer: int, by: str) -> Iterator[dict[str, Any]]:
    place = f"{kind}/{layer}/{by}"
    drawn = AwakeSums(*(sums.resampled(f"{place}_{name}") for name in AwakeSums._fields))  # (R, H, P), rows (R, P)
    reading = read_awake(drawn)
    ends = interval(np.asarray(reading.lift), sums.clusters(f"{place}_awake"))  # (H, P) each
    level, rows = (sums.resampled(f"{place}_{name}") for name in ("level", "level_rows"))
    kept, paired = (sums.whole(f"{place}_{name}") for name in ("kept", "paired"))  # (H, W)
    stays = dict(zip(WORDS, ratio(kept, paired).T, strict=True))
    yield from _level(kind, layer, level, rows[:, None], sums.clusters(f"{place}_level_rows"))
    for number, name in enumerate((*(pattern.name for pattern in PATTERNS), BAG)):
        if name not in THRESHOLDS and name not in BESIDE:
            continue
        same = stays.get(name, np.full(drawn.mass.shape[1], np.nan))
        mine = AwakeReading(*(field[..., number] for field in reading))
        yield from _rows((kind, layer), name, mine, (ends[0][:, number], ends[1][:, number]), same)


def _rule_heads(sums: Sums, kind: str, layer: int, by: str, rules: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The same for saved rules."""
    for number, name in enumerate(rules):
        place = f"{kind}/{layer}/{by}_rule{number}"
        reading = read_awake(AwakeSums(*(sums.resampled(f"{place}_{part}") for part in AwakeSums._fields)))
        mine = AwakeReading(*(field[..., 0] for field in reading))
        nothing = np.full(mine.lift.shape[1], np.nan)
        ends = interval(np.asarray(mine.lift), sums.clusters(f"{place}_awake")[:, 0])
        yield from _rows((kind, layer), name, mine, ends, nothing)


def _rows(
    place: tuple[str, int], name: str, reading: AwakeReading, ends: tuple[Array, Array], stays: Array
) -> Iterator[dict[str, Any]]:
    """A row per head, from readings (R, H) of which the first is that of the corpus, and the ends of its intervals."""
    low, high = ends
    for head in range(reading.lift.shape[1]):
        share, chance, value, awake, counted = (float(field[0, head]) for field in reading)
        numbers = (value, float(low[head]), float(high[head]), share, chance, awake, int(counted), float(stays[head]))
        yield dict(zip(AWAKE_COLUMNS, (*place, head, name, *numbers), strict=True))


def _level(kind: str, layer: int, awake: Array, rows: Array, clusters: Array) -> Iterator[dict[str, Any]]:
    """How awake heads are, from sums (R, H) over rows (R, 1), in the columns of the patterns."""
    values = ratio(awake, rows)
    low, high = interval(values, clusters)
    for head in range(values.shape[1]):
        share, whole = float(values[0, head]), float(awake[0, head])
        nothing = float("nan")
        numbers = (share, float(low[head]), float(high[head]), share, nothing, whole, int(rows[0, 0]), nothing)
        yield dict(zip(AWAKE_COLUMNS, (kind, layer, head, AWAKE_SHARE, *numbers), strict=True))


def named_heads(awake: pd.DataFrame, *, sure: bool = True, rules: Sequence[str] = ()) -> pd.DataFrame:
    """Heads whose awake lift reaches the threshold of a pattern, and of no simpler one that explains it.

    The lower end of the interval must be above `FLOOR`, over enough rows: what a few texts show by luck is no name
    (unless it need not be `sure`, since it is tested elsewhere). A
    head that is awake for less than `ASLEEP` of its attention always rests. One that looks at some kind of words
    whatever the query is looks at fixed words; the column `words` says at which kind. `rules` are
    names of saved rules. Strongest first.
    """
    import pandas as pd

    heads = ["kind", "layer", "head"]
    table = awake.pivot(index=heads, columns="measure", values="value").fillna(0.0)
    lifts = {name: table[name].to_numpy() for name in table}
    named = {
        name: (lifts[name] >= threshold) & own_name(name, lifts.__getitem__)
        for name, threshold in (THRESHOLDS | dict.fromkeys(rules, USUAL)).items()
        if name in lifts
    }
    flags = pd.DataFrame(named, index=table.index).stack()  # by kind, layer, head and measure
    places = pd.MultiIndex.from_frame(awake[[*heads, "measure"]])
    sleeping = awake[(awake["measure"] == AWAKE_SHARE) & (awake["value"] < ASLEEP)]
    asleep = pd.MultiIndex.from_frame(awake[heads]).isin(pd.MultiIndex.from_frame(sleeping[heads]))
    enough = (awake["awake"] >= EQUIVALENTS) & ~asleep & ((awake["low"] >= FLOOR) | (not sure))
    chosen = awake[flags.reindex(places, fill_value=False).to_numpy(dtype=bool) & enough]
    found = [part for part in (_striped(chosen), _sleepers(sleeping)) if not part.empty]
    together = pd.concat(found, ignore_index=True) if found else _striped(chosen)
    ordered = together.sort_values("value", ascending=False, kind="stable")
    return ordered.drop_duplicates([*heads, "measure"]).reset_index(drop=True)


def _striped(chosen: pd.DataFrame) -> pd.DataFrame:
    """Named rows, with the name of stripes where a head looks at a kind of words whatever the query is."""
    kinds = chosen["measure"].isin(WORDS)
    names = chosen["measure"].mask(kinds & (chosen["stays"] >= STAYS), STRIPES)
    return chosen.assign(words=chosen["measure"].where(kinds, ""), measure=names)


def _sleepers(sleeping: pd.DataFrame) -> pd.DataFrame:
    """The heads that always rest: values are shares of all attention."""
    ends = {"value": 1 - sleeping["value"], "low": 1 - sleeping["high"], "high": 1 - sleeping["low"]}
    return sleeping.assign(measure=ALWAYS, **ends, share=ends["value"], words="")


def first_names(named: pd.DataFrame) -> pd.DataFrame:
    """One row per named head: its most specific name."""
    ranked = named.sort_values("measure", key=lambda names: names.map(rank_of), kind="stable")
    return ranked.drop_duplicates(["kind", "layer", "head"])
