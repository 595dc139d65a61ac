"""What is known about each head, as a page shows it.

Enters: a Trace, or findings made elsewhere. Leaves: sentences, types and measures per head for the wire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.measures.types import TYPES
from regard.patterns import Patterns, head_report, patterns, warnings_for
from regard.patterns.telling import telling
from regard.trace.sentences import Message
from regard.trace.site import Array, Site
from regard.trace.trace import Trace

MODERATE = 50_000_000  # attention weights up to which heads are measured automatically: 12 x 12 heads of 512 tokens


@dataclass(frozen=True)
class HeadFinding:
    """A head and one thing it does."""

    kind: str
    layer: int
    part: int
    head: int
    pattern: str
    score: float
    sentence: str
    rest: float = 0.0  # share of all its attention that rests

    @property
    def fragment(self) -> str:
        """What to append to a page's address to open it at this head (frontend/src/state/address.ts reads it)."""
        part = f"&part={self.part}" if self.part else ""
        return f"#view=heads&kind={self.kind}&layer={self.layer}&heads={self.head}{part}"


@dataclass(frozen=True)
class Report:
    """What is known about the heads of a trace, with cautions."""

    heads: dict[tuple[str, int, int, int], Mapping[str, Any]]
    missing: dict[tuple[str, int, int], dict[str, Message]] = field(default_factory=dict)
    cautions: list[Message] = field(default_factory=list)

    def named(self, kind: str | None = None) -> list[HeadFinding]:
        """Every head with everything it does."""
        return [
            HeadFinding(
                *where, found["name"], found["score"], found["sentence"], (record.get("rest") or {}).get("share", 0.0)
            )
            for where, record in self.heads.items()
            for found in record["patterns"]
            if kind in (None, where[0])
        ]

    def clearest(self, count: int, kind: str | None = None) -> list[HeadFinding]:
        """The heads that show a pattern most clearly."""
        return telling(self.named(kind), count)

    def of(self, site: Site) -> list[Mapping[str, Any]]:
        """The records of a site's heads, in order; empty for heads nothing is known about."""
        nothing: Mapping[str, Any] = {"patterns": [], "probabilities": None, "measures": {}}
        return [self.heads.get((site.kind, site.layer, site.part, head), nothing) for head in site.head_ids]


Given = Report | Patterns | Sequence[Mapping[str, Any]] | bool | None


def report_of(trace: Trace, given: Given = None) -> Report | None:
    """The report of a trace: computed unless it is given or unwanted, or the trace is too large for that."""
    if given is None:
        given = sum(site.heads * site.queries * site.keys for site in trace.sites) <= MODERATE
    if given is False:
        return None
    if isinstance(given, Report):
        return given
    if given is True:
        given = patterns(trace)
    if isinstance(given, Patterns):
        missing = {(m.kind, m.layer, m.part): m.worth_saying for m in given.measured}
        cautions = warnings_for(given, facts=given.facts, heads=given.heads)
        return Report(_by_head(head_report(trace, given)), missing, cautions)
    report = Report(_by_head(given))
    return Report(report.heads, cautions=warnings_for(report.named(), facts=trace.facts))


def type_table(records: Sequence[Mapping[str, Any]]) -> Array | None:
    """(H, 5) probabilities of the map types, NaN where n/a; None if n/a for all heads."""
    if all(record["probabilities"] is None for record in records):
        return None
    unknown = dict.fromkeys(TYPES, np.nan)
    return np.array([[(record["probabilities"] or unknown).get(name, 0.0) for name in TYPES] for record in records])


def measure_arrays(records: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """Name -> (H,) measures, NaN where n/a; those that no head has are left out."""
    names = dict.fromkeys(name for record in records for name in record["measures"])
    table = {name: [_number(record["measures"].get(name)) for record in records] for name in names}
    return {name: np.array(values, np.float32) for name, values in table.items() if not np.isnan(values).all()}


def _by_head(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int, int, int], Mapping[str, Any]]:
    return {(r["kind"], r["layer"], r.get("part", 0), r["head"]): r for r in records}


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
