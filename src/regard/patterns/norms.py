"""Weights against contributions: per layer and token class, attention next to ||alpha f(x)||.

Enters: a Trace with norms. Leaves: `ClassNorms`, a table and a figure (Kobayashi et al. 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import MissingPackageError
from regard.measures.share import carried_share
from regard.trace.lettering import plain
from regard.trace.places import Array, Places, places_of
from regard.trace.records import Tabular, columns_of

if TYPE_CHECKING:
    from regard.trace.trace import Trace

CLASSES = ("[CLS]", "[SEP]", "punctuation", "other")
FIRST = "the first token"  # in place of [CLS] in a causal model, which rests on whatever stands there
COLUMNS = ("kind", "layer", "part", "class", "tokens", "attention", "carried", "normalised")
_COLOURS = {"[CLS]": "#0072B2", FIRST: "#0072B2", "[SEP]": "#D55E00", "punctuation": "#009E73", "other": "#8A8F98"}
_PANELS = (
    ("attention", "attention α"),
    ("normalised", "‖αf(x)‖, rows sum to 1"),
    ("carried", "‖αf(x)‖, as it is"),
)


@dataclass(frozen=True, eq=False)
class ClassNorms(Tabular):
    """Shares of token classes: means over rows and heads, one record per layer and class.

    `attention` is the share of the weights, `carried` the mean of ||alpha f(x)|| on the class as it is, `normalised`
    its share of all contributions of a row. A class without tokens is None: n/a, not 0.
    """

    rows: list[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return columns_of(self.rows, COLUMNS)

    def figure(self) -> Any:
        """A matplotlib figure: one panel per quantity, one line per class, layers from left to right."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingPackageError("figures need matplotlib; install it with: pip install matplotlib") from None
        figure = Figure(figsize=(10, 3.2), layout="constrained")
        panels = figure.subplots(1, len(_PANELS))
        for axes, (column, title) in zip(panels, _PANELS, strict=True):
            self._draw(axes, column)
            axes.set_title(title, fontsize=10)
            axes.set_xlabel("layer")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(plain(str(self.facts.get("model", ""))), fontsize=10, x=0.01, ha="left")
        return figure

    def _draw(self, axes: Any, column: str) -> None:
        for name in _COLOURS:
            points = [(row["layer"], row[column]) for row in self.rows if row["class"] == name]
            known = [(layer, value) for layer, value in points if value is not None]
            if known:
                axes.plot(*zip(*known, strict=True), marker="o", markersize=3, color=_COLOURS[name], label=name)
        axes.set_ylim(bottom=0, top=1 if column != "carried" else None)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)


def class_norms(trace: Trace, *, kind: str | None = None) -> ClassNorms:
    """Per layer and token class, the share of attention and of the contributions.

    Classes are [CLS] (in a causal model the first token, whatever it is), [SEP], punctuation and the other tokens.

    Parameters
    ----------
    trace
        A trace whose sites have norms; otherwise a UserError says why there are none.
    kind
        Encoder, decoder or cross; the first one of the trace unless named.
    """
    kind = trace.kinds[0] if kind is None else kind
    rows: list[dict[str, Any]] = []
    for layer in trace.layers(kind):
        for site in (site for site in trace.sites if site.kind == kind and site.layer == layer):
            norms = trace.norms(layer, kind=kind, part=site.part)  # (H, K)
            causal = site.mask.causal and site.query_side == site.key_side
            names = (FIRST, *CLASSES[1:]) if causal else CLASSES
            classes = _classes(places_of(trace.sides[site.key_side], {}), causal)
            shares = carried_share(site.block(), norms, classes)
            place = {"kind": kind, "layer": layer, "part": site.part}
            for number, name in enumerate(names):
                values = {key: _mean(share[:, number]) for key, share in shares._asdict().items()}
                rows.append({**place, "class": name, "tokens": int(classes[number].sum()), **values})
    return ClassNorms(rows, dict(trace.facts))


def _classes(places: Places, causal: bool) -> Array:
    """(4, K) booleans in the order of `CLASSES`; each token is in one."""
    first = np.arange(len(places.content)) == 0 if causal else places.first
    rest = (places.later, places.punctuation, places.content & ~places.punctuation)
    return np.stack([first, *(some & ~first for some in rest)])


def _mean(values: Array) -> float | None:
    """Mean over heads, None for n/a."""
    return None if np.isnan(values).any() else round(float(values.mean()), 6)
