"""From the sums of the atlas to its table, figures and page.

Enters: sums over a corpus. Leaves: a `Result`: a row per head and measure, names for heads, shares of map types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from regard.corpus.sums import Sums
from regard.patterns.findings import BY
from regard.patterns.saved import SavedRule
from regard.studies.atlas.carriers import carrier_cautions
from regard.studies.atlas.copying import copying_table
from regard.studies.atlas.findings import findings_of
from regard.studies.atlas.names import awake_table, first_names, named_heads
from regard.studies.atlas.page import head_records
from regard.studies.atlas.table import atlas_table
from regard.studies.atlas.type_shares import first_shares, type_shares
from regard.studies.base import StudyContext
from regard.studies.chart import counted
from regard.studies.controls import PERMUTED
from regard.studies.figures import grid_picture, share_picture
from regard.studies.result import Result
from regard.trace.sentences import Message, reason

if TYPE_CHECKING:
    import pandas as pd


def atlas_result(sums: Sums, context: StudyContext, rules: Sequence[SavedRule] = ()) -> Result:
    """Tables and figures of the atlas, in which saved rules are patterns too."""
    own = [rule.name for rule in rules]
    table = atlas_table(sums)
    awake = {by: awake_table(sums, by, own) for by in BY}
    names = {by: named_heads(awake[by], rules=own) for by in BY}
    named, arriving = names.values()
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
        drawers["types"] = (label, lambda: share_picture({context.source.name: first_shares(shares)}))
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
        findings=findings_of(table, awake, named, controls),
        chart=counted(
            f"How many heads have each name over {context.tally.inputs:,} inputs{_several(named)}.",
            _counts(named),
        ),
        cautions=[*context.cautions(), *carrier_cautions(sums, table), *_unasked(sums, awake["weights"], rules)],
        tables=tables,
        example=context.example,
        example_options={"report": head_records(table, awake, names, sums, rules)},
    )


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


def _counts(named: pd.DataFrame) -> dict[str, int]:
    """How many heads have each name."""
    return {str(name): int(count) for name, count in named["measure"].value_counts().items()}


def _several(named: pd.DataFrame) -> str:
    """That the numbers are more than the heads together, where they are."""
    more = len(named) - len(named[["kind", "layer", "head"]].drop_duplicates())
    return f"; {more} of these names {'is' if more == 1 else 'are'} a head's second or third" if more else ""


def _unasked(sums: Sums, awake: pd.DataFrame, rules: Sequence[SavedRule]) -> Iterator[Message]:
    """Saved rules for which no row of the corpus counts, and why."""
    for number, rule in enumerate(rules):
        if awake.loc[awake["measure"] == rule.name, "rows"].any():
            continue
        place = f"missing/rule{number}/"
        codes = [name.removeprefix(place) for name in sums.arrays if name.startswith(place)]
        most = max(codes, key=lambda code: float(sums[place + code][0]), default="no_target")
        yield Message(f"n/a: {rule.name} ({reason(most)}).", "kind")


def _by_both(awake: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What heads do when awake, by weights and by contributions."""
    import pandas as pd

    return pd.concat([table.assign(by=by) for by, table in awake.items() if not table.empty], ignore_index=True)


def _together(controls: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The named heads of all controls, each with the name of its weights."""
    import pandas as pd

    return pd.concat([table.assign(weights=name) for name, table in controls.items()], ignore_index=True)
