"""From measures to names: which heads do what, how sure that is, and the sentence that says so.

Enters: a Trace. Leaves: `Patterns`; for pages and scripts, one plain record per head.

Long on purpose: the way from a measure to a name and its sentence is read in one go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.measures.intervals import FEWEST, GROUPS, clusters_of, interval, resampled
from regard.measures.types import TYPES
from regard.patterns.definitions import ALWAYS, STRIPES, THRESHOLDS, USUAL, WORDS
from regard.patterns.entries import PHRASES, rank_of
from regard.patterns.levels import LEVELS
from regard.patterns.naming import ASLEEP, FLOOR, STAYS, beyond_one_offset, own_name
from regard.patterns.placed import beyond_one_picture
from regard.patterns.rows import SiteRows, read_trace
from regard.patterns.saved import SavedRule, usable_rules
from regard.patterns.table import Finding, Patterns, SiteMeasures
from regard.trace.places import Array, places_of

if TYPE_CHECKING:
    from regard.trace.site import Site
    from regard.trace.tokens import Side
    from regard.trace.trace import Trace

FEWEST_ROWS = 3  # rows that must be there before a lift is compared with another
FEWEST_WORDS = 3  # of a kind that one text must have: with fewer, a head may look there for another reason
SHOWN = 0.01  # share below which resting is not told
BY = ("weights", "contributions")


def patterns(
    trace: Trace, *, threshold: float | None = None, by: str = "weights", rules: Sequence[SavedRule] | None = None
) -> Patterns:
    """What each head of a trace does when it is awake, with the numbers behind it.

    Special tokens and, in causal models, the first token are where attention rests that has nothing to do. A head is
    named for what it does with the rest: for a pattern whose lift (share of its awake attention on target, 0 at chance
    and 1 at all of it) reaches the pattern's threshold over at least eight rows, and would stay above 0.1 had other
    rows of the same text been drawn. It may have several names, or none; one that is awake for less than 2 % of its
    attention "always rests". One text says nothing about other texts, so findings have no interval.

    Parameters
    ----------
    trace
        The trace of one input.
    threshold
        Lift from which a head gets a name; 0.3 unless given, and 0.4 for punctuation.
    by
        "weights", where heads look; or "contributions", what arrives from there: ‖αf(x)‖ as shares of each row.
    rules
        Rules that count as patterns; the saved ones unless given (`regard rules`).

    Examples
    --------
    >>> import numpy as np
    >>> from regard import Trace
    >>> maps = np.eye(12, k=-1)[None, None] + np.eye(12)[None, None] * (np.arange(12) == 0)[:, None]
    >>> found = patterns(Trace.from_maps(maps, list("abcdefghijkl"), causal=True))[0]
    >>> found.pattern, found.mass, found.chance, found.hits, found.rows, found.rest
    ('previous token', 1.0, 0.1689, 9, 9, 0.0909)
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise UserError(f"threshold must be above 0 and at most 1, not {threshold}")
    if by not in BY:
        raise UserError(f"by must be {' or '.join(BY)}, not {by!r}")
    if by == "contributions" and all(site.norms is None for site in trace.sites):
        trace.norms(trace.sites[0].layer, kind=trace.sites[0].kind)  # says why there are none
    own = tuple(usable_rules() if rules is None else rules)
    read = read_trace(trace, by, own)
    few = {name: _few(side) for name, side in trace.sides.items()}
    found = [
        finding
        for rows in read
        for finding in (*_findings(trace, rows, threshold, few, own, by), *_sleepers(trace, rows))
    ]
    strongest = tuple(sorted(_one_stripe(found), key=lambda f: -f.score))
    return Patterns(strongest, tuple(rows.measured for rows in read), dict(trace.facts), by, own)


def _few(side: Side) -> frozenset[str]:
    """Kinds of words of which a text has too few to name a head for them."""
    places = places_of(side, {})
    return frozenset(name for name, (choose, _) in WORDS.items() if choose(places).sum() < FEWEST_WORDS)


def _findings(
    trace: Trace,
    rows: SiteRows,
    threshold: float | None,
    few: Mapping[str, frozenset[str]],
    own: Sequence[SavedRule],
    by: str,
) -> Iterator[Finding]:
    """Heads that reach the threshold of a pattern; `few` are kinds of words that are no name, by side."""
    thresholds = THRESHOLDS | dict.fromkeys((rule.name for rule in own), USUAL)
    phrases = PHRASES | {rule.name: rule.phrase for rule in own}
    measured, awake = rows.measured, rows.awake
    refused = few[_site(trace, measured).key_side]
    for number, name in enumerate(awake.names):
        if name not in thresholds or name in refused:
            continue
        chosen = np.flatnonzero(_reaches(rows, number, thresholds[name] if threshold is None else threshold))
        if not chosen.size:
            continue
        places = np.flatnonzero(awake.counted[number])
        mass, hit = awake.mass[number][chosen][:, places], awake.hit[number][chosen][:, places]
        weight = awake.weight[chosen][:, places]
        sure = _sure(mass, weight, awake.chance[number][places])
        sure &= beyond_one_offset(name, hit, awake.strongest[chosen][:, places], places)
        site = _site(trace, measured)
        sure &= beyond_one_picture(name, site, trace.sides[site.key_side], chosen, places, by)
        for row in np.flatnonzero(sure):
            index = int(chosen[row])
            best = _best_rows(mass[row], hit[row], places, awake.strongest[index])
            yield _finding(trace, measured, index, name, phrases[name], int(hit[row].sum()), best)


