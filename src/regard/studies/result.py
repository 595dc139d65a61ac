"""Results of studies: a table, figures, a report, and the facts that belong to every number.

Enters: what a study found. Leaves: a folder with result.parquet, meta.json, figures (PNG and SVG) and report.html.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import UnknownNameError, UserError
from regard.files import write_atomic
from regard.trace.trace import Trace
from regard.views.figures import Picture

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 40  # rows of a table in the report; the whole is in result.parquet

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2230; --quiet: #5f6879; --rule: #dfe3ea; --ground: #fff; --band: #f5f7fa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --quiet: #99a2b3; --rule: #2c323d; --ground: #14171d; --band: #1b2029 }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0 auto;
  max-width: 70rem; padding: 2rem 1.2rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
.quiet, figcaption { color: var(--quiet); font-size: .87rem }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--rule); text-align: right }
th { color: var(--quiet); font-weight: 500 } td.text, th.text { text-align: left }
figure { margin: 1rem 0 } figure img { max-width: 100%; background: #fff; border-radius: 6px }
.scroll { overflow-x: auto } pre { white-space: pre-wrap; font-size: .8rem }
iframe { width: 100%; height: 44rem; border: 1px solid var(--rule); border-radius: 6px }
ul.cautions { background: var(--band); padding: .8rem 1rem .8rem 2rem; border-radius: 6px }
"""
_POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-src 'self'"
)


@dataclass(eq=False)
class Result:
    """What a study found. `table` is a pandas DataFrame; `figures` are drawn when asked for."""

    study: str
    title: str
    table: pd.DataFrame
    meta: Mapping[str, Any]
    drawers: Mapping[str, tuple[str, Callable[[], Picture]]] = field(default_factory=dict)  # name -> (caption, draw)
    findings: Sequence[str] = ()
    cautions: Sequence[str] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # further tables, by title
    files: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # tables that are saved, but not in the report
    sections: Mapping[str, str] = field(default_factory=dict)  # further parts of the report: markup, by title
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

    def report(self) -> str:
        """The report as one HTML page that needs no network."""
        parts = [f"<h1>{html.escape(self.title)}</h1>", _facts_line(self.meta)]
        if self.findings:
            parts.append("<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in self.findings) + "</ul>")
        if self.cautions:
            items = "".join(f"<li>{html.escape(text)}</li>" for text in self.cautions)
            parts.append(f'<h2>Before you draw conclusions</h2><ul class="cautions">{items}</ul>')
        parts += [self._figure_part(name) for name in self.drawers]
        parts += [f"<h2>{html.escape(name)}</h2>{markup}" for name, markup in self.sections.items()]
        parts += [f"<h2>{html.escape(name)}</h2>{_table(table)}" for name, table in self.tables.items()]
        if self.example is not None:
            parts.append(self._atlas_part(self.example))
        parts.append(f"<h2>All numbers</h2>{_table(self.table)}")
        parts.append(f'<h2>How it was made</h2><pre class="quiet">{html.escape(_pretty(self.meta))}</pre>')
        return _page(self.title, "\n".join(parts))

    def _figure_part(self, name: str) -> str:
        caption, draw = self.drawers[name]
        picture = base64.b64encode(draw().svg()).decode()
        label = html.escape(caption)
        image = f'<img alt="{label}" src="data:image/svg+xml;base64,{picture}">'
        return f"<figure>{image}<figcaption>{label}</figcaption></figure>"

    def _atlas_part(self, example: Trace) -> str:
        from regard.views.html import page_of

        page = page_of(example, view="atlas", **self.example_options).decode()
        label = "The heads on one example input; names and numbers are from the whole corpus."
        # a page of its own inside the report: its script keeps its own policy
        frame = f'<iframe title="atlas" sandbox="allow-scripts" srcdoc="{html.escape(page)}"></iframe>'
        return f"<h2>Atlas</h2><p class='quiet'>{label}</p>{frame}"

    def save(self, folder: str | Path) -> Path:
        """Write result.parquet, further tables, meta.json, figures and report.html; each file atomically."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_atomic(target / "result.parquet", lambda path: self.table.to_parquet(path))
        for name, table in {**self.tables, **self.files}.items():
            write_atomic(target / f"{_slug(name)}.parquet", lambda path, table=table: table.to_parquet(path))  # type: ignore[misc]
        write_atomic(target / "meta.json", lambda path: Path(path).write_text(_pretty(self.meta), "utf-8"))
        for name in self.drawers:
            picture = self.figure(name)
            picture.save(target / f"{name}.png", dpi=200)
            picture.save(target / f"{name}.svg")
        write_atomic(target / "report.html", lambda path: Path(path).write_text(self.report(), "utf-8"))
        return target


def _slug(title: str) -> str:
    """A title as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _pretty(meta: Mapping[str, Any]) -> str:
    return json.dumps(meta, indent=2, ensure_ascii=False, default=str)


def _facts_line(meta: Mapping[str, Any]) -> str:
    corpus = meta.get("corpus", {})
    tally = meta.get("tally", {})
    parts = [
        str(meta.get("model", "")),
        str(corpus.get("name", "")),
        f"{tally.get('inputs', 0):,} inputs, {tally.get('tokens', 0):,} tokens",
        f"regard {meta.get('regard', '')}",
    ]
    return f'<p class="quiet">{html.escape(" · ".join(part for part in parts if part))}</p>'


def _table(table: pd.DataFrame) -> str:
    """The first rows of a table; text left-aligned, numbers right-aligned with three digits."""
    shown = table.head(_SHOWN)
    text = {
        name for name in shown.columns if shown[name].dtype == object or str(shown[name].dtype) in ("str", "string")
    }

    def cell(name: Any, value: Any) -> str:
        kind = ' class="text"' if name in text else ""
        shown = "n/a" if value is None or value != value else f"{value:.3g}" if isinstance(value, float) else str(value)
        return f"<td{kind}>{html.escape(shown)}</td>"

    head = "".join(f"<th{' class=text' if n in text else ''}>{html.escape(str(n))}</th>" for n in shown.columns)
    rows = "".join(
        "<tr>" + "".join(cell(name, value) for name, value in zip(shown.columns, row, strict=True)) + "</tr>"
        for row in shown.itertuples(index=False)
    )
    more = f'<p class="quiet">{len(table):,} rows in total</p>' if len(table) > _SHOWN else ""
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{more}'


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )
