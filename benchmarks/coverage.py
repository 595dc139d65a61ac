"""How often regard's 95 % intervals hold the truth, over simulated corpora whose truth is known.

    python benchmarks/coverage.py [--corpora N]

Every corpus is drawn anew, summed and judged by the functions that studies use (`regard.measures.intervals`,
`regard.studies`). Inputs are sentences of unlike length; documents share a mean of their own and are of unlike
size. Where few clusters carry a number there may be no interval; how often is said beside the coverage of the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from regard.corpus.sums import Sums, ratio
from regard.measures.intervals import clusters_of, correlation_interval, interval, resampled
from regard.studies.held_out import choose, limits
from regard.studies.norms.study import spearman
from regard.studies.similarity.reduce import GROUPS as FEW_GROUPS

Array = np.ndarray
HEADS = 12
LEAST, MOST = 0.93, 0.97


@dataclass
class Corpus:
    """Inputs of a simulated corpus: their cluster, how many rows each has, and what its document is like."""

    rng: np.random.Generator
    clusters: Array  # (n,)
    lengths: Array  # (n,) rows
    mood: Array  # (n,) normal, shared within a document

    def add(self, values: Array, groups: int | None = None) -> Array:
        """Sums by group of numbers of the inputs (n, ...), as a study keeps them."""
        sums = Sums()
        sums.add_groups("values", self.clusters, values, **({} if groups is None else {"groups": groups}))
        return sums["values"]


def corpus(rng: np.random.Generator, count: int, of: str) -> Corpus:
    """Sentences that stand alone, or documents of about ten sentences, some much longer."""
    if of == "sentences":
        clusters = np.arange(count)
        mood = rng.normal(size=count)
    else:
        sizes = 1 + rng.poisson(rng.gamma(3, 3, count))
        clusters = np.repeat(np.arange(count), sizes)
        mood = np.sqrt(0.5) * (np.repeat(rng.normal(size=count), sizes) + rng.normal(size=len(clusters)))
    return Corpus(rng, clusters, 5 + rng.poisson(rng.gamma(4, 4, len(clusters))), mood)


def share(some: Corpus, level: float, spread: float = 1.0) -> Array:
    """(n,) shares of attention between 0 and 1, skewed, higher where the document's mood is."""
    return 1 / (1 + np.exp(-(level + spread * some.mood)))


# -- measures: each gives the number's interval, and what it is an estimate of ----------------------------------


def mean_share(some: Corpus) -> tuple[float, float, float]:
    """The study of tokens: a mean over inputs, each counting alike."""
    values, counts = some.add(share(some, -2)), some.add(np.ones(len(some.mood)))
    found = ratio(resampled(values), resampled(counts))
    return float(found[0]), *map(float, interval(found, clusters_of(counts)))


def entropy(some: Corpus) -> tuple[float, float, float]:
    """The atlas: a mean over rows."""
    rows = some.add(some.lengths)
    values = some.add(some.lengths * np.log(some.lengths) * (0.5 + 0.2 * some.mood))
    found = ratio(resampled(values), resampled(rows))
    return float(found[0]), *map(float, interval(found, clusters_of(rows)))


def lift(some: Corpus) -> tuple[float, float, float]:
    """The atlas: (mass - chance) / (1 - chance), cut at 0 and 1; here a third of the inputs counts no row."""
    rows = some.lengths * (some.rng.random(len(some.mood)) < 2 / 3)
    mass, chance = (some.add(rows * part) for part in (share(some, -1), 2 / some.lengths))
    counts = some.add(rows)
    m, c = (ratio(resampled(part), resampled(counts)) for part in (mass, chance))
    found = np.clip((m - c) / (1 - c), 0, 1)
    return float(found[0]), *map(float, interval(found, clusters_of(counts)))


def low_lift(some: Corpus) -> tuple[float, float, float]:
    """The same of a head that is at chance: the true lift is near 0, where it is cut."""
    rows = some.add(some.lengths)
    chance = some.add(np.full(len(some.mood), 2.0))
    mass = some.add(some.rng.binomial(some.lengths, np.clip(2.6 / some.lengths * np.exp(0.4 * some.mood), 0, 1)))
    m, c = (ratio(resampled(part), resampled(rows)) for part in (mass, chance))
    found = np.clip((m - c) / (1 - c), 0, 1)
    return float(found[0]), *map(float, interval(found, clusters_of(rows)))


def _hits(some: Corpus) -> tuple[Array, Array]:
    """Words found by 12 heads (n, 12), of so many words (n,); three heads are nearly as good as the best."""
    asked = some.lengths // 3
    level = np.r_[0.35, 0.3, 0.28, np.full(HEADS - 3, -1.2)]
    right = 1 / (1 + np.exp(-(level + 0.8 * some.mood[:, None])))
    return some.rng.binomial(asked[:, None], right), asked


