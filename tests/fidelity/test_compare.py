"""The comparison notices what it is there for: a wrong or missing term, and a layer left out."""

import pytest

from regard.capture import tiers
from tests.fidelity.compare import record

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers' own, for odd tiny sizes

WRONG = [
    ("llama", "scale", lambda scale: scale * 1.001),
    ("mistral", "mask", lambda mask: None),
    ("gemma2", "softcap", lambda softcap: None),
    ("gpt_oss", "sink", lambda sink: None),
    ("t5", "bias", lambda bias: None),
]


@pytest.mark.parametrize(("model_type", "term", "change"), WRONG, ids=[f"{name} {term}" for name, term, _ in WRONG])
def test_a_wrong_term_of_the_score_is_noticed(monkeypatch, model_type, term, change):
    right = tiers.from_call

    def wrong(*args):
        operation = right(*args)
        setattr(operation, term, change(getattr(operation, term)))
        return operation

    monkeypatch.setattr(tiers, "from_call", wrong)
    found = record(model_type)
    assert (found.state, found.reason.split(" by ")[0]) == ("fail", "differs")


def test_a_layer_left_out_is_noticed(monkeypatch):
    right = tiers.Keeper.operations
    monkeypatch.setattr(tiers.Keeper, "operations", lambda self: right(self)[:-1])
    found = record("bert")
    assert (found.state, found.reason.split(":")[0]) == ("fail", "not traced")
