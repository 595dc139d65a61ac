"""The trees of a CoNLL-U file, for tests that look at them."""

from dataclasses import replace

from regard.corpus.readers.reading import read
from regard.corpus.readers.treebank import tree_of


def read_trees(source, problems=None):
    return map(tree_of, read(replace(source, format="treebank"), problems))