def held_out(some: Corpus) -> tuple[float, float, float]:
    """Syntax and coreference: the best of 12 heads, chosen on one half of the inputs and scored on the other."""
    hits, asked = _hits(some)
    halves = np.zeros((len(asked), 2, HEADS))
    counts = np.zeros((len(asked), 2))
    half = np.arange(len(asked)) % 2
    halves[np.arange(len(asked)), half], counts[np.arange(len(asked)), half] = hits, asked
    made, by_half = some.add(halves), some.add(counts)
    choice = choose(resampled(made), resampled(by_half), float(clusters_of(by_half.sum(axis=1))))
    true = _accuracies()
    asked_odd, asked_even = counts.sum(axis=0)[1], counts.sum(axis=0)[0]
    truth = (true[choice.even] * asked_odd + true[choice.odd] * asked_even) / counts.sum()
    return choice.value - truth, *(end - truth for end in choice.limits)


def difference(some: Corpus) -> tuple[float, float, float]:
    """A gain: two accuracies on the same words."""
    hits, asked = _hits(some)
    made, counts = some.add(hits[:, [0, -1]]), some.add(asked)
    found = ratio(resampled(made), resampled(counts)[:, None])
    gain = found[:, 0] - found[:, 1]
    return float(gain[0]), *limits(gain, float(clusters_of(counts)))


def distance(some: Corpus) -> tuple[float, float, float]:
    """Similarity: a mean Jensen-Shannon distance, kept for few groups of clusters."""
    rows = np.minimum(some.lengths, 8)
    p = share(some, -1)
    q = share(some, 0.3, 0.5)
    mixed = (p + q) / 2
    apart = _entropy(mixed) - (_entropy(p) + _entropy(q)) / 2
    values, counts = some.add(rows * apart, FEW_GROUPS), some.add(rows, FEW_GROUPS)
    found = ratio(resampled(values), resampled(counts))
    return float(found[0]), *map(float, interval(found, clusters_of(counts)))


def _entropy(p: Array) -> Array:
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


def correlation(some: Corpus) -> tuple[float, float, float]:
    """Norms: Spearman's correlation over the tokens of a vocabulary, each standing alone."""
    other = 0.6 * some.mood + 0.8 * some.rng.normal(size=len(some.mood))
    value = spearman(some.mood, other)
    return value, *correlation_interval(value, len(some.mood))


MEASURES: dict[str, Callable[[Corpus], tuple[float, float, float]]] = {
    "mean of shares": mean_share,
    "entropy, mean over rows": entropy,
    "lift": lift,
    "lift near chance (cut at 0)": low_lift,
    "best of 12 heads, held out": held_out,
    "difference of two accuracies": difference,
    "Jensen-Shannon distance": distance,
    "Spearman over tokens": correlation,
}
SHAPES = (
    (12, "sentences"),
    (20, "sentences"),
    (50, "sentences"),
    (200, "sentences"),
    (1000, "sentences"),
    (30, "documents"),
)
ALONE = ("Spearman over tokens",)  # things that stand alone: documents are not asked
_KNOWN: list[Array] = []


def _accuracies() -> Array:
    """The true accuracies of the 12 heads; moods are standard normal in sentences and in documents."""
    if not _KNOWN:
        mood = np.random.default_rng(99).normal(size=400_000)
        level = np.r_[0.35, 0.3, 0.28, np.full(HEADS - 3, -1.2)]
        _KNOWN.append(np.array([(1 / (1 + np.exp(-(one + 0.8 * mood)))).mean() for one in level]))
    return _KNOWN[0]


def truth(measure: Callable[[Corpus], tuple[float, float, float]], of: str) -> float:
    """What a corpus without end would give."""
    if measure is held_out:
        return 0.0  # it tells how far it is from the truth
    if measure is correlation:
        return float(6 / np.pi * np.arcsin(0.6 / 2))
    found = [measure(corpus(np.random.default_rng([7, n]), 20_000, of))[0] for n in range(3)]
    return float(np.mean(found))


def coverage(name: str, count: int, of: str, corpora: int) -> tuple[float, float]:
    """How many of the intervals hold the truth, and how many corpora get none."""
    measure, true = MEASURES[name], truth(MEASURES[name], of)
    ends = np.array([measure(corpus(np.random.default_rng([count, n]), count, of))[1:] for n in range(corpora)])
    there = np.isfinite(ends).all(axis=1)
    low, high = ends[there].T
    return float(((low <= true) & (true <= high)).mean()), float(1 - there.mean())


def main() -> None:
    """Print a row per measure, a column per shape of corpus."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=int, default=2000)
    options = parser.parse_args()
    table = Table("measure", *(f"{count} {of}" for count, of in SHAPES), box=None)
    missed = []
    for name in MEASURES:
        row = []
        for count, of in SHAPES:
            if of == "documents" and name in ALONE:
                row.append("")
                continue
            found, none = coverage(name, count, of, options.corpora)
            row.append(f"{found:.3f}" + (f" (n/a {none:.0%})" if none >= 0.005 else ""))
            if count in (50, 200, 30) and not LEAST <= found <= MOST:
                missed.append(f"{name}, {count} {of}: {found:.3f}")
        table.add_row(name, *row)
    console = Console(width=140)
    console.print(table)
    said = f"MISSED: {'; '.join(missed)}" if missed else "met"
    console.print(f"{options.corpora:,} corpora each; target {LEAST} to {MOST} at 50, 200 and 30 documents: {said}")


if __name__ == "__main__":
    main()
