"""`regard writes`: the words that a head makes more and less likely.

Enters: a text, a head, a position. Leaves: a table of promoted and demoted words, by the tokens the head read.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

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
from regard.commands.why import OneHead
from regard.errors import UserError


@expand_options
def writes(
    text: Text = None,
    *,
    head: OneHead = None,
    position: Annotated[
        str, typer.Option(help="Where it writes: a token's text, position, or both (cat@7).", show_default="the last")
    ] = "@-1",
    count: Annotated[int, typer.Option("--count", "-n", help="Words to list.", min=1, max=1000)] = 8,
    target: Target = None,
    truncate: Truncate = False,
    model: ModelName = None,
    loading: Loading,
    as_json: Json = False,
) -> None:
    """Show what a decoder's head writes: the words it promotes and demotes, and the tokens it read them from."""
    from regard.models.writes import writes as split
    from regard.printing.split import writes_report

    if text is None:
        raise UserError('there is no text; pass one in quotes: regard writes "The cat sat. The cat" --head 5.4')
    if head is None:
        raise UserError("name the head: --head 18.6 (layer 18, head 6)")
    loaded = loading.load(model)
    with working("splitting the logits"):
        found = split(loaded, read_text(text) or "", head, position, target=target, top=count, truncate=truncate)
    if as_json:
        out.print_json(json.dumps(found.as_record(count), ensure_ascii=False))
        return
    for one in writes_report(found, count):
        out.print(one)
