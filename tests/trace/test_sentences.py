"""Sentences that code tells apart."""

import copy
import json
import pickle
from importlib.resources import files

import numpy as np

from regard import Trace
from regard.patterns import warnings_for
from regard.patterns.definitions import OBVIOUS, PATTERNS
from regard.trace.sentences import Message, caution, reason
from regard.views.wire import decode, encode, header_of

TABLE = json.loads((files("regard.trace") / "sentences.json").read_text("utf-8"))


def test_a_sentence_is_a_string_that_remembers_its_code():
    said = reason("few_tokens", fewest=6)
    assert said == "map types need the self-attention of a text with at least 6 tokens"
    assert said.record == {"code": "few_tokens", "values": {"fewest": 6}}
    for other in (pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
        assert isinstance(other, Message) and (other, other.code, other.values) == (said, said.code, said.values)
    assert json.dumps([said]) == f'["{said}"]'


def test_every_reason_a_pattern_may_give_has_its_sentence():
    assert {pattern.none for pattern in PATTERNS} <= TABLE["reason"].keys()
    assert TABLE["reason"].keys() >= OBVIOUS


QUOTES = str.maketrans("“”", '""')  # as the pages set them


def test_every_sentence_is_in_two_languages():
    for sentences in TABLE.values():
        for code, pair in sentences.items():
            assert len(pair) == 2 and all(pair) and pair[0].translate(QUOTES).isascii(), code


def test_cautions_carry_codes_to_the_page():
    trace = Trace.from_maps(np.full((1, 1, 7, 7), 1 / 7), list("abcdefg"), facts={"truncated": 3})
    header = header_of(encode(trace))
    assert [one["code"] for one in header["coded"]] == ["faithful", "truncated"]
    assert header["cautions"] == [caution("faithful"), caution("truncated", tokens="3")]
    assert header["coded"][1]["values"] == {"tokens": "3"}
    site = header["sites"][0]
    assert site["coded"].keys() == site["missing"].keys()
    assert site["coded"]["bag of words"]["code"] == "one_sentence"
    assert not {one["code"] for one in site["coded"].values()} & OBVIOUS


def test_a_caution_without_its_cause_is_not_given():
    assert [said.code for said in warnings_for([])] == ["faithful"]


def test_why_there_are_no_contributions_keeps_its_code_in_a_file_and_on_the_wire(tmp_path):
    trace = Trace.from_maps(np.full((1, 1, 7, 7), 1 / 7), list("abcdefg"))
    said = reason("foreign_maps")
    assert header_of(encode(trace))["sites"][0]["why_coded"] == said.record
    for other in (Trace.load(trace.save(tmp_path / "a.safetensors")), decode(encode(trace))):
        assert (other.sites[0].no_norms, other.sites[0].no_norms.code) == (said, "foreign_maps")
