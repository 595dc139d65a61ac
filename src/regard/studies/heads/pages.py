"""A page per head, and the list of all: markup that needs no network.

Enters: a head's description, looks and numbers. Leaves: HTML whose texts are escaped.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.corpus.sums import Sums
from regard.patterns.definitions import ALWAYS
from regard.studies.article import page
from regard.studies.base import StudyContext
from regard.studies.head_names import head_name
from regard.studies.heads.describing import Description, Place
from regard.studies.heads.examples import Look, drawn
from regard.studies.heads.telling import OTHERS, proof

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "heads"
_TOKENS = 12  # of each direction on a page
_GRAMMAR = 10
_NEAR = 16  # distances that a page draws
_GROUPS = {
    "best": ("Strongest looks", "The rows in which one weight outside the resting places is largest."),
    "typical": (
        "Ordinary looks",
        "Rows of every strength, drawn by lot, from the weakest tenth to the strongest: what the head does most of the "
        "time.",
    ),
    "best_arriving": ("Strongest by what arrives", "The same as the first, by ||αf(x)|| as a share of each row."),
}


@dataclass(frozen=True, eq=False)
class Portrait:
    """All that the page of a head shows."""

    place: Place
    description: Description
    looks: Sequence[Look]
    sums: Sums
    predicts: str  # a sentence


def page_name(place: Place, index: pd.DataFrame) -> str:
    """Where the page of a head is, beside the report."""
    return f"{FOLDER}/{_short(place, index)}.html"


def portrait_page(
    portrait: Portrait, index: pd.DataFrame, tables: Mapping[str, pd.DataFrame], context: StudyContext
) -> str:
    """The whole page of a head."""
    kind, layer, head = portrait.place
    row = _of(index, portrait.place).iloc[0]
    several = index["kind"].nunique() > 1
    title = f"{f'{kind.capitalize()} head' if several else 'Head'} {head_name(layer, head)} of {context.model.name}"
    over = f"{context.source.name}: {context.tally.inputs:,} inputs, {context.tally.tokens:,} tokens"
    parts = [
        _links(portrait.place, index),
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="lede">{html.escape(row["sentence"])}{_badge(portrait.description)}</p>',
        f'<p class="quiet">{html.escape(proof(portrait.description))}</p>',
        f'<p class="quiet">{html.escape(portrait.predicts)}</p>',
        f'<p class="made">{html.escape(over)}</p>',
        _try(portrait.place),
        '<div class="figures">',
        _distances(_of(tables["distances"], portrait.place)) if len(tables["distances"]) else "",
        _tokens(_of(tables["tokens"], portrait.place), "looked at", "Tokens it looks at"),
        *(_group(name, portrait.looks) for name in _GROUPS),
        _tokens(_of(tables["tokens"], portrait.place), "looking", "Tokens that look"),
        _tokens(_of(tables["tokens"], portrait.place), "rested on", "Where it rests"),
        _grammar(_of(tables["grammar"], portrait.place)) if "grammar" in tables else "",
        "</div>",
    ]
    return page(title, "\n".join(parts))


def index_part(index: pd.DataFrame) -> str:
    """All heads as a table that can be searched and sorted; each is a link to its page."""
    rows = []
    for row in index.sort_values(["verified", "value"], ascending=False, kind="stable").itertuples():
        place = (row.kind, row.layer, row.head)
        page = page_name(place, index)
        link = f'<a href="{page}" data-page="{page}">{html.escape(_short(place, index))}</a>'
        value, predicts = ("n/a" if one != one else f"{one:.2f}" for one in (row.value, row.predicts))
        mark = "holds" if row.verified else ""
        rows.append(
            f'<tr><td class=text>{link}</td><td class="text long">{html.escape(row.sentence)}</td>'
            f"<td class=text>{mark}</td><td>{value}</td><td>{row.rests:.2f}</td><td>{predicts}</td></tr>"
        )
    texts = ("head", "what it does", "new text")
    heads = [(name, name in texts) for name in (*texts, "correlation", "rests", "predicts")]
    head = "".join(
        f'<th scope="col"{" class=text" if text else ""}><button type="button">{name}</button></th>'
        for name, text in heads
    )
    return (
        '<p><label>Find <input type="search" data-filter placeholder="previous, tokens back, [SEP] …"></label></p>'
        f'<div class="scroll tall"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _badge(description: Description) -> str:
    """Whether what is said holds on new text, and how well."""
    if description.name == ALWAYS or not description.verified:
        return ""
    return f' <span class="badge">holds on new text: {description.score.value:.2f}</span>'


def _links(place: Place, index: pd.DataFrame) -> str:
    places = [tuple(row) for row in index[["kind", "layer", "head"]].itertuples(index=False)]
    at = places.index(place)
    found = ['<a href="../report.html" data-page="report.html">All heads</a>']
    for label, number in (("←", at - 1), ("→", at + 1)):
        if 0 <= number < len(places):
            name = _short(places[number], index)
            page = page_name(places[number], index)
            found.append(f'<a href="{name}.html" data-page="{page}" title="head {name}">{label} {name}</a>')
    return f'<nav class="quiet">{" · ".join(found)}</nav>'


def _try(place: Place) -> str:
    """How to see the head on one's own sentence: in the app that shows the page, or by a command."""
    kind, layer, head = place
    view = html.escape(f"view=heads&kind={kind}&layer={layer}&heads={head}")
    return f'<p><a class="head" href="#" data-open="{view}" hidden>Try it on your sentence</a></p>'


