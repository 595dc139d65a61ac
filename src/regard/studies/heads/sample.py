"""A sample of a corpus' inputs, the same for all heads: those whose hash is smallest.

Enters: batches; at the end, how many positions there may be. Leaves: the names of inputs, in the order of their hashes,
whatever batches, windows and workers the corpus was read in.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from regard.corpus.batches import Item, window_of
from regard.corpus.engine import encoder_of
from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Problems
from regard.corpus.sums import KEPT, Array, Sums
from regard.studies.base import Batch, StudyContext
from regard.studies.heads.keeping import hash_of, is_row
from regard.studies.heads.texts import chunks

POSITIONS = 4096  # unless another number is given
MOST = 50_000
_SHORT = 4  # positions of an input, below which the sample may stay smaller than asked for
NAME = f"{KEPT}inputs"
# Columns of a kept input; the first four order it.
_COLUMNS = ("order", "example", "part", "none", "length")

Name = tuple[int, int]  # example and part


def keep_inputs(batch: Batch, positions: int, seed: int) -> None:
    """Keep the inputs of a batch whose hashes are smallest."""
    if not positions:
        return
    names = np.array([(item.number, item.example.part, 0) for item in batch.items], np.int64)
    lengths = [max(len(side) for side in sides.values()) for sides in batch.book.sides]
    hashes = hash_of(seed, names)
    table = np.full((-(-positions // _SHORT), len(_COLUMNS)), np.inf)
    order = np.lexsort((*names.T[::-1], hashes))[: len(table)]
    rows = np.column_stack([hashes, names, lengths])
    table[: len(order)] = rows[order]
    batch.total(NAME, table)


def sampled_inputs(sums: Sums, positions: int) -> list[Name]:
    """The inputs of the sample, those with the smallest hashes first, as many as the positions allow."""
    if NAME not in sums:
        return []
    rows: Array = sums[NAME]
    found, total = [], 0
    for row in rows[is_row(rows)]:
        if total + row[4] <= positions:
            total += int(row[4])
            found.append((int(row[1]), int(row[2])))
    return found


def sample_batches(context: StudyContext, names: Collection[Name]) -> list[list[Item]]:
    """The inputs of the sample as batches, read again."""
    wanted, examples = set(names), {example for example, _ in names}
    stream = (example for example in read(context.source, Problems()) if example.number in examples)
    found = []
    for some in chunks(stream):
        for batch in window_of(0, some, encoder_of(context.model), long=context.long).batches:
            mine = [item for item in batch if (item.number, item.example.part) in wanted]
            found += [mine] if mine else []
    return found
