"""`regard query`: questions in SQL to the tables of a study.

Enters: a folder and a SELECT. Leaves: a table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.commands.shared import Json, out


def query(
    folder: Annotated[Path, typer.Argument(help="What a study wrote.", show_default=False)],
    sql: Annotated[
        str | None, typer.Argument(help="One SELECT; without it, the tables and columns.", show_default=False)
    ] = None,
    *,
    rows: Annotated[int, typer.Option(help="Rows to print at most.", min=1)] = 100,
    seconds: Annotated[float, typer.Option(help="Give up after this time.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Ask the tables of a study's folder in SQL; each Parquet file is a table under its name.

    - regard query regard-atlas

    - regard query regard-atlas "select layer, avg(value) from result where measure = 'entropy' group by layer"
    """
    from regard.studies.query import query as ask
    from regard.trace.records import columns_table

    answer = ask(folder, sql, seconds=seconds, rows=rows)
    if as_json:
        names, values = list(answer.to_dict()), zip(*answer.to_dict().values(), strict=True)
        records = [dict(zip(names, row, strict=True)) for row in values]
        out.print_json(json.dumps(records, ensure_ascii=False, default=str))
        return
    out.print(columns_table(answer.to_dict()))
    if answer.more:
        out.print(f"there is more: only the first {rows} rows are shown (--rows)", style="dim")
