"""`regard why`: what made a head look from one token to another.

Enters: a text, a head, a query and a key. Leaves: tables of what made the key and the query.
"""

from __future__ import annotations

from typing import Annotated

import typer

from regard.base.errors import UserError
from regard.commands.shared import Asking, Loading, Pair, Text, expand_options, given_text, working

OneHead = Annotated[
    str | None, typer.Option("--head", help="One head: 18.6 (layer 18, head 6), or cross:1.3.", show_default=False)
]


def given_head(head: str | None) -> str:
    """The head that was named."""
    if head is None:
        raise UserError("name the head: --head 18.6 (layer 18, head 6)")
    return head


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
    asking: Asking,
    loading: Loading,
) -> None:
    """Show why a head looks there: which embeddings, earlier heads and MLPs made the query and the key."""
    from regard.models.why import why as split
    from regard.printing.split import why_report

    given = given_text(text, 'why "The cat sat. The cat" --head 5.4')
    named = given_head(head)
    loaded = loading.load(asking.model)
    with working("splitting the score"):
        found = split(
            loaded, given, named, query, key, pair, target=asking.target, truncate=asking.truncate, check=check
        )
    asking.answer(found.as_record(count), why_report(found, count))
