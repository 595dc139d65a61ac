"""`regard export`: a study's folder for other programs.

Enters: a folder of portraits. Leaves: the static tree that the HeadVis front end opens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import out


def export(
    folder: Annotated[Path, typer.Argument(help="A folder that regard study heads wrote.", show_default=False)],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("headvis-data"),
    kind: Annotated[
        str | None, typer.Option(help="Kind of attention: encoder or decoder.", show_default="the model's first")
    ] = None,
) -> None:
    """Write portraits of heads as the data of the HeadVis front end: `regard export portraits -o data`.

    What the files hold, and what HeadVis cannot show of it, is in docs/reference/portraits.md.
    """
    from regard.studies.heads.headvis import export_headvis

    made = export_headvis(folder, output, kind)
    count = len(list((made / "heads").glob("*.json")))
    out.print(f"{count} heads in {made}; serve it as data/ beside HeadVis's dist/", markup=False, soft_wrap=True)
