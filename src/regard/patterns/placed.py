"""Places of one picture: whether a head looks at its centre or border, or at things that happen to lie there.

Enters: a site and some of its heads. Leaves: which of them look at the place more closely than chance allows.

All rows of such a head look at the same few patches. Many rows are then one observation, and an interval over rows says
nothing; what can be drawn anew is where in the picture these patches lie.
"""

from __future__ import annotations

import numpy as np

from regard.measures.patches import border_sides, by_chance, centre_distances
from regard.patterns.rows import block_of
from regard.trace.places import Array
from regard.trace.site import Site
from regard.trace.tokens import Side

RARELY = 0.021  # chance at most: of 49 patches, as few as models have, no other move may come as close
CENTRE, BORDER = "centre of the picture", "border of the picture"


def beyond_one_picture(name: str, site: Site, side: Side, heads: Array, rows: Array, by: str) -> Array:
    """(F,) whether some heads of a site look at a place of the picture, for other patterns always; `rows` count."""
    if name not in (CENTRE, BORDER) or side.spans is None:
        return np.ones(len(heads), bool)
    patches = np.isfinite(side.spans[:, 0])
    spans = np.asarray(side.spans[patches], np.float64)
    maps = block_of([site], slice(0, site.queries), by)[heads][:, rows][:, :, patches]  # (F, rows, patches)
    looks = _at_centre if name == CENTRE else _at_border
    return np.array([looks(one.sum(axis=0, dtype=np.float64), spans) for one in maps])


def _at_centre(received: Array, spans: Array) -> bool:
    """Whether what patches (n,) get lies closer to the middle than chance allows."""
    return by_chance(received, spans, centre_distances(spans)) <= RARELY


def _at_border(received: Array, spans: Array) -> bool:
    """Whether what patches (n,) get lies on the border more than chance allows, and on each of its four sides."""
    sides = border_sides(spans)
    everywhere = all(received[side].mean() > received.mean() for side in sides.T)
    return everywhere and by_chance(received, spans, 1.0 - sides.any(axis=1)) <= RARELY
