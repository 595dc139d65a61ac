"""Weights and contributions: the default model on 400 pairs of PAWS-Wiki."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import Blocks, side_by_side, span, table

LOOKING = 0.08  # share of a head's weight on [SEP] from which it counts as looking there


def measure(data: Path) -> dict[str, Any]:
    """Shares by layer and by head, and the control's by layer."""
    from regard import study

    result = study.norms(None, data / "paws_wiki_en" / "dev-first.tsv", limit=400, control=True)
    side_by_side([result.figure(name) for name in ("encoder-weights", "encoder-norms")], "norms.png")
    control = next(table for title, table in result.tables.items() if title.startswith("Control"))
    return {
        "layers": _shares(result.tables["By layer"]),
        "heads": _shares(result.table),
        "control": _shares(control.rename(columns={"random weights": "value"})),
    }


def _shares(rows: Any) -> list[dict[str, Any]]:
    wanted = rows[rows["to"].isin(["[CLS]", "[SEP]"]) & rows["quantity"].isin(["weight", "contribution, share"])]
    return [dict(row) for row in wanted.drop(columns=["kind", "inputs"], errors="ignore").to_dict("records")]


def blocks(found: dict[str, Any]) -> Blocks:
    """The table by layer, and the sentences of other pages that quote it."""
    return {
        "how-to/weights-or-norms.md": {"norms": _page(found)},
        "tutorials/what-does-bert-look-at.md": {"norms": _tutorial(found)},
        "explanation/what-attention-tells.md": {"norms": _tells(found)},
    }


def _page(found: dict[str, Any]) -> str:
    layers = found["layers"]
    columns = [
        ("[CLS]", "weight"),
        ("[CLS]", "contribution, share"),
        ("[SEP]", "weight"),
        ("[SEP]", "contribution, share"),
    ]
    lines = [
        [str(layer), *(f"{_at(layers, layer, *column)['value']:.2f}" for column in columns)]
        for layer in sorted({row["layer"] for row in layers})
    ]
    widest = max(row["high"] - row["low"] for row in layers) / 2
    middle = range(1, 5)
    falls = _looking(found["heads"])
    heads = "; ".join(
        f"head {weight['layer']}.{weight['head']} from {span(weight['value'], weight['low'], weight['high'], 3)} to "
        f"{span(norm['value'], norm['low'], norm['high'], 3)}"
        for weight, norm in falls
    )
    down = sum(norm["high"] < weight["low"] for weight, norm in falls)
    return f"""
(95 % intervals over inputs reach at most {widest:.3f} to either side.)

{table(["layer", "[CLS], weight", "[CLS], contribution", "[SEP], weight", "[SEP], contribution"], lines)}

- The finding of the paper holds, but for another token. In BERT-base it is [SEP] that takes 50 to 57 % of the weight in layers 6 to 10
  and gives 10 to 17 % of the contributions. In this model **[CLS]** takes {_range(layers, middle, "[CLS]", "weight")} of the weight in layers 1
  to 4 and gives {_range(layers, middle, "[CLS]", "contribution, share")} of the contributions.
- **[SEP] is not that token here**: in these layers it has {_range(layers, middle, "[SEP]", "weight")} of the weight and
  {_range(layers, middle, "[SEP]", "contribution, share")} of the contributions.
- The **heads** that do look at [SEP], {len(falls)} with more than {LOOKING} of their weight: {down} of them clearly contribute a smaller share than they
  look ({heads}).
- The control, the same shape with random weights, has {_range(found["control"], range(6), "[CLS]", "weight")} for [CLS] and
  {_range(found["control"], range(6), "[SEP]", "weight")} for [SEP] in every layer, weights and contributions alike ({_range(found["control"], range(6), "[CLS]", "contribution, share")} and
  {_range(found["control"], range(6), "[SEP]", "contribution, share")}): what one or two tokens of a row get by chance.
"""


def _tutorial(found: dict[str, Any]) -> str:
    weight, norm = (_percent(found["layers"], "[CLS]", name) for name in ("weight", "contribution, share"))
    return f"""
Does that weight contribute anything? [Weights and contributions](../how-to/weights-or-norms.md): in layers 1 to 4, [CLS] takes {weight} % of the weight and
gives {norm} % of the contributions.
"""


def _tells(found: dict[str, Any]) -> str:
    weight, norm = (_percent(found["layers"], "[CLS]", name) for name in ("weight", "contribution, share"))
    return f"""
**A large weight may contribute nothing.** A contribution is the weight times the length of what the token has to give, ‖αf(x)‖ (Kobayashi et
al. 2020). In layers 1 to 4, [CLS] gets {weight} % of the weight and gives {norm} % of the contributions
([400 pairs](../how-to/weights-or-norms.md)). So look at contributions, too. And the residual stream bypasses the head anyway: over the
whole block, other tokens make up about a fifth in BERT-base (Kobayashi et al. 2021).
"""


def _at(rows: list[dict[str, Any]], layer: int, to: str, quantity: str) -> dict[str, Any]:
    return next(row for row in rows if (row["layer"], row["to"], row["quantity"]) == (layer, to, quantity))


def _values(rows: list[dict[str, Any]], layers: range, to: str, quantity: str) -> list[float]:
    return [_at(rows, layer, to, quantity)["value"] for layer in layers]


def _range(rows: list[dict[str, Any]], layers: range, to: str, quantity: str) -> str:
    low, high = (f"{edge(_values(rows, layers, to, quantity)):.2f}" for edge in (min, max))
    return low if low == high else f"{low} to {high}"


def _percent(rows: list[dict[str, Any]], to: str, quantity: str) -> str:
    values = _values(rows, range(1, 5), to, quantity)
    return f"{100 * min(values):.0f} to {100 * max(values):.0f}"


def _looking(heads: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Heads that look at [SEP]: their weight and their norm, the strongest first."""
    norms = {
        (row["layer"], row["head"]): row
        for row in heads
        if (row["to"], row["quantity"]) == ("[SEP]", "contribution, share")
    }
    weights = [row for row in heads if (row["to"], row["quantity"]) == ("[SEP]", "weight") and row["value"] > LOOKING]
    return [(row, norms[row["layer"], row["head"]]) for row in sorted(weights, key=lambda row: -row["value"])]
