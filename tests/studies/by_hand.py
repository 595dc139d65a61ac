"""What the studies are checked against: traces, one input after the other, in plain numpy."""

from __future__ import annotations

import numpy as np

from regard.corpus.readers.reading import read
from regard.corpus.readers.source import Source


def traces(model, path):
    return [model.trace(example.text, example.pair, truncate=True) for example in read(Source(str(path)))]


def maps(site):
    """(H, Q, K) in float64."""
    return np.stack([site.attention(head) for head in range(site.heads)]).astype(np.float64)


def seen(site):
    """(Q, K) what a query sees, for models that are causal or see all."""
    return np.tril(np.ones((site.queries, site.keys), bool), 0 if site.kind == "decoder" else site.keys)
