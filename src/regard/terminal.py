"""What regard prints in a terminal: tables of traces and models.

Enters: traces and records. Leaves: rich renderables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from regard.site import Site
from regard.trace import Trace


def trace_table(trace: Trace) -> Table:
    """One row per kind of attention: layers, heads, positions, mask, and what can be read."""
    facts = trace.facts
    title = Text(f"{facts.get('model', 'attention maps')}", style="bold")
    if "class" in facts:
        title.append(f"  {facts['class']}, {facts.get('dtype')}, {facts.get('kernel') or 'own'} kernel", style="dim")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for name in ("attention", "layers", "heads", "queries", "keys", "mask", "holds"):
        table.add_column(name, justify="right" if name in ("layers", "heads", "queries", "keys") else "left")
    for kind in trace.kinds:
        sites = [site for site in trace.sites if site.kind == kind]
        table.add_row(
            kind,
            str(len(trace.layers(kind))),
            _heads(sites),
            _range(site.queries for site in sites),
            _range(site.keys for site in sites),
            ", ".join(dict.fromkeys(_mask(site) for site in sites)),
            _holds(sites[0]),
        )
    notes = [str(facts[name]) for name in ("captured", "pair") if facts.get(name)]
    if facts.get("truncated"):
        notes.append(f"truncated: {facts['truncated']} tokens cut off")
    if notes:
        table.caption = Text("\n".join(notes), style="dim")
        table.caption_justify = "left"
    return table


def _heads(sites: Sequence[Site]) -> str:
    shared = {site.kv_heads for site in sites} - {site.heads for site in sites}
    heads = _range(site.heads for site in sites)
    return f"{heads} ({_range(shared)} k, v)" if shared else heads


def _range(numbers: Any) -> str:
    found = sorted(set(numbers))
    return str(found[0]) if len(found) == 1 else f"{found[0]}-{found[-1]}"


def _mask(site: Site) -> str:
    if site.maps is not None:
        return "in the maps"
    extras = [
        name
        for name, there in (
            ("soft cap", site.softcap is not None),
            ("bias", site.bias is not None),
            ("sink", site.sink is not None),
        )
        if there
    ]
    rule = site.mask.rule
    if rule == "window":
        rule = f"window of {(site.mask.left or 0) + 1 + (site.mask.right or 0)}"
    return " + ".join([rule, *extras])


def _holds(site: Site) -> str:
    if site.maps is not None:
        return "maps"
    return "q, k, v" + ("" if site.norms is None else ", norms")


def models_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Models that can be named, and whether they are here."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("model", "where", "what"):
        table.add_column(name)
    for row in rows:
        style = "" if row["installed"] else "dim"
        table.add_row(Text(row["model"], style="bold" if row["default"] else style), row["where"], row["what"])
    return table
