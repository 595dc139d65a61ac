"""The result: a table of findings, and the measures of every head behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from regard.base.errors import UserError
from regard.measures.awake import AwakeReading
from regard.measures.entropy import Level
from regard.measures.reading import Reading
from regard.patterns.definitions import NAMES, OBVIOUS
from regard.patterns.saved import SavedRule
from regard.trace.places import Array
from regard.trace.records import Tabular, columns_of
from regard.trace.sentences import Message


@dataclass(frozen=True)
class Finding:
    """One head that shows one pattern when it is awake.

    `score` is the lift, `mass` the share of its awake attention on target, `chance` the share of uniform attention;
    in `hits` of `rows` rows the strongest key outside the resting places is a target. `rest` is the share of all its
    attention that rests. `evidence` are the rows that show it best: (query, key, attention on target).
    """

    kind: str
    layer: int
    head: int
    pattern: str
    score: float
    mass: float
    chance: float
    hits: int
    rows: int
    rest: float
    sentence: str
    evidence: tuple[tuple[int, int, float], ...]
    part: int = 0


@dataclass(frozen=True, eq=False)
class SiteMeasures:
    """The measures of one site's heads, (H,) each; n/a is NaN, with the reason in `missing`.

    `readings` are of all attention, `awake` of what does not rest, `levels` the numbers beside them; `stays` is, for
    patterns of kinds of words, the share that stays if queries are exchanged; `types` (H, 5) are probabilities in the
    order of `types.TYPES`, NaN for a head without a type.
    """

    kind: str
    layer: int
    part: int
    heads: tuple[int, ...]
    readings: dict[str, Reading]
    awake: dict[str, AwakeReading]
    levels: dict[str, Level]
    stays: dict[str, Array]
    types: Array | None
    missing: dict[str, Message]

    @property
    def rest(self) -> Array:
        """(H,) the share of the attention that rests; NaN where no ordinary token has a choice."""
        return np.asarray(1 - self.levels["awake"].value)

    @property
    def worth_saying(self) -> dict[str, Message]:
        """What is missing, without what a model of this type is never asked."""
        return {name: reason for name, reason in self.missing.items() if reason.code not in OBVIOUS}


@dataclass(frozen=True, eq=False)
class Patterns(Tabular, Sequence[Finding]):
    """What the heads of a trace do when awake: findings, strongest first, and the measures behind them."""

    findings: tuple[Finding, ...]
    measured: tuple[SiteMeasures, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    by: str = "weights"  # or contributions
    rules: tuple[SavedRule, ...] = ()  # saved rules, which are patterns too

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def names(self) -> tuple[str, ...]:
        """What heads may be named for: the saved rules, then the patterns."""
        return (*(rule.name for rule in self.rules), *NAMES)

    @property
    def heads(self) -> int:
        """How many heads were looked at."""
        return sum(len(site.heads) for site in self.measured)

    @property
    def missing(self) -> dict[str, Message]:
        """Patterns that could not be asked of any head, and why."""
        names = dict.fromkeys(name for site in self.measured for name in site.missing)
        return {
            name: next(site.missing[name] for site in self.measured if name in site.missing)
            for name in names
            if all(name in site.missing for site in self.measured)
        }

    @property
    def worth_saying(self) -> dict[str, Message]:
        """What is missing, without what a model of this type is never asked."""
        return {name: reason for name, reason in self.missing.items() if reason.code not in OBVIOUS}

    def of(self, layer: int, head: int, *, kind: str | None = None) -> tuple[Finding, ...]:
        """What one head does, strongest first; empty where it does nothing that has a name."""
        kind = self.measured[0].kind if kind is None else kind
        return tuple(f for f in self.findings if (f.kind, f.layer, f.head) == (kind, layer, head))

    def strongest(self, pattern: str, count: int = 3) -> tuple[Finding, ...]:
        """The heads that show a pattern most."""
        if pattern not in self.names:
            raise UserError(f"there is no pattern {pattern!r}; choose from {', '.join(self.names)}")
        return tuple(f for f in self.findings if f.pattern == pattern)[:count]

    def rows(self) -> list[dict[str, Any]]:
        """One flat record per finding."""
        return [asdict(finding) for finding in self.findings]

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return columns_of(self.rows(), Finding.__dataclass_fields__)

    def __repr__(self) -> str:
        counts = {name: sum(f.pattern == name for f in self.findings) for name in self.names}
        found = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        return f"<Patterns of {self.heads} heads: {found or 'none'}>"

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from regard.printing.patterns import report

        yield from report(self, console)
