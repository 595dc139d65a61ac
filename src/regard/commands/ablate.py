"""`regard ablate`: what some heads are worth on one text.

Enters: a text, heads, a model's name. Leaves: a table of the model's predictions with and without them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.heads import HeadNames, examples_of
from regard.commands.shared import Asking, Loading, Pair, Text, err, expand_options, given_text, working
from regard.models.means import NAME

Mode = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        help="zero (no output), uniform (attention 1/L) or mean (mean output); can be repeated.",
        show_default="all possible ones",
    ),
]
Position = Annotated[
    int | None,
    typer.Option(
        help="Token to predict (masked models) or to continue from (causal models), from 0.", show_default=False
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        help="File of texts for the mean outputs of mode mean.",
        show_default=NAME,
        metavar="FILE",
    ),
]

_MEANING = {
    "zero": "the heads add nothing",
    "uniform": "they add the average over all visible keys: their choice of keys is removed",
    "mean": "they add the same everywhere, their mean over {reference}: all but a constant is removed",
}


@expand_options
def ablate(
    text: Text = None,
    pair: Pair = None,
    *,
    heads: HeadNames = None,
    mode: Mode = None,
    position: Position = None,
    reference: Reference = None,
    limit: Annotated[int, typer.Option(help="Texts to read from the reference.", min=1)] = 200,
    count: Annotated[int, typer.Option("--count", "-n", help="Predictions to list per run.", min=1)] = 5,
    asking: Asking,
    loading: Loading,
) -> None:
    """Switch heads off and show the model's predictions on a text before and after."""
    from regard.ablation.effects import effect

    given = given_text(text, 'ablate "The cat sat." --heads 5.4')
    if not heads:
        raise UserError("name the heads to switch off: --heads 5.4 '2.*' (layer.head, or a whole layer)")
    loaded = loading.load(asking.model)
    means = None
    if reference is not None and (not mode or "mean" in mode):
        with working("computing mean outputs over the reference"):
            means = loaded.head_means(*examples_of(reference, limit))
    with working("running the model with and without the heads"):
        found = effect(
            loaded,
            given,
            pair,
            heads=heads,
            modes=mode,
            means=means,
            target=asking.target,
            position=position,
            top=count,
            truncate=asking.truncate,
        )
    if means is not None:
        found = replace(found, reference=reference)
    if not asking.answer(found.as_record(), [found]):
        return
    for name in found.modes:
        err.print(f"{name}: {_MEANING[name].format(reference=found.reference)}", style="dim", markup=False)
