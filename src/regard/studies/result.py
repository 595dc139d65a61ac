"""Results of studies: a table, figures, a report, and the facts that belong to every number.

Enters: what a study found. Leaves: a folder with result.parquet, meta.json, figures (PNG and SVG) and report.html.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.errors import UnknownNameError, UserError
from regard.base.files import write_atomic
from regard.studies.article import article, pretty
from regard.studies.chart import Chart
from regard.trace.records import Tabular
from regard.trace.trace import Trace
from regard.views.cells import STILL, image
from regard.views.figures import Picture
from regard.views.themes import themed

if TYPE_CHECKING:
    import pandas as pd

_TOLD = 8  # findings that stand in meta.json too, for lists of studies
_DPI = 96  # of the figure in a notebook
ArrayFile = tuple[Mapping[str, Any], Mapping[str, str]]  # arrays by name, and facts about them
Drawer = tuple[str, Callable[[], Picture]]  # a caption, and what draws the figure


@dataclass(eq=False)
class Result(Tabular):
    """What a study found. `table` is a pandas DataFrame; `figures` are drawn when asked for."""

    study: str
    title: str
    table: pd.DataFrame
    meta: Mapping[str, Any]
    drawers: Mapping[str, Drawer] = field(default_factory=dict)  # by name
    findings: Sequence[str] = ()
    chart: Chart | None = None  # the picture of the findings
    cautions: Sequence[str] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # further tables, by title
    files: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # tables that are saved, but not in the report
    sections: Mapping[str, str] = field(default_factory=dict)  # further parts of the report: markup, by title
    pages: Mapping[str, Callable[[], str]] = field(default_factory=dict)  # further pages, by their file's name
    arrays: Mapping[str, ArrayFile] = field(default_factory=dict)  # files of named arrays, by their name
    example: Trace | None = None  # an input whose maps the interactive atlas shows next to the corpus' numbers
    example_options: Mapping[str, Any] = field(default_factory=dict)

    def figure(self, name: str | None = None) -> Picture:
        """One of the figures; the first unless named."""
        names = list(self.drawers)
        if not names:
            raise UserError(f"the study {self.study} has no figure")
        if name is not None and name not in self.drawers:
            raise UnknownNameError(f"there is no figure {name!r}; this result has {', '.join(names)}")
        return self.drawers[name or names[0]][1]()

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {str(name): values for name, values in self.table.items()}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows, and what its file keeps: the findings, the first figure and the table's first rows."""
        found = super()._repr_mimebundle_()
        told = "".join(f"<li>{html.escape(text)}</li>" for text in self.findings[:_TOLD])
        picture = self.figure().png(dpi=_DPI) if self.drawers else b""
        shown = image(picture, next(iter(self.drawers.values()))[0]) if 0 < len(picture) <= STILL else ""
        markup = f"<p><b>{html.escape(self.title)}</b></p><ul>{told}</ul>{shown}{found['text/html']}"
        text = "\n".join([self.title, *(f"- {text}" for text in self.findings[:_TOLD]), "", found["text/plain"]])
        return {"text/html": markup, "text/plain": text}

    def report(self) -> str:
        """The report as one HTML page that needs no network."""
        return article(self, {})

    def save(self, folder: str | Path) -> Path:
        """Write result.parquet, further tables, meta.json, figures, pages and report.html; each file atomically."""
        from safetensors.numpy import save_file

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_atomic(target / "result.parquet", lambda path: self.table.to_parquet(path))
        for name, table in {**self.tables, **self.files}.items():
            write_atomic(target / f"{_slug(name)}.parquet", lambda path, table=table: table.to_parquet(path))  # type: ignore[misc]
        told = {**self.meta, "findings": list(self.findings[:_TOLD])}
        if self.chart is not None:
            told["chart"] = self.chart.record
        write_atomic(target / "meta.json", lambda path: Path(path).write_text(pretty(told), "utf-8"))
        drawn = {name: self._draw(name, target) for name in self.drawers}
        for name, page in self.pages.items():
            (target / name).parent.mkdir(exist_ok=True)
            write_atomic(target / name, lambda path, page=page: Path(path).write_text(page(), "utf-8"))  # type: ignore[misc]
        for name, (arrays, facts) in self.arrays.items():
            write_atomic(
                target / name,
                lambda path, arrays=arrays, facts=facts: save_file(dict(arrays), path, dict(facts)),  # type: ignore[misc]
            )
        write_atomic(target / "report.html", lambda path: Path(path).write_text(article(self, drawn), "utf-8"))
        return target

    def _draw(self, name: str, target: Path) -> bytes:
        """Write a figure as PNG and as SVG, and give the SVG: the report has the same."""
        with themed("light"):
            picture = self.figure(name)
            picture.save(target / f"{name}.png", dpi=200)
            return picture.save(target / f"{name}.svg").read_bytes()


def _slug(title: str) -> str:
    """A title as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
