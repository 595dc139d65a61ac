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
from regard.studies.article import map_of, page
from regard.studies.base import StudyContext
from regard.studies.chart import Bar, bars_markup
from regard.studies.head_names import head_name
from regard.studies.heads.describing import Description, Place
from regard.studies.heads.examples import Look, drawn
from regard.studies.heads.mapping import SampleTexts, map_section
from regard.studies.heads.tables import COPIES
from regard.studies.heads.telling import OTHERS, copying, proof

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "heads"
_TOKENS = 12  # of each direction on a page
_GRAMMAR = 10
_NEAR = 16  # distances that a page draws
_SMALL = 8  # distances that the list draws
_ABOUT_COPIES = " Copies: whether it writes the words it reads (1) or suppresses them (-1)."
_GROUPS = {
    "best": ("Strongest links", "The rows in which one weight outside the resting places is largest."),
    "typical": (
        "Ordinary links",
        "Rows of every strength, drawn by lot, from the strongest tenth to the weakest: what the head does most of the "
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
    sample: SampleTexts


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
        _hero(portrait, row, title, context),
        _try(portrait.place),
        _proofs([proof(portrait.description), portrait.predicts, copying(*row[list(COPIES)]), over]),
        '<div class="figures">',
        _distances(_of(tables["distances"], portrait.place)) if len(tables["distances"]) else "",
        _tokens(_of(tables["tokens"], portrait.place), "looked at", "Tokens it looks at"),
        *(_group(name, portrait.looks) for name in _GROUPS),
        _tokens(_of(tables["tokens"], portrait.place), "looking", "Tokens that look"),
        _tokens(_of(tables["tokens"], portrait.place), "rested on", "Where it rests"),
        _grammar(_of(tables["grammar"], portrait.place)) if "grammar" in tables else "",
        map_section(portrait.place, portrait.sample, seed=context.study.seed),
        "</div>",
    ]
    return page(title, "\n".join(parts))


def _hero(portrait: Portrait, row: pd.Series, title: str, context: StudyContext) -> str:
    """The head's map, and what it does, large, with its clearest example."""
    best = [look for look in portrait.looks if look.group == "best"][:1]
    rests = f"Rests on {row['rests_on']} for {row['rests']:.0%} of its attention"
    said = f"{rests}; this is what the rest does." if portrait.description.verified else f"{rests}."
    if portrait.description.name == ALWAYS:
        said = row["sentence"]
    picture = map_of(context.example, portrait.place, f"{title}: its map on one input")
    if picture:
        picture = f"<figure>{picture}<figcaption>On one input: rows look at columns.</figcaption></figure>"
    return (
        f'<div class="hero">{picture}<div><h1>{html.escape(title)}</h1>'
        f'<p class="does">{html.escape(row["does"])}.{_badge(portrait.description)}</p>'
        f'<p class="lede">{html.escape(said)}</p>{"".join(map(drawn, best))}</div></div>'
    )


def _proofs(sentences: Sequence[str]) -> str:
    """How it is known, folded."""
    said = "".join(f"<p>{html.escape(one)}</p>" for one in sentences if one)
    return f'<details class="quiet"><summary>How this is known</summary>{said}</details>'


def index_part(index: pd.DataFrame, distances: pd.DataFrame) -> str:
    """All heads as a table that can be searched and sorted; each is a link to its page."""
    asked = [name for name in ("predicts", COPIES[0]) if index[name].notna().any()]
    reach = dict(iter(distances.groupby(["kind", "layer", "head"]))) if len(distances) else {}
    rows = []
    for row in index.sort_values(["verified", "value"], ascending=False, kind="stable").itertuples():
        place = (row.kind, row.layer, row.head)
        page = page_name(place, index)
        link = f'<a href="{page}" data-page="{page}">{html.escape(_short(place, index))}</a>'
        mark = f'<span class="badge">holds {_number(row.value)}</span>' if row.verified else "no"
        rests = f'<span class="part"><i style="width:{100 * min(row.rests, 1):.0f}%"></i></span>{row.rests:.2f}'
        numbers = "".join(f"<td>{_number(getattr(row, name))}</td>" for name in asked)
        rows.append(
            f"<tr{'' if row.verified else ' class=quiet'}><td class=text>{link}</td><td>{_reach(reach.get(place))}</td>"
            f'<td class="text long does" title="{html.escape(row.sentence)}">{html.escape(row.does)}</td>'
            f'<td class=text title="{row.value if row.verified else -1}">{mark}</td>'
            f'<td title="{row.rests}">{rests}</td>{numbers}</tr>'
        )
    texts = ("head", "what it does when awake", "holds on new text")
    names = ["head", "how far it looks", *texts[1:], "rests", *asked]
    head = "".join(
        f'<th scope="col"{" class=text" if name in texts else ""}><button type="button">{name}</button></th>'
        for name in names
    )
    return (
        '<p><label>Find <input type="search" data-filter placeholder="previous, tokens back, [SEP] …"></label></p>'
        '<p class="quiet">How far it looks: attention by distance, the middle is the token itself, before it on the '
        "left. Holds: how well the sentence predicts the head on documents that it was not chosen on (correlation, 1 "
        "is perfect). Rests: the part of its attention on special tokens or the first one."
        f"{_ABOUT_COPIES if COPIES[0] in asked else ''}</p>"
        f'<div class="scroll tall"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _number(value: float) -> str:
    return "n/a" if value != value else f"{value:.2f}"


def _reach(table: pd.DataFrame | None) -> str:
    """How far a head looks, small: a bar per distance."""
    if table is None:
        return ""
    near = table[table["distance"].abs() <= _SMALL]
    top = max(near["share"].max(), 1e-9)
    bars = "".join(
        f'<rect x="{4 * (row.distance + _SMALL)}" y="{20 - 19 * row.share / top:.1f}" width="3" '
        f'height="{19 * row.share / top:.1f}" fill="var(--{"quiet" if row.distance == 0 else "accent"})"/>'
        for row in near.itertuples()
    )
    width = 4 * (2 * _SMALL + 1)
    base = f'<path d="M0 20.5H{width}" stroke="var(--rule)"/>'
    return f'<svg width="{width}" height="22" aria-hidden="true">{base}{bars}</svg>'


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
    if name == "typical":
        mine = mine[::-1]  # the strongest first
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
    "looked at": "Shares of its awake attention; the tick: chance, what even attention would give.",
    "looking": "Shares of its awake attention, by the token that looks; the tick: how many rows that token has.",
    "rested on": "Shares of all of its attention.",
}


def _bars(title: str, rows: Sequence[tuple[str, float, float]], about: str) -> str:
    """Named bars, each with a tick at its chance level."""
    drawn = bars_markup([Bar(*row) for row in rows], "{:.3f}")
    return f'<section><h2>{title}</h2><p class="quiet">{about}</p>{drawn}</section>'


def _distances(table: pd.DataFrame) -> str:
    near = table[table["distance"].abs() <= _NEAR]
    near = near[(near["chance"] > 0) | (near["share"] > 0)]
    if near.empty:
        return ""
    top = max(near["share"].max(), near["chance"].max(), 1e-9)
    bars = []
    for row in near.itertuples():
        high, level = 90 * row.share / top, 100 - 90 * row.chance / top
        x = 9 * (row.distance + _NEAR)
        bars.append(
            f'<rect x="{x}" y="{100 - high:.1f}" width="7" height="{high:.1f}" fill="var(--accent)">'
            f"<title>{row.distance:+d}: {row.share:.3f}, chance {row.chance:.3f}</title></rect>"
            f'<rect x="{x}" y="{level:.1f}" width="7" height="1.5" fill="var(--quiet)"/>'
        )
        if row.distance % 4 == 0:
            bars.append(
                f'<text x="{x + 3.5}" y="112" font-size="8" text-anchor="middle" fill="var(--quiet)">'
                f"{row.distance:+d}</text>".replace("+0", "0")
            )
    width = 9 * (2 * _NEAR + 1 if near["distance"].max() > 0 else _NEAR + 1)
    about = "Shares of its awake attention by distance, in tokens; the tick: chance, what even attention would give."
    return (
        f'<section><h2>How far it looks</h2><p class="quiet">{about}</p><svg class="far" role="img" '
        f'aria-label="{about}" viewBox="-8 0 {width + 16} 116">{"".join(bars)}</svg></section>'
    )


def _of(table: pd.DataFrame, place: Place) -> pd.DataFrame:
    kind, layer, head = place
    return table[(table["kind"] == kind) & (table["layer"] == layer) & (table["head"] == head)]


def _short(place: Place, index: pd.DataFrame) -> str:
    kind, layer, head = place
    name = head_name(layer, head)
    return f"{kind}-{name}" if index["kind"].nunique() > 1 else name
