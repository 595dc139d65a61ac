"""What the atlas found, in sentences.

Enters: its tables. Leaves: the most telling head of each name, counts, how much rests, the control.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.measures.intervals import between
from regard.patterns.definitions import ALWAYS, BAG, STRIPES
from regard.patterns.entries import does_of
from regard.patterns.telling import telling
from regard.studies.atlas.names import AWAKE_SHARE
from regard.studies.controls import PERMUTED, Ranged
from regard.studies.head_names import head_name

if TYPE_CHECKING:
    import pandas as pd


def findings_of(
    table: pd.DataFrame,
    awake: dict[str, pd.DataFrame],
    named: pd.DataFrame,
    controls: dict[str, pd.DataFrame],
) -> list[str]:
    """The result in sentences: the most telling head of each name, counts, how much rests, the control."""
    heads, with_name, striped = _count(table), _beyond(named), _striped(named)
    several = table["kind"].nunique() > 1
    found = [f"{with_name} of {heads} heads have a name for what they do besides resting{_usual(named)}."]
    found += [_story(row, named, several) for row in _telling(named)]
    if striped:
        found.append(f"{striped} heads look at the same words whatever the query is: a second place to rest, perhaps.")
    for by, mine in awake.items():
        level = mine.loc[mine["measure"] == AWAKE_SHARE, "value"]
        if len(level):
            found.append(f"By {by}, {1 - level.median():.0%} of the median head's attention rests.")
    if controls:
        found.append(_said(controls, heads))
    return found


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
    others = "" if count == 1 else f" {count} heads do this."
    called = f"{f'{row.kind} ' if several else ''}head {head_name(row.layer, row.head)}".capitalize()
    if row.pattern == ALWAYS:
        limits = between(100 * row.low, 100 * row.high, ".0f", "%")
        return f"{called} {does_of(row.pattern)}: {row.share:.0%} of all its attention{limits}.{others}"
    words = f" ({row.words})" if row.pattern == STRIPES else ""
    goes = "is spread evenly there" if row.pattern == BAG else "goes there"
    return (
        f"{called} {does_of(row.pattern)}{words}: {row.share:.0%} of its attention {goes}, attention sinks "
        f"left out (chance: {row.chance:.0%}).{others}"
    )


def _usual(named: pd.DataFrame) -> str:
    """The two most usual names, and how many heads have each."""
    counts = named.loc[named["measure"] != ALWAYS, "measure"].value_counts().head(2)
    said = " and ".join(f"“{name}” ({count})" for name, count in counts.items())
    return f", most often {said}" if said else ""


def _said(controls: dict[str, pd.DataFrame], heads: int) -> str:
    """How many heads of the controls get a name."""
    of = {name: (_beyond(named), _striped(named)) for name, named in controls.items()}
    permuted, stripes = of.pop(PERMUTED, (None, 0))
    *random, shuffled = (with_name + striped for with_name, striped in of.values())
    said = f"Control: heads of {heads} that get such a name: {Ranged(random, shuffled).said('{:.3g}')}"
    if permuted is None:
        return f"{said}."
    return f"{said}, {PERMUTED} {permuted}, where {stripes} look at fixed words."


def _beyond(named: pd.DataFrame) -> int:
    """How many heads do more than rest, or look at fixed words."""
    return _count(named[~named["measure"].isin([ALWAYS, STRIPES])])


def _striped(named: pd.DataFrame) -> int:
    """How many heads look at fixed words."""
    return _count(named[named["measure"] == STRIPES])


def _count(table: pd.DataFrame) -> int:
    """How many heads a table has rows of."""
    return len(table[["kind", "layer", "head"]].drop_duplicates())
