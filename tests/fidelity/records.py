"""What the sweep says of one family: whether it passes, how, and what its traces hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from regard.trace.site import Site
from regard.trace.trace import Trace


@dataclass
class Record:
    """What the sweep found out about one family. `state` is pass, part, fail, none (no attention) or unbuilt.

    In part: what is traced agrees, and the trace itself names the attention that is no map of positions.
    """

    model_type: str
    state: str = "fail"
    reason: str = ""
    model_class: str = ""
    layers: dict[str, int] = field(default_factory=dict)
    heads: str = ""
    tier: str = ""
    difference: float = float("nan")
    terms: list[str] = field(default_factory=list)
    norms: str = ""
    maps: Counter[str] = field(default_factory=Counter)  # how many were compared, by where the model's own came from
    spread: float = 0.0  # how far the maps are from uniform: 0 would make any comparison pass


def describe(found: Record, traces: list[Trace]) -> None:
    """Note the tier, layers, heads and terms of a family's traces."""
    trace = traces[0]
    found.tier = str(trace.facts["tier"])
    found.layers = {kind: len(trace.layers(kind)) for kind in trace.kinds}
    found.heads = "-".join(str(n) for n in sorted({site.heads for site in trace.sites}))
    found.terms = sorted({term for site in trace.sites for term in _terms(site)})
    reasons = {site.no_norms for site in trace.sites if site.norms is None}
    found.norms = "; ".join(sorted(reasons)) or "yes"


def _terms(site: Site) -> Iterator[str]:
    """What enters the softmax beside q and k."""
    if site.kv_heads != site.heads:
        yield "grouped queries"
    if site.mask.rule in ("window", "explicit"):
        yield f"{site.mask.rule} mask" if site.mask.rule == "explicit" else "window"
    if site.softcap is not None:
        yield "soft cap"
    if site.sink is not None:
        yield "sinks"
    if site.bias is not None:
        yield "position bias"
    if site.part:
        yield "parts"
