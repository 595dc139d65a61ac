"""Running the probes: a treebank split, features of the model and of its controls, every probe on each, the result.

Enters: a model and one or two treebanks. Leaves: a `Result`. What is finished, probe by probe, is kept in a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard import __version__
from regard.corpus.batches import Tally
from regard.corpus.checkpoint import Progress, load_checkpoint, save_checkpoint
from regard.corpus.identity import model_identity, source_identity
from regard.corpus.readers.source import Example, Problems, Source, check, read
from regard.corpus.sums import Array
from regard.errors import UserError
from regard.measures.intervals import GROUPS
from regard.models.fingerprint import digest
from regard.studies.controls import RANDOM, SHUFFLED, random_model, shuffled_model
from regard.studies.folder import CHECKPOINT, forget, held
from regard.studies.probe.features import Features, Read, features_of
from regard.studies.probe.pairs import PairProbe
from regard.studies.probe.scores import ProbeScores
from regard.studies.probe.selection import SelectionProbe
from regard.studies.probe.structural import StructuralProbe, structural_model
from regard.studies.probe.trees import Tree, set_aside

if TYPE_CHECKING:
    from regard.models.model import Model
    from regard.studies.result import Result

VERSION = 1  # raised when the same settings come to mean other scores
PROBES = ("pairs", "selection", "structural")
SPLITS = ("file", "document", "sentence")  # what was split into training and test sentences
COUNTS = ("training", "development", "test", "words", "lost", "short", "split")
_OTHER = 1 << 32  # numbers of the sentences of a test treebank begin here
_TEST, _DEVELOPMENT = 0.2, 0.1
_FEWEST = 20  # sentences
_APART = 1000  # between the seeds of two runs, so that another seed of the study shares none of them

Report = Callable[[str, int | None, int | None], None]  # (what, done, total); None where it cannot be counted


@dataclass(frozen=True)
class Probing:
    """What is probed and how; `source` and `test` are treebanks, without a test the first is split."""

    source: Source
    test: Source | None = None
    probes: Sequence[str] = PROBES
    ranks: Sequence[int] = (1, 2, 4, 8, 16, 32, 64)
    epochs: int = 12
    least: int = 100
    seeds: int = 3
    control: bool = True
    seed: int = 0
    strict: bool = False
    resume: bool = False
    restart: bool = False
    report: Report = lambda what, done, total: None
    problems: Problems = field(default_factory=Problems)

    def __post_init__(self) -> None:
        wrong = [name for name in self.probes if name not in PROBES]
        if wrong or not self.probes:
            raise UserError(f"there is no probe {', '.join(wrong) or 'chosen'}; choose from {', '.join(PROBES)}")
        if not self.ranks or min(self.ranks) < 1:
            raise UserError("ranks are numbers from 1 on, such as 1,4,16,64")
        if self.epochs < 1 or self.least < 1 or self.seeds < 1:
            raise UserError("epochs, seeds and the least instances of a relation are numbers from 1 on")

    @property
    def settings(self) -> dict[str, Any]:
        """What the numbers depend on beside model and treebanks."""
        return {
            "seed": self.seed,
            "groups": GROUPS,
            "probes": [name for name in PROBES if name in self.probes],
            "ranks": sorted(set(self.ranks)),
            "epochs": self.epochs,
            "least": self.least,
            "seeds": self.seeds,
            "control": self.control,
        }

    @property
    def units(self) -> list[tuple[str, str]]:
        """(weights, probe) in the order they are run; each is kept when it is finished."""
        controls = [*(f"{RANDOM} {run}" for run in range(self.seeds)), SHUFFLED] if self.control else []
        return [(of, name) for of in ("model", *controls) for name in self.settings["probes"]]

    def seed_of(self, run: int) -> int:
        """The seed of a training run."""
        return self.seed + _APART * run


@dataclass(frozen=True, eq=False)
class ProbeSplit:
    """The sentences a probe learns from, is stopped by, and is tested on; and what was split."""

    training: list[Tree]
    development: list[Tree]
    test: list[Tree]
    split: str


def run_probes(model: Model, probing: Probing, output: str | Path | None = None) -> Result:
    """Train and score the probes; with `output`, finished ones are kept there while others run."""
    from regard.studies.probe.report import probe_result

    for source in (probing.source, probing.test):
        if source is not None:
            check(source)
    folder = None if output is None else Path(output)
    with held(folder, resume=probing.resume, restart=probing.restart):
        running = _Running(model, probing, folder, list(_examples(probing)))
        progress = running.begin()
        for weights in dict.fromkeys(of for of, _ in probing.units[progress.windows :]):
            progress = running.on(weights, progress)
        result = probe_result(progress, _meta(model, probing, progress))
        if folder is not None:
            result.save(folder)
            forget(folder)
    return result


@dataclass(eq=False)
class _Running:
    """One run: its sentences, and the folder where finished probes are kept."""

    model: Model
    probing: Probing
    folder: Path | None
    examples: list[Example]

    def begin(self) -> Progress:
        """Nothing, or the probes that an interrupted run had finished."""
        place = None if self.folder is None else self.folder / CHECKPOINT
        if self.probing.resume and place is not None and place.exists():
            return load_checkpoint(place, self.identity)
        return Progress()

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What must be the same for finished probes to be used again."""
        return {
            "study": "probe",
            "version": VERSION,
            "settings": self.probing.settings,
            "model": model_identity(self.model),
            "corpus": source_identity(self.probing.source),
            "test": None if self.probing.test is None else source_identity(self.probing.test),
            "sentences": digest(map(repr, self.examples)),
        }

    def on(self, weights: str, progress: Progress) -> Progress:
        """The features of the model or of a control, and every probe on them that is not done yet."""
        todo = [name for of, name in self.probing.units[progress.windows :] if of == weights]
        features, found = self._features(weights, "structural" in todo)
        try:
            parts = [parts_of(found, self.probing, run) for run in range(self.probing.seeds)]
            for name in todo:
                scores = ProbeScores()
                _unit(name, weights, features, parts, scores, self.probing)
                tally = Tally()
                if not progress.windows:  # noted once
                    tally = found.tally
                    scores.sums.add("counts", _counts(found, parts[0]))
                progress = progress.plus(progress.windows, tally, scores.sums)
                if self.folder is not None:
                    save_checkpoint(self.folder / CHECKPOINT, progress, self.identity)
        finally:
            features.close()
        return progress

    def _features(self, weights: str, hidden: bool) -> tuple[Features, Read]:
        what = f"running {'the model' if weights == 'model' else weights}"
        return features_of(
            self._weights(weights),
            iter(self.examples),
            hidden=hidden,
            folder=self.folder,
            report=lambda done: self.probing.report(what, done, len(self.examples)),
        )

    def _weights(self, name: str) -> Model:
        """The model or one of its controls."""
        if name == "model":
            return self.model
        if name == SHUFFLED:
            return shuffled_model(self.model, self.probing.seed)
        return random_model(self.model, self.probing.seed_of(_draw(name)))


