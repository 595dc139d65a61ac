"""The study of weights and contributions, and its report.

Enters: a corpus, then its sums. Leaves: a `Result`: weights and contributions by head and layer, norms by frequency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from regard.corpus.sums import Sums
from regard.measures.intervals import between, correlation_interval
from regard.measures.ranks import spearman
from regard.studies.base import Batch, MapStudy, StudyContext, layers_of
from regard.studies.chart import Bar, Chart
from regard.studies.controls import CONTROL
from regard.studies.head_names import Pictured, about_kind
from regard.studies.norms.reduce import CLASSES, VOCABULARY, NormsTaker
from regard.studies.profiles import head_table, layer_table, lines
from regard.studies.result import Result

if TYPE_CHECKING:
    import pandas as pd

# name in the sums -> (name in the table, whether there is one per head)
QUANTITIES = {
    "weights": ("weight", True),
    "norms_raw": ("contribution", True),
    "norms_share": ("contribution, share", True),
    "sums_raw": ("vector sum", False),
    "sums_share": ("vector sum, share", False),
}
_FEWEST = 5  # times a token must occur for its mean norm to be ranked


class Norms(MapStudy):
    """Weights and contributions."""

    name: ClassVar[str] = "norms"

    def taker(self, batch: Batch) -> NormsTaker:
        """Reduce each layer to shares per head and input, and to norms per token of the vocabulary."""
        return NormsTaker(batch)

    def report(self, sums: Sums, context: StudyContext) -> Result:
        """Tables and figures of weights and contributions."""
        return _result(sums, context)


def _result(sums: Sums, context: StudyContext) -> Result:
    table = _table(sums, heads=True)
    layers = _table(sums, heads=False)
    frequency = frequency_table(sums)
    tables = {"By layer": layers}
    if not frequency.empty:
        tables["Rank correlation of the mean norm of tokens with their frequency rank"] = frequency
    if context.controls is not None:
        tables[CONTROL] = context.controls.table(
            layers, lambda sums: _table(sums, heads=False), ("kind", "layer", "to", "quantity")
        )
    missing = _missing(layers, context)
    return Result(
        study="norms",
        title=f"Attention weights and contributions in {context.model.name}",
        table=table,
        meta={**context.meta(), "no_norms": missing},
        drawers={name: drawer for kind in dict.fromkeys(table["kind"]) for name, drawer in _drawers(layers, kind)},
        findings=[*([missing] if missing else []), *_findings(layers, frequency)],
        chart=_chart(layers),
        cautions=context.cautions(),
        tables=tables,
    )


def _table(sums: Sums, *, heads: bool) -> pd.DataFrame:
    """Every quantity and class by head, or by layer."""
    import pandas as pd

    make = head_table if heads else layer_table
    parts = []
    for name, (quantity, of_heads) in QUANTITIES.items():
        if of_heads or not heads:
            part = make(sums, classes_of, name, "inputs").drop(columns="chance")
            parts.append(part.rename(columns={"measure": "to"}).assign(quantity=quantity))
    return pd.concat([part for part in parts if not part.empty], ignore_index=True)


def classes_of(kind: str) -> tuple[str, ...]:
    """Names of the classes of keys; a causal model has a first token in place of [CLS]."""
    return ("the first token", *CLASSES[1:]) if kind == "decoder" else CLASSES


def _missing(layers: pd.DataFrame, context: StudyContext) -> str:
    """Why there are no contributions, if there are none."""
    if (layers["quantity"] != "weight").any():
        return ""
    sites = context.example.sites if context.example is not None else ()
    reason = next(
        (site.no_norms for site in sites if site.no_norms), "its attention has no output projection of its own"
    )
    return f"Contributions are not available for {context.model.name}: {reason}. Only weights are given."


# -- word frequency --------------------------------------------------------------------------------------------


def frequency_table(sums: Sums) -> pd.DataFrame:
    """Spearman correlation of frequency rank (1 the most frequent) with mean ||f(x)|| by layer.

    It is over the tokens of the vocabulary that occur five times or more, and so is the interval.
    """
    import pandas as pd

    rows = []
    for kind, layers in layers_of(sums, f"{VOCABULARY}_norms").items():
        for layer in layers:
            counts = sums[f"{kind}/{layer}/{VOCABULARY}_counts"]
            often = counts >= _FEWEST
            means = sums[f"{kind}/{layer}/{VOCABULARY}_norms"][often] / counts[often]
            value = spearman(-counts[often], means)
            rows.append((kind, layer, value, *correlation_interval(value, int(often.sum())), int(often.sum())))
    return pd.DataFrame(rows, columns=["kind", "layer", "spearman", "low", "high", "tokens"])


# -- figures and words -----------------------------------------------------------------------------------------


def _drawers(layers: pd.DataFrame, kind: str) -> list[tuple[str, Any]]:
    """Weights and row-normalised contributions, a line per class; then the vector sums."""
    basis = "mean over heads and inputs, bands: 95% over inputs"
    found = []
    for name, quantity, label in (
        ("weights", "weight", "attention weights"),
        ("norms", "contribution, share", "contributions ||αf(x)||, as shares of each row"),
        ("sums", "vector sum, share", "the heads' vector sum ||Σαf(x)||, as shares of each row"),
    ):
        mine = layers[(layers["kind"] == kind) & (layers["quantity"] == quantity)].rename(columns={"to": "measure"})
        if not mine.empty:
            draw = lines(mine, kind, classes_of(kind), y="share", title=f"{kind}: {label}")
            found.append((f"{kind}-{name}", (f"{kind}: {label} by layer ({basis}).", draw)))
    return found


def _chart(layers: pd.DataFrame) -> Chart | None:
    """Where attention goes, beside what arrives from there: parts of one whole, in the layer of the first finding."""
    shares = layers.pivot_table(index=["kind", "to", "layer"], columns="quantity", values="value", sort=False)
    if "contribution, share" not in shares:
        return None
    kinds = list(dict.fromkeys(shares.index.get_level_values("kind")))
    bars, chosen = [], []
    for kind in kinds:
        mine = shares.loc[kind]
        first = mine.loc[mine.index.get_level_values("to")[0]]
        layer = int(_apart(first).idxmax())
        chosen.append(f"{f'{kind} ' if len(kinds) > 1 else ''}layer {layer}")
        there = mine.xs(layer, level="layer")
        labels = [f"{about_kind(kind, set(kinds))}{_called(name)}" for name in there.index]
        own = [Bar(*one) for one in zip(labels, there["weight"], there["contribution, share"], strict=True)]
        bars += sorted(own, key=lambda bar: -bar.value)
    about = f"Where attention goes, and where the output comes from, in {' and '.join(chosen)}"
    return Chart(about, bars, top=1.0, tick="share of the output (contributions)", bar="share of the attention")


def _apart(shares: pd.DataFrame) -> pd.Series[float]:
    """How far what is looked at and what arrives are apart."""
    return (shares["weight"] - shares["contribution, share"]).abs()


def _called(name: str) -> str:
    return "other tokens" if name == "other" else name


def _findings(layers: pd.DataFrame, frequency: pd.DataFrame) -> list[str]:
    """Where weights and contributions differ, and how norms relate to frequency, in sentences."""
    sentences: list[str] = []
    kinds = set(layers["kind"])
    shares = layers.pivot_table(index=["kind", "to", "layer"], columns="quantity", values="value", sort=False)
    if "contribution, share" in shares:
        for (kind, name), group in shares.groupby(level=["kind", "to"], sort=False):
            best = group.loc[_apart(group).idxmax()]
            verb, them = ("get", "them") if name == "other" else ("gets", "it")
            only = "only " if best["contribution, share"] < best["weight"] else ""
            sentences.append(
                Pictured(
                    f"{about_kind(kind, kinds)}In layer {best.name[2]}, {_called(name)} {verb} {best['weight']:.0%} of "
                    f"the attention, but {only}{best['contribution, share']:.0%} of the output (contributions) comes "
                    f"from {them}.",
                    {"weights": list(group["weight"]), "contributions": list(group["contribution, share"])},
                )
            )
    for kind, group in frequency.groupby("kind", sort=False):
        best = group.loc[group["spearman"].idxmax()] if group["spearman"].notna().any() else None
        if best is not None:
            often = f"{best['tokens']:,} different tokens that occur {_FEWEST} times or more"
            sentences.append(
                f"{about_kind(kind, kinds)}Rarer tokens have larger norms, Spearman up to {best['spearman']:.2f}"
                f"{between(best['low'], best['high'])} in layer {best['layer']} over {often}."
                if best["spearman"] > 0
                else f"{about_kind(kind, kinds)}Rarer tokens have larger norms in no layer ({often})."
            )
    return sentences
