"""What regard prints in a terminal: tables of traces, of what heads are worth, and of models.

Enters: traces and records. Leaves: rich renderables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from regard.trace.site import Site
from regard.trace.trace import Trace

if TYPE_CHECKING:
    from regard.ablation.cutting import Cut
    from regard.ablation.effects import Effect

_NAMES = 12  # heads named before "and more"


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
    if facts.get("reads"):
        notes.append(f"it reads: {facts['reads']}")
    if facts.get("truncated"):
        notes.append(f"truncated: {facts['truncated']} tokens were left out")
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


def effect_report(effect: Effect) -> Iterator[Table | Text]:
    """What was switched off, one row per prediction before and after, and notes."""
    names = list(effect.heads[:_NAMES])
    more = f" and {len(effect.heads) - _NAMES} more" if len(effect.heads) > _NAMES else ""
    yield Text.assemble((effect.model, "bold"), (f"  without {', '.join(names)}{more}", "dim"))
    yield _effect_table(effect)
    if effect.actual is not None:
        yield Text(f"the text has {visible_text(effect.actual)} there", style="dim")
    for note in effect.notes:
        yield Text(note, style="dim")


def cut_report(cut: Cut) -> Iterator[Table | Text]:
    """What the cut shows, one row per prediction before and after, and notes."""
    yield Text(cut.sentence, style="bold")
    yield _effect_table(cut)
    if cut.actual is not None:
        yield Text(f"the text has {visible_text(cut.actual)} there", style="dim")
    lines = "1 line" if cut.lines == 1 else f"{cut.lines} lines, mean"
    yield Text(f"{cut.model}: {lines} of weight {_number(cut.weight)}", style="dim")
    for note in cut.notes:
        yield Text(note, style="dim")


def _effect_table(effect: Effect | Cut) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(_heading(effect))
    compared = effect.about != "hidden states"
    for name in (*(("before",) if compared else ()), *effect.modes):
        table.add_column(name, justify="right")
    for row in effect.rows:
        before = [] if row.before is None else [_number(row.before)]
        after = [_after(row.before, row.after[mode]) for mode in effect.modes]
        table.add_row(Text(visible_text(row.name) if compared else row.name), *before, *after)
    if effect.kl:
        table.add_row(
            Text("KL(before || after), nats", style="dim"), "", *(_number(effect.kl[m]) for m in effect.modes)
        )
    return table


def _heading(effect: Effect | Cut) -> str:
    if effect.position is None:
        return "token" if effect.about == "hidden states" else effect.about
    token = visible_text(effect.tokens[effect.position])
    return {
        "next token": f"after {token} ({effect.position})",
        "hidden states": "token",
    }.get(effect.about, f"at {token} ({effect.position})")


def _after(before: float | None, after: float) -> Text:
    cell = Text(_number(after))
    if before is not None:
        cell.append(f" {after - before:+.3f}", style="dim")
    return cell


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) >= 0.001 or value == 0 else f"{value:.1e}"


def visible_text(text: str) -> str:
    """A token with its leading space and line breaks shown."""
    return text.replace(" ", "␣").replace("\n", "⏎")


def models_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Models that can be loaded by name, and whether they are installed."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("model", "where", "what"):
        table.add_column(name)
    for row in rows:
        style = "" if row["installed"] else "dim"
        table.add_row(Text(row["model"], style="bold" if row["default"] else style), row["where"], row["what"])
    return table
