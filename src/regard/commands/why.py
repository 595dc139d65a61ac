"""`regard why`: what made a head look from one token to another.

Enters: a text, a head, a query and a key. Leaves: tables of what made the key and the query.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.commands.shared import (
    Json,
    Loading,
    ModelName,
    Pair,
    Target,
    Text,
    Truncate,
    expand_options,
    out,
    read_text,
    working,
)
from regard.errors import UserError

OneHead = Annotated[
    str | None, typer.Option("--head", help="One head: 18.6 (layer 18, head 6), or cross:1.3.", show_default=False)
]


@expand_options
def why(
    text: Text = None,
    pair: Pair = None,
    *,
    head: OneHead = None,
    query: Annotated[
        str,
        typer.Option(help="The token that looks: its text, its position, or both (cat@7).", show_default="the last"),
    ] = "@-1",
    key: Annotated[
        str | None, typer.Option(help="The token it looks at.", show_default="the one it looks at most")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Components to list per side.", min=1)] = 8,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Also remove components for real, and compare.")
    ] = True,
    target: Target = None,
    truncate: Truncate = False,
    model: ModelName = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Show why a head looks there: which embeddings, earlier heads and MLPs made the query and the key."""
    from regard.models.why import why as split
    from regard.printing.split import why_report

    if text is None:
        raise UserError('there is no text; pass one in quotes: regard why "The cat sat. The cat" --head 5.4')
    if head is None:
        raise UserError("name the head: --head 18.6 (layer 18, head 6)")
    loaded = loading.load(model)
    with working("splitting the score"):
        found = split(
            loaded, read_text(text) or "", head, query, key, pair, target=target, truncate=truncate, check=check
        )
    if as_json:
        out.print_json(json.dumps(found.as_record(count), ensure_ascii=False))
        return
    for one in why_report(found, count):
        out.print(one)
