"""The attention probe of Coenen et al. (2019): from the attention of all heads between two words to their dependency.

Enters: features and trees. Leaves: scores of two linear classifiers: is there a dependency (as many pairs with one as
without), and which relation is it?

A pair is (dependent, head); a pair without a dependency is drawn at random from the same sentence, in either order.
The paper has A_ij, one number per head ("one direction"); "model" has A_ij and A_ji. Punctuation is left out. The
control task has the same pairs with classes that follow from the type of the first word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.base.errors import UserError
from regard.corpus.sums import Array
from regard.studies.probe.features import Features
from regard.studies.probe.linear import Linear
from regard.studies.probe.scores import ProbeScores, by_sentence
from regard.studies.probe.trees import Control, Tree

DEPENDENCY, RELATION = "pairs/dependency", "pairs/relation"
FURTHEST = 10  # words; a distance beyond counts as this
ROOM = 1 << 30  # bytes of features; beyond that, a classifier learns from only some of the sentences
_CONTROLLED = {"control task": "model", "control task, distance": "distance"}  # what is also run on the control task
_MAJORITY = {"model": "majority", "control task": "control task, majority"}


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Pairs of words of one sentence, (m,) each: the attending one, the attended one, the class of the pair."""

    query: Array
    key: Array
    classes: Array


Maker = Callable[[Tree], WordPairs]
Reader = Callable[[Tree, WordPairs], Array]  # -> (m, features)


def linked(tree: Tree, seed: int = 0) -> WordPairs:
    """Every dependency (class 1), and as many pairs without one (class 0)."""
    word = ~tree.punctuation
    dependents = np.flatnonzero((tree.heads >= 0) & word)
    dependents = dependents[word[tree.heads[dependents]]]
    heads = tree.heads[dependents]
    free = word[:, None] & word[None, :] & ~np.eye(len(tree), dtype=bool)
    free[dependents, heads] = free[heads, dependents] = False
    others = np.argwhere(free)
    size = min(len(dependents), len(others))
    rng = np.random.Generator(np.random.Philox(key=[seed, tree.number]))
    some = rng.permutation(len(dependents))[:size]
    none = others[rng.permutation(len(others))[:size]]
    return WordPairs(
        np.concatenate([dependents[some], none[:, 0]]),
        np.concatenate([heads[some], none[:, 1]]),
        np.repeat([1, 0], size),
    )


def related(tree: Tree, names: Mapping[str, int]) -> WordPairs:
    """Every dependency of a named relation, with the relation's number."""
    classes = np.array([names.get(name, -1) for name in tree.relations], np.int64)
    dependents = np.flatnonzero((tree.heads >= 0) & ~tree.punctuation & (classes >= 0))
    return WordPairs(dependents, tree.heads[dependents], classes[dependents])


def frequent(trees: Iterable[Tree], least: int) -> dict[str, int]:
    """Relations with at least this many dependencies, the most frequent first, numbered."""
    found = Counter(
        tree.relations[n] for tree in trees for n in np.flatnonzero((tree.heads >= 0) & ~tree.punctuation).tolist()
    )
    return {name: n for n, name in enumerate(name for name, count in found.most_common() if count >= least)}


# -- features --------------------------------------------------------------------------------------------------


def both_directions(features: Features) -> Reader:
    """A_ij and A_ji of every head."""

    def read(tree: Tree, pairs: WordPairs) -> Array:
        maps = features.attention.get(tree.number)  # (n + 2, n + 2, heads)
        found = maps[pairs.query, pairs.key], maps[pairs.key, pairs.query]
        return np.concatenate(found, axis=1).astype(np.float64)

    return read


def one_direction(features: Features) -> Reader:
    """A_ij of every head: from the dependent to its head."""
    return lambda tree, pairs: np.asarray(features.attention.get(tree.number)[pairs.query, pairs.key], np.float64)


def distance(tree: Tree, pairs: WordPairs) -> Array:
    """Which side the other word is on and how far: one of 2 * FURTHEST columns."""
    offset = np.clip(pairs.key - pairs.query, -FURTHEST, FURTHEST)
    return np.asarray(np.eye(2 * FURTHEST + 1)[offset + FURTHEST])


