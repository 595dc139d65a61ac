"""`regard lens`: the next word, read after every layer.

Enters: a text and a position. Leaves: a table of the words that each layer's state would give.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.shared import (
    Json,
    Loading,
    ModelName,
    Target,
    Text,
    Truncate,
    expand_options,
    out,
    read_text,
    working,
)


@expand_options
def lens(
    text: Text = None,
    *,
    position: Annotated[
        str | None,
        typer.Option(
            help="After which token: its text, position, or both (cat@7).",
            show_default="the last",
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Words to list for each layer.", min=1, max=100)] = 5,
    parts: Annotated[bool, typer.Option("--parts", help="Also list the heads and MLPs that made the answer.")] = False,
    target: Target = None,
    truncate: Truncate = False,
    model: ModelName = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Read the next word after every layer of a decoder: a lens through its last norm and its map to words."""
    from regard.models.lens import lens as read
    from regard.printing.lens import lens_report

    if text is None:
        raise UserError('there is no text; pass one in quotes: regard lens "The capital of France is"')
    loaded = loading.load(model)
    with working("reading every layer"):
        found = read(loaded, read_text(text) or "", position, target=target, top=count, parts=parts, truncate=truncate)
    if as_json:
        out.print_json(json.dumps(found.as_record(), ensure_ascii=False))
        return
    for one in lens_report(found):
        out.print(one)
