"""The study of what training changed, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: distances per head, patterns that appeared and vanished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.identity import model_identity
from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.patterns.definitions import ALWAYS
from regard.studies.atlas.names import awake_table, named_heads
from regard.studies.base import Batch, Study, StudyContext, naming
from regard.studies.change.reduce import MEASURES, SIDES, LayerComparer, LayerKeeper, portions
from regard.studies.figures import heat_picture
from regard.studies.head_names import about_kind, head_name
from regard.studies.profiles import head_table, layer_table, lines
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

_HEAD = ["kind", "layer", "head", "measure"]
_PLACES = ("change", "inputs")


class Change(Study):
    """Distances between the maps of two checkpoints; the second is a model, or a function that loads it."""

    name: ClassVar[str] = "change"
    version: ClassVar[int] = 2

    def __init__(self, *, other: Model | Callable[[], Model], seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.other: Model = other() if callable(other) else other

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "other": self.other.name, "other parameters": self.other.parameters}

    def holds(self) -> dict[str, Any]:
        return {"other model": model_identity(self.other)}

    @property
    def arguments(self) -> dict[str, Any]:
        return {**super().arguments, "other": self.other._engine.maker()}

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Run both models on a batch, the second on exactly the inputs of the first."""
        for part in portions(items):
            before = Batch(model, part)
            after = before.again()  # including the first model's own answers, for encoder-decoders
            first = LayerKeeper(before)
            with naming(part):
                model._engine.stream(before.inputs, before.book, first)
            second = LayerComparer(after, first.layers)
            try:
                with naming(part):
                    self.other._engine.stream(before.inputs, before.book, second)
            except IndexError as error:
                raise UserError(f"{self.other.name} cannot read the tokens of {model.name}: {error}") from None
            if first.layers:
                raise UserError(f"{self.other.name} has fewer layers than {model.name}; compare models of one shape")
            for name, batch, taker in zip(SIDES, (before, after), (first, second), strict=True):
                taker.finish()
                found = Sums()
                batch.pour(found)
                for place, array in found.arrays.items():
                    sums.add(f"{name}:{place}", array)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of what changed between two models."""
        return _result(sums, context, self.other)


def _result(sums: Sums, context: StudyContext, other: Model) -> Result:
    before, after = (_of(sums, side) for side in SIDES)
    table = head_table(after, lambda kind: MEASURES, *_PLACES).drop(columns="chance")
    layers = layer_table(after, lambda kind: MEASURES, *_PLACES)
    changed = changed_patterns(before, after)
    tables = {"Patterns that appeared or vanished": changed, "By layer": layers.drop(columns="chance")}
    if context.controls is not None:
        tables["Control: from random and shuffled weights to the second model, by layer"] = context.controls.table(
            layers,
            lambda sums: layer_table(_of(sums, SIDES[1]), lambda kind: MEASURES, *_PLACES),
            ("kind", "layer", "measure"),
        )
    return Result(
        study="change",
        title=f"From {context.model.name} to {other.name}: what changed",
        table=table,
        meta={**context.meta(), "other": other.facts},
        drawers={
            name: drawer for kind in dict.fromkeys(table["kind"]) for name, drawer in _drawers(table, layers, kind)
        },
        findings=_findings(table, changed),
        cautions=context.cautions(),
        tables=tables,
    )


def _of(sums: Sums, side: str) -> Sums:
    """The sums of one of the two models."""
    return Sums({n.removeprefix(f"{side}:"): array for n, array in sums.arrays.items() if n.startswith(f"{side}:")})


def changed_patterns(before: Sums, after: Sums) -> pd.DataFrame:
    """Heads that gained or lost a name; `clear` if the intervals of both models do not overlap."""
    import pandas as pd

    tables = [awake_table(sums) for sums in (before, after)]
    named = [named_heads(table) for table in tables]
    names = [set(map(tuple, table[table["measure"] != ALWAYS][_HEAD].to_numpy())) for table in named]
    values = [table.set_index(_HEAD)[["value", "low", "high"]] for table in tables]
    rows = []
    for what, places in (("appeared", names[1] - names[0]), ("vanished", names[0] - names[1])):
        for place in sorted(places):
            one, two = (table.loc[place] for table in values)
            clear = bool(one["high"] < two["low"] or two["high"] < one["low"])
            rows.append((*place, what, float(one["value"]), float(two["value"]), clear))
    table = pd.DataFrame(rows, columns=["kind", "layer", "head", "pattern", "change", "before", "after", "clear"])
    order = (table["after"] - table["before"]).abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _drawers(table: pd.DataFrame, layers: pd.DataFrame, kind: str) -> list[tuple[str, Any]]:
    mine = table[table["kind"] == kind]

    def grid(measure: str, label: str) -> Any:
        values = mine[mine["measure"] == measure].pivot(index="layer", columns="head", values="value")
        return lambda: heat_picture(np.asarray(values), title=f"{kind}: {label}", label=measure)

    return [
        (f"{kind}-cosine", (f"{kind}: cosine of each head's maps in both models.", grid("cosine", "cosine of maps"))),
        (f"{kind}-js", (f"{kind}: Jensen-Shannon distance, nats per row.", grid("js", "distance of maps"))),
        (
            f"{kind}-layers",
            (
                f"{kind}: both by layer (mean over heads and inputs, bands: 95% over inputs).",
                lines(layers, kind, MEASURES, y="cosine; nats", title=f"{kind}: change by layer"),
            ),
        ),
    ]


def _findings(table: pd.DataFrame, changed: pd.DataFrame) -> list[str]:
    sentences = []
    for kind in dict.fromkeys(table["kind"]):
        js = table[(table["kind"] == kind) & (table["measure"] == "js")]
        cosine = table[(table["kind"] == kind) & (table["measure"] == "cosine")]["value"]
        most = js.loc[js["value"].idxmax()]
        name, reach = head_name(most["layer"], most["head"]), between(most["low"], most["high"], ".3f")
        sentences.append(
            f"{about_kind(kind, table['kind'])}Maps have a cosine of {cosine.mean():.3f} on average; most changed is "
            f"head {name}: {most['value']:.3f} nats per row{reach} of at most 0.693."
        )
    for what in ("appeared", "vanished"):
        some = changed[changed["change"] == what]
        sentences.append(
            f"{len(some)} patterns {what}, {int(some['clear'].sum())} of them with intervals that do not overlap."
        )
    return sentences
