"""Measures: attention in, numbers per head out.

Every function takes arrays whose last axes are (query, key); leading axes (layers, heads) are kept. The same code runs
on numpy and torch (array API). They know nothing of models, tokens or traces: `regard.patterns` does.
"""

from regard.measures.bag import Bag, bag_of_words
from regard.measures.causal import duplicate_token, induction
from regard.measures.distance import mean_distance
from regard.measures.divergence import js_distance
from regard.measures.entropy import Level, entropy, sink_mass
from regard.measures.offset import to_next, to_offset, to_previous, to_self
from regard.measures.places import to_first, to_places
from regard.measures.predictive import predictive_targets
from regard.measures.reading import Reading, lift, read
from regard.measures.shape import Shape, shape_features
from regard.measures.share import Share, carried_share
from regard.measures.words import other_pieces, related_word, same_word, same_word_in_other_segment

__all__ = [
    "Bag",
    "Level",
    "Reading",
    "Shape",
    "Share",
    "bag_of_words",
    "carried_share",
    "duplicate_token",
    "entropy",
    "induction",
    "js_distance",
    "lift",
    "mean_distance",
    "other_pieces",
    "predictive_targets",
    "read",
    "related_word",
    "same_word",
    "same_word_in_other_segment",
    "shape_features",
    "sink_mass",
    "to_first",
    "to_next",
    "to_offset",
    "to_places",
    "to_previous",
    "to_self",
]
