"""Corpora: readers, windows of batches, mergeable sums, checkpoints, and the engines that run a study over them.

Enters: a file or dataset and a study. Leaves: the study's sums over all of it.
"""

from regard.corpus.batches import Item, Tally
from regard.corpus.engine import Run, run_local
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Example, Problems, Source
from regard.corpus.sums import Sums

__all__ = ["Example", "Item", "Problems", "Run", "Source", "Sums", "Tally", "read", "run_local"]
