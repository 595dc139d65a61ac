"""`regard ablate`: what some heads are worth on one text.

Enters: a text, heads, a model's name. Leaves: a table of what the model says with them and without.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

import typer

from regard.commands.heads import HeadNames, examples_of
from regard.commands.shared import (
    Json,
    Loading,
    ModelName,
    Pair,
    Target,
    Text,
    Truncate,
    err,
    expanded,
    out,
    typed,
    working,
)
from regard.errors import UserError
from regard.models.means import NAME

Mode = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        help="zero (no output), uniform (attention 1/L) or mean (mean output); may be repeated.",
        show_default="all that are possible",
    ),
]
Position = Annotated[
    int | None,
    typer.Option(help="Token to predict (masked models) or to go on from (causal ones), from 0.", show_default=False),
]
Reference = Annotated[
    str | None,
    typer.Option(
        help="File of texts over which mean outputs are taken, for mode mean.",
        show_default=NAME,
        metavar="FILE",
    ),
]

_MEANING = {
    "zero": "what the heads add is taken away",
    "uniform": "they add the average of all keys that may be seen: their choice of keys is taken away",
    "mean": "they add the same everywhere, their mean over {reference}: all but a constant is taken away",
}


@expanded
def ablate(
    text: Text = None,
    pair: Pair = None,
    *,
    heads: HeadNames = None,
    mode: Mode = None,
    position: Position = None,
    reference: Reference = None,
    limit: Annotated[int, typer.Option(help="Texts of the reference to read.", min=1)] = 200,
    count: Annotated[int, typer.Option("--count", "-n", help="Predictions of each run to list.", min=1)] = 5,
    target: Target = None,
    truncate: Truncate = False,
    model: ModelName = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Switch heads off and show what the model says about a text before and after."""
    from regard.ablation.effects import effect

    if text is None:
        raise UserError('there is no text; pass one in quotes: regard ablate "The cat sat." --heads 5.4')
    if not heads:
        raise UserError("name the heads to switch off: --heads 5.4 '2.*' (layer.head, or all of a layer)")
    loaded = loading.load(model)
    means = None
    if reference is not None and (not mode or "mean" in mode):
        with working("taking mean outputs over the reference"):
            means = loaded.head_means(*examples_of(reference, limit))
    with working("running the model with and without the heads"):
        found = effect(
            loaded,
            typed(text) or "",
            pair,
            heads=heads,
            modes=mode,
            means=means,
            target=target,
            position=position,
            top=count,
            truncate=truncate,
        )
    if means is not None:
        found = replace(found, reference=reference)
    if as_json:
        out.print_json(json.dumps(found.as_record(), ensure_ascii=False))
        return
    out.print(found)
    for name in found.modes:
        err.print(f"{name}: {_MEANING[name].format(reference=found.reference)}", style="dim", markup=False)
