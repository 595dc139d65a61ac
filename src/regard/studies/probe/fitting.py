"""Fitting the probes: splitting the sentences, and training one probe on one set of weights.

Enters: features of a treebank. Leaves: scores of the test sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.errors import UserError
from regard.studies.controls import MODEL, SHUFFLED, Weights
from regard.studies.probe.features import OTHER, Collected, Features
from regard.studies.probe.pairs import PairProbe
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.selection import SelectionProbe
from regard.studies.probe.structural import StructuralProbe, structural_model
from regard.studies.probe.trees import Tree, set_aside

if TYPE_CHECKING:
    from regard.studies.probe.study import Probe

SPLITS = ("file", "document", "sentence")  # what was split into training and test sentences
_TEST, _DEVELOPMENT = 0.2, 0.1
_FEWEST = 20  # sentences


@dataclass(frozen=True, eq=False)
class ProbeSplit:
    """The sentences for training, for stopping and for testing; and what was split."""

    training: list[Tree]
    development: list[Tree]
    test: list[Tree]
    split: str


def split_of(found: Collected, study: Probe, run: int = 0) -> ProbeSplit:
    """Training, development and test sentences: by file, else by document, else by sentence; all runs share a test."""
    numbers = sorted(found.trees)
    if study.test is not None:
        tested, split = np.array([number >= OTHER for number in numbers], bool), "file"
    else:
        tested, split = set_aside([found.documents[n] for n in numbers], _TEST, study.seed)
    learned = [number for number, out in zip(numbers, tested, strict=True) if not out]
    test = [found.trees[number] for number, out in zip(numbers, tested, strict=True) if out]
    if len(learned) < _FEWEST or not test:
        raise UserError(
            f"{len(learned)} sentences to train on and {len(test)} to test on are too few for a probe; it needs at "
            f"least {_FEWEST} and 1"
        )
    stopping, _ = set_aside([found.documents[n] for n in learned], _DEVELOPMENT, study.seed_of(run) + 1)
    parts: tuple[list[Tree], list[Tree]] = ([], [])
    for number, out in zip(learned, stopping, strict=True):
        parts[bool(out)].append(found.trees[number])
    return ProbeSplit(*parts, test, split)


def fit(
    name: str, weights: Weights, features: Features, parts: Sequence[ProbeSplit], scores: ProbeScores, study: Probe
) -> None:
    """One probe on one set of weights: all runs on the model, one run on each of its controls."""
    runs = len(parts)
    if weights.kind == MODEL:
        probes = [_probe(name, parts[run], scores.of_run(run, runs), study, run) for run in range(runs)]
        if name == "structural":
            if features.hidden is not None:
                structural_model(probes, features.hidden)
            return
        for probe in probes:
            probe.model(features)
        return
    noted = scores if weights.kind == SHUFFLED else scores.of_run(weights.draw, runs)
    probe = _probe(name, parts[weights.draw], noted, study, weights.draw)
    read = features.hidden if name == "structural" else features
    if read is not None:
        probe.weights(weights.kind, read)


def _probe(name: str, parts: ProbeSplit, scores: ProbeScores, study: Probe, run: int) -> Any:
    """A probe for one run."""
    again = f" (run {scores.run + 1} of {scores.runs})" if scores.runs > 1 else ""
    shared: dict[str, Any] = {
        "scores": scores,
        "seed": study.seed_of(run),
        "report": lambda what: study.show(what + again, None, None),
    }
    if name == "pairs":
        return PairProbe(parts.training, parts.test, least=study.least, development=parts.development, **shared)
    learned = (parts.training, parts.development, parts.test)
    if name == "selection":
        return SelectionProbe(*learned, epochs=study.epochs, **shared)
    return StructuralProbe(*learned, ranks=study.ranks, epochs=study.epochs, **shared)
