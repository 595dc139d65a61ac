"""Patterns of a trace: names, evidence, reasons."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel

import regard
from regard import Segment
from regard.patterns import head_report, patterns, warnings_for
from regard.patterns.rows import read_trace
from regard.trace.places import places_of
from regard.trace.tokens import Side, Token
from tests.patterns.maps import causal, shifted, trace_of

from ..conftest import ARTICLE


@pytest.mark.parametrize(("offset", "name"), [(-1, "previous token"), (1, "next token"), (0, "itself")])
def test_a_diagonal_head_is_named_for_its_offset(offset, name):
    found = trace_of(shifted(offset)).patterns()
    assert found[0].pattern == name
    assert found[0].score > 0.99


def test_the_evidence_sentence_has_rows_mean_and_chance():
    finding = trace_of(shifted(-1), shifted(1)).patterns().of(0, 0)[0]
    assert finding.sentence == (
        "attends to the previous token in 10 of 10 rows: 1.00 of its awake attention, chance 0.08; "
        "rests for 0.17, mostly on [CLS]"
    )
    assert (finding.hits, finding.rows) == (10, 10)
    assert all(key == query - 1 for query, key, _ in finding.evidence)


def test_findings_of_one_text_have_no_interval_and_are_the_same_each_time():
    maps = 0.7 * shifted(1) + 0.3 * np.random.default_rng(0).dirichlet(np.ones(15), size=15)
    first, second = (trace_of(maps).patterns() for _ in range(2))
    assert first[0] == second[0]
    assert not {"low", "high"} & set(first.to_pandas().columns)


def test_seven_rows_are_too_few_for_a_name_and_eight_are_enough():
    tokens = [*"abcdefghij"]
    named = {n: len(trace_of(shifted(1, n), tokens=tokens[:n], segments=()).patterns()) for n in (8, 9)}
    assert named == {8: 0, 9: 1}  # the last token has no next one


def test_neighbours_across_sentences_or_special_tokens_do_not_count():
    assert trace_of(shifted(1)).patterns().of(0, 0)[0].rows == 10  # 12 ordinary tokens, two of them last


def test_a_head_on_special_tokens_always_rests_and_where_is_measured():
    maps = np.zeros((15, 15))
    maps[:, 0], maps[:, 7] = 0.6, 0.4
    found = trace_of(maps).patterns()
    assert [f.pattern for f in found] == ["always rests"]
    assert found[0].sentence == "always rests: 1.00 of its attention, mostly on [CLS]"
    readings = found.measured[0].readings
    np.testing.assert_allclose([readings[n].mass[0] for n in ("delimiter", "[CLS]", "[SEP]")], [1, 0.6, 0.4], atol=1e-6)


def test_same_words_and_those_of_the_other_sentence_are_told_apart():
    tokens = "[CLS] the cat saw the dog . [SEP] the cat saw the bird . [SEP]".split()
    words = np.array([token if token not in "[CLS] [SEP] ." else str(i) for i, token in enumerate(tokens)])
    same = (words[:, None] == words[None, :]).astype(float)
    side = np.arange(15) > 7
    across = same * (side[:, None] != side[None, :])
    across[across.sum(axis=-1) == 0, 0] = 1
    names = [
        {f.pattern for f in trace_of(maps / maps.sum(axis=-1, keepdims=True), tokens=tokens).patterns()}
        for maps in (same, across)
    ]
    assert "same word" in names[0]
    assert "same word in the other sentence" in names[1]


def test_a_head_that_looks_at_itself_is_not_called_same_word():
    assert {f.pattern for f in trace_of(np.eye(15)).patterns()} == {"itself"}


def test_a_head_of_a_fixed_offset_is_not_called_same_word_where_sentences_are_parallel():
    tokens = "[CLS] the cat sat on the mat . [SEP] the cat lay on the rug . [SEP]".split()
    segments = (Segment("A", 0, 9), Segment("B", 9, 17))
    maps = np.eye(17)[np.minimum(np.arange(17) + 8, 16)]  # "the" to "the", "sat" to "lay"
    found = trace_of(maps, tokens=tokens, segments=segments).patterns()
    reading = found.measured[0].readings["same word"]
    assert reading.lift[0] > 0.3 and reading.rows[0] >= 8  # enough for a name, were it not for half of the rows
    assert not [f.pattern for f in found if "same word" in f.pattern]


def test_attention_within_the_sentence_is_a_bag_of_words():
    side = np.arange(15) > 7
    maps = (side[:, None] == side[None, :]) * ~np.isin(np.arange(15), (0, 7, 14))[None, :]
    finding = trace_of(maps / maps.sum(axis=-1, keepdims=True)).patterns()[0]
    assert finding.pattern == "bag of words"
    assert "of its own sentence in 12 of 12 rows: 1.00 of its awake attention, chance 0.50" in finding.sentence


def test_a_head_may_have_several_names_or_none():
    half = 0.5 * shifted(1) + 0.5 * shifted(-1)
    found = trace_of(half, np.full((15, 15), 1 / 15)).patterns()
    assert {f.pattern for f in found.of(0, 0)} == {"next token", "previous token"}
    assert found.of(0, 1) == ()


def test_causal_maps_are_read_with_their_mask():
    tokens = list("abcdefghij") * 2
    maps = np.eye(20)
    maps[10:] = np.eye(20)[1:11]
    previous = np.eye(20, k=-1) + np.eye(20) * (np.arange(20) == 0)
    found = trace_of(maps, previous, tokens=tokens, segments=(), causal=True).patterns()
    assert "induction" in {f.pattern for f in found.of(0, 0)}
    assert found.of(0, 1)[0].pattern == "previous token"
    assert found.of(0, 1)[0].rows == 17  # beside the first token, the first three rows of a causal map have no choice


def test_uniform_causal_attention_gets_no_name():
    assert len(trace_of(causal(30), tokens=[f"w{i % 9}" for i in range(30)], segments=()).patterns()) == 0


def test_blocks_of_rows_give_the_same_numbers_as_the_whole(bert, monkeypatch):
    trace = bert.trace(*ARTICLE)
    whole = head_report(trace)
    monkeypatch.setattr("regard.patterns.rows._BLOCK", 200)
    parts = head_report(trace)
    for one, other in zip(whole, parts, strict=True):
        assert one["type"] == other["type"]
        assert one["measures"] == pytest.approx(other["measures"], abs=2e-4)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_a_block_equals_the_maps_head_by_head(name, request):
    trace = request.getfixturevalue(name).trace("the cat sat on the mat .")
    for site in trace.sites:
        expected = np.stack([site.attention(index) for index in range(site.heads)])
        np.testing.assert_allclose(site.block(), expected, atol=2e-5)
        np.testing.assert_allclose(site.block(slice(2, 5)), expected[:, 2:5], atol=2e-5)


def test_every_measure_of_a_head_report_survives_json(bert):
    trace = bert.trace(*ARTICLE)
    report_ = head_report(trace)
    assert json.loads(json.dumps(report_)) == report_
    assert [(r["layer"], r["head"]) for r in report_] == [(layer, head) for layer in range(2) for head in range(3)]
    assert sum(report_[0]["probabilities"].values()) == pytest.approx(1, abs=1e-3)


# -- bad input ---------------------------------------------------------------------------------------------


# -- results -----------------------------------------------------------------------------------------------


def test_warnings_apply_only_where_they_should():
    rest = np.zeros((15, 15))
    rest[:, 0] = 1
    resting, looking = (warnings_for(trace_of(maps).patterns(), heads=1) for maps in (rest, shifted(1)))
    assert any("contribute almost nothing" in sentence for sentence in resting)
    assert not any("contribute almost nothing" in sentence for sentence in looking)
    assert any("side by side" in sentence for sentence in looking)
    assert any("3 tokens" in sentence for sentence in warnings_for([], facts={"truncated": 3}))
    assert not any("segment id" in sentence for sentence in warnings_for([], facts={"segment_ids": "all 0"}))


# -- predictive words --------------------------------------------------------------------------------------


def gaining(trace, gains):
    (side,) = trace.sides.values()
    return replace(trace, sides={side.name: replace(side, gains=gains, no_gains="")})


def test_a_head_that_looks_at_what_predicts_is_named_for_it():
    count, helper = 16, (np.arange(16) * 7 + 3) % 16  # no fixed distance
    looking = np.eye(count)[helper]
    trace = trace_of(looking, np.full((count, count), 1 / count), tokens=[*"abcdefghijklmnop"], segments=())
    gains = np.where(looking > 0, 2.0, np.nan)
    np.fill_diagonal(gains, np.nan)
    gains[4] = 0.05  # nothing helps enough
    found = gaining(trace, gains).patterns()
    rows = 15 - int((helper == np.arange(count)).sum())
    measured = found.measured[0].awake["predictive word"]
    np.testing.assert_allclose(measured.lift, [1, 0], atol=1e-6)
    np.testing.assert_allclose(measured.chance, 1 / count, atol=1e-6)
    (finding,) = found.strongest("predictive word")
    assert (finding.head, finding.hits, finding.rows) == (0, rows, rows)
    assert "the words that help most with the prediction" in finding.sentence


def test_a_head_that_looks_one_token_back_is_not_named_for_what_predicts():
    trace = gaining(trace_of(shifted(-1, 12), tokens=[*"abcdefghijkl"], segments=()), 2.0 * shifted(-1, 12))
    assert trace.patterns().measured[0].awake["predictive word"].lift[0] > 0.9
    assert {finding.pattern for finding in trace.patterns()} == {"previous token"}


# -- real models -------------------------------------------------------------------------------------------


@pytest.mark.models
def test_the_article_on_the_default_model(minilm):
    found = minilm.trace(*ARTICLE).patterns()
    assert found.of(0, 2)[0].pattern == "previous token"
    assert found.of(1, 8)[0].pattern == "next token"
    rests = np.concatenate([site.rest for site in found.measured])
    masses = np.concatenate([site.readings["delimiter"].mass for site in found.measured])
    np.testing.assert_allclose(rests, masses, atol=1e-6)  # in an encoder, special tokens are all there is to rest on
    assert masses.max() > 0.8


@pytest.mark.models
def test_at_most_two_per_cent_of_random_heads_are_named(minilm):
    named = heads = 0
    for seed in range(3):
        torch.manual_seed(seed)
        model = regard.load((AutoModel.from_config(minilm.config).eval(), minilm.tokenizer))
        found = model.trace(*ARTICLE).patterns()
        named += len({(f.layer, f.head) for f in found})
        heads += found.heads
    assert named <= 0.02 * heads


@pytest.mark.models
def test_a_repeated_random_sequence_shows_induction_heads(smollm):
    ids = torch.from_numpy(np.random.default_rng(0).integers(1000, 20000, 30))
    inputs = {"input_ids": torch.cat([ids, ids])[None], "attention_mask": torch.ones(1, 60).long()}
    found = smollm.trace_inputs(inputs)[0].patterns()
    assert found.strongest("induction", 1)[0].score >= 0.5
    assert found.strongest("previous token", 1)[0].score >= 0.5


def test_reading_keeps_the_order_of_the_trace(bart):
    trace = bart.trace("the cat sat .", target="a dog")
    places = [(rows.measured.kind, rows.measured.layer) for rows in read_trace(trace, "weights")]
    assert places == [(site.kind, site.layer) for site in trace.sites]
    assert len(patterns(trace).measured) == len(trace.sites)


@pytest.mark.parametrize("start", ["<pad>", "[PAD]", "</s>"])
def test_what_a_decoder_begins_with_is_no_word(start):
    side = Side("decoder", (Token(start, 0, special=True), Token("a", 1, 0, 1, 0), Token("b", 2, 2, 3, 1)))
    places = places_of(side, {})
    assert places.content.tolist() == [False, True, True]
    assert places.first.tolist() == [True, False, False]


def test_the_start_of_t5s_decoder_is_special(t5):
    trace = t5.trace("the cat sat", target="a dog went")
    decoder = places_of(trace.sides["decoder"], {})
    assert trace.sides["decoder"].texts[0] == "[PAD]"
    assert decoder.first[0] and not decoder.content[0]