def _one_stripe(found: list[Finding]) -> list[Finding]:
    """The findings, with the strongest kind of words only of heads that look at the same ones from everywhere."""
    strongest: dict[tuple[Any, ...], Finding] = {}
    for one in (one for one in found if one.pattern == STRIPES):
        place = (one.kind, one.layer, one.part, one.head)
        strongest[place] = max(one, strongest.get(place, one), key=lambda some: some.score)
    return [one for one in found if one.pattern != STRIPES or one in strongest.values()]


def _sleepers(trace: Trace, rows: SiteRows) -> Iterator[Finding]:
    """Heads that rest and do next to nothing else."""
    measured, level = rows.measured, rows.measured.levels["awake"]
    for index in np.flatnonzero(level.value < ASLEEP):
        place = resting_place(trace, measured, int(index))
        rest = float(measured.rest[index])
        yield Finding(
            kind=measured.kind,
            layer=measured.layer,
            part=measured.part,
            head=measured.heads[index],
            pattern=ALWAYS,
            score=round(rest, 4),
            mass=round(rest, 4),
            chance=round(1 - float(level.chance[index]), 4),
            hits=0,
            rows=0,
            rest=round(rest, 4),
            sentence=f"{PHRASES[ALWAYS]}: {rest:.2f} of its attention, mostly on {place}",
            evidence=(),
        )


def _reaches(rows: SiteRows, number: int, threshold: float) -> Array:
    """(H,) whether the lift of a pattern is enough, enough rows show it, and no simpler one explains it."""
    awake, measured = rows.awake, rows.measured
    name = awake.names[number]
    reading = measured.awake[name]
    enough = np.nan_to_num(reading.lift, nan=-1.0) >= threshold
    alike = clusters_of(awake.weight[:, awake.counted[number]].T)  # rows of like weight that would count as much
    enough &= (reading.rows >= FEWEST) & (alike >= FEWEST / 2) & (measured.levels["awake"].value >= ASLEEP)
    return np.asarray(enough & own_name(name, lambda other: _lifts(measured, other)))


def _lifts(measured: SiteMeasures, name: str) -> Array:
    """(H,) lifts of a pattern, 0 where it is n/a or too few rows show it."""
    if name not in measured.awake:
        return np.zeros(len(measured.heads))
    reading = measured.awake[name]
    return np.where(reading.rows >= FEWEST_ROWS, np.nan_to_num(reading.lift), 0.0)


def _sure(mass: Array, weight: Array, chance: Array) -> Array:
    """(F,) whether lifts of mass in weight (F, rows) stay above `FLOOR` with other rows; neighbours go together."""
    heads, count = mass.shape
    groups = np.arange(count) * min(count, GROUPS) // count
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums = np.add.reduceat(np.stack([mass, weight * chance, weight]), starts, axis=2)  # (3, F, G)
    drawn = resampled(np.moveaxis(sums, 2, 0).reshape(len(starts), -1).astype(np.float64)).reshape(-1, 3, heads)
    found, expected, whole = drawn[:, 0], drawn[:, 1], drawn[:, 2]
    lifts = np.clip((found - expected) / np.where(whole > expected, whole - expected, np.nan), 0, 1)
    return np.asarray(interval(lifts, float(len(starts)))[0] >= FLOOR)


def _best_rows(mass: Array, hit: Array, places: Array, strongest: Array) -> tuple[tuple[int, int, float], ...]:
    """Up to three rows that show a pattern best: query, its strongest key, attention on target."""
    order = sorted(range(len(places)), key=lambda n: (-int(hit[n]), -float(mass[n])))[:3]
    return tuple((int(places[n]), int(strongest[places[n]]), round(float(mass[n]), 4)) for n in order)


def _finding(
    trace: Trace,
    site: SiteMeasures,
    index: int,
    name: str,
    phrase: str,
    hits: int,
    best: tuple[tuple[int, int, float], ...],
) -> Finding:
    reading, rest = site.awake[name], float(site.rest[index])
    rows, share, chance = int(reading.rows[index]), float(reading.share[index]), float(reading.chance[index])
    text = f"{phrase} in {hits} of {rows} rows: {share:.2f} of its awake attention, chance {chance:.2f}"
    stays = float(site.stays[name][index]) if name in site.stays else 0.0
    if stays >= STAYS:
        text = f"{PHRASES[STRIPES]}: {share:.2f} of its awake attention is on {name}, chance {chance:.2f}, "
        text += f"and {stays:.2f} of that stays if queries are exchanged"
    if name == "same word":
        text += f" ({site.awake['same word, elsewhere'].share[index]:.2f} without the token itself)"
    if rest >= SHOWN:
        text += f"; rests for {rest:.2f}, mostly on {resting_place(trace, site, index)}"
    return Finding(
        kind=site.kind,
        layer=site.layer,
        part=site.part,
        head=site.heads[index],
        pattern=STRIPES if stays >= STAYS else name,
        score=round(float(reading.lift[index]), 4),
        mass=round(share, 4),
        chance=round(chance, 4),
        hits=hits,
        rows=rows,
        rest=round(rest, 4),
        sentence=text,
        evidence=best,
    )