# -- probes ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class PairProbe:
    """Trains and scores classifiers of pairs: on `training` sentences, tested on `test` ones."""

    training: Sequence[Tree]
    test: Sequence[Tree]
    scores: ProbeScores
    seed: int = 0
    least: int = 100  # dependencies of a relation in training and development
    development: Sequence[Tree] = ()  # counts only towards `least`, so that all runs distinguish the same relations
    report: Callable[[str], None] = lambda what: None

    def model(self, features: Features) -> None:
        """The probes on a model, their baselines, and both on the control task."""
        control = Control(self.training, self.seed)
        readers = {"model": both_directions(features), "one direction": one_direction(features), "distance": distance}
        for of, read in readers.items():
            self._dependency(of, read)
        for of, name in _CONTROLLED.items():
            self._dependency(of, readers[name], control)
        names = self.names
        if len(names) < 2:
            return
        for of, read in readers.items():
            self._relation(of, read)
        for of, name in _CONTROLLED.items():
            self._relation(of, readers[name], control)

    def weights(self, of: str, features: Features) -> None:
        """The probes on the same shape with untrained weights."""
        self._dependency(of, both_directions(features))
        if len(self.names) >= 2:
            self._relation(of, both_directions(features))

    @property
    def names(self) -> dict[str, int]:
        """The relations to distinguish."""
        return frequent([*self.training, *self.development], self.least)

    def _dependency(self, of: str, read: Reader, control: Control | None = None) -> None:
        self.report(f"is there a dependency: {of}")

        def make(tree: Tree) -> WordPairs:
            pairs = linked(tree, self.seed)
            return pairs if control is None else replace(pairs, classes=control.sides(tree)[pairs.query])

        self._trial(f"{DEPENDENCY}/{of}", make, read)

    def _relation(self, of: str, read: Reader, control: Control | None = None) -> None:
        self.report(f"which relation: {of}")
        names = self.names
        classes = np.concatenate([related(tree, names).classes for tree in self.training])
        counts = np.bincount(classes, minlength=len(names))

        def make(tree: Tree) -> WordPairs:
            pairs = related(tree, names)
            if control is None:
                return pairs
            return replace(pairs, classes=control.relations(tree, counts / counts.sum())[pairs.query])

        owners, truth, right = self._trial(f"{RELATION}/{of}", make, read)
        for name, number in names.items() if of == "model" else ():
            mine = truth == number
            self._note(f"relations/{name}/{of}", owners[mine], right[mine])

    def _trial(self, name: str, make: Maker, read: Reader) -> tuple[Array, Array, Array]:
        """Train on one set, test on the other; returns each test pair's sentence, class, and whether it was right."""
        fitted, most = self._fit(name, make, read)
        owners, truth, right = [], [], []
        for place, tree in enumerate(self.test):
            pairs = make(tree)
            if len(pairs.classes):
                owners.append(np.full(len(pairs.classes), place))
                truth.append(pairs.classes)
                right.append(fitted.predict(read(tree, pairs)) == pairs.classes)
        if not owners:
            raise UserError("the test sentences have no pair of words to test on; use more or longer ones")
        found = np.concatenate(owners), np.concatenate(truth), np.concatenate(right)
        self._note(name, found[0], found[2])
        if (task := _MAJORITY.get(name.rpartition("/")[2])) is not None:  # the same for every reader of a task
            self._note(f"{name.rpartition('/')[0]}/{task}", found[0], found[1] == most)
        return found

    def _fit(self, name: str, make: Maker, read: Reader) -> tuple[Linear, int]:
        """The classifier of the training pairs, from as many sentences as fit into memory; the most frequent class."""
        examples = [(tree, pairs) for tree in self.training if len((pairs := make(tree)).classes)]
        if not examples:
            raise UserError("the training sentences have no pair of words to learn from; use more or longer ones")
        width = read(*examples[0]).shape[1]
        sizes = np.array([len(pairs.classes) for _, pairs in examples])
        order = np.random.default_rng(self.seed).permutation(len(examples))
        order = order[np.cumsum(sizes[order]) * width * 8 <= ROOM]
        features = np.empty((int(sizes[order].sum()), width))  # single precision would stop short of the optimum
        ends = np.cumsum(sizes[order])
        for n, end in zip(order, ends, strict=True):
            features[end - sizes[n] : end] = read(*examples[n])
        classes = np.concatenate([examples[n][1].classes for n in order])
        fitted = Linear().fit(features, classes)
        self.scores.note(f"{name}/gradient", fitted.gradient)
        self.scores.note(f"{name}/learned", np.array([len(classes), sizes.sum()]))
        return fitted, int(np.bincount(classes).argmax())

    def _note(self, name: str, owners: Array, right: Array) -> None:
        self.scores.add(name, [tree.drawn_with for tree in self.test], *by_sentence(owners, right, len(self.test)))
