"""Ranks and rank correlation are scipy's, with and without ties."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from regard.measures.ranks import mean_ranks, spearman

RNG = np.random.default_rng(0)
LISTS = {
    "distinct": RNG.standard_normal((7, 30)),
    "tied": RNG.integers(0, 5, (7, 30)),
    "infinite": np.where(RNG.random((7, 30)) < 0.3, np.inf, RNG.integers(0, 9, (7, 30))),
    "constant": np.ones((2, 4)),
    "one": np.ones((3, 1)),
    "none": np.ones((3, 0)),
}


@pytest.mark.parametrize("kind", LISTS)
def test_ranks_are_scipys(kind):
    from scipy.stats import rankdata

    values = LISTS[kind]
    np.testing.assert_array_equal(mean_ranks(values), rankdata(values, axis=1))
    np.testing.assert_array_equal(mean_ranks(values[0]), rankdata(values[0]))


@pytest.mark.parametrize("kind", ["distinct", "tied", "infinite"])
def test_the_correlation_is_scipys(kind):
    from scipy.stats import spearmanr

    values = LISTS[kind]
    for one, other in pairwise(values):
        assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-15)


@pytest.mark.parametrize("other", [[1, 1, 1], [1, 2], [1, 2, np.nan]])
def test_where_there_is_no_correlation_it_is_no_number(other):
    assert np.isnan(spearman(np.arange(len(other)), np.array(other)))


def test_a_correlation_does_not_wait_for_scipys_statistics():
    code = "import sys; from regard.measures.ranks import spearman; spearman([1, 2, 3], [1, 3, 2])"
    code += "; assert 'scipy.stats' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
