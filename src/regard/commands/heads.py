"""What the commands that switch heads off share: how heads are typed, and a file of texts to measure on.

Enters: what was typed. Leaves: heads as `regard.trace.heads` reads them, examples of a corpus.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from regard.base.errors import UserError
from regard.trace.heads import looks_like_heads

HEADS = "--heads"
HeadNames = Annotated[
    list[str] | None,
    typer.Option(
        HEADS,
        help="One or more heads: 5.4 (layer 5, head 4), '2.*' (all of layer 2), cross:1.3 (kind first), or a pattern.",
        show_default=False,
    ),
]


class ManyHeads(TyperCommand):
    """A command whose --heads takes several values: --heads 5.4 '2.*' is --heads 5.4 --heads '2.*'."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _spread(args))


def _spread(args: list[str]) -> list[str]:
    from regard.patterns import names

    found: list[str] = []
    open_values = False  # whether the next argument may be one more value of --heads
    for number, arg in enumerate(args):
        if number and args[number - 1] == HEADS:
            open_values = True
        elif open_values and (looks_like_heads(arg) or arg in names()):
            found.append(HEADS)
        else:
            open_values = False
        found.append(arg)
    return found


def examples_of(place: str, limit: int) -> tuple[list[str], list[str | None]]:
    """The first texts of a corpus, and their second sentences."""
    from regard.corpus import Source, read

    found = list(read(Source(place, limit=limit)))
    if not found:
        raise UserError(f"{place} contains no text")
    return [example.text for example in found], [example.pair for example in found]
