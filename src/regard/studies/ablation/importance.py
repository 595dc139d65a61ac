"""Michel's importance of heads, from each example's gradients.

Enters: sums of an ablation study. Leaves: means over examples, with bootstrap draws; scaled to length 1 per layer.
"""

from __future__ import annotations

import numpy as np

from regard.corpus.sums import Array, Sums, ratio
from regard.measures.intervals import resampled
from regard.studies.ablation.reduce import IMPORTANCE, Prepared
from regard.studies.ablation.scores import AblationScores


def importance_of(sums: Sums, scores: AblationScores, chosen: Array | None = None) -> Array:
    """(1 + draws, heads) mean |dL/dxi| over examples, all or some of them."""
    own = scores if chosen is None else scores.only(chosen)
    each = np.stack([sums[f"{IMPORTANCE}/{number}"] for number in own.numbers])  # (n, heads)
    return ratio(resampled(own.by_group(each)), resampled(own.by_group(np.ones((len(each), 1)))))


def normalised(importance: Array, ready: Prepared) -> Array:
    """Importance (..., heads) with each layer scaled to length 1 (Michel et al. 2019)."""
    scaled = np.empty_like(importance)
    for place in ready.layers:
        mine = [n for n, head in enumerate(ready.heads) if (head.kind, head.layer) == place]
        length = np.sqrt((importance[..., mine] ** 2).sum(axis=-1, keepdims=True))
        scaled[..., mine] = importance[..., mine] / np.where(length > 0, length, 1)
    return scaled
