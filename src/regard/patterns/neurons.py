"""Which neurons make a pattern: how much each adds to the scores of the keys that a head is after.

Enters: traces that hold q and k, a head, a pattern. Leaves: `Neurons`, with intervals over texts.

A score is a sum over the d neurons of a head, scale * sum_c q_ic k_jc. What neuron c adds to the score of the pattern's
keys above the row's mean is scale * q_ic (mean of k over the pattern's keys - mean of k over the visible keys); over
all neurons this adds up to the score difference exactly. Few neurons are chosen on one half of the texts and measured
on the other, since the best of many look better than they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regard.base.errors import UserError
from regard.measures.intervals import FEWEST, between, draws, interval
from regard.patterns.definitions import PATTERNS, Part, Pattern
from regard.patterns.entries import BROAD
from regard.patterns.saved import usable_rules
from regard.trace.places import Array, context_of
from regard.trace.records import Tabular, columns_of

if TYPE_CHECKING:
    from regard.trace.site import Site
    from regard.trace.trace import Trace

FEW = 4  # neurons that count as few (the article's heads use two to four)
RANDOM = 4 / math.pi**2  # participation of q x k, as a share of d, when q and k are independent and normal


class Estimate(NamedTuple):
    """A mean over texts and its 95 % interval; nan where there are too few texts."""

    value: float
    low: float = math.nan
    high: float = math.nan

    def said(self, form: str) -> str:
        """The number with its interval, in a format such as ".2f"."""
        return "n/a" if math.isnan(self.value) else format(self.value, form) + between(self.low, self.high, form)


@dataclass(frozen=True)
class Neurons(Tabular):
    """How the neurons of one head make one pattern."""

    kind: str
    layer: int
    head: int
    pattern: str
    width: int  # d, neurons of the head
    texts: int
    skipped: int  # texts in which the pattern cannot be asked
    weight: Estimate  # attention on the pattern's keys
    chance: float  # the same, if attention were even
    above: Estimate  # score of these keys above their row's mean
    participation: Estimate  # (sum |x|)^2 / sum x^2 of q x k: about how many neurons take part in a score
    makers: Estimate  # the same of what each adds to `above`: about how many make the difference
    few: Estimate  # share of `above` that the largest few carry, chosen on other texts
    shares: tuple[tuple[int, Estimate], ...]  # every neuron and its share of `above`, largest first
    parts: Mapping[str, Estimate] = field(default_factory=dict)  # layer 0: what `above` comes from, query x key

    def as_record(self) -> dict[str, Any]:
        """For JSON; numbers that are not available are null."""
        return {key: _plain(value) for key, value in asdict(self).items()}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = ({"neuron": number, **share._asdict()} for number, share in self.shares)
        return columns_of(rows, ("neuron", *Estimate._fields))

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield from self.lines()

    def lines(self, count: int = 8) -> list[str]:
        """What was found, in a few lines."""
        texts = f"{self.texts} text{'s' * (self.texts != 1)}" + (f", {self.skipped} without it" * bool(self.skipped))
        found = [
            f"{self.kind} head {self.layer}.{self.head}, {self.pattern} ({texts})",
            f"  weight on it     {self.weight.said('.2f')} (chance: {self.chance:.2f})",
            f"  score above mean {self.above.said('.1f')}",
            f"  take part        {self.participation.said('.1f')} of {self.width} neurons in a score "
            f"(random vectors: {RANDOM * self.width:.1f})",
            f"  make the rise    {self.makers.said('.1f')} of {self.width} (equal shares: {self.width})",
        ]
        if self.above.value <= 0:
            return [*found, "  the head does not favour these keys, so no neuron has a share in it"]
        few = f"{self.few.said('.0%')} of it, chosen on other texts (even: {FEW / self.width:.0%})"
        found.append(f"  {FEW} largest        " + (few if self.few.value > 0 else f"n/a, pass {FEWEST} texts or more"))
        found += [f"  neuron {number:<9} {share.said('.1%')}" for number, share in self.shares[:count]]
        largest = sorted(self.parts.items(), key=lambda part: -abs(part[1].value))
        return found + [f"  {name:<24} {value.said('.1f')}" for name, value in largest[:4]]


def neurons_of(
    traces: Sequence[Trace],
    layer: int,
    head: int,
    pattern: str | None = None,
    *,
    kind: str | None = None,
) -> Neurons:
    """Which neurons of a head make a pattern.

    Parameters
    ----------
    traces
        One or more texts through the same model; with eight or more there are intervals.
    layer, head, kind
        Which head.
    pattern
        A name of `regard.patterns.PATTERNS`, such as "previous token" or "[SEP]", or a saved rule; without one, what
        the head does most.
    """
    asked = _named(pattern)
    read = [[_read(trace, layer, head, kind, candidate) for trace in traces] for candidate in asked]
    kept = [
        (candidate, [one for one in found if one is not None]) for candidate, found in zip(asked, read, strict=True)
    ]
    kept = [(candidate, found) for candidate, found in kept if found]
    if not kept:
        what = "no pattern can" if pattern is None else f"the pattern {pattern!r} cannot"
        raise UserError(f"{what} be asked of these texts; pass longer ones, or name another pattern")
    chosen, found = max(kept, key=lambda some: np.mean([one.lift for one in some[1]]))
    return _summary(chosen, found, traces[0].site(layer, kind=kind), head, len(traces))


def _named(pattern: str | None) -> tuple[Pattern, ...]:
    if pattern is None:
        return tuple(candidate for candidate in PATTERNS if candidate.name not in BROAD)  # a neighbour is one of five
    known = (*PATTERNS, *usable_rules())
    named = tuple(candidate for candidate in known if candidate.name == pattern)
    if not named:
        names = ", ".join(repr(candidate.name) for candidate in known)
        raise UserError(f"there is no pattern {pattern!r}; choose from {names}")
    return named


class _One(NamedTuple):
    """One text: means over the rows in which the pattern can be asked."""

    carried: Array  # (d,) what each neuron adds above the row's mean
    participation: float
    weight: float
    chance: float
    parts: dict[str, float]

    @property
    def lift(self) -> float:
        return (self.weight - self.chance) / (1 - self.chance)


def _read(trace: Trace, layer: int, head: int, kind: str | None, pattern: Pattern) -> _One | None:
    site = trace.site(layer, kind=kind)
    q, k = trace.q(layer, head, kind=kind), trace.k(layer, head, kind=kind)
    causal = site.mask.causal and site.query_side == site.key_side and site.queries > 1
    context = context_of(trace, site, causal)
    if pattern.missing(context):
        return None
    seen = site.mask.allowed(np.arange(site.queries), np.arange(site.keys), site.index(head))
    visible = np.ones((site.queries, site.keys), bool) if seen is None else seen
    targets, rows = pattern.targets(Part(context, context.queries, 0, visible))
    targets = targets & visible
    counted = targets.any(-1) & (targets != visible).any(-1)  # some keys, not all
    counted = np.flatnonzero(counted if rows is None else counted & rows)
    if not counted.size:
        return None
    chosen, every = _even(targets[counted]), _even(visible[counted])  # (rows, keys), rows sum to 1
    carried = site.scale * q[counted] * ((chosen - every) @ k)  # (rows, d)
    products = (np.abs(q) @ np.abs(k).T) ** 2 / np.maximum(q**2 @ (k**2).T, 1e-30)  # participation of every pair
    return _One(
        carried.mean(0),
        float((products[counted] * chosen).sum(-1).mean()),
        float((trace.attention(layer, head, kind=kind)[counted] * targets[counted]).sum(-1).mean()),
        float((targets[counted].sum(-1) / visible[counted].sum(-1)).mean()),
        _parts(site, site.index(head), counted, chosen - every),
    )


def _even(table: Array) -> Array:
    return np.asarray(table / table.sum(-1, keepdims=True))


def _parts(site: Site, index: int, rows: Array, difference: Array) -> dict[str, float]:
    """What the score difference comes from: parts of the query times parts of the key (the first layer only)."""
    if site.qparts is None:
        return {}
    table = (site.attribution(index, rows) * difference).sum(-1).mean(-1)  # (P, P)
    names = site.parts
    return {f"{a} × {b}": float(table[i, j]) for i, a in enumerate(names) for j, b in enumerate(names)}


def _summary(pattern: Pattern, found: Sequence[_One], site: Site, head: int, texts: int) -> Neurons:
    count = len(found)
    carried = np.stack([one.carried for one in found])  # (texts, d)
    drawn = _means(carried)  # (1 + draws, d)
    means = drawn[0]
    shares = drawn / drawn.sum(1, keepdims=True) if means.sum() > 0 else np.full_like(drawn, np.nan)

    def estimate(values: Sequence[float]) -> Estimate:
        return _estimate(_means(np.array(values)), count)

    return Neurons(
        kind=site.kind,
        layer=site.layer,
        head=head,
        pattern=pattern.name,
        width=carried.shape[1],
        texts=count,
        skipped=texts - count,
        weight=estimate([one.weight for one in found]),
        chance=float(np.mean([one.chance for one in found])),
        above=estimate([float(one.carried.sum()) for one in found]),
        participation=estimate([one.participation for one in found]),
        makers=_estimate(_participation(drawn), count),
        few=_few(carried) if count >= FEWEST and means.sum() > 0 else Estimate(math.nan),
        shares=tuple((int(c), _estimate(shares[:, c], count)) for c in np.argsort(-means)),
        parts={name: estimate([one.parts[name] for one in found]) for name in found[0].parts},
    )


def _means(values: Array, some: slice = slice(None)) -> Array:
    """(1 + draws, ...) means over texts of values (texts, ...), or over some of the texts: of all, then of drawn ones.

    A draw that takes none of them has no mean.
    """
    weights = draws(len(values))[:, some]
    total = weights.sum(1, keepdims=True)
    return np.asarray((weights / np.where(total > 0, total, np.nan)) @ values[some])


def _participation(values: Array) -> Array:
    """(sum |x|)^2 / sum x^2 over the last axis: 1 where one number is all there is, d where all are as large."""
    return np.asarray(np.abs(values).sum(-1) ** 2 / np.maximum((values**2).sum(-1), 1e-30))


def _few(carried: Array) -> Estimate:
    """Share of the largest few, chosen on every other text and measured on the rest, both ways round."""
    halves = [_means(carried, slice(start, None, 2)) for start in (0, 1)]  # (1 + draws, d) each
    found = []
    for choosing, measuring in (halves, halves[::-1]):
        largest = np.argsort(-choosing[0])[:FEW]
        found.append(measuring[:, largest].sum(1) / measuring.sum(1))
    return _estimate(np.mean(found, axis=0), len(carried))


def _estimate(values: Array, texts: int) -> Estimate:
    """The number and its interval, of values (1 + draws,)."""
    low, high = interval(values, texts)
    return Estimate(float(values[0]), float(low), float(high))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
