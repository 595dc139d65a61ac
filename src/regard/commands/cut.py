"""`regard cut`: what single lines are worth on one text.

Enters: a text, edges, a model's name. Leaves: what the model says before and after they are cut, beside random lines.
"""

from __future__ import annotations

from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.ablate import Position
from regard.commands.shared import Asking, Loading, Pair, Text, expand_options, given_text, working

EdgeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--edge",
        "-e",
        help="Line to cut: 5.4:it→animal (or ->); tokens by text, it@8, 8, 3-6 or *; can be repeated.",
        show_default=False,
    ),
]
How = Annotated[
    str,
    typer.Option(help="mask (the key is hidden, the row's other weights grow) or zero (only its part is left out)."),
]
Judged = Annotated[
    str | None,
    typer.Option(help="Token or label whose probability is judged.", show_default="the text's, or the likeliest"),
]


@expand_options
def cut(
    text: Text = None,
    pair: Pair = None,
    *,
    edge: EdgeNames = None,
    how: How = "mask",
    position: Position = None,
    token: Judged = None,
    controls: Annotated[
        int, typer.Option(help="Random sets of lines of the nearest weights to compare with.", min=0)
    ] = 16,
    count: Annotated[int, typer.Option("--count", "-n", help="Predictions to list per run.", min=1)] = 5,
    asking: Asking,
    loading: Loading,
) -> None:
    """Cut single lines of attention and show the model's predictions on a text before and after."""
    given = given_text(text, 'cut "The cat sat." --edge "5.4:sat→cat"')
    if not edge:
        raise UserError('name the lines to cut: --edge "5.4:it→animal" (layer.head:query→key)')
    loaded = loading.load(asking.model)
    with working("running the model before and after the cut"):
        found = loaded.cut(
            given,
            pair,
            edges=edge,
            how=how,
            target=asking.target,
            position=position,
            token=token,
            controls=controls,
            top=count,
            truncate=asking.truncate,
        )
    asking.answer(found.as_record(), [found])
