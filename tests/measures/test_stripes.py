"""What stays of attention if queries are exchanged: by hand, and on maps that are stripes or nothing like it."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.measures.stripes import kept, partners


def by_hand(first, second, free):
    """As plain loops over keys."""
    awake = sum(a for a, here in zip(first, free, strict=True) if here)
    other = sum(b for b, here in zip(second, free, strict=True) if here)
    scale = awake / other if other else awake
    return [min(a, b * scale) if here else 0.0 for a, b, here in zip(first, second, free, strict=True)]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), keys=st.integers(1, 9), empty=st.booleans())
def test_what_is_kept_is_that_of_plain_loops(seed, keys, empty):
    rng = np.random.default_rng(seed)
    first, second = rng.dirichlet(np.ones(keys), size=(2, 3))
    free = rng.random((3, keys)) < 0.7
    second[0] *= not empty
    found = kept(first, second, free.astype(float))
    np.testing.assert_allclose(found, [by_hand(*row) for row in zip(first, second, free, strict=True)], atol=1e-12)
    again = kept(*(torch.from_numpy(some) for some in (first, second, free.astype(float))))
    np.testing.assert_allclose(again.numpy(), found, atol=1e-12)


def test_a_query_is_exchanged_with_the_one_half_a_text_further_on_if_both_are_words():
    content = np.array([False, True, True, True, True, True, False])
    first, second = partners(content)
    assert first.tolist() == [1, 2] and second.tolist() == [4, 5]
    assert not len(partners(np.array([True]))[0])


@pytest.mark.parametrize(("rows", "share"), [(np.tile([0.5, 0.3, 0.2, 0.0], (4, 1)), 1.0), (np.eye(4), 0.0)])
def test_stripes_stay_and_a_diagonal_goes(rows, share):
    assert kept(rows[:2], rows[2:], np.ones((2, 4))).sum() == pytest.approx(2 * share)
