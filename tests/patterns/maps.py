"""Traces of two sentences whose heads look where a test wants them to."""

import numpy as np

from regard import Segment, Trace

TOKENS = "[CLS] the cat saw the dog . [SEP] a dog saw the bird . [SEP]".split()
SEGMENTS = (Segment("A", 0, 8), Segment("B", 8, 15))


def trace_of(*maps, tokens=TOKENS, segments=SEGMENTS, **options):
    return Trace.from_maps(np.stack(maps)[None], tokens, segments=segments, **options)


def shifted(offset, size=15):
    maps = np.eye(size, k=offset)
    maps[maps.sum(axis=-1) == 0, 0] = 1
    return maps


def causal(size):
    table = np.tri(size)
    return table / table.sum(axis=-1, keepdims=True)
