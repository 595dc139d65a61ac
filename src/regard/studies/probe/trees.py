"""What a probe has to learn about each sentence: heads, relations, distances in the tree, and a control task.

Enters: sentences of a treebank and which of their words the model has pieces of. Leaves: `Tree`s of those words, the
random targets that follow from the word alone (Hewitt & Liang, 2019), and a split by document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from regard.corpus.readers.treebank import ROOT, Sentence
from regard.corpus.sums import Array

LOST = -2  # the head is a word without any piece
_SIDES, _PLACES = 2, 3  # what the control task assigns: two sides; the first word, the last word, nothing
_DEALING = 1 << 32  # beyond any word's own number


@dataclass(frozen=True, eq=False)
class Tree:
    """The words of a sentence that have pieces; `number` identifies the sentence, `cluster` its document."""

    number: int
    words: tuple[str, ...]  # lower-cased: the word types of the control task
    heads: Array  # (n,) places among the words, ROOT or LOST
    relations: tuple[str, ...]  # without subtypes
    punctuation: Array  # (n,) booleans
    distances: Array  # (n, n) edges between two words in the whole tree, as bytes
    cluster: int | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def drawn_with(self) -> int:
        """The cluster it belongs to; without documents, itself."""
        return self.number if self.cluster is None else self.cluster

    @property
    def ends(self) -> tuple[int, int]:
        """Places of the first and the last word that are not punctuation; if all are, of the first and the last."""
        places = np.flatnonzero(~self.punctuation)
        return (int(places[0]), int(places[-1])) if len(places) else (0, len(self) - 1)


def tree_of(number: int, sentence: Sentence, present: Sequence[int], cluster: int | None = None) -> Tree:
    """The tree over the words `kept` of a sentence; distances count the edges of the whole."""
    heads = [word.head for word in sentence.words]
    place = {word: n for n, word in enumerate(present)} | {ROOT: ROOT}
    chosen = [sentence.words[n] for n in present]
    relations = tuple(word.relation.partition(":")[0] for word in chosen)
    edges = [(n, head) for n, head in enumerate(heads) if head != ROOT]
    return Tree(
        number,
        tuple(word.form.lower() for word in chosen),
        np.array([place.get(heads[n], LOST) for n in present], np.int64),
        relations,
        np.array([word.punctuation for word in chosen], bool),
        tree_distances(len(heads), edges)[np.ix_(present, present)],
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
    """Random targets that depend on the word type alone: a probe can only memorise them, word by word.

    Every type gets one of two sides, a relation (drawn with the frequencies of the task), and a place to attach to: the
    first word, the last word (punctuation aside), or nothing (ROOT), after Hewitt & Liang (2019), whose third place is
    the word itself. Sides and places are assigned in turn down the list of types by frequency, so that a few frequent
    words cannot tip the balance. Which words are asked about stays as in the task.
    """

    def __init__(self, training: Sequence[Tree], seed: int = 0) -> None:
        self.seed = seed
        found = Counter(
            word for tree in training for word, mark in zip(tree.words, tree.punctuation, strict=True) if not mark
        )
        order = [word for word, _ in found.most_common()]
        rng = np.random.Generator(np.random.Philox(key=[seed, _DEALING]))
        self._dealt = {kinds: _dealt(order, kinds, rng) for kinds in (_SIDES, _PLACES)}

    def sides(self, tree: Tree) -> Array:
        """(n,) 0 or 1 of each word."""
        return np.array([self._given(word, _SIDES) for word in tree.words], np.int64)

    def relations(self, tree: Tree, shares: Array) -> Array:
        """(n,) relation numbers, drawn with these shares (which sum to 1)."""
        edges = np.cumsum(shares)[:-1]
        return np.array([np.searchsorted(edges, self._rng(word).random(), "right") for word in tree.words], np.int64)

    def of(self, tree: Tree) -> Tree:
        """The same words with heads and distances of the control task; a word that would be its own head is LOST."""
        words = len(tree)
        places = (*tree.ends, ROOT)
        heads = np.array([places[self._given(word, _PLACES)] for word in tree.words], np.int64)
        heads[heads == np.arange(words)] = LOST
        top = words  # ROOT as a node: two words attached to nothing are two edges apart
        edges = [(n, int(head) if head >= 0 else top) for n, head in enumerate(heads) if head != LOST]
        edges = _spanning(words + 1, [*edges, *((n, top) for n in range(words))])
        return replace(tree, heads=heads, distances=tree_distances(words + 1, edges)[:words, :words])

    def _given(self, word: str, kinds: int) -> int:
        """What a type was assigned; a type not seen in training draws its own."""
        known = self._dealt[kinds].get(word)
        return int(self._rng(word).integers(kinds)) if known is None else known

    def _rng(self, word: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[self.seed, crc32(word.encode())]))


def _dealt(types: Sequence[str], kinds: int, rng: np.random.Generator) -> dict[str, int]:
    """One of `kinds` for each type: every `kinds` consecutive types get each kind once, in random order."""
    rounds = [rng.permutation(kinds) for _ in range(0, len(types), kinds)]
    return {word: int(kind) for word, kind in zip(types, np.ravel(rounds), strict=False)}


def _spanning(words: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that form a tree: each in order, unless it would close a cycle."""
    group = list(range(words))
    tree = []
    for one, other in edges:
        if group[one] != group[other]:
            old, new = group[one], group[other]
            group = [new if g == old else g for g in group]
            tree.append((one, other))
    return tree


# -- split -----------------------------------------------------------------------------------------------------

FEWEST_DOCUMENTS = 10  # with fewer, a split by document would depend on luck


def document_of(sentence: Sentence) -> str:
    """The document of a sentence: its id without the final number, as UD treebanks name them."""
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
