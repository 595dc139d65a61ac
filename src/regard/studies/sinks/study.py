"""The study of sinks, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: weights on sinks by head and layer, lengths of their keys and
values, and the loss without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.corpus.batches import Item
from regard.corpus.readers.source import Example
from regard.corpus.sums import Sums, ratio
from regard.measures.intervals import between, interval
from regard.models.cutting import cuts_of
from regard.studies.base import Batch, MapStudy, StudyContext
from regard.studies.controls import CONTROL
from regard.studies.figures import heat_picture, line_picture
from regard.studies.head_names import about_kind
from regard.studies.profiles import head_table, layer_table
from regard.studies.result import Result
from regard.studies.sinks.cuts import WAYS, SinkCuts
from regard.studies.sinks.reduce import CLASSES, LENGTHS, SinksTaker

if TYPE_CHECKING:
    import pandas as pd

    from regard.models.model import Model

CUT = 16  # texts on which edges are cut, each of another document
_WORDS = 8  # of a text on which edges are cut
_MARK = "cut"
_BEGUN = 0.3  # mean weight on resting places from which a layer is said to have sinks
_SINK = 0.5  # weight from which a head is said to rest


class Sinks(MapStudy):
    """Which tokens are sinks, of which heads, and what they are worth."""

    name: ClassVar[str] = "sinks"
    window: ClassVar[int] = 8  # texts; cuts take seconds each

    def __init__(self, *, seed: int = 0, cut: int = CUT) -> None:
        super().__init__(seed=seed)
        self.cut = cut
        self._cuts: tuple[Model, SinkCuts] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "cut": self.cut}

    @property
    def arguments(self) -> dict[str, Any]:
        return {"seed": self.seed, "cut": self.cut}

    def parts(self, model: Model, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples; one of each of the first documents is marked: there edges are cut."""
        marked: set[int | None] = set()
        for example in examples:
            mark = len(marked) < self.cut and example.cluster not in marked and len(example.text.split()) >= _WORDS
            marked |= {example.cluster} if mark else set()
            yield replace(example, fields={**example.fields, _MARK: True}) if mark else example

    def taker(self, batch: Batch) -> SinksTaker:
        """Reduce each layer to weights on classes of keys and lengths of vectors."""
        return SinksTaker(batch)

    def update(self, model: Model, items: list[Item], sums: Sums) -> None:
        """Add one batch, and the cuts of its marked texts."""
        super().update(model, items, sums)
        chosen = [item for item in items if _MARK in item.example.fields and item.example.part == 0]
        if chosen and can_cut(model):
            batch = Batch(model, chosen)
            plain, found, weights = self._sink_cuts(model).losses(batch.inputs, batch.book)
            batch.add("cut/plain", plain)
            batch.add("cut/loss", found)
            batch.add("cut/weight", weights)
            batch.add("cut/texts", np.ones(len(chosen)))
            batch.pour(sums)

    def _sink_cuts(self, model: Model) -> SinkCuts:
        if self._cuts is None or self._cuts[0] is not model:
            self._cuts = model, SinkCuts(model, self.seed)
        return self._cuts[1]

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of sinks."""
        heads, layers = _weights(sums, head_table), _weights(sums, layer_table)
        lengths, cut = _lengths(sums), _cut_table(sums, context.model)
        tables = {"By layer": layers, "Lengths of keys and values": lengths}
        if cut is not None:
            tables["Loss without sinks"] = cut
        if context.controls is not None:
            tables[CONTROL] = context.controls.table(
                layers, lambda sums: _weights(sums, layer_table), ("kind", "layer", "measure", "quantity")
            )
        drawers: dict[str, Any] = {}
        for kind in dict.fromkeys(heads["kind"]):
            drawers[f"{kind}-heads"] = (f"{kind}: mean weight of each head on resting places.", _grid(heads, kind))
            drawers[f"{kind}-lengths"] = (
                f"{kind}: length of keys and values on resting places, as a multiple of that elsewhere, by layer.",
                _ratio_lines(lengths, kind),
            )
        if cut is not None:
            drawers["cuts"] = (
                "Change of the loss when edges of one layer are cut; bands: 95% over texts.",
                _cut_lines(cut),
            )
        return Result(
            study=self.name,
            title=f"Attention sinks in {context.model.name}",
            table=heads,
            meta=context.meta(),
            drawers=drawers,
            findings=_findings(heads, layers, lengths, cut),
            cautions=context.cautions(),
            tables=tables,
        )


def can_cut(model: Model) -> bool:
    """Whether the model predicts next tokens and its rows can be computed again."""
    return model.can_generate and not model.is_encoder_decoder and bool(cuts_of(model._engine))


def _weights(sums: Sums, make: Any) -> pd.DataFrame:
    """Mean weight by class of key, and how often the strongest column is of that class."""
    import pandas as pd

    weight = make(sums, lambda _kind: CLASSES, "weight", "inputs", "chance").assign(quantity="weight")
    column = make(sums, lambda _kind: CLASSES, "strongest", "inputs").assign(quantity="strongest column")
    return pd.concat([weight, column], ignore_index=True)


def _lengths(sums: Sums) -> pd.DataFrame:
    """Mean length of keys and of values by layer, on resting places and elsewhere."""
    import pandas as pd

    parts = [
        layer_table(sums, lambda _kind: LENGTHS, name, "lengths").drop(columns="chance").assign(vector=name)
        for name in ("key", "value")
    ]
    return pd.concat([part for part in parts if not part.empty] or parts[:1], ignore_index=True)


def _cut_table(sums: Sums, model: Model) -> pd.DataFrame | None:
    """A row per layer and way: change of the loss, its interval, and the weight that was cut per row."""
    import pandas as pd

    if "cut/loss" not in sums:
        return None
    texts = sums.resampled("cut/texts")
    plain = ratio(sums.resampled("cut/plain"), texts)
    change = ratio(sums.resampled("cut/loss"), texts[:, None, None]) - plain[:, None, None]  # (R, layers, ways)
    weight = ratio(sums.resampled("cut/weight"), texts[:, None, None])[0]
    low, high = interval(change, float(sums.clusters("cut/texts")))
    against = change[..., WAYS.index("light rows")] - change[..., WAYS.index("random")]
    under, over = interval(against, float(sums.clusters("cut/texts")))
    rows = []
    for number, (kind, layer) in enumerate(sorted(model.layout())):
        for way, name in enumerate(WAYS):
            paired = (against[0, number], under[number], over[number]) if name == "light rows" else (np.nan,) * 3
            numbers = (change[0, number, way], low[number, way], high[number, way], weight[number, way], *paired)
            rows.append((kind, layer, name, plain[0], *map(float, numbers), int(texts[0])))
    names = [
        "kind",
        "layer",
        "cut",
        "loss",
        "change",
        "low",
        "high",
        "weight",
        "above_random",
        "above_low",
        "above_high",
    ]
    return pd.DataFrame(rows, columns=[*names, "texts"])


def _resting(table: pd.DataFrame, by: list[str]) -> pd.Series:
    """Mean weight on the first token and special tokens together."""
    mine = table[(table["quantity"] == "weight") & table["measure"].isin(CLASSES[:2])]
    return mine.groupby(by, sort=True)["value"].sum()


def _grid(heads: pd.DataFrame, kind: str) -> Any:
    def draw() -> Any:
        weights = _resting(heads[heads["kind"] == kind], ["layer", "head"]).unstack()
        return heat_picture(np.asarray(weights), title=f"{kind}: weight on resting places", label="mean weight")

    return draw


def _ratio_lines(lengths: pd.DataFrame, kind: str) -> Any:
    def draw() -> Any:
        lines = {f"{name}s": values for name, values in _ratios(lengths, kind).items()}
        return line_picture(lines, x="layer", y="times", title=f"{kind}: length on resting places / elsewhere")

    return draw


def _ratios(lengths: pd.DataFrame, kind: str) -> dict[str, Any]:
    """(layers,) mean length on resting places over that elsewhere, of keys and of values."""
    found = {}
    for name, group in lengths[lengths["kind"] == kind].groupby("vector", sort=True):
        both = group.pivot(index="layer", columns="measure", values="value")
        if both.notna().all(axis=None):
            found[str(name)] = np.asarray(both[LENGTHS[0]] / both[LENGTHS[1]])
    return found


def _cut_lines(cut: pd.DataFrame) -> Any:
    def draw() -> Any:
        parts = {name: cut[cut["cut"] == name] for name in WAYS}
        bands = {name: (np.asarray(one["low"]), np.asarray(one["high"])) for name, one in parts.items()}
        lines = {name: np.asarray(one["change"]) for name, one in parts.items()}
        return line_picture(lines, x="layer", y="nats", title="change of the loss", bands=bands)

    return draw


def _findings(heads: pd.DataFrame, layers: pd.DataFrame, lengths: pd.DataFrame, cut: pd.DataFrame | None) -> list[str]:
    kinds = set(heads["kind"])
    said = []
    for kind in dict.fromkeys(heads["kind"]):
        about = about_kind(str(kind), kinds)
        by_layer = _resting(layers[layers["kind"] == kind], ["layer"])
        by_head = _resting(heads[heads["kind"] == kind], ["layer", "head"])
        begun = [int(layer) for layer, value in by_layer.items() if value >= _BEGUN]
        where = f"From layer {begun[0]} on" if begun else f"No layer reaches {_BEGUN}; at most"
        said.append(
            f"{about}{where} {'resting places get' if begun else ''} {by_layer.max():.2f} of the weight of a "
            "layer at most "
            f"(layer {int(by_layer.idxmax())}); {int((by_head >= _SINK).sum())} of {len(by_head)} heads give them "
            f"{_SINK} or more.".replace("  ", " ")
        )
        columns = heads[(heads["kind"] == kind) & (heads["quantity"] == "strongest column")]
        shares = columns.groupby("measure")["value"].mean()
        said.append(
            f"{about}The strongest column of a map is the first token in {shares[CLASSES[0]]:.0%} of heads and texts, "
            f"another special token in {shares[CLASSES[1]]:.0%}, punctuation in {shares[CLASSES[2]]:.0%}, any "
            f"other token in {shares[CLASSES[3]]:.0%}."
        )
        ratios = _ratios(lengths, kind)
        if {"key", "value"} <= set(ratios):
            said.append(
                f"{about}Values of resting places are {np.median(ratios['value']):.2f} times as long as others (median "
                f"over layers, as they arrive through the output projection), keys "
                f"{np.median(ratios['key']):.2f} times."
            )
    return said + ([] if cut is None else _cut_findings(cut))


def _cut_findings(cut: pd.DataFrame) -> list[str]:
    whole = cut[cut["cut"] == "all rows"]
    worst = whole.loc[whole["change"].idxmax()]
    rest = whole[whole.index != worst.name]["change"]
    said = [
        f"Without links to resting places in layer {worst['layer']} the loss rises by {worst['change']:.2f}"
        f"{between(worst['low'], worst['high'])} nats from {worst['loss']:.2f}, the most of all layers; the "
        "median of the "
        f"others is {rest.median():+.3f} ({worst['texts']} texts). This is a shock to everything downstream, not "
        "a loss "
        "of content."
    ]
    light, random = (cut[cut["cut"] == name] for name in WAYS[1:])
    below = int((light["above_high"] < 0).sum())
    above = int((light["above_low"] > 0).sum())
    said.append(
        f"In rows whose sink holds at most half, cutting it changes the loss by {light['change'].median():+.3f} "
        "nats in the "
        f"middle layer (weight {light['weight'].median():.2f} per row), cutting random other keys of the same rows by "
        f"{random['change'].median():+.3f} (weight {random['weight'].median():.2f}). The sink matters less in {below} "
        f"layers and more in {above} of {len(light)} (paired intervals apart from 0)."
    )
    return said
