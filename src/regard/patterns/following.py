"""Which heads follow a rule on one text.

Enters: a Trace and a rule. Leaves: the lift of every head, or why the rule cannot be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.measures.reading import read_rows
from regard.patterns.awake import AwakeRows, awake_of, awake_readings
from regard.patterns.naming import ASLEEP
from regard.patterns.rows import alike, block_of, joined, steps, together
from regard.patterns.rules import Rule
from regard.trace.sentences import Message, reason

if TYPE_CHECKING:
    from regard.patterns.definitions import Part
    from regard.trace.places import Array
    from regard.trace.site import Site
    from regard.trace.trace import Trace


@dataclass(frozen=True)
class Follower:
    """A head, and how far it follows a rule: the numbers of `AwakeReading`."""

    kind: str
    layer: int
    part: int
    head: int
    lift: float
    share: float
    chance: float
    rows: int
    awake: float  # the part of its attention in those rows that does not rest
    best: tuple[int, int, float] | None  # the row that shows it best: query, key, attention on target


@dataclass(frozen=True)
class Followers:
    """Heads that can follow a rule, best first; why it is n/a by kind of attention."""

    rule: Rule
    heads: tuple[Follower, ...]
    missing: dict[str, Message]

    @property
    def record(self) -> dict[str, Any]:
        """Plain text and numbers, fit for JSON."""
        return {
            "rule": self.rule.name,
            "heads": [asdict(one) for one in self.heads],
            "missing": {kind: {"text": str(why), **why.record} for kind, why in self.missing.items()},
        }


def follow(trace: Trace, rule: Rule, *, check: Callable[[], None] = lambda: None) -> Followers:
    """Every head of a trace by its lift for a rule; heads that rest in all but 2 % of their attention come last.

    `check` is called now and then, and may end it by raising.

    Examples
    --------
    >>> import numpy as np
    >>> from regard import Trace
    >>> from regard.patterns.rules import parse_rule
    >>> maps = np.eye(12, k=-1)[None, None] + np.eye(12)[None, None] * (np.arange(12) == 0)[:, None]
    >>> best = follow(Trace.from_maps(maps, list("abcdefghijkl"), causal=True), parse_rule("offset = -1")).heads[0]
    >>> best.lift, best.rows
    (1.0, 9)
    """
    found: list[Follower] = []
    missing: dict[str, Message] = {}
    for context, group in alike(trace, "weights"):
        why = rule.missing(context)
        if why:
            missing |= {site.kind: reason(why) for site in group}
            continue
        for sites in together(group):
            blocks = []
            for part, rows in steps(context, sites, 1):
                check()
                blocks.append(_block(rule, part, block_of(sites, rows, "weights")))
            read = AwakeRows((rule.name,), *joined(blocks))
            found += _followers(sites, read)
            missing |= {} if read.counted.any() else {site.kind: reason(rule.none) for site in sites}
    asked = {one.kind for one in found if one.rows}
    heads = sorted((one for one in found if one.rows), key=lambda one: (one.awake < ASLEEP, -one.lift))
    return Followers(rule, tuple(heads), {kind: why for kind, why in missing.items() if kind not in asked})


def _block(rule: Rule, part: Part, attention: Array) -> tuple[Array, ...]:
    """The fields of `AwakeRows` of one block of rows (H, rows, K)."""
    targets, counted = (table[None] for table in rule.targets(part))
    top = np.where(part.rests, -1.0, attention).argmax(axis=-1)
    read = read_rows(attention, targets, visible=part.visible, rows=counted, strongest=attention.argmax(axis=-1))
    weight = (attention * part.free).sum(axis=-1)
    fields = awake_of(read, None, targets, weight, top, part)
    return (*fields, np.full_like(fields[0], np.nan))


def _followers(sites: list[Site], rows: AwakeRows) -> list[Follower]:
    reading = awake_readings(rows)[rows.names[0]]
    places = np.flatnonzero(rows.counted[0])
    found, at = [], 0
    for site in sites:
        for head in site.head_ids:
            count = int(reading.rows[at])
            best = None
            if count:
                row = int(places[rows.mass[0, at, places].argmax()])
                best = (row, int(rows.strongest[at, row]), round(float(rows.mass[0, at, row]), 4))
            lift, share, chance = (
                round(float(np.nan_to_num(one[at])), 4) for one in (reading.lift, reading.share, reading.chance)
            )
            awake = round(float(reading.awake[at]) / max(count, 1), 4)
            found.append(Follower(site.kind, site.layer, site.part, head, lift, share, chance, count, awake, best))
            at += 1
    return found
