"""`regard match`: the heads of two models, or of two checkpoints, side by side.

Enters: two folders of portraits. Leaves: what was kept, vanished and appeared; a folder with the pairs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import out


def match(
    one: Annotated[
        Path, typer.Argument(help="A folder of `regard study heads`: the model before.", show_default=False)
    ],
    other: Annotated[Path, typer.Argument(help="Another one: the model after.", show_default=False)],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the table of pairs.", show_default="none")
    ] = None,
) -> None:
    """Match the heads of two models by where their attention goes: what was kept, what vanished, what appeared.

    - regard study heads corpus.txt -m before -o before

    - regard study heads corpus.txt -m after -o after

    - regard match before after -o matched
    """
    from regard.studies.heads.matching import match_portraits

    result = match_portraits(one, other)
    out.print(result.title, style="bold", markup=False)
    for text in (*result.findings, *(f"note: {text}" for text in result.cautions)):
        out.print(f"  {text}", highlight=False, markup=False)
    if output is not None:
        out.print(f"\nreport: {result.save(output) / 'report.html'}", highlight=False, soft_wrap=True)
