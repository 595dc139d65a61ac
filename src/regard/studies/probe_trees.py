"""What a probe is to learn of each sentence: heads, relations, distances in the tree, and a control task beside them.

Enters: sentences of a treebank and which of their words the model has pieces of. Leaves: `Tree`s of those words, the
same with heads and relations that follow from the word alone (Hewitt & Liang, 2019), and a split by document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from regard.corpus.sums import Array
from regard.corpus.treebank import ROOT, Sentence

LOST = -2  # the head is a word without any piece
PUNCTUATION = "punct"
_DRAWS = 64  # of a word type; the first that fits the sentence is taken


@dataclass(frozen=True, eq=False)
class Tree:
    """The words of a sentence that the model has pieces of; `number` names the sentence, `cluster` its document."""

    number: int
    words: tuple[str, ...]  # lower-cased: the word types of the control task
    heads: Array  # (n,) places among the words, ROOT or LOST
    relations: tuple[str, ...]  # without subtypes
    punctuation: Array  # (n,) booleans
    distances: Array  # (n, n) edges between two words in the whole tree; a byte each
    cluster: int | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def drawn_with(self) -> int:
        """The cluster it belongs to; without documents, itself."""
        return self.number if self.cluster is None else self.cluster


def tree_of(number: int, sentence: Sentence, kept: Sequence[int], cluster: int | None = None) -> Tree:
    """The tree over the words `kept` of a sentence; distances count the edges of the whole."""
    heads = [word.head for word in sentence.words]
    place = {word: n for n, word in enumerate(kept)} | {ROOT: ROOT}
    chosen = [sentence.words[n] for n in kept]
    relations = tuple(word.relation.partition(":")[0] for word in chosen)
    edges = [(n, head) for n, head in enumerate(heads) if head != ROOT]
    return Tree(
        number,
        tuple(word.form.lower() for word in chosen),
        np.array([place.get(heads[n], LOST) for n in kept], np.int64),
        relations,
        np.array([relation == PUNCTUATION for relation in relations], bool),
        tree_distances(len(heads), edges)[np.ix_(kept, kept)],
        cluster,
    )


def tree_distances(words: int, edges: Sequence[tuple[int, int]]) -> Array:
    """(words, words) numbers of edges between the nodes of a tree, as bytes (at most 255)."""
    near: list[list[int]] = [[] for _ in range(words)]
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    found = np.zeros((words, words), np.int64)
    reached, waiting = ([0] if words else []), ([0] if words else [])
    while waiting:
        parent = waiting.pop()
        for child in near[parent]:
            if child not in reached:
                found[child, reached] = found[reached, child] = found[parent, reached] + 1
                reached.append(child)
                waiting.append(child)
    return np.minimum(found, 255).astype(np.uint8)


# -- control task ----------------------------------------------------------------------------------------------


class Control:
    """Heads and relations that depend on the word type alone: what a probe can learn by heart.

    Every type is given a relation, and offsets to its head, drawn from those of the training trees; of the offsets the
    first that stays in the sentence is taken. So the control task has the distances and the relations of the real one.
    """

    def __init__(self, training: Sequence[Tree], seed: int = 0) -> None:
        self.seed = seed
        counted = [np.flatnonzero((tree.heads >= 0) & ~tree.punctuation) for tree in training]
        offsets = [tree.heads[some] - some for some, tree in zip(counted, training, strict=True)]
        self.offsets = np.concatenate(offsets)
        self.relations = [tree.relations[n] for some, tree in zip(counted, training, strict=True) for n in some]
        if not self.relations:
            raise ValueError("the training sentences have no dependency between two words; take more of them")
        self._known: dict[str, tuple[Array, str]] = {}

    def of(self, tree: Tree) -> Tree:
        """The same words with heads, relations and distances of the control task."""
        drawn = [self._drawn(word) for word in tree.words]
        heads = np.array([_first_inside(n, off, len(tree)) for n, (off, _) in enumerate(drawn)], np.int64)
        edges = _spanning(len(tree), [(n, int(head)) for n, head in enumerate(heads) if head >= 0])
        relations = tuple(name for _, name in drawn)
        return replace(tree, heads=heads, relations=relations, distances=tree_distances(len(tree), edges))

    def _drawn(self, word: str) -> tuple[Array, str]:
        if word not in self._known:
            rng = np.random.Generator(np.random.Philox(key=[self.seed, crc32(word.encode())]))
            offsets = self.offsets[rng.integers(0, len(self.offsets), _DRAWS)]
            self._known[word] = offsets, self.relations[int(rng.integers(len(self.relations)))]
        return self._known[word]


def _first_inside(place: int, offsets: Array, words: int) -> int:
    inside = offsets[(place + offsets >= 0) & (place + offsets < words)]
    return LOST if not inside.size else place + int(inside[0])


def _spanning(words: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges that make a tree: the given ones in their order, then neighbours, unless they would close a circle."""
    group = list(range(words))
    kept = []
    for one, other in [*edges, *((n, n + 1) for n in range(words - 1))]:
        if group[one] != group[other]:
            old, new = group[one], group[other]
            group = [new if g == old else g for g in group]
            kept.append((one, other))
    return kept


# -- split -----------------------------------------------------------------------------------------------------

FEWEST_DOCUMENTS = 10  # below, a split by document would be a matter of luck


def document_of(sentence: Sentence) -> str:
    """The document a sentence is of: its id without the number at the end, as UD treebanks name them."""
    return sentence.id.rpartition("-")[0]


def set_aside(documents: Sequence[str], share: float, seed: int) -> tuple[Array, str]:
    """(booleans, what was split) about `share` of the sentences: whole documents where there are enough of them."""
    whole = len(set(documents)) >= FEWEST_DOCUMENTS
    units: Sequence[object] = documents if whole else range(len(documents))
    order = list(dict.fromkeys(units))
    sizes = dict.fromkeys(order, 0)
    for name in units:
        sizes[name] += 1
    chosen: set[object] = set()
    taken, goal = 0, share * len(documents)
    for n in np.random.default_rng(seed).permutation(len(order)):
        if taken >= goal:
            break
        if taken + sizes[order[n]] <= 1.5 * goal:  # a document larger than the share stays for training
            chosen.add(order[n])
            taken += sizes[order[n]]
    return np.array([name in chosen for name in units], bool), "document" if whole else "sentence"
