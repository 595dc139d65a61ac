"""The same code on numpy and torch gives the same numbers."""

import numpy as np
import pytest
import torch

from regard import measures
from regard.measures.offset import offset_targets

GENERATOR = np.random.default_rng(5)
MAPS = GENERATOR.dirichlet(np.ones(12), size=(2, 3, 12)).astype(np.float32)
SEGMENTS = np.array([-1, 0, 0, 0, 0, -1, 1, 1, 1, 1, 1, -1])
WORDS = np.array([-1, 0, 1, 2, 0, -1, 1, 3, 3, 4, 2, -1])
RELATED = np.zeros((6, 6), bool)
RELATED[[0, 1, 2, 4], [1, 0, 4, 2]] = True
VISIBLE = np.tri(12, dtype=bool)
NORMS = GENERATOR.random((2, 3, 12)).astype(np.float32)
CASES = {
    "to_offset": lambda x: measures.to_offset(x(MAPS), -2, visible=x(VISIBLE)),
    "to_self": lambda x: measures.to_self(x(MAPS)),
    "to_next": lambda x: measures.to_next(x(MAPS), rows=x(SEGMENTS >= 0)),
    "to_previous": lambda x: measures.to_previous(x(MAPS)),
    "to_first": lambda x: measures.to_first(x(MAPS), visible=x(VISIBLE)),
    "to_places": lambda x: measures.to_places(x(MAPS), x(SEGMENTS < 0)),
    "same_word": lambda x: measures.same_word(x(MAPS), x(WORDS), itself=offset_targets(x(MAPS), 0)),
    "same_word_in_other_segment": lambda x: measures.same_word_in_other_segment(x(MAPS), x(WORDS), x(SEGMENTS)),
    "related_word": lambda x: measures.related_word(x(MAPS), x(WORDS), x(RELATED), segments=x(SEGMENTS)),
    "other_pieces": lambda x: measures.other_pieces(x(MAPS), x(WORDS)),
    "duplicate_token": lambda x: measures.duplicate_token(x(MAPS), x(WORDS), visible=x(VISIBLE)),
    "induction": lambda x: measures.induction(x(MAPS), x(WORDS), visible=x(VISIBLE)),
    "bag_of_words": lambda x: measures.bag_of_words(x(MAPS), x(SEGMENTS), x(SEGMENTS >= 0)),
    "entropy": lambda x: measures.entropy(x(MAPS), visible=x(VISIBLE)),
    "mean_distance": lambda x: measures.mean_distance(x(MAPS), visible=x(VISIBLE)),
    "js_distance": lambda x: measures.js_distance(x(MAPS)),
    "predictive_targets": lambda x: measures.predictive_targets(x(MAPS), x(MAPS > 0.1)),
    "carried_share": lambda x: measures.carried_share(x(MAPS), x(NORMS), x(SEGMENTS[None, :] == [[-1], [1]])),
    "shape_features": lambda x: measures.shape_features(x(MAPS), segments=x(SEGMENTS), visible=x(VISIBLE)),
    "sink_mass": lambda x: measures.sink_mass(x(0.7 * MAPS), visible=x(VISIBLE)),
    "lift": lambda x: measures.lift(x(MAPS), x(MAPS[::-1].copy())),
    "read": lambda x: measures.read(x(MAPS), x(np.stack([VISIBLE, ~VISIBLE]))),
}


def flat(value):
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_torch_agree(name):
    ours, theirs = flat(CASES[name](np.asarray)), flat(CASES[name](torch.from_numpy))
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(other, torch.Tensor)
        np.testing.assert_allclose(one, other.numpy(), rtol=2e-5, atol=1e-6)


def test_every_public_measure_is_compared():
    functions = {name for name in measures.__all__ if name[0].islower()}
    assert functions == set(CASES)
