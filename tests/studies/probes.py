"""Trees and features made up for the tests of probes: what can be read out of them is known."""

from __future__ import annotations

import numpy as np

from regard.corpus.readers.treebank import ROOT
from regard.studies.probe.features import SPECIAL, Features, Spill
from regard.studies.probe.trees import Tree, tree_distances

TYPES = [f"w{n}" for n in range(30)]
RELATIONS = ("det", "nsubj", "obj")


def random_tree(rng, number, *, longest=12):
    """A tree of any shape with words, relations and now and then punctuation at the end."""
    words = int(rng.integers(4, longest + 1))
    order = rng.permutation(words)
    heads = np.full(words, ROOT)
    for place in range(1, words):
        heads[order[place]] = order[rng.integers(place)]
    punctuation = np.zeros(words, bool)
    last = words - 1
    if heads[last] != ROOT and not (heads == last).any():
        punctuation[last] = rng.random() < 0.5
    edges = [(n, int(head)) for n, head in enumerate(heads) if head != ROOT]
    relations = [str(rng.choice(RELATIONS)) for _ in range(words)]
    return Tree(
        number,
        tuple(str(rng.choice(TYPES)) for _ in range(words)),
        heads,
        tuple("punct" if p else relation for relation, p in zip(relations, punctuation, strict=True)),
        punctuation,
        tree_distances(words, edges),
    )


def random_trees(count, *, seed=0, start=0, longest=12):
    rng = np.random.default_rng(seed)
    return [random_tree(rng, start + n, longest=longest) for n in range(count)]


def noise(tree, heads, *, seed=1):
    """(n + 2, n + 2, heads) attention that knows nothing; rows sum to 1."""
    rng = np.random.default_rng([seed, tree.number])
    maps = rng.random((len(tree) + SPECIAL, len(tree) + SPECIAL, heads))
    return maps / maps.sum(axis=1, keepdims=True)


def attending_head(tree):
    """(n + 2, n + 2, 1) every word looks at its head, the root at the first special token."""
    maps = np.zeros((len(tree) + SPECIAL, len(tree) + SPECIAL, 1))
    target = np.where(tree.heads == ROOT, len(tree), tree.heads)
    maps[np.arange(len(tree)), target, 0] = 1
    return maps


def features(trees, make):
    """Features whose attention is what `make` says of each tree."""
    made = Features(Spill(), None)
    for tree in trees:
        made.attention.put(tree.number, make(tree))
    made.heads = tuple((0, head) for head in range(made.attention.get(trees[0].number).shape[-1]))
    return made


def tree_embedding(tree, width):
    """(n, width) places whose squared distances are the distances in the tree: one dimension an edge."""
    found = np.zeros((len(tree), width))
    for word in range(len(tree)):
        above = word
        while tree.heads[above] != ROOT:
            found[word, above] = 1
            above = tree.heads[above]
    return found


def conllu(trees, *, documents=1):
    """The trees as a CoNLL-U file; sentences go to documents in turn."""
    text = []
    for n, tree in enumerate(trees):
        text.append(f"# sent_id = doc{n % documents}-{n}")
        for place, word in enumerate(tree.words):
            head, relation = tree.heads[place] + 1, tree.relations[place] if tree.heads[place] != ROOT else "root"
            text.append(f"{place + 1}\t{word}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_")
        text.append("")
    return "\n".join(text) + "\n"
