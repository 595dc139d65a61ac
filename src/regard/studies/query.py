"""Questions in SQL to the tables of a study's folder.

Enters: a folder, and a question to DuckDB. Leaves: its answer. Only the folder's own tables can be read, nothing can be
written, and memory, time and rows are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from regard.base.errors import MissingFileError, OutOfRangeError, UserError
from regard.base.extras import require
from regard.trace.records import Tabular

SECONDS, ROWS = 60.0, 100_000  # that a question may take, and that an answer has at most
_SETTINGS = {
    "memory_limit": "1GB",
    "threads": "2",
    "max_temp_directory_size": "0KiB",  # nothing is put aside on disk
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",  # variables of this program are no tables
}


@dataclass(frozen=True, eq=False)
class Answer(Tabular):
    """The answer to a question: values by column; `more` says whether rows were left out."""

    columns: Mapping[str, Sequence[Any]]
    more: bool = False

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return self.columns


def query(folder: str | Path, sql: str | None = None, *, seconds: float = SECONDS, rows: int = ROWS) -> Answer:
    """Ask the tables of a study's folder in SQL; without a question, which tables and columns there are.

    Parameters
    ----------
    folder
        What a study wrote. Each Parquet file is a table under its name, with _ for -: `result`, `head_types`.
    sql
        One SELECT, in the SQL of DuckDB.
    seconds, rows
        What it may take at most, and how many rows are returned at most.

    Examples
    --------
    >>> query("out", "select layer, avg(value) from result group by layer").to_pandas()  # doctest: +SKIP
    """
    if not (seconds > 0 and 0 < rows <= ROWS):
        raise OutOfRangeError(f"seconds must be above 0 and rows from 1 to {ROWS}, not {seconds} and {rows}")
    tables = tables_in(Path(folder))
    duckdb = require("duckdb", "questions in SQL")
    with _opened(duckdb, tables) as connection:
        question = _LISTED if sql is None else _one_select(duckdb, sql)
        timer = Timer(seconds, connection.interrupt)
        timer.start()
        try:
            answer = connection.execute(question)
            names = [column[0] for column in answer.description]
            found = answer.fetchmany(rows + 1)
        except duckdb.InterruptException:
            raise UserError(f"the question took more than {seconds:g} seconds; ask for less") from None
        except duckdb.OutOfMemoryException:
            raise UserError(f"the question needs more than {_SETTINGS['memory_limit']}; ask for less") from None
        except duckdb.Error as error:
            raise UserError(_sentence(str(error), list(tables))) from None
        finally:
            timer.cancel()
    return Answer(_by_column(names, found[:rows]), len(found) > rows)


_LISTED = """select table_name as "table", column_name as "column", data_type as "type" from information_schema.columns
where table_schema = 'main' order by table_name <> 'result', table_name, ordinal_position"""


def tables_in(folder: Path) -> dict[str, Path]:
    """The Parquet files of a folder by the names they are asked under."""
    found = {path.stem.replace("-", "_"): path.resolve() for path in sorted(folder.glob("*.parquet"))}
    if not found:
        raise MissingFileError(f"{folder} has no tables; make some with a study, such as: regard study atlas CORPUS")
    return found


@contextmanager
def _opened(duckdb: Any, tables: Mapping[str, Path]) -> Iterator[Any]:
    """A database whose tables are the files, and which can read nothing else."""
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        for name, path in tables.items():
            try:
                connection.read_parquet(_literal(str(path))).create_view(name)
            except duckdb.Error as error:
                raise UserError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from None
        names = {name for path in tables.values() for name in (str(path), _literal(str(path)))}
        allowed = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        connection.execute(f"set allowed_paths = [{allowed}]")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        yield connection


def _literal(path: str) -> str:
    """A path in which DuckDB sees no pattern of several files."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _one_select(duckdb: Any, sql: str) -> str:
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UserError(_sentence(str(error), [])) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UserError("a question is one SELECT; nothing is written, and one question is answered at a time")
    return sql


def _sentence(error: str, tables: list[str]) -> str:
    """DuckDB's error in one line, with the tables there are if one is missing."""
    first = error.strip().splitlines()[0].rstrip(". !")
    known = f"; there is {', '.join(tables)}" if "does not exist" in first and "Table" in first else ""
    return f"the question cannot be answered ({first}){known}"


def _by_column(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns by name; a name that is there twice gets a number."""
    found: dict[str, list[Any]] = {}
    for number, name in enumerate(names):
        found[name if name not in found else f"{name}_{number}"] = [row[number] for row in rows]
    return found