def _draw(weights: str) -> int:
    """The number of a draw of random weights."""
    return int(weights.removeprefix(RANDOM))


def _counts(found: Read, parts: ProbeSplit) -> Array:
    """Numbers of sentences and words, in the order of COUNTS."""
    sizes = [len(part) for part in (parts.training, parts.development, parts.test)]
    return np.array([*sizes, found.words, found.lost, found.short, SPLITS.index(parts.split)])


def _unit(
    name: str, weights: str, features: Features, parts: Sequence[ProbeSplit], scores: ProbeScores, probing: Probing
) -> None:
    """One probe on one set of weights: every run on the model, one run on each of its controls."""
    runs = len(parts)
    if weights == "model":
        made = [_probe(name, parts[run], scores.of_run(run, runs), probing, run) for run in range(runs)]
        if name == "structural":
            if features.hidden is not None:
                structural_model(made, features.hidden)
            return
        for probe in made:
            probe.model(features)
        return
    run = 0 if weights == SHUFFLED else _draw(weights)
    noted = scores if weights == SHUFFLED else scores.of_run(run, runs)
    probe = _probe(name, parts[run], noted, probing, run)
    read = features.hidden if name == "structural" else features
    if read is not None:
        probe.weights(SHUFFLED if weights == SHUFFLED else RANDOM, read)


def _probe(name: str, parts: ProbeSplit, scores: ProbeScores, probing: Probing, run: int) -> Any:
    """A probe for one run."""
    again = f" (run {scores.run + 1} of {scores.runs})" if scores.runs > 1 else ""
    shared: dict[str, Any] = {
        "scores": scores,
        "seed": probing.seed_of(run),
        "report": lambda what: probing.report(what + again, None, None),
    }
    if name == "pairs":
        return PairProbe(parts.training, parts.test, least=probing.least, development=parts.development, **shared)
    learned = (parts.training, parts.development, parts.test)
    if name == "selection":
        return SelectionProbe(*learned, epochs=probing.epochs, **shared)
    return StructuralProbe(*learned, ranks=probing.ranks, epochs=probing.epochs, **shared)


# -- sentences -------------------------------------------------------------------------------------------------


def _examples(probing: Probing) -> Iterator[Example]:
    """The sentences of the treebank, then those of the test treebank under numbers of their own."""
    probing.problems.strict = probing.strict
    yield from read(replace(probing.source, format="treebank"), probing.problems)
    if probing.test is not None:
        for example in read(replace(probing.test, format="treebank"), probing.problems):
            yield replace(example, number=_OTHER + example.number)


def parts_of(found: Read, probing: Probing, run: int = 0) -> ProbeSplit:
    """Training, development and test sentences: by file, else by document, else by sentence; runs share the last."""
    numbers = sorted(found.trees)
    if probing.test is not None:
        tested, split = np.array([number >= _OTHER for number in numbers], bool), "file"
    else:
        tested, split = set_aside([found.documents[n] for n in numbers], _TEST, probing.seed)
    learned = [number for number, out in zip(numbers, tested, strict=True) if not out]
    test = [found.trees[number] for number, out in zip(numbers, tested, strict=True) if out]
    if len(learned) < _FEWEST or not test:
        raise UserError(
            f"{len(learned)} sentences to learn from and {len(test)} to test on are too few for a probe; it takes at "
            f"least {_FEWEST} and 1"
        )
    stopping, _ = set_aside([found.documents[n] for n in learned], _DEVELOPMENT, probing.seed_of(run) + 1)
    parts: tuple[list[Tree], list[Tree]] = ([], [])
    for number, out in zip(learned, stopping, strict=True):
        parts[bool(out)].append(found.trees[number])
    return ProbeSplit(*parts, test, split)


def _meta(model: Model, probing: Probing, progress: Progress) -> dict[str, Any]:
    """All facts METHODS asks to record with a figure."""
    counts = dict(zip(COUNTS, progress.sums["counts"].astype(int).tolist(), strict=True))
    places = {"corpus": probing.source} | ({} if probing.test is None else {"test": probing.test})
    return {
        "study": "probe",
        "settings": probing.settings,
        **model.facts,
        **{name: {"name": place.name, **asdict(place), "place": place.name} for name, place in places.items()},
        "tally": asdict(progress.tally),
        "sentences": {**counts, "split": SPLITS[counts["split"]]},
        "bad_lines": {"count": probing.problems.count, "first": probing.problems.first},
        "control": probing.control,
        "regard": __version__,
    }
