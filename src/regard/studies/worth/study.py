"""The study of what looks are worth over a corpus, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: shares of weight, of contributions and of worth by head and layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.errors import UserError
from regard.corpus.batches import Item
from regard.corpus.sums import Sums
from regard.models.outcome import about_of
from regard.models.worth import AskedWorth, run_worth
from regard.studies.base import Batch, Study, StudyContext, naming
from regard.studies.controls import CONTROL
from regard.studies.head_names import Pictured, about_kind
from regard.studies.profiles import head_table, layer_table, lines
from regard.studies.result import Result
from regard.studies.worth.reduce import CLASSES, QUANTITIES, SiteShares, shares_of

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

_FEWEST = 4  # tokens of a text that is judged
_RESTING = CLASSES[0]


class WorthStudy(Study):
    """Weights, contributions and worth by class of line."""

    name: ClassVar[str] = "worth"

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add the texts of a batch, each by a forward and a backward pass of its own."""
        long = [item for item in items if len(item.encoded.ids) >= _FEWEST]
        if not long:
            return
        batch = Batch(model, long)
        with naming(long):
            found = [self._shares(model, item) for item in long]
        for place in found[0]:
            kind, layer = place
            batch.add(f"{kind}/{layer}/inputs", np.stack([one[place].counted for one in found]))
            for name in found[0][place].shares:
                shares = np.stack([one[place].shares[name] * one[place].counted for one in found])
                batch.add(f"{kind}/{layer}/{name}", shares)
        batch.pour(sums)

    def _shares(self, model: Model, item: Item) -> dict[tuple[str, int], SiteShares]:
        engine = model._engine
        target = item.example.pair if model.is_encoder_decoder else None
        asked = AskedWorth(position=_position(model, len(item.encoded.ids)))
        trace, _ = run_worth(engine, item.encoded, target, asked)
        found = shares_of(trace, self.seed + item.number)
        if not found:
            raise UserError(f"no line of {model.name} can be judged")
        return found

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of the three shares."""
        table, layers = _table(sums, heads=True), _table(sums, heads=False)
        tables = {"By layer": layers}
        if context.controls is not None:
            tables[CONTROL] = context.controls.table(
                layers, lambda sums: _table(sums, heads=False), ("kind", "layer", "to", "quantity")
            )
        return Result(
            study=self.name,
            title=f"What links are worth in {context.model.name}",
            table=table,
            meta=context.meta(),
            drawers=dict(_drawer(layers, kind) for kind in dict.fromkeys(layers["kind"])),
            findings=_findings(layers),
            cautions=context.cautions(),
            tables=tables,
        )


def _position(model: Model, tokens: int) -> int | None:
    """What is judged: the last word of a text for causal models, the word in its middle for masked ones and taggers."""
    about, _ = about_of(model._engine)
    if about == "next token":
        return None if model.is_encoder_decoder else tokens - 2
    return tokens // 2 if about in ("masked token", "token labels") else None


def _table(sums: Sums, *, heads: bool) -> pd.DataFrame:
    """Every quantity and class by head, or by layer."""
    import pandas as pd

    make = head_table if heads else layer_table
    parts = [
        make(sums, lambda _kind: CLASSES, name, "inputs")
        .drop(columns="chance")
        .rename(columns={"measure": "to"})
        .assign(quantity=name)
        for name in QUANTITIES
    ]
    return pd.concat([part for part in parts if not part.empty], ignore_index=True)


def _drawer(layers: pd.DataFrame, kind: str) -> tuple[str, Any]:
    """Shares of resting places by layer, a line per quantity."""
    mine = layers[layers["to"] == _RESTING].drop(columns="to").rename(columns={"quantity": "measure"})
    title = f"{kind}: shares of resting places"
    basis = "mean over heads and inputs, bands: 95% over documents"
    return f"{kind}-resting", (f"{title} by layer ({basis}).", lines(mine, kind, QUANTITIES, y="share", title=title))


def _findings(layers: pd.DataFrame) -> list[str]:
    """What rests, and what of it counts, in sentences."""
    kinds = set(layers["kind"])
    sentences: list[str] = []
    resting = layers[layers["to"] == _RESTING]
    for kind, group in resting.groupby("kind", sort=False):
        means = group.groupby("quantity")["value"].mean()
        if means.notna().all():
            arriving = f"{means['contribution']:.2f} of the contributions, " if "contribution" in means else ""
            sentences.append(
                Pictured(
                    f"{about_kind(str(kind), kinds)}Resting places get {means['weight']:.2f} of the weight, {arriving}"
                    f"{means['worth']:.2f} of the worth; with the worth of random lines of the same weight it would be "
                    f"{means['worth of equal weights']:.2f}.",
                    {name: list(group[group["quantity"] == name]["value"]) for name in means.index},
                )
            )
    return sentences
