"""The report of a study as an article: one HTML page that needs no network.

Enters: a `Result`. Leaves: markup whose texts are escaped: sentences with their maps, figures in both themes, the
interactive atlas, folded tables.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from math import floor, isnan, log10
from typing import TYPE_CHECKING, Any

from regard.studies.chart import chart_markup
from regard.studies.head_names import NamedPlace, Pictured, heads_in
from regard.views.themes import THEMES, theme, themed

if TYPE_CHECKING:
    import pandas as pd

    from regard.studies.result import Drawer, Result
    from regard.trace.site import Site
    from regard.trace.trace import Trace

_LEDE = 8  # findings that are shown; more are folded
_BESIDE = 3  # findings that are shown beside a chart, which says the others
_WIDE = 480  # points; a wider figure takes the whole width
_ROWS = 200  # of a table in the report; the whole is in its file
_LONG = 60  # characters from which a cell may break into lines
_BRACKETS = re.compile(r"\([-−+]?\d[\d.,]*(–| to )[-−+]?\d")  # an interval
_PARTS = files("regard.studies")
_POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-src 'self'"
)


def article(result: Result, drawn: Mapping[str, bytes]) -> str:
    """The whole page; `drawn` are figures that there are already, by name: SVG in the light theme."""
    parts = [f"<h1>{html.escape(result.title)}</h1>", _findings(result)]
    parts += [f"<h2>{html.escape(name)}</h2>{markup}" for name, markup in result.sections.items()]
    if result.example is not None:
        parts.append(_atlas(result, result.example))
    parts.append(_made(result))
    if result.cautions:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in result.cautions)
        parts.append(f'<h2>Keep in mind</h2><ul class="cautions">{items}</ul>')
    first = 1 if result.example is None else 2
    figures = [
        _figure(drawer, number, drawn.get(name)) for number, (name, drawer) in enumerate(result.drawers.items(), first)
    ]
    if figures:
        parts.append(f'<h2>Figures</h2><div class="figures">{"".join(figures)}</div>')
    folded = [_table(name, table) for name, table in {**result.tables, "All numbers": result.table}.items()]
    parts.append(f"<h2>Tables</h2>{''.join(folded)}{_settings(result.meta)}")
    return page(result.title, "\n".join(parts))


def pretty(meta: Mapping[str, Any]) -> str:
    """The facts of a result as text."""
    return json.dumps(meta, indent=2, ensure_ascii=False, default=str)


def page(title: str, body: str) -> str:
    """A page that needs no network, with the style and script of reports."""
    style, script = ((_PARTS / f"report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head><body>{body}"
        f"<script>{script}</script></body></html>\n"
    )


def _made(result: Result) -> str:
    """How it was made, in one line."""
    meta = result.meta
    tally = meta.get("tally", {})
    counted = f", {tally['inputs']:,} inputs, {tally['tokens']:,} tokens" if tally else ""
    parts = [
        f"<code>{html.escape(meta['command'])}</code>" if meta.get("command") else "",
        html.escape(str(meta.get("model", ""))),
        html.escape(f"{meta.get('corpus', {}).get('name', '')}{counted}"),
        html.escape(f"regard {meta['regard']}") if "regard" in meta else "",
    ]
    return f'<p class="made">{" · ".join(part for part in parts if part)}</p>'


def _settings(meta: Mapping[str, Any]) -> str:
    text = html.escape(pretty(meta))
    return f'<details><summary>All settings</summary><pre class="quiet">{text}</pre></details>'


# -- sentences ---------------------------------------------------------------------------------------------------


def _findings(result: Result) -> str:
    """Each finding with the map of the first head that it names; heads are links that move the atlas."""
    if not result.findings:
        return ""
    items = []
    for text in result.findings:
        named = [(one, site) for one in heads_in(text) if (site := _site(result.example, one)) is not None]
        picture = _map(result.example, named[0][1], named[0][0].head) if named and result.example is not None else ""
        if isinstance(text, Pictured):
            picture = _lines(text.lines)
        items.append(f"<li>{picture}<p>{_linked(text, named)}</p></li>")
    shown, spare = (_LEDE, 2) if result.chart is None else (_BESIDE, 0)
    first, rest = (items[:shown], items[shown:]) if len(items) > shown + spare else (items, [])
    more = f"<details><summary>{len(rest)} more findings</summary>{_list(rest)}</details>" if rest else ""
    bracketed = any(_BRACKETS.search(text) for text in result.findings)
    more += '<p class="quiet">Ranges in brackets are 95% intervals.</p>' if bracketed else ""
    if result.chart is None:
        return _list(first) + more
    return f'<div class="top"><div>{_list(first)}{more}</div>{chart_markup(result.chart)}</div>'


def _list(items: Sequence[str]) -> str:
    return f'<ul class="findings">{"".join(items)}</ul>'


def _lines(lines: Mapping[str, Sequence[float]]) -> str:
    """Numbers over layers from 0 to 1, small: the first line in the accent, the others quiet."""
    drawn = []
    for number, values in enumerate(lines.values()):
        points = " ".join(f"{44 * n / max(1, len(values) - 1) + 2:.1f},{46 - 44 * v:.1f}" for n, v in enumerate(values))
        colour = "var(--quiet)" if number else "var(--accent)"
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    label = html.escape(f"by layer: {', '.join(lines)}")
    return f'<svg role="img" viewBox="0 0 48 48"><title>{label}</title>{"".join(drawn)}</svg>'


def _site(example: Trace | None, one: NamedPlace) -> Site | None:
    """Where the atlas has a head; None if it does not."""
    sites = () if example is None else example.sites
    found = (site for site in sites if one.kind in (None, site.kind) and site.layer == one.layer and not site.part)
    return next((site for site in found if one.head in site.head_ids), None)


def _linked(text: str, named: Iterable[tuple[NamedPlace, Site]]) -> str:
    parts, end = [], 0
    for one, site in named:
        show = f"view=atlas&kind={site.kind}&layer={one.layer}&heads={one.head}"
        name = text[one.start : one.end]
        parts += [html.escape(text[end : one.start])]
        parts += [
            f'<a class="head" href="#atlas" data-show="{html.escape(show)}" title="show it in figure 1">{name}</a>'
        ]
        end = one.end
    return "".join([*parts, html.escape(text[end:])])


def map_of(example: Trace | None, place: tuple[str, int, int], label: str) -> str:
    """The map of a head on an example, small; nothing where the example lacks it."""
    kind, layer, head = place
    site = _site(example, NamedPlace(0, 0, kind, layer, head))
    return "" if example is None or site is None else _map(example, site, head, label)


def _map(example: Trace | None, site: Site, head: int, label: str | None = None) -> str:
    """The map of a head on the example, small."""
    from matplotlib.image import imsave

    assert example is not None  # the site is one of its own
    weights = example.attention(site.layer, head, kind=site.kind)

    def drawn() -> bytes:
        buffer = io.BytesIO()
        imsave(buffer, weights, cmap=theme().maps, vmin=0, vmax=max(float(weights.max()), 1e-9), format="png")
        return buffer.getvalue()

    return _images("image/png", drawn, label or f"the map of head {site.layer}.{head} on the input of figure 1")


# -- figures -----------------------------------------------------------------------------------------------------


def _images(kind: str, draw: Any, label: str, light: bytes | None = None) -> str:
    """A picture in every theme, in the light one as it is where it is given; the page shows the one that suits it."""
    found = []
    for name in THEMES:
        with themed(name):
            data = base64.b64encode(light if light is not None and name == "light" else draw()).decode()
        found.append(f'<img class="{name}" alt="{html.escape(label)}" src="data:{kind};base64,{data}">')
    return "".join(found)


def _figure(drawer: Drawer, number: int, light: bytes | None) -> str:
    caption, draw = drawer
    widths = []  # in inches

    def drawn() -> bytes:
        picture = draw()
        widths.append(picture.figure.get_figwidth())
        return picture.svg()

    pictures = _images("image/svg+xml", drawn, caption, light)
    kind = ' class="wide"' if max(widths) * 72 > _WIDE else ""
    return f"<figure{kind}>{pictures}<figcaption>Figure {number}. {html.escape(caption)}</figcaption></figure>"


def _atlas(result: Result, example: Trace) -> str:
    """The live atlas: a page of its own inside the report, whose script keeps its own policy."""
    from regard.views.html import page_of

    named = "report" in result.example_options
    study = {"inputs": result.meta.get("tally", {}).get("inputs", 0), "named": named}
    page = page_of(example, view="atlas", study=study, **_opened(result), **result.example_options).decode()
    whose = "over the whole corpus" if named else "on this input alone"
    caption = (
        f"Figure 1. Every head of {example.facts.get('model', 'the model')} on one input of the corpus. Heads named in "
        f"this report are links to it. Names and numbers beside the maps: {whose}, of the attention that does not rest "
        "on attention sinks."
    )
    frame = f'<iframe title="atlas" sandbox="allow-scripts" srcdoc="{html.escape(page)}"></iframe>'
    wait = '<p class="wait quiet" role="status">Drawing the atlas …</p>'
    figure = f'<figure id="atlas">{frame}{wait}<figcaption>{html.escape(caption)}</figcaption></figure>'
    return f"<h2>The heads behind it</h2>{figure}"


def _opened(result: Result) -> dict[str, Any]:
    """The head that the atlas opens on: the first that a finding names."""
    for text in result.findings:
        for one in heads_in(text):
            site = _site(result.example, one)
            if site is not None:
                return {"kind": site.kind, "layer": one.layer, "heads": [one.head]}
    return {}


# -- tables ------------------------------------------------------------------------------------------------------


def _table(title: str, table: pd.DataFrame) -> str:
    """The first rows of a table, folded; a click on a column sorts them."""
    rows = table.head(_ROWS)
    text = {name for name in rows.columns if rows[name].dtype == object or str(rows[name].dtype) in ("str", "string")}
    head = "".join(
        f'<th scope="col"{" class=text" if name in text else ""}><button type="button">{html.escape(str(name))}'
        "</button></th>"
        for name in rows.columns
    )
    body = "".join(
        f"<tr>{''.join(_cell(value, name in text) for name, value in zip(rows.columns, row, strict=True))}</tr>"
        for row in rows.itertuples(index=False)
    )
    count = f"{len(table):,} rows" if len(table) <= _ROWS else f"the first {_ROWS} of {len(table):,} rows"
    return (
        f"<details><summary>{html.escape(title)} <small>{count}</small></summary><div class=scroll><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _cell(value: Any, text: bool) -> str:
    """A number with three digits, its exact value on hover; a text as it is."""
    if value is None or value != value:
        return f"<td{' class=text' if text else ''}>n/a</td>"
    if isinstance(value, float):
        return f'<td title="{float(value)!r}">{digits(value)}</td>'
    shown = str(value) if text or isinstance(value, bool) else f"{value:,}"
    kind = f' class="text{" long" if len(shown) > _LONG else ""}"' if text else ""
    return f"<td{kind}>{html.escape(shown)}</td>"


def digits(value: float) -> str:
    """Three significant digits, as people read them: 0.0473, 12.3, 1,520; never 1.52e+03."""
    if value == 0 or isnan(value) or value in (float("inf"), float("-inf")):
        return f"{value:.3g}".replace("-", "−")
    places = 2 - floor(log10(abs(value)))
    if places > 8:
        return f"{value:.2g}".replace("-", "−")
    return f"{round(value, places):,.{max(0, places)}f}".replace("-", "−")
