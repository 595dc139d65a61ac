"""The study of attention to special tokens and neighbours, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: a row per head and measure, a table by layer, figures by layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.measures.intervals import between
from regard.studies.base import Batch, MapStudy, StudyContext
from regard.studies.chart import Bar, Chart
from regard.studies.controls import CONTROL
from regard.studies.head_names import about_kind, head_name
from regard.studies.profiles import head_table, layer_table, lines, wide
from regard.studies.result import Result
from regard.studies.tokens.reduce import SHARES, TokensTaker, measures_of

if TYPE_CHECKING:
    import pandas as pd

_PLACES = ("means", "inputs", "chance")
# Measures of some rows alone: not of all attention
_WHOSE = {"other to [SEP]": "the attention of all other tokens", "[SEP] to [SEP]": "the attention of [SEP] itself"}


class Tokens(MapStudy):
    """Where attention goes: special tokens, punctuation, neighbours."""

    name: ClassVar[str] = "tokens"

    def taker(self, batch: Batch) -> TokensTaker:
        """Reduce each layer to ten numbers per head and input."""
        return TokensTaker(batch)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of attention to special tokens and neighbours."""
        return _result(sums, context)


def _result(sums: Sums, context: StudyContext) -> Result:
    table = head_table(sums, measures_of, *_PLACES)
    layers = layer_table(sums, measures_of, *_PLACES)
    strongest = _strongest(table, layers)
    tables = {"All layers and measures": layers}
    drawers: dict[str, Any] = {}
    for kind in dict.fromkeys(table["kind"]):
        tables[f"{kind}: by layer, mean over heads"] = wide(layers, kind)
        drawers |= _drawers(layers, kind)
    if context.controls is not None:
        tables[CONTROL] = context.controls.table(
            layers, lambda sums: layer_table(sums, measures_of, *_PLACES), ("kind", "layer", "measure")
        )
    return Result(
        study="tokens",
        title=f"Where the attention of {context.model.name} goes",
        table=table,
        meta=context.meta(),
        drawers=drawers,
        findings=_findings(strongest, layers, context),
        chart=_chart(strongest) if strongest else None,
        cautions=context.cautions(),
        tables=tables,
    )


def _drawers(layers: pd.DataFrame, kind: str) -> dict[str, Any]:
    names = measures_of(kind)
    places, offsets, entropies = names[3:8], names[:3], names[8:]
    basis = "mean over heads and inputs, bands: 95% over inputs"
    return {
        f"{kind}-places": (
            f"{kind}: attention to special tokens and punctuation by layer ({basis}).",
            lines(layers, kind, places, y="mean attention", title=f"{kind}: attention to places"),
        ),
        f"{kind}-neighbours": (
            f"{kind}: attention to the token itself and its neighbours by layer ({basis}).",
            lines(layers, kind, offsets, y="mean attention", title=f"{kind}: attention to neighbours"),
        ),
        f"{kind}-entropy": (
            f"{kind}: entropy of attention by layer, in nats ({basis}).",
            lines(layers, kind, entropies, y="entropy (nats)", title=f"{kind}: how wide attention is"),
        ),
    }


def _strongest(table: pd.DataFrame, layers: pd.DataFrame) -> list[tuple[str, str, Any, Any]]:
    """Kind, measure, its strongest layer and head; the measure that is farthest above chance first."""
    found = []
    for kind in dict.fromkeys(table["kind"]):
        for name in measures_of(kind)[: len(SHARES)]:
            by_layer, by_head = (
                some[(some["kind"] == kind) & (some["measure"] == name) & some["value"].notna()]
                for some in (layers, table)
            )
            if not by_layer.empty:
                best, head = (some.loc[some["value"].idxmax()] for some in (by_layer, by_head))
                found.append((kind, name, best, head))
    return sorted(found, key=lambda one: one[2]["chance"] - one[3]["value"])


def _chart(strongest: list[tuple[str, str, Any, Any]]) -> Chart:
    """Each measure in the layer where it is highest, beside what even attention would give; the largest first."""
    kinds = {kind for kind, *_ in strongest}
    bars = [
        Bar(
            f"{kind}: {_called(name)}" if len(kinds) > 1 else _called(name),
            float(best["value"]),
            float(best["chance"]),
            f"layer {best['layer']}",
        )
        for kind, name, best, _ in sorted(strongest, key=lambda one: -one[2]["value"])
        if name not in _WHOSE
    ]
    below = "; grey: less than that" if any(bar.below for bar in bars) else ""
    return Chart(
        "Share of all attention that each gets, in the layer that gives it most",
        bars,
        top=1.0,
        tick=f"chance: what even attention would give{below}",
    )


def _called(name: str) -> str:
    """A measure in a chart; marks stand in quotes."""
    return "“.” and “,”" if name == ". and ," else name


def _begun(name: str) -> str:
    """The same at the beginning of a sentence."""
    called = _called(name)
    return f"{called[:1].upper()}{called[1:]}"


_RESTING = ("[CLS]", "the first token", "[SEP]")


def _rests(layers: pd.DataFrame, kinds: list[str]) -> list[str]:
    """How much attention goes to resting places over all layers, not in the one where that is most."""
    found = []
    for kind in dict.fromkeys(kinds):
        mine = layers[(layers["kind"] == kind) & layers["measure"].isin(_RESTING) & layers["value"].notna()]
        mean = mine.groupby("measure", sort=False)[["value", "chance"]].mean()
        if not mean.empty:
            share, chance = mean.sum()
            found.append(
                f"{about_kind(kind, kinds)}Over all layers, {share:.0%} of all attention goes to "
                f"{' and '.join(map(str, mean.index))}, where heads rest (chance: {chance:.0%})."
            )
    return found


def _findings(strongest: list[tuple[str, str, Any, Any]], layers: pd.DataFrame, context: StudyContext) -> list[str]:
    """Where most attention goes, then the strongest layer and head of each measure, in sentences."""
    kinds = [kind for kind, *_ in strongest]
    said = [
        f"{about_kind(kind, kinds)}{_begun(name)}: head {head_name(head['layer'], head['head'])} puts "
        f"{head['value']:.0%} of {_WHOSE.get(name, 'all its attention')} there "
        f"(chance: {head['chance']:.0%}); averaged over heads, "
        f"layer {best['layer']} puts most there, {best['value']:.0%}"
        f"{between(100 * best['low'], 100 * best['high'], '.0f', '%')}."
        for kind, name, best, head in strongest
    ]
    counted = (
        f"{context.tally.inputs:,} inputs, which count alike however long they are; what a kind of token gets is the "
        "mean over the inputs that have one (not all have a “.” or “,”)."
    )
    return [*_most(strongest, kinds), *_rests(layers, kinds), *said, counted]


def _most(strongest: list[tuple[str, str, Any, Any]], kinds: list[str]) -> list[str]:
    """The place that gets the largest part of a layer's attention."""
    every = [one for one in strongest if one[1] not in _WHOSE]
    if not every:
        return []
    kind, name, best, _ = max(every, key=lambda one: one[2]["value"])
    return [
        f"{about_kind(kind, kinds)}{_begun(name)} gets most: {best['value']:.0%} of all attention in "
        f"layer {best['layer']} (chance: {best['chance']:.0%})."
    ]
