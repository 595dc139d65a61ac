"""From measures to names: which heads do what, how sure that is, and the sentence that says so.

Enters: a Trace. Leaves: `Patterns`; for pages and scripts, one plain record per head.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import UserError
from regard.measures.intervals import FEWEST, GROUPS, clusters_of, interval, resampled
from regard.measures.reading import Reading
from regard.measures.types import TYPES
from regard.patterns.definitions import BAG, USUAL, Pattern
from regard.patterns.entries import PHRASES
from regard.patterns.naming import FLOOR, beyond_one_offset, own_name
from regard.patterns.rows import SiteRows, read_trace
from regard.patterns.table import Finding, Patterns, SiteMeasures
from regard.trace.places import Array

if TYPE_CHECKING:
    from regard.trace.trace import Trace

FEWEST_ROWS = 3  # rows that must be there before a lift is compared with another
SINK = 1e-3  # share of the rows that a sink takes before it is told: less is rounding


def patterns(trace: Trace, *, threshold: float | None = None) -> Patterns:
    """What each head of a trace does, with the numbers behind it.

    A head is named for a pattern whose lift (attention on target, 0 at chance and 1 at all of it) reaches the pattern's
    threshold over at least eight rows, and would stay above 0.1 had other rows of the same text been drawn; it may have
    several names, or none. One text says nothing about other texts, so findings have no interval.

    Parameters
    ----------
    trace
        The trace of one input.
    threshold
        Lift from which a head gets a name; 0.3 unless given, and 0.4 for special tokens, sinks and punctuation.

    Examples
    --------
    >>> import numpy as np
    >>> from regard import Trace
    >>> maps = np.eye(12, k=-1)[None, None] + np.eye(12)[None, None] * (np.arange(12) == 0)[:, None]
    >>> patterns(Trace.from_maps(maps, list("abcdefghijkl"), causal=True))[0].sentence
    'attends to the previous token in 10 of 10 rows, 1.00 on average; chance 0.16'
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise UserError(f"threshold must be above 0 and at most 1, not {threshold}")
    read = read_trace(trace)
    found = [finding for rows in read for finding in (*_findings(rows, threshold), *_bag_findings(rows, threshold))]
    return Patterns(
        tuple(sorted(found, key=lambda f: -f.score)), tuple(rows.measured for rows in read), dict(trace.facts)
    )


def _findings(rows: SiteRows, threshold: float | None) -> Iterator[Finding]:
    """Heads that reach the threshold of a pattern."""
    measured = rows.measured
    for number, pattern in enumerate(rows.asked):
        chosen = np.flatnonzero(_named(pattern, measured, threshold))
        if not chosen.size:
            continue
        counted = rows.rows.counted[number]
        mass, hit = rows.rows.mass[number][chosen][:, counted], rows.rows.hit[number][chosen][:, counted]
        places = np.flatnonzero(counted)
        sure = _sure(mass, rows.rows.chance[number][counted])
        sure &= beyond_one_offset(pattern.name, hit, rows.strongest[chosen][:, places], places)
        for row in np.flatnonzero(sure):
            index = int(chosen[row])
            best = _best_rows(mass[row], hit[row], places, rows.strongest[index])
            sentence = _sentence(pattern, measured, index, int(hit[row].sum()))
            yield _finding(measured, index, pattern.name, hit[row], best, sentence)


def _bag_findings(rows: SiteRows, threshold: float | None) -> Iterator[Finding]:
    """Heads that spread over their own sentence."""
    bag, measured = rows.bag, rows.measured
    if bag is None:
        return
    reading = measured.readings[BAG]
    places = np.flatnonzero(bag.counted)
    gained = (bag.mass - bag.chance) * bag.evenness + bag.chance  # what the score is the lift of
    for index in np.flatnonzero(_reaches(reading, USUAL if threshold is None else threshold)):
        mass, hit = bag.mass[index][places], bag.hit[index][places]
        if not _sure(gained[index][places][None, :], bag.chance[places])[0]:
            continue
        best = _best_rows(mass, hit, places, rows.strongest[index])
        sentence = (
            f"{PHRASES[BAG]}: {reading.mass[index]:.2f} of the attention, "
            f"{measured.evenness[index]:.0%} as even as can be; chance {reading.chance[index]:.2f}"
        )
        yield _finding(measured, int(index), BAG, hit, best, sentence)


def _named(pattern: Pattern, measured: SiteMeasures, threshold: float | None) -> Array:
    """(H,) whether each head is called after the pattern."""
    if pattern.threshold is None:
        return np.zeros(len(measured.heads), dtype=bool)
    enough = _reaches(measured.readings[pattern.name], pattern.threshold if threshold is None else threshold)
    return enough & own_name(pattern.name, lambda name: _lifts(measured, name))


def _lifts(measured: SiteMeasures, name: str) -> Array:
    """(H,) lifts of a pattern, 0 where it is n/a or too few rows show it."""
    if name not in measured.readings:
        return np.zeros(len(measured.heads))
    reading = measured.readings[name]
    return np.where(reading.rows >= FEWEST_ROWS, np.nan_to_num(reading.lift), 0.0)


