"""`regard nearest`: what else makes a head do this.

Enters: a text, a folder of portraits, a head and a token. Leaves: the rows of the corpus that are nearest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import Json, Loading, Target, expand_options, out


@expand_options
def nearest(
    text: Annotated[str, typer.Argument(help="The text, in quotes.", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="A folder of `regard study heads`.", show_default=False)],
    *,
    head: Annotated[str, typer.Option(help="The head: 0.2, or cross:1.3 (kind first).", show_default=False)],
    query: Annotated[str, typer.Option(help="The token that looks, or its position.", show_default=False)],
    side: Annotated[
        str, typer.Option(help="q: rows that look like this one; k: tokens that are looked at like this one.")
    ] = "q",
    pair: Annotated[str | None, typer.Option(help="A second sentence, for models that read pairs.")] = None,
    target: Target = None,
    count: Annotated[int, typer.Option("--count", "-n", help="Rows to print.", min=1, max=100)] = 10,
    position: Annotated[
        bool, typer.Option("--position", help="Leave positions in: rows at the same place of their texts are nearer.")
    ] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The portraits' model.", show_default="the one they name")
    ] = None,
    as_json: Json = False,
    loading: Loading,
) -> None:
    """Show what else makes a head do this: rows of the corpus that are nearest to a position in your text.

    - regard study heads corpus.txt -o portraits

    - regard nearest "I went to the store." portraits --head 0.2 --query store

    - regard nearest "I went to the store." portraits --head 0.2 --query store --side k
    """
    from regard.studies.heads.nearest import nearest as found_by
    from regard.studies.heads.stored import Stored

    ready = loading.load(model or Stored(folder).model)
    found = found_by(
        folder,
        text,
        pair,
        head=head,
        query=query,
        side=side,
        target=target,
        model=ready,
        count=count,
        position=position,
    )
    if as_json:
        rows = json.loads(found.table.to_json(orient="records"))
        record = {"said": found.said, "cautions": found.cautions, "middle": found.middle, "rows": rows}
        out.print_json(json.dumps(record, ensure_ascii=False))
        return
    out.print(found.said, markup=False, soft_wrap=True)
    for look in found.looks:
        out.print(f"  {look.distance:6.2f}  {look.in_words}", markup=False, soft_wrap=True)
    for caution in found.cautions:
        out.print(f"  note: {caution}", markup=False, soft_wrap=True)