def resting_place(trace: Trace, site: SiteMeasures, index: int) -> str:
    """Where a head rests most: the text of a special token, or the first token."""
    tokens = trace.sides[_site(trace, site).key_side].tokens
    if "first token (sink)" in site.readings:
        later = {token.text for token in tokens[1:] if token.special}
        first, others = (_mass(site, name, index) for name in ("first token (sink)", "delimiter"))
        if first >= others:
            return "the first token"
        return later.pop() if len(later) == 1 else "special tokens"
    masses = {name: site.readings[name].mass[index] for name in ("[CLS]", "[SEP]") if name in site.readings}
    specials = [token.text for token in tokens if token.special]
    if not masses or not specials:
        return "a place outside the text"
    return specials[0] if max(masses, key=lambda name: masses[name]) == "[CLS]" else specials[-1]


def _mass(site: SiteMeasures, name: str, index: int) -> float:
    """The attention of a head on a pattern's targets; 0 where it is n/a."""
    return float(np.nan_to_num(site.readings[name].mass[index])) if name in site.readings else 0.0


def _site(trace: Trace, measured: SiteMeasures) -> Site:
    """The site that was measured."""
    place = (measured.kind, measured.layer, measured.part)
    return next(site for site in trace.sites if (site.kind, site.layer, site.part) == place)


def head_report(trace: Trace, found: Patterns | None = None, arriving: Patterns | None = None) -> list[dict[str, Any]]:
    """What a page shows of each head: patterns with sentences, type with probabilities, key measures.

    Plain text and numbers, fit for JSON; None where a measure is n/a. Patterns come most specific first; `arriving` are
    those by contributions, which are computed unless given, where the trace has norms.
    """
    found = patterns(trace) if found is None else found
    if arriving is None and any(site.norms is not None for site in trace.sites):
        arriving = patterns(trace, by="contributions", rules=found.rules)
    other = {} if arriving is None else {_place(site): site for site in arriving.measured}
    names, others = _names(found), {} if arriving is None else _names(arriving)
    return [
        {
            "kind": site.kind,
            "layer": site.layer,
            "part": site.part,
            "head": head,
            "patterns": names.get((*_place(site), head), []),
            "rest": _rest(trace, site, index),
            "contributions": None
            if _place(site) not in other
            else {
                "patterns": others.get((*_place(site), head), []),
                "rest": _rest(trace, other[_place(site)], index),
            },
            **_type(site, index),
            "measures": _numbers(site, index),
        }
        for site in found.measured
        for index, head in enumerate(site.heads)
    ]


def _place(site: SiteMeasures) -> tuple[Any, ...]:
    """Where heads are; the heads too, since sites whose heads have masks of their own are read head by head."""
    return site.kind, site.layer, site.part, site.heads


def _names(found: Patterns) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """What each head is named for, the most specific first."""
    heads = {(s.kind, s.layer, s.part, head): _place(s) for s in found.measured for head in s.heads}
    colours = {rule.name: {"colour": rule.colour} for rule in found.rules}  # pages know those of the other names
    named: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for f in sorted(found, key=lambda f: rank_of(f.pattern)):
        place = heads[f.kind, f.layer, f.part, f.head]
        fields = ("score", "sentence", "mass", "chance", "hits", "rows", "evidence")
        named.setdefault((*place, f.head), []).append(
            {"name": f.pattern, **{n: getattr(f, n) for n in fields}, **colours.get(f.pattern, {})}
        )
    return named


def _rest(trace: Trace, site: SiteMeasures, index: int) -> dict[str, Any] | None:
    """How much of a head's attention rests, and where most."""
    share = _number(site.rest[index])
    return None if share is None else {"share": share, "place": resting_place(trace, site, index)}


def _type(site: SiteMeasures, index: int) -> dict[str, Any]:
    if site.types is None or np.isnan(site.types[index]).any():
        return {"type": None, "probabilities": None}
    chances = site.types[index]
    shares = {name: round(float(share), 4) for name, share in zip(TYPES, chances, strict=True)}
    return {"type": TYPES[int(chances.argmax())], "probabilities": shares}


def _numbers(site: SiteMeasures, index: int) -> dict[str, float | None]:
    """The masses of every pattern, and the levels beside them; what uniform attention would give of the entropy."""
    numbers = {name: _number(reading.mass[index]) for name, reading in site.readings.items()}
    for level in (level for level in LEVELS if level.name in site.levels):
        value, chance = (part[index] for part in site.levels[level.name])
        if level.loose and not value > SHOWN / 10:
            continue  # rounding
        numbers[level.name] = _number(value)
        if level.uniform is not None:
            numbers[f"{level.name} of uniform"] = _number(chance)
    return numbers


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)