def _reaches(reading: Reading, threshold: float) -> Array:
    """(H,) whether the lift is enough and enough rows show it; n/a is never enough."""
    return np.asarray((np.nan_to_num(reading.lift, nan=-1.0) >= threshold) & (reading.rows >= FEWEST))


def _sure(mass: Array, chance: Array) -> Array:
    """(F,) whether the lifts of mass (F, rows) stay above `FLOOR` when other rows are drawn; neighbours go together."""
    count = len(chance)
    groups = np.arange(count) * min(count, GROUPS) // count
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums = np.add.reduceat(np.concatenate([mass, chance[None], np.ones((1, count))]), starts, axis=1).T  # (G, F + 2)
    drawn = resampled(sums.astype(np.float64))
    expected, rows = drawn[:, -2:-1], drawn[:, -1:]
    lifts = np.clip((drawn[:, :-2] - expected) / np.where(rows > expected, rows - expected, np.nan), 0, 1)
    return np.asarray(interval(lifts, clusters_of(sums[:, -1]))[0] >= FLOOR)


def _best_rows(mass: Array, hit: Array, places: Array, strongest: Array) -> tuple[tuple[int, int, float], ...]:
    """Up to three rows that show a pattern best: query, its strongest key, attention on target."""
    order = sorted(range(len(places)), key=lambda n: (-int(hit[n]), -float(mass[n])))[:3]
    return tuple((int(places[n]), int(strongest[places[n]]), round(float(mass[n]), 4)) for n in order)


def _sentence(pattern: Pattern, measured: SiteMeasures, index: int, hits: int) -> str:
    reading = measured.readings[pattern.name]
    rows, mass, chance = int(reading.rows[index]), float(reading.mass[index]), float(reading.chance[index])
    text = f"{pattern.phrase} in {hits} of {rows} rows, {mass:.2f} on average; chance {chance:.2f}"
    if pattern.name == "same word":
        text += f" ({measured.readings['same word, elsewhere'].mass[index]:.2f} without the token itself)"
    if pattern.name == "delimiter" and not {"[CLS]", "[SEP]"} & measured.missing.keys():
        opening, closing = (float(measured.readings[name].mass[index]) for name in ("[CLS]", "[SEP]"))
        text += f" (opening {opening:.2f}, closing {closing:.2f})"
    return text


def _finding(
    site: SiteMeasures,
    index: int,
    pattern: str,
    hit: Array,
    best: tuple[tuple[int, int, float], ...],
    sentence: str,
) -> Finding:
    reading = site.readings[pattern]
    return Finding(
        kind=site.kind,
        layer=site.layer,
        part=site.part,
        head=site.heads[index],
        pattern=pattern,
        score=round(float(reading.lift[index]), 4),
        mass=round(float(reading.mass[index]), 4),
        chance=round(float(reading.chance[index]), 4),
        hits=int(hit.sum()),
        rows=int(reading.rows[index]),
        sentence=sentence,
        evidence=best,
    )


def head_report(trace: Trace, found: Patterns | None = None) -> list[dict[str, Any]]:
    """What a page shows of each head: patterns with sentences, type with probabilities, key measures.

    Plain text and numbers, fit for JSON; None where a measure is n/a.
    """
    found = patterns(trace) if found is None else found
    named: dict[tuple[str, int, int, int], list[Finding]] = {}
    for finding in found:
        named.setdefault((finding.kind, finding.layer, finding.part, finding.head), []).append(finding)
    return [
        {
            "kind": site.kind,
            "layer": site.layer,
            "part": site.part,
            "head": head,
            "patterns": [
                {
                    "name": f.pattern,
                    "score": f.score,
                    "sentence": f.sentence,
                    "mass": f.mass,
                    "chance": f.chance,
                    "hits": f.hits,
                    "rows": f.rows,
                }
                for f in named.get((site.kind, site.layer, site.part, head), [])
            ],
            **_type(site, index),
            "measures": _numbers(site, index),
        }
        for site in found.measured
        for index, head in enumerate(site.heads)
    ]


def _type(site: SiteMeasures, index: int) -> dict[str, Any]:
    if site.types is None or np.isnan(site.types[index]).any():
        return {"type": None, "probabilities": None}
    chances = site.types[index]
    shares = {name: round(float(share), 4) for name, share in zip(TYPES, chances, strict=True)}
    return {"type": TYPES[int(chances.argmax())], "probabilities": shares}


def _numbers(site: SiteMeasures, index: int) -> dict[str, float | None]:
    numbers = {name: _number(reading.mass[index]) for name, reading in site.readings.items()}
    spread = float(site.entropy.value[index])
    numbers["entropy"] = _number(spread)
    numbers["entropy of uniform"] = _number(site.entropy.chance[index])
    numbers["distance"] = _number(site.distance.value[index])
    if site.sink[index] > SINK:
        numbers["sink"] = _number(site.sink[index])
    return numbers


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)
