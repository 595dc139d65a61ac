"""The attention probe of Coenen et al. (2019): from the attention of all heads between two words to their dependency.

Enters: features and trees. Leaves: scores of two linear classifiers: is there a dependency (as many pairs with one as
without), and which relation is it.

A pair is (dependent, head); a pair without a dependency is drawn at random from the same sentence, in either order.
The paper has A_ij, one number a head ("one direction"); "model" has A_ij and A_ji. Punctuation takes no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.corpus.sums import Array
from regard.studies.probe_features import Features
from regard.studies.probe_linear import Chunk, Linear, chunked
from regard.studies.probe_scores import Scores, by_sentence
from regard.studies.probe_trees import Control, Tree

DEPENDENCY, RELATION = "pairs/dependency", "pairs/relation"
FURTHEST = 10  # words; a distance beyond counts as this
_ROWS = 8192  # of a chunk


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of words of one sentence, (m,) each: the attending one, the attended one, the class of the pair."""

    query: Array
    key: Array
    classes: Array


Maker = Callable[[Tree], Pairs]
Reader = Callable[[Tree, Pairs], Array]  # -> (m, features)


def linked(tree: Tree, seed: int = 0) -> Pairs:
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
    return Pairs(
        np.concatenate([dependents[some], none[:, 0]]),
        np.concatenate([heads[some], none[:, 1]]),
        np.repeat([1, 0], size),
    )


def related(tree: Tree, names: Mapping[str, int]) -> Pairs:
    """Every dependency of a relation that is named, with the relation's number."""
    classes = np.array([names.get(name, -1) for name in tree.relations], np.int64)
    dependents = np.flatnonzero((tree.heads >= 0) & ~tree.punctuation & (classes >= 0))
    return Pairs(dependents, tree.heads[dependents], classes[dependents])


def frequent(trees: Iterable[Tree], least: int) -> dict[str, int]:
    """Relations with at least so many dependencies, the most frequent first, numbered."""
    found = Counter(
        tree.relations[n] for tree in trees for n in np.flatnonzero((tree.heads >= 0) & ~tree.punctuation).tolist()
    )
    return {name: n for n, name in enumerate(name for name, count in found.most_common() if count >= least)}


# -- features --------------------------------------------------------------------------------------------------


def both_directions(features: Features) -> Reader:
    """A_ij and A_ji of every head."""

    def read(tree: Tree, pairs: Pairs) -> Array:
        maps = features.attention.get(tree.number)  # (n + 2, n + 2, heads)
        found = maps[pairs.query, pairs.key], maps[pairs.key, pairs.query]
        return np.concatenate(found, axis=1).astype(np.float64)

    return read


def one_direction(features: Features) -> Reader:
    """A_ij of every head: from the dependent to its head."""
    return lambda tree, pairs: np.asarray(features.attention.get(tree.number)[pairs.query, pairs.key], np.float64)


def distance(tree: Tree, pairs: Pairs) -> Array:
    """Which side the other word is on and how far: one of 2 * FURTHEST columns."""
    offset = np.clip(pairs.key - pairs.query, -FURTHEST, FURTHEST)
    return np.asarray(np.eye(2 * FURTHEST + 1)[offset + FURTHEST])


# -- probes ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class PairProbe:
    """Trains and scores classifiers of pairs: on `training` sentences, tested on `test` ones."""

    training: Sequence[Tree]
    test: Sequence[Tree]
    scores: Scores
    epochs: int = 5
    seed: int = 0
    least: int = 100  # dependencies of a relation in training
    report: Callable[[str], None] = lambda what: None

    def model(self, features: Features) -> None:
        """The probes on a model, their baselines and their control tasks."""
        control = Control(self.training, self.seed)
        self._dependency("model", both_directions(features))
        self._dependency("one direction", one_direction(features))
        self._dependency("distance", distance)
        self._dependency("control task", both_directions(features), control.of)
        self._majority(DEPENDENCY, self._linked)
        names = self.names
        if len(names) < 2:
            return

        def random_relations(tree: Tree) -> Tree:
            return replace(tree, relations=control.of(tree).relations)

        self._relation("model", both_directions(features), recalls=True)
        self._relation("one direction", one_direction(features))
        self._relation("distance", distance)
        self._relation("control task", both_directions(features), random_relations)
        self._majority(RELATION, lambda tree: related(tree, names))

    def random(self, features: Features) -> None:
        """The probes on the same shape with random weights."""
        self._dependency("random weights", both_directions(features))
        if len(self.names) >= 2:
            self._relation("random weights", both_directions(features))

    @property
    def names(self) -> dict[str, int]:
        """The relations that are told apart."""
        return frequent(self.training, self.least)

    def _linked(self, tree: Tree) -> Pairs:
        return linked(tree, self.seed)

    def _dependency(self, of: str, read: Reader, task: Callable[[Tree], Tree] = lambda tree: tree) -> None:
        self.report(f"is there a dependency: {of}")
        self._trial(f"{DEPENDENCY}/{of}", lambda tree: self._linked(task(tree)), read, 2)

    def _relation(
        self, of: str, read: Reader, task: Callable[[Tree], Tree] = lambda tree: tree, *, recalls: bool = False
    ) -> None:
        self.report(f"which relation: {of}")
        names = self.names
        owners, truth, right = self._trial(
            f"{RELATION}/{of}", lambda tree: related(task(tree), names), read, len(names)
        )
        for name, number in names.items() if recalls else ():
            mine = truth == number
            self._note(f"relations/{name}/{of}", owners[mine], right[mine])

    def _trial(self, name: str, make: Maker, read: Reader, classes: int) -> tuple[Array, Array, Array]:
        """Train on one set, test on the other; returns each test pair's sentence, class, and whether it was right."""
        training = [(tree, make(tree)) for tree in self.training]

        def stream(epoch: int) -> Iterable[Chunk]:
            order = np.random.default_rng([self.seed, epoch]).permutation(len(training))
            some = (training[n] for n in order)
            return chunked(((read(tree, pairs), pairs.classes) for tree, pairs in some), _ROWS)

        fitted = Linear(classes, seed=self.seed).fit(stream, self.epochs)
        owners, truth, right = [], [], []
        for place, tree in enumerate(self.test):
            pairs = make(tree)
            if len(pairs.classes):
                owners.append(np.full(len(pairs.classes), place))
                truth.append(pairs.classes)
                right.append(fitted.predict(read(tree, pairs)) == pairs.classes)
        if not owners:
            raise ValueError("the test sentences have no pair of words to test on; take more or longer ones")
        found = np.concatenate(owners), np.concatenate(truth), np.concatenate(right)
        self._note(name, found[0], found[2])
        return found

    def _majority(self, name: str, make: Maker) -> None:
        """Always saying the class that training has most of."""
        counts = Counter(int(c) for tree in self.training for c in make(tree).classes)
        most = counts.most_common(1)[0][0] if counts else 0
        classes = [make(tree).classes for tree in self.test]
        owners = np.repeat(np.arange(len(classes)), [len(some) for some in classes])
        self._note(f"{name}/majority", owners, np.concatenate(classes) == most)

    def _note(self, name: str, owners: Array, right: Array) -> None:
        self.scores.add(name, [tree.drawn_with for tree in self.test], *by_sentence(owners, right, len(self.test)))
