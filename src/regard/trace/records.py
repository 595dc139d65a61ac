"""Results that are tables: the one way in which they become data frames.

Enters: columns by name. Leaves: a pandas or polars DataFrame, or plain lists.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from regard.base.extras import require
from regard.trace.lettering import visible

SHOWN = 20  # rows of a table that has no other report
_WIDTH = 110  # characters of a line in a notebook
_MARKUP = '<pre style="overflow-x: auto; line-height: 1.3; white-space: pre">{code}</pre>'


class Tabular:
    """A result with a table: `to_pandas`, `to_polars` and `to_dict` give its rows."""

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """The table: values by column, all of one length."""
        raise NotImplementedError

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield columns_table(self.to_dict(), SHOWN)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows, and what its file keeps: the report of the terminal."""
        return report_bundle(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The table as plain lists by column."""
        return {name: [plain(value) for value in values] for name, values in self._columns().items()}

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame; what is not available is NaN."""
        return require("pandas", "tables").DataFrame(dict(self._columns()))

    def to_polars(self) -> Any:
        """The table as a polars DataFrame; what is not available is null."""
        return require("polars", "polars tables").DataFrame(self.to_dict(), strict=False).fill_nan(None)


def report_bundle(shown: Any) -> dict[str, str]:
    """What is printed in a terminal, as markup that needs no style sheet, and as plain text."""
    from rich.console import Console

    console = Console(record=True, file=io.StringIO(), width=_WIDTH, force_jupyter=False, highlight=False)
    console.print(shown)
    text = console.export_text(clear=False)
    return {"text/html": console.export_html(code_format=_MARKUP, inline_styles=True), "text/plain": text}


def columns_of(rows: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    """Rows as columns; `names` are there even without a row."""
    kept = list(rows)
    return {name: [row[name] for row in kept] for name in names}


def columns_table(columns: Mapping[str, Sequence[Any]], most: int | None = None) -> Any:
    """Values by column for a terminal, numbers to the right; the first `most` rows."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, values in columns.items():
        numbers = all(isinstance(value, int | float) for value in values if value is not None)
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    for row in list(zip(*columns.values(), strict=True))[:most]:
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "n/a"
    return f"{value:.4g}" if isinstance(value, float) else visible(str(value))


def plain(value: Any) -> Any:
    """A value of a cell without the types of numpy."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value
