"""Every family of transformers that has a tiny model: its trace is its own eager attention."""

import pytest
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from tests.fidelity.compare import BOUND
from tests.fidelity.known import FAILURES, FLOOR, NO_ATTENTION, PARTS, RARE, REPEATED, REQUIRED, TERMS, UNTRIED
from tests.fidelity.page import PAGE, facts, page
from tests.fidelity.sweep import ALL, TESTED, sweep

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # transformers' own, for odd tiny sizes
    pytest.mark.timeout(1800),  # a busy machine takes its time for all families
]


@pytest.fixture(scope="module")
def records():
    return sweep(TESTED)


def test_families_that_are_known_to_work_still_do(records):
    expected = set(records) - set(FAILURES) - set(PARTS) - NO_ATTENTION
    broken = {name: records[name].reason for name in expected if records[name].state != "pass"}
    assert not broken


def test_known_failures_fail_for_the_known_reason(records):
    assert {n for n, r in records.items() if r.state in ("fail", "unbuilt")} <= set(FAILURES)
    reasons = {name: records[name].reason for name in FAILURES if name in records}
    assert not {name: reason for name, reason in reasons.items() if not reason.startswith(FAILURES[name][0])}


def test_families_of_which_a_part_is_no_map_are_those_known(records):
    assert {name for name, record in records.items() if record.state == "part"} == set(PARTS) & set(records)


def test_families_without_attention_are_those_known(records):
    assert {name for name, record in records.items() if record.state == "none"} == NO_ATTENTION & set(records)


def test_enough_families_pass(records):
    assert sum(record.state == "pass" for record in records.values()) >= FLOOR


@pytest.mark.parametrize("name", REQUIRED)
def test_family_that_must_work_is_exact(records, name):
    record = records[name]
    assert record.state == "pass", record.reason
    assert record.difference <= BOUND
    assert record.maps["reported"] >= 8  # two layers of four heads at least, for each example


@pytest.mark.parametrize("name", TERMS)
def test_what_enters_the_softmax_is_seen(records, name):
    assert TERMS[name] <= set(records[name].terms)


def test_no_family_passes_on_flat_maps_or_on_none(records):
    passed = [record for record in records.values() if record.state == "pass"]
    assert all(record.maps.total() > 0 and record.spread > 1e-3 for record in passed)


def test_every_model_type_is_tried_or_has_a_reason_why_not():
    assert set(UNTRIED) <= set(MODEL_MAPPING_NAMES)


def test_page_says_what_the_sweep_finds(records):
    written = facts(PAGE.read_text(encoding="utf-8"))
    assert {name: written.get(name) for name in records} == facts(page(records))
    assert set(written) == set(ALL)  # those that were tried only when it was written are on it too


def test_rare_families_are_on_the_page_as_they_are_known():
    assert set(REPEATED) <= set(RARE) <= set(ALL)
    written = facts(PAGE.read_text(encoding="utf-8"))
    known = {**dict.fromkeys(FAILURES, "fails"), **dict.fromkeys(PARTS, "in part")}
    known |= dict.fromkeys(NO_ATTENTION, "no attention")
    assert {name: what for name, what in written.items() if what in set(known.values())} == known
