"""`regard writes`: the words that a head makes more and less likely.

Enters: a text, a head, a position. Leaves: a table of promoted and demoted words, by the tokens the head read.
"""

from __future__ import annotations

from typing import Annotated

import typer

from regard.commands.shared import Asking, Loading, Text, expand_options, given_text, working
from regard.commands.why import OneHead, given_head


@expand_options
def writes(
    text: Text = None,
    *,
    head: OneHead = None,
    position: Annotated[
        str, typer.Option(help="Where it writes: a token's text, position, or both (cat@7).", show_default="the last")
    ] = "@-1",
    count: Annotated[int, typer.Option("--count", "-n", help="Words to list.", min=1, max=1000)] = 8,
    asking: Asking,
    loading: Loading,
) -> None:
    """Show what a decoder's head writes: the words it promotes and demotes, and the tokens it read them from."""
    from regard.models.writes import writes as split
    from regard.printing.split import writes_report

    given = given_text(text, 'writes "The cat sat. The cat" --head 5.4')
    named = given_head(head)
    loaded = loading.load(asking.model)
    with working("splitting the logits"):
        found = split(loaded, given, named, position, target=asking.target, top=count, truncate=asking.truncate)
    asking.answer(found.as_record(count), writes_report(found, count))
