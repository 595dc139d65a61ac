"""The tiny models with larger weights: their attention is far from uniform, so that it matters which heads are on."""

from copy import deepcopy

import pytest

import regard
from tests.tiny import enlarged


@pytest.fixture(scope="session")
def sharp(request):
    """A function from the name of a fixture to its model with larger weights."""
    made = {}

    def of(family):
        if family not in made:
            model = request.getfixturevalue(family)
            copied = regard.load((deepcopy(model.module), model.tokenizer))
            factor = 2 if family == "t5" else 8  # T5 does not scale its scores, and draws larger weights
            made[family] = enlarged(copied, factor)
        return made[family]

    return of
