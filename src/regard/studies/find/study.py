"""Which heads follow a rule: every head ranked by how much of its awake attention is where the rule says.

Enters: a rule and a corpus. Leaves: a `Result`: a row per head, and texts in which the best one does it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from regard.base.errors import UserError
from regard.corpus.sums import Sums
from regard.measures.intervals import FEWEST
from regard.patterns.rules import Rule, parse_rule
from regard.studies.base import Batch, MapStudy, StudyContext, layers_of
from regard.studies.find.examples import LOOKED_AT, example_table
from regard.studies.find.ranking import ranked
from regard.studies.find.reduce import RuleTaker
from regard.studies.head_names import head_name
from regard.studies.result import Result
from regard.trace.sentences import Message, reason

EXAMPLES = "Examples"


class Find(MapStudy):
    """One rule, every head."""

    name: ClassVar[str] = "find"

    def __init__(self, *, rule: str | Rule, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.rule = rule if isinstance(rule, Rule) else parse_rule(rule)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "rule": self.rule.name}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "rule": self.rule.name}

    def taker(self, batch: Batch) -> RuleTaker:
        """Reduce each layer to numbers per input."""
        return RuleTaker(batch, self.rule)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """The heads in order, and texts in which the first one follows the rule."""
        why = {kind: _why_not(sums, kind) for kind in layers_of(sums, "awake")}
        if all(why.values()):
            raise UserError(f"no head can be ranked for {self.rule.name}: {next(iter(why.values()))}")
        table, asleep = ranked(sums)
        examples = None
        if len(table):
            best = table.iloc[0]
            examples = example_table(context, self.rule, (best["kind"], int(best["layer"]), int(best["head"])))
        return Result(
            study=self.name,
            title=f"Heads of {context.model.name} for the rule: {self.rule.name}",
            table=table,
            meta={**context.meta(), "looked_at": min(LOOKED_AT, context.tally.inputs)},
            findings=_findings(table, asleep),
            cautions=[*_cautions(sums, why, table, context), *_usual(context)],
            tables={} if examples is None else {EXAMPLES: examples},
        )


def _why_not(sums: Sums, kind: str) -> str:
    """Why no row of a kind of attention counted; empty if some did."""
    layer = layers_of(sums, "awake")[kind][0]
    if sums.whole(f"{kind}/{layer}/rows").any():
        return ""
    asked, broad = sums.whole(f"{kind}/{layer}/asked")
    if asked:
        return reason("broad") if broad == asked else reason("no_target")
    codes = [name.rpartition("/")[2] for name in sums.arrays if name.startswith(f"{kind}/missing/")]
    most = max(codes, key=lambda code: float(sums[f"{kind}/missing/{code}"][0]), default="no_target")
    return reason(most)


def _findings(table: Any, asleep: int) -> list[str]:
    found = []
    if len(table):
        best = table.iloc[0]
        other = "" if best["held_out"] != best["held_out"] else f", held out {best['held_out']:.2f}"
        found.append(
            f"Head {head_name(best['layer'], best['head'])} comes first: {best['share']:.2f} of its awake attention, "
            f"where chance would give {best['chance']:.2f}; lift {best['lift']:.2f}{other}."
        )
    if asleep:
        found.append(f"{asleep:,} heads rest in all but 2% of their attention there and are left out.")
    return found


def _cautions(sums: Sums, why: dict[str, str], table: Any, context: StudyContext) -> list[Message]:
    """What this rule does not tell: rows with too many targets, kinds of attention it cannot be asked of."""
    found = [Message(f"n/a for {kind} attention: {text}.", "kind") for kind, text in why.items() if text]
    kind = next(kind for kind, text in why.items() if not text)
    asked, broad = sums.whole(f"{kind}/{layers_of(sums, 'awake')[kind][0]}/asked")
    if broad * 2 >= asked:
        found.append(
            Message(
                f"The rule says little: in {broad:,.0f} of {asked:,.0f} rows with a target, half or more of the keys "
                "are targets (chance is 0.5 or more); only the other rows count.",
                "broad",
            )
        )
    over = context.tally.clustered
    if context.tally.clusters >= FEWEST and table["low"].isna().all():
        found.append(
            Message(f"There are no intervals: these need the weight of {FEWEST} {over} of one size.", "uneven")
        )
    if table["held_out"].isna().all():
        found.append(Message(f"Nothing is held out: all rows are from one half of the {over}.", "one_half"))
    return found


def _usual(context: StudyContext) -> list[Message]:
    """What holds for every study; a control is not offered here."""
    return [text for text in context.cautions() if text.code not in ("uncontrolled", "resting")]