def _group(name: str, looks: Sequence[Look]) -> str:
    mine = [look for look in looks if look.group == name]
    if not mine:
        return ""
    title, about = _GROUPS[name]
    return f'<section><h2>{title}</h2><p class="quiet">{about}</p>{"".join(map(drawn, mine))}</section>'


def _tokens(table: pd.DataFrame, side: str, title: str) -> str:
    mine = table[table["side"] == side]
    mine = mine[mine["token"] != OTHERS].head(_TOKENS)
    if mine.empty:
        return ""
    return _bars(title, [(row.token, row.share, row.chance) for row in mine.itertuples()], _ABOUT[side])


def _grammar(table: pd.DataFrame) -> str:
    """The pairs that a head looks between most beyond what distances give."""
    above = table.assign(above=table["share"] - table["chance"]).sort_values("above", ascending=False).head(_GRAMMAR)
    names = {"up": "to its head", "down": "to its dependent"}
    rows = [
        (f"{row[4]} {names[row.to]}" if row.what == "relation" else f"{row[4]} → {row.to}", row.share, row.chance)
        for row in above[["kind", "layer", "head", "from", "to", "what", "share", "chance"]]
        .rename(columns={"from": "source"})
        .itertuples()
    ]
    return _bars(
        "Grammar", rows, "Shares of its awake attention between words; the tick: what the distances alone give."
    )


_ABOUT = {
    "looked at": "Shares of its awake attention; the tick: what even attention would give.",
    "looking": "Shares of its awake attention, by the token that looks; the tick: how many rows that token has.",
    "rested on": "Shares of all of its attention.",
}


def _bars(title: str, rows: Sequence[tuple[str, float, float]], about: str) -> str:
    """Named bars, each with a tick at its chance level."""
    top = max([share for _, share, _ in rows] + [chance for *_, chance in rows if chance == chance] + [1e-9])
    lines = []
    for name, share, chance in rows:
        tick = "" if chance != chance else f'<u style="left:{100 * chance / top:.1f}%"></u>'
        lines.append(
            f"<dt>{html.escape(name)}</dt><dd><span><i style='width:{100 * share / top:.1f}%'></i>{tick}</span>"
            f"<b>{share:.3f}</b></dd>"
        )
    return f'<section><h2>{title}</h2><p class="quiet">{about}</p><dl class="bars">{"".join(lines)}</dl></section>'


def _distances(table: pd.DataFrame) -> str:
    near = table[table["distance"].abs() <= _NEAR]
    near = near[(near["chance"] > 0) | (near["share"] > 0)]
    if near.empty:
        return ""
    top = max(near["share"].max(), near["chance"].max(), 1e-9)
    bars = []
    for n, row in enumerate(near.itertuples()):
        high, level = 90 * row.share / top, 100 - 90 * row.chance / top
        x = 9 * n
        bars.append(
            f'<rect x="{x}" y="{100 - high:.1f}" width="7" height="{high:.1f}" fill="var(--accent)">'
            f"<title>{row.distance:+d}: {row.share:.3f}, even {row.chance:.3f}</title></rect>"
            f'<rect x="{x}" y="{level:.1f}" width="7" height="1.5" fill="var(--quiet)"/>'
        )
        if row.distance % 4 == 0:
            bars.append(
                f'<text x="{x + 3.5}" y="112" font-size="8" text-anchor="middle" fill="var(--quiet)">'
                f"{row.distance:+d}</text>".replace("+0", "0")
            )
    width = 9 * len(near)
    about = "Shares of its awake attention by distance, in tokens; the tick: what even attention would give."
    return (
        f'<section><h2>How far it looks</h2><p class="quiet">{about}</p><svg class="far" role="img" '
        f'aria-label="{about}" viewBox="0 0 {width} 116">{"".join(bars)}</svg></section>'
    )


def _of(table: pd.DataFrame, place: Place) -> pd.DataFrame:
    kind, layer, head = place
    return table[(table["kind"] == kind) & (table["layer"] == layer) & (table["head"] == head)]


def _short(place: Place, index: pd.DataFrame) -> str:
    kind, layer, head = place
    name = head_name(layer, head)
    return f"{kind}-{name}" if index["kind"].nunique() > 1 else name
