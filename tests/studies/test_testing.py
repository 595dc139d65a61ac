"""Assertions about heads: they hold where a planted head does it, and fail with the interval where it does not."""

import random

import pytest

from regard.base.errors import UserError
from regard.testing import assert_head, measure_head
from tests.studies.planted import WORDS, planted_model

TEXTS = [" ".join(random.Random(seed).sample(WORDS, 8)) for seed in range(12)]
PREVIOUS = "0.1"  # looks to the left; head 0.0 looks at a word of a certain name


@pytest.fixture(scope="module")
def planted():
    return planted_model()


def test_a_head_that_does_it_passes_and_says_how_far(planted):
    found = assert_head(planted, PREVIOUS, "previous token", TEXTS)
    assert found.lift > 0.9 and found.low > 0.1 and found.rows > 20
    assert "previous token: a lift of" in str(found)


def test_a_head_that_does_not_fails_with_its_interval(planted):
    with pytest.raises(
        AssertionError, match=r"head 0\.0 of .*: a lift of -?\d\.\d\d \(.*\), .*; expected 0\.3 or more"
    ):
        assert_head(planted, "0.0", "previous token", TEXTS)


def test_a_rule_is_asserted_as_a_pattern_is(planted):
    rule = assert_head(planted, PREVIOUS, "offset = -1", TEXTS)
    name = measure_head(planted, PREVIOUS, "previous token", TEXTS)
    assert rule.lift == pytest.approx(name.lift, abs=1e-6) and rule.rows == name.rows
    with pytest.raises(AssertionError, match="offset = 1"):
        assert_head(planted, PREVIOUS, "offset = 1", TEXTS)


def test_the_least_lift_can_be_chosen(planted):
    assert_head(planted, "0.0", "previous token", TEXTS, lift=-1.0)
    with pytest.raises(AssertionError, match=r"expected 1\.5 or more"):
        assert_head(planted, PREVIOUS, "previous token", TEXTS, lift=1.5)


def test_a_file_of_texts_serves_too(planted, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    assert assert_head(planted, PREVIOUS, "previous token", path).lift > 0.9


def test_what_cannot_be_asserted_is_said(planted):
    with pytest.raises(UserError, match="pass at least 8"):
        assert_head(planted, "0.0", "previous token", TEXTS[:3])
    with pytest.raises(UserError, match="one head is asserted at a time"):
        assert_head(planted, "0.*", "previous token", TEXTS)
    with pytest.raises(UserError, match="previous"):
        assert_head(planted, "0.0", "previous tokens", TEXTS)
