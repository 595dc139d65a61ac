"""Where the attention of a trace rests, as a table of queries and keys.

Enters: a trace and one of its sites. Leaves: (queries, keys) booleans.
"""

from __future__ import annotations

import numpy as np

from regard.measures.awake import resting_keys
from regard.trace.site import Array, Site
from regard.trace.trace import Trace


def rests_of(trace: Trace, site: Site) -> Array:
    """(Q, K) booleans: keys where attention goes that has nothing to do."""
    borders = np.array([token.border for token in trace.side(site.key_side).tokens])
    causal = site.mask.causal and site.query_side == site.key_side and site.queries > 1
    return np.asarray(resting_keys(site.visible(0), borders, causal=causal))
